// SPDX-License-Identifier: Apache-2.0
/* Requests: what a queue pair takes, and their copies in its queues. */
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"

#include <errno.h>

enum { RC = 1 << 0, UC = 1 << 1, UD = 1 << 2 };

/* The services that have an opcode. What is not here the transport does not have. */
static const struct {
	enum ibv_wr_opcode opcode;
	unsigned services;
	enum ibv_wc_opcode completion;
} opcodes[] = {
	{IBV_WR_SEND, RC | UC | UD, IBV_WC_SEND},
	{IBV_WR_SEND_WITH_IMM, RC | UC | UD, IBV_WC_SEND},
	{IBV_WR_RDMA_WRITE, RC | UC, IBV_WC_RDMA_WRITE},
	{IBV_WR_RDMA_WRITE_WITH_IMM, RC | UC, IBV_WC_RDMA_WRITE},
	{IBV_WR_RDMA_READ, RC, IBV_WC_RDMA_READ},
	{IBV_WR_ATOMIC_CMP_AND_SWP, RC, IBV_WC_COMP_SWAP},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, RC, IBV_WC_FETCH_ADD},
};

static int opcode_find(enum ibv_wr_opcode opcode)
{
	for (unsigned i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (opcodes[i].opcode == opcode)
			return (int)i;
	return -EINVAL;
}

static unsigned service_bit(const struct rvt_qp *qp)
{
	return qp->type == IBV_QPT_RC ? RC : qp->type == IBV_QPT_UC ? UC : UD;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int wr_check(const struct rvt_qp *qp, const struct drv_send_wr *wr)
{
	const int i = opcode_find(wr->opcode);
	const uint64_t bytes = rvt_sges_bytes(wr->sg_list, wr->num_sge);
	const bool in_line = wr->send_flags & IBV_SEND_INLINE;

	if (i < 0) {
		rvt_refuse(qp->dev, "post_send of an opcode that the transport lacks");
		return -EINVAL;
	}
	if (!(opcodes[i].services & service_bit(qp)))
		return -EINVAL;
	if (wr->num_sge > (qp->cap.max_send_sge ? qp->cap.max_send_sge : 1) ||
	    (qp->type == IBV_QPT_UD && !wr->ah))
		return -EINVAL;
	if (in_line && (wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr->opcode) ||
			bytes > qp->cap.max_inline_data))
		return -EINVAL;
	return 0;
}

static int room_check(const struct rvt_qp *qp)
{
	return qp->req.head - qp->req.polled >= qp->req.max_post ? -ENOMEM : 0;
}

static void in_line_copy(struct rvt_swqe *w, const struct drv_send_wr *wr)
{
	uint8_t *to = w->in_line;

	for (unsigned i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length)
			memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
}

static void wr_take(struct rvt_qp *qp, const struct drv_send_wr *wr)
{
	struct rvt_swqe *w = rvt_swqe_at(qp, qp->req.head);
	struct drv_sge *sge = w->sge;
	uint8_t *in_line = w->in_line;

	*w = (struct rvt_swqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.signaled = qp->sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED,
		.num_sge = wr->num_sge,
		.sge = sge,
		.in_line = in_line,
		.length = (uint32_t)rvt_sges_bytes(wr->sg_list, wr->num_sge),
		.imm = wr->imm_data,
		.remote_addr = wr->remote_addr,
		.rkey = wr->rkey,
		.compare_add = wr->compare_add,
		.swap = wr->swap,
		.remote_qpn = wr->remote_qpn,
		.remote_qkey = wr->remote_qkey,
	};
	if (wr->ah)
		w->ah = *wr->ah;
	if (wr->send_flags & IBV_SEND_INLINE)
		in_line_copy(w, wr);
	else if (wr->num_sge)
		memcpy(sge, wr->sg_list, wr->num_sge * sizeof(*sge));
	qp->req.head++;
}

static int post_send(struct rvt_qp *qp, const struct drv_send_wr *wr,
		     const struct drv_send_wr **bad)
{
	struct rvt_device *dev = rvt_dev(qp);
	unsigned n = 0;
	int rc = 0;

	for (; wr; wr = wr->next, n++) {
		rc = rvt_may(qp, RVT_POST_SEND) ? wr_check(qp, wr) : -EINVAL;
		if (!rc)
			rc = room_check(qp);
		if (rc)
			break;
		wr_take(qp, wr);
	}
	if (rc && bad)
		*bad = wr;
	if (!n)
		return rc;
	rvt_cpu(dev, n * dev->limits.post_ps);
	if (rvt_may(qp, RVT_FLUSH_SEND))
		rvt_qp_flush(qp);
	else
		rvt_schedule(qp);
	return rc;
}

int rvt_post_send(struct drv_qp *handle, const struct drv_send_wr *wr,
		  const struct drv_send_wr **bad)
{
	struct rvt_qp *qp = rvt_qp_of(handle);

	DRV_CALL(qp->dev, PLATFORM_CALL_POST, qp->qpn, 0, "qpn %06x, opcode %d", qp->qpn,
		 wr->opcode);
	return DRV_LEAVE(qp->dev, post_send(qp, wr, bad));
}

int rvt_post_check(const struct drv_qp *handle, const struct drv_send_wr *wr)
{
	const struct rvt_qp *qp = rvt_qp_of(handle);
	const unsigned room = qp->req.max_post - (qp->req.head - qp->req.polled);
	unsigned n = 0;

	if (!rvt_may(qp, RVT_POST_SEND))
		return -EINVAL;
	for (; wr; wr = wr->next, n++) {
		const int rc = wr_check(qp, wr);

		if (rc)
			return rc;
	}
	return n > room ? -ENOMEM : 0;
}

static int post_recv(struct rvt_qp *qp, const struct drv_recv_wr *wr,
		     const struct drv_recv_wr **bad)
{
	int rc = 0;

	for (; wr; wr = wr->next) {
		rc = qp->srq || !rvt_may(qp, RVT_POST_RECV) ? -EINVAL : rvt_rq_post(&qp->rq, wr);
		if (rc)
			break;
	}
	if (rc && bad)
		*bad = wr;
	if (rvt_may(qp, RVT_FLUSH_RECV))
		rvt_qp_flush(qp);
	return rc;
}

int rvt_post_recv(struct drv_qp *handle, const struct drv_recv_wr *wr,
		  const struct drv_recv_wr **bad)
{
	struct rvt_qp *qp = rvt_qp_of(handle);

	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	return DRV_LEAVE(qp->dev, post_recv(qp, wr, bad));
}

/* --- the end of a request --- */

void rvt_request_end(struct rvt_qp *qp, enum ibv_wc_status status, uint32_t byte_len)
{
	struct rvt_swqe *w = rvt_swqe_at(qp, qp->req.tail);
	struct drv_wc wc = {.wr_id = w->wr_id,
			    .status = status,
			    .is_send = true,
			    .opcode = opcodes[opcode_find(w->opcode)].completion,
			    .byte_len = byte_len,
			    .qp_num = qp->qpn};

	if (w->opcode == IBV_WR_SEND_WITH_IMM || w->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		wc.wc_flags |= IBV_WC_WITH_IMM;
	if (rvt_is_fetch(w) && w->begun)
		qp->req.fetches--;
	w->begun = false;
	qp->req.tail++;
	if (w->signaled || status != IBV_WC_SUCCESS)
		rvt_cq_add(qp->send_cq, qp, &wc, false);
	rvt_drained_check(qp);
}

void rvt_request_fail(struct rvt_qp *qp, enum ibv_wc_status status)
{
	qp->req.draining = false; /* it ends in an error state, and not drained */
	rvt_request_end(qp, status, 0);
	qp->req.cur = qp->req.tail;
	rvt_qp_send_error(qp);
}
