// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: requests that the RDMA core passes on to the driver say what the core was asked for. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/asked/running.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>

static struct running *postings;

static void request_says(struct checker *c, const struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct drv_send_wr *d)
{
	const bool imm =
		wr->opcode == IB_WR_SEND_WITH_IMM || wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	const bool inv = wr->opcode == IB_WR_SEND_WITH_INV || wr->opcode == IB_WR_LOCAL_INV;
	const struct member all[] = {
		MEMBER("wr_id", d->wr_id, wr->wr_id),
		MEMBER("send_flags", d->send_flags, wr->send_flags),
		MEMBER("num_sge", d->num_sge, wr->num_sge),
		MEMBER("opcode", d->opcode,
		       wr->opcode == IB_WR_FAST_REG_MR ? (unsigned)IBV_WR_REG_MR
						       : (unsigned)wr->opcode),
		MEMBER("imm_data", d->imm_data, imm ? ntohl(wr->ex.imm_data) : 0),
		MEMBER("invalidate_rkey", d->invalidate_rkey, inv ? wr->ex.invalidate_rkey : 0),
		MEMBER("xrc_remote_srq_num", d->remote_srqn, wr->xrc_remote_srq_num),
	};
	const struct passing p = {
		c, RULE_request_differs, {GUEST_QP, qp->qp_num}, "ib_post_send", d, sizeof(*d)};

	members_check(&p, all, ARRAY_SIZE(all));
	pointer_check(&p, "sg_list", d->sg_list, wr->sg_list);
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		MEMBERS_CHECK(&p, MEMBER("remote_addr", d->remote_addr, rdma_wr(wr)->remote_addr),
			      MEMBER("rkey", d->rkey, rdma_wr(wr)->rkey));
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		MEMBERS_CHECK(&p, MEMBER("remote_addr", d->remote_addr, atomic_wr(wr)->remote_addr),
			      MEMBER("rkey", d->rkey, atomic_wr(wr)->rkey),
			      MEMBER("compare_add", d->compare_add, atomic_wr(wr)->compare_add),
			      MEMBER("swap", d->swap, atomic_wr(wr)->swap),
			      MEMBER("compare_add_mask", d->compare_add_mask,
				     atomic_wr(wr)->compare_add_mask),
			      MEMBER("swap_mask", d->swap_mask, atomic_wr(wr)->swap_mask));
		break;
	case IB_WR_REG_MR:
		pointer_check(&p, "mr", d->reg_mr, reg_wr(wr)->mr->drv);
		MEMBERS_CHECK(&p, MEMBER("key", d->reg_key, reg_wr(wr)->key),
			      MEMBER("mr.iova", d->reg_iova, reg_wr(wr)->mr->iova),
			      MEMBER("mr.length", d->reg_length, reg_wr(wr)->mr->length),
			      MEMBER("access", d->reg_access, reg_wr(wr)->access),
			      MEMBER("mr.page_size", UINT64_C(1) << d->reg_log_page,
				     reg_wr(wr)->mr->page_size));
		break;
	default:
		if (qp->qp_type != IB_QPT_UD || !d->ah)
			break;
		pointer_check(&p, "ah", d->ah, &ud_wr(wr)->ah->drv);
		MEMBERS_CHECK(&p, MEMBER("remote_qpn", d->remote_qpn, ud_wr(wr)->remote_qpn),
			      MEMBER("remote_qkey", d->remote_qkey, ud_wr(wr)->remote_qkey));
		break;
	}
}

void posted_check(struct checker *c, const struct drv_qp *drv, const struct drv_send_wr *d)
{
	struct posting *p = running_find(postings);
	const struct ib_qp *qp = p ? p->qp : NULL;
	const struct ib_send_wr *wr = p ? p->wr : NULL;

	user_posted_check(c, drv, d);
	if (!p || !c || qp->drv != drv)
		return;
	for (; d && wr; d = d->next, wr = wr->next)
		request_says(c, qp, wr, d);
	p->wr = wr;
}

W(int, ib_post_send, struct ib_qp *qp, const struct ib_send_wr *send_wr,
  const struct ib_send_wr **bad_send_wr)
{
	__attribute__((cleanup(running_drop))) struct posting p = {.qp = qp, .wr = send_wr};

	running_begin(&p.running, &postings);
	return __real_ib_post_send(qp, send_wr, bad_send_wr);
}
