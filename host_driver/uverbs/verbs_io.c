// SPDX-License-Identifier: Apache-2.0
/* The library: posting and polling, which do not enter the kernel. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { FEW = 8, POLL_CHUNK = 16 };

_Static_assert(sizeof(struct ibv_sge) == sizeof(struct drv_sge) &&
		       offsetof(struct ibv_sge, length) == offsetof(struct drv_sge, length) &&
		       offsetof(struct ibv_sge, lkey) == offsetof(struct drv_sge, lkey),
	       "scatter and gather lists are passed on as they are");

static const struct drv_sge *sges(const struct ibv_sge *list)
{
	return (const struct drv_sge *)(const void *)list;
}

/* Requests in the driver's form, all posted with one doorbell: a few fit on the stack, more need
 * the heap. The heap memory is freed even if the process is killed while the driver rings. */
static void release(void **many)
{
	free(*many);
}

static void bind_fill(const struct ibv_send_wr *wr, struct drv_send_wr *d)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	const struct ibv_mw *mw = wr->bind_mw.mw;

	d->bind_mw = container_of(mw, struct uv_mw, ibv)->hw;
	d->bind_mr = info->mr ? container_of(info->mr, struct uv_mr, ibv)->hw : NULL;
	d->bind_rkey = mw->type == IBV_MW_TYPE_2 ? wr->bind_mw.rkey : 0;
	d->bind_addr = info->addr;
	d->bind_length = info->length;
	d->bind_access = info->mw_access_flags;
}

static void send_fill(const struct ibv_qp *qp, const struct ibv_send_wr *wr, struct drv_send_wr *d)
{
	*d = (struct drv_send_wr){.wr_id = wr->wr_id,
				  .opcode = wr->opcode,
				  .send_flags = wr->send_flags,
				  .sg_list = sges(wr->sg_list),
				  .num_sge = (unsigned)wr->num_sge};
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_IMM:
		d->imm_data = ntohl(wr->imm_data);
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		d->invalidate_rkey = wr->invalidate_rkey;
		break;
	case IBV_WR_BIND_MW:
		bind_fill(wr, d);
		break;
	default:
		break;
	}
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		d->remote_addr = wr->wr.atomic.remote_addr;
		d->rkey = wr->wr.atomic.rkey;
		d->compare_add = wr->wr.atomic.compare_add;
		d->swap = wr->wr.atomic.swap;
	} else if (qp->qp_type == IBV_QPT_UD) {
		d->ah = wr->wr.ud.ah ? &container_of(wr->wr.ud.ah, struct uv_ah, ibv)->hw : NULL;
		d->remote_qpn = wr->wr.ud.remote_qpn;
		d->remote_qkey = wr->wr.ud.remote_qkey;
	} else {
		d->remote_addr = wr->wr.rdma.remote_addr;
		d->rkey = wr->wr.rdma.rkey;
	}
	d->remote_srqn = wr->qp_type.xrc.remote_srqn;
}

static bool send_ok(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	return wr->num_sge >= 0 && wr->opcode <= IBV_WR_SEND_WITH_INV &&
	       (qp->qp_type != IBV_QPT_UD || wr->wr.ud.ah) &&
	       (wr->opcode != IBV_WR_BIND_MW || wr->bind_mw.mw);
}

int uv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, bool all, struct ibv_send_wr **bad)
{
	struct drv_qp *hw = container_of(qp, struct uv_qp, ibv)->hw;
	void *many __attribute__((cleanup(release))) = NULL;
	struct drv_send_wr few[FEW], *d = few;
	const struct drv_send_wr *failed = NULL;
	struct ibv_send_wr *end = wr;
	size_t n = 0;
	int rc = 0;

	if (!hw)
		rc = EINVAL;
	/* counts the requests before the first that cannot be converted */
	for (; end && !rc && send_ok(qp, end); end = end->next)
		n++;
	if (all && end)
		rc = EINVAL;
	if (n > FEW)
		many = d = drv_calloc(n, sizeof(*d));
	if (!d)
		rc = ENOMEM;
	if (rc) {
		*bad = wr;
		return rc;
	}
	end = wr;
	for (size_t i = 0; i < n; i++, end = end->next) {
		send_fill(qp, end, &d[i]);
		d[i].next = i + 1 < n ? &d[i + 1] : NULL;
	}
	if (all && n)
		rc = -drv_post_check(hw, d);
	if (rc)
		return rc;
	rc = n ? -drv_post_send(hw, d, &failed) : 0;
	if (rc)
		for (*bad = wr; failed != d++; *bad = (*bad)->next)
			;
	else if (end)
		*bad = end;
	return rc ? rc : end ? EINVAL : 0;
}

