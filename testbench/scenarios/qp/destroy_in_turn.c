/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a queue pair uses cannot go before it: each of its two CQs, its SRQ, its domain. Regions and SRQs hold their
 * domains, too. Objects that could not be made hold nothing. What could
 * not be destroyed works on.
 */
/* behaviours: IBA-10.2.4-users */
#include "testbench/services.h"

enum { LEN = 32, TOO_MANY = 1 << 30 };
#define OF_NO_TYPE ((enum ibv_qp_type)99)

struct held {
	struct drv_pd *pd, *of_srq;
	struct drv_cq *sends, *receives;
	struct drv_srq *srq;
	struct drv_mr *mr;
	struct drv_qp *qp;
};

static void all_held(struct tb *tb, const struct held *h)
{
	must_fail(-EBUSY, drv_cq_destroy(h->sends));
	must_fail(-EBUSY, drv_cq_destroy(h->receives));
	must_fail(-EBUSY, drv_srq_destroy(h->srq));
	must_fail(-EBUSY, drv_pd_free(h->pd));
	must_fail(-EBUSY, drv_pd_free(h->of_srq));
}

static void make(struct tb *tb, struct tb_end *b, struct held *h)
{
	struct drv_qp_init init = {.type = IBV_QPT_RC,
				   .cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct drv_srq_init shared = {.max_wr = 4, .max_sge = 1};

	must(drv_pd_alloc(b->dev, &h->pd));
	must(drv_pd_alloc(b->dev, &h->of_srq));
	h->sends = new_cq(b, 7, 0);
	h->receives = new_cq(b, 7, 0);
	must(drv_srq_create(h->of_srq, &shared, &h->srq));
	if (!still_right())
		return;
	init.send_cq = h->sends;
	init.recv_cq = h->receives;
	init.srq = h->srq;
	must(drv_qp_create(h->pd, &init, &h->qp));
	must(drv_mr_reg_iova(h->of_srq, b->dst, LEN, tb_va(b, b->dst), IBV_ACCESS_LOCAL_WRITE,
			     &h->mr));
}

/* None of these is made. */
static void refused(struct tb *tb, struct tb_end *b, const struct held *h)
{
	const struct drv_qp_init init = {.type = OF_NO_TYPE,
					 .send_cq = h->sends,
					 .recv_cq = h->receives,
					 .srq = h->srq,
					 .cap = {.max_send_wr = 4, .max_send_sge = 1}};
	const struct drv_srq_init shared = {.max_wr = TOO_MANY, .max_sge = 1};
	struct drv_srq *srq;
	struct drv_mr *mr;
	struct drv_qp *qp;

	must_fail(-EINVAL, drv_qp_create(h->pd, &init, &qp));
	must_fail(-EINVAL, drv_srq_create(h->pd, &shared, &srq));
	must_fail(-EINVAL, drv_mr_reg_iova(h->pd, b->dst, LEN, tb_va(b, b->dst),
					   IBV_ACCESS_REMOTE_WRITE, &mr));
}

static void message(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		    const struct held *h)
{
	recv_srq(b, h->srq, .wr_id = 1, .len = LEN, .lkey = drv_mr_lkey(h->mr));
	send_on(a, x, .wr_id = 2, .len = LEN);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .cq = h->receives, .wr_id = 1, .byte_len = LEN);
	expect_data(b, .len = LEN);
}

/* The queue pair goes with a completion that nobody has polled, and its receive's place comes back. */
static void unheard(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		    const struct held *h)
{
	uint32_t receives = 0, entries;

	recv_srq(b, h->srq, .len = LEN, .lkey = drv_mr_lkey(h->mr));
	send_on(a, x, .wr_id = 2, .len = LEN);
	expect_cqe(a, .wr_id = 2);
	pass_time(CFG_US(20));
	destroy_qp(h->qp);
	expect_discarded(b, 1);
	expect_empty(h->receives);
	drv_srq_size(h->srq, &receives, &entries);
	for (unsigned i = 0; i < receives && still_right(); i++)
		recv_srq(b, h->srq, .len = LEN);
	recv_srq(b, h->srq, .len = LEN, .result = -ENOMEM);
}

/* A CQ holds its page of doorbells, and one that was not made does not. */
static void doorbell_page(struct tb *tb, struct tb_end *b)
{
	struct drv_uar *uar;
	struct drv_cq *cq;

	must(drv_uar_alloc(b->dev, &uar));
	must_fail(-EINVAL, drv_cq_create_on(b->dev, uar, 0, 0, &cq));
	must(drv_cq_create_on(b->dev, uar, 7, 0, &cq));
	if (!still_right())
		return;
	must_fail(-EBUSY, drv_uar_free(uar));
	must(drv_cq_destroy(cq));
	must(drv_uar_free(uar));
}

SCENARIO(destroy_in_turn, "what a queue pair uses goes after it, and only then",
	 .any_packets = true)
{
	struct drv_qp *x = new_qp(a);
	struct held h = {0};

	make(tb, b, &h);
	connect_two(x, h.qp);
	if (!still_right())
		return;
	all_held(tb, &h);
	refused(tb, b, &h);
	message(tb, a, b, x, &h);
	all_held(tb, &h);
	unheard(tb, a, b, x, &h);
	must(drv_cq_destroy(h.sends));
	must(drv_cq_destroy(h.receives));
	must(drv_pd_free(h.pd));
	must_fail(-EBUSY, drv_pd_free(h.of_srq)); /* an SRQ and a region */
	must(drv_srq_destroy(h.srq));
	must_fail(-EBUSY, drv_pd_free(h.of_srq));
	must(drv_mr_dereg(h.mr));
	must(drv_pd_free(h.of_srq));
	doorbell_page(tb, b);
	destroy_qp(x);
}
