// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: a device that has died completes nothing any more, so the driver itself returns what
 * its queues still hold. Each request comes back once, in the order of its queue, as flushed.
 */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/drv/ops.h"
#include "host_driver/mlx4/mlx4_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* A queue as it was before the call. */
struct flushed {
	const struct drv_qp *qp;
	bool is_send;
	uint32_t next, end;
};

static uint64_t id_at(const struct flushed *f, uint32_t at)
{
	const struct drv_wq *wq = f->is_send ? &f->qp->sq : &f->qp->rq;

	return wq->wr_id[at & (wq->entries - 1)];
}

/* The queues of the kernel's verbs whose completions this CQ gets. Returns how many. */
static unsigned queues_take(const struct drv_cq *cq, struct flushed *queues)
{
	const struct drv_list *list = &cq->dev->qp_list;
	unsigned n = 0;

	for (const struct drv_list *l = list->next; l != list; l = l->next) {
		const struct drv_qp *qp = container_of(l, const struct drv_qp, link);

		if (qp->user)
			continue;
		if (qp->send_cq == cq) {
			if (queues)
				queues[n] = (struct flushed){qp, true, qp->sq.tail, qp->sq.head};
			n++;
		}
		if (qp->recv_cq == cq && qp->has_rq) {
			if (queues)
				queues[n] = (struct flushed){qp, false, qp->rq.tail, qp->rq.head};
			n++;
		}
	}
	return n;
}

static void wrong(struct ask *a, const struct drv_wc *wc, const char *what, uint64_t is,
		  uint64_t should)
{
	checker_report(a->c,
		       &(struct breach){RULE_device_dead,
					{GUEST_CQ, a->number},
					wrote_find((uintptr_t)wc, sizeof(*wc)),
					NULL},
		       "%s is 0x%" PRIx64 ", and 0x%" PRIx64 " is what comes next from that queue",
		       what, is, should);
}

static struct flushed *queue_of(struct flushed *queues, unsigned n, const struct drv_wc *wc)
{
	for (unsigned i = 0; i < n; i++)
		if (queues[i].qp->qpn == wc->qp_num && queues[i].is_send == wc->is_send)
			return &queues[i];
	return NULL;
}

static void completion_says(struct ask *a, struct flushed *f, const struct drv_wc *wc)
{
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		wrong(a, wc, "status", wc->status, IBV_WC_WR_FLUSH_ERR);
	else if (!f || f->next == f->end)
		checker_report(a->c,
			       &(struct breach){RULE_device_dead,
						{GUEST_CQ, a->number},
						wrote_find((uintptr_t)wc, sizeof(*wc)),
						NULL},
			       "a %s of qpn %06x is returned, and that queue "
			       "holds none",
			       wc->is_send ? "send" : "receive", wc->qp_num);
	else if (wc->wr_id != id_at(f, f->next))
		wrong(a, wc, "wr_id", wc->wr_id, id_at(f, f->next));
	else if (wc->vendor_err != CQE_SYND_WR_FLUSH_ERR) /* Linux: mlx4_ib_poll_sw_comp */
		wrong(a, wc, "vendor_err", wc->vendor_err, CQE_SYND_WR_FLUSH_ERR);
	if (f)
		f->next++;
}

static void flushed_check(struct ask *a, struct flushed *queues, unsigned n_queues, int asked,
			  int given, const struct drv_wc *wc)
{
	uint32_t held = 0;

	for (unsigned i = 0; i < n_queues; i++)
		held += queues[i].end - queues[i].next;
	for (int i = 0; i < given; i++)
		completion_says(a, queue_of(queues, n_queues, &wc[i]), &wc[i]);
	if (given < 0 || (uint32_t)given != (held < (uint32_t)asked ? held : (uint32_t)asked))
		ask_report(a, RULE_device_dead, (struct guest_object){GUEST_CQ, a->number},
			   "%d completions are returned of %u that the queues "
			   "held, room was for %d",
			   given, held, asked);
	for (unsigned i = 0; i < n_queues; i++) {
		const struct drv_qp *qp = queues[i].qp;
		const uint32_t tail = queues[i].is_send ? qp->sq.tail : qp->rq.tail;

		if (tail != queues[i].next)
			ask_report(a, RULE_device_dead, (struct guest_object){GUEST_QP, qp->qpn},
				   "the %s queue goes on at request %u, and "
				   "%u is the next that was not returned",
				   queues[i].is_send ? "send" : "receive", tail, queues[i].next);
	}
}

W(int, drv_cq_flush, struct drv_cq *cq, int n, struct drv_wc *wc)
{
	struct flushed *queues = NULL;
	struct drv_wc *own = NULL;
	unsigned n_queues = 0;
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, drv_platform(drv_device_of(cq)), drv_cq_num(cq));
	if (a.c && n > 0) {
		ask_mark(&a);
		n_queues = queues_take(cq, NULL);
		queues = calloc(n_queues + 1, sizeof(*queues));
		if (!queues)
			abort();
		queues_take(cq, queues);
		own = calloc((size_t)n * (1 + n_queues), sizeof(*own));
		if (!own)
			abort();
	}
	/* more than was asked for must not spoil what stands behind the caller's array */
	rc = __real_drv_cq_flush(cq, n, own ? own : wc);
	if (queues)
		flushed_check(&a, queues, n_queues, n, rc, own);
	if (own && rc > 0)
		memcpy(wc, own, (size_t)(rc < n ? rc : n) * sizeof(*wc));
	free(own);
	free(queues);
	return own && rc > n ? n : rc;
}