int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return uv_post_send(qp, wr, false, bad);
}

/* Receives need no doorbell, so they are posted one by one. */
static int post_receives(struct drv_qp *qp, struct drv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		const struct drv_recv_wr d = {.wr_id = wr->wr_id,
					      .sg_list = sges(wr->sg_list),
					      .num_sge = (unsigned)wr->num_sge};
		int rc = wr->num_sge < 0 ? -EINVAL
			 : srq           ? drv_post_srq_recv(srq, &d, NULL)
					 : drv_post_recv(qp, &d, NULL);

		if (rc) {
			*bad = wr;
			return -rc;
		}
	}
	return 0;
}

int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct drv_qp *hw = container_of(qp, struct uv_qp, ibv)->hw;

	if (!hw) {
		*bad = wr;
		return EINVAL;
	}
	return post_receives(hw, NULL, wr, bad);
}

int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_receives(NULL, container_of(srq, struct uv_srq, ibv)->hw, wr, bad);
}

/* --- completions --- */

void uv_wc_fill(const struct drv_wc *d, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){.wr_id = d->wr_id,
			      .status = d->status,
			      .opcode = d->opcode,
			      .vendor_err = d->vendor_err,
			      .byte_len = d->byte_len,
			      .qp_num = d->qp_num,
			      .src_qp = d->src_qp,
			      .wc_flags = d->wc_flags,
			      .pkey_index = (uint16_t)d->pkey_index,
			      .slid = (uint16_t)d->slid,
			      .sl = (uint8_t)d->sl,
			      .dlid_path_bits = (uint8_t)d->dlid_path_bits};
	if (d->wc_flags & IBV_WC_WITH_IMM)
		wc->imm_data = htonl(d->imm_data);
	else if (d->wc_flags & IBV_WC_WITH_INV)
		wc->invalidated_rkey = d->invalidated_rkey;
}

void uv_polled(struct ibv_cq *cq, bool found)
{
	struct uv_process *process = uv_process_of(cq->context);
	struct platform *p = process->host->platform;
	const uint64_t wait_ps = process->poll.next_ps;

	if (found || !wait_ps)
		process->poll.next_ps = process->poll.first_ps;
	if (found || !process->poll.first_ps)
		return;
	drv_cq_wait(container_of(cq, struct uv_cq, ibv)->hw,
		    p->ops->now_ps(p) + process->poll.next_ps);
	process->poll.next_ps *= 2;
	if (process->poll.next_ps > process->poll.max_ps)
		process->poll.next_ps = process->poll.max_ps;
}

int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct drv_cq *hw = container_of(cq, struct uv_cq, ibv)->hw;
	struct drv_wc d[POLL_CHUNK];
	int done = 0;

	while (done < num_entries) {
		const int left = num_entries - done, want = left < POLL_CHUNK ? left : POLL_CHUNK;
		const int got = drv_cq_poll(hw, want, d);

		if (got < 0)
			return done ? done : got;
		for (int i = 0; i < got; i++)
			uv_wc_fill(&d[i], &wc[done++]);
		if (got < want)
			break;
	}
	if (num_entries > 0)
		uv_polled(cq, done);
	return done;
}

int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return -drv_cq_arm(container_of(cq, struct uv_cq, ibv)->hw, !!solicited_only);
}
