// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: requests that the RDMA core passes on to the driver say what the core was asked for. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>

/* A call of ib_post_send() under way, in any thread. */
struct posting {
	struct posting *next;
	unsigned thread;
	const struct ib_qp *qp;
	const struct ib_send_wr *wr; /* the next to be passed on */
};

static struct posting *postings;

static void posting_drop(struct posting *p)
{
	struct posting **at = &postings;

	wrote_end();
	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
}

#define SAME(name, is, asked)                                                                      \
	{                                                                                          \
		name, (uint64_t)(is), (uint64_t)(asked)                                            \
	}

static void request_says(struct checker *c, const struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct drv_send_wr *d)
{
	const bool imm =
		wr->opcode == IB_WR_SEND_WITH_IMM || wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	const bool inv = wr->opcode == IB_WR_SEND_WITH_INV || wr->opcode == IB_WR_LOCAL_INV;
	const struct member all[] = {
		SAME("wr_id", d->wr_id, wr->wr_id),
		SAME("send_flags", d->send_flags, wr->send_flags),
		SAME("num_sge", d->num_sge, wr->num_sge),
		SAME("opcode", d->opcode,
		     wr->opcode == IB_WR_FAST_REG_MR ? (unsigned)IBV_WR_REG_MR
						     : (unsigned)wr->opcode),
		SAME("imm_data", d->imm_data, imm ? ntohl(wr->ex.imm_data) : 0),
		SAME("invalidate_rkey", d->invalidate_rkey, inv ? wr->ex.invalidate_rkey : 0),
		SAME("xrc_remote_srq_num", d->remote_srqn, wr->xrc_remote_srq_num),
	};
	const struct passing p = {
		c, RULE_request_differs, {GUEST_QP, qp->qp_num}, "ib_post_send", d, sizeof(*d)};

	members_check(&p, all, ARRAY_SIZE(all));
	pointer_check(&p, "sg_list", d->sg_list, wr->sg_list);
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		MEMBERS_CHECK(&p, SAME("remote_addr", d->remote_addr, rdma_wr(wr)->remote_addr),
			      SAME("rkey", d->rkey, rdma_wr(wr)->rkey));
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		MEMBERS_CHECK(&p, SAME("remote_addr", d->remote_addr, atomic_wr(wr)->remote_addr),
			      SAME("rkey", d->rkey, atomic_wr(wr)->rkey),
			      SAME("compare_add", d->compare_add, atomic_wr(wr)->compare_add),
			      SAME("swap", d->swap, atomic_wr(wr)->swap),
			      SAME("compare_add_mask", d->compare_add_mask,
				   atomic_wr(wr)->compare_add_mask),
			      SAME("swap_mask", d->swap_mask, atomic_wr(wr)->swap_mask));
		break;
	case IB_WR_REG_MR:
		pointer_check(&p, "mr", d->reg_mr, reg_wr(wr)->mr->drv);
		MEMBERS_CHECK(&p, SAME("key", d->reg_key, reg_wr(wr)->key),
			      SAME("mr.iova", d->reg_iova, reg_wr(wr)->mr->iova),
			      SAME("mr.length", d->reg_length, reg_wr(wr)->mr->length),
			      SAME("access", d->reg_access, reg_wr(wr)->access),
			      SAME("mr.page_size", UINT64_C(1) << d->reg_log_page,
				   reg_wr(wr)->mr->page_size));
		break;
	default:
		if (qp->qp_type != IB_QPT_UD || !d->ah)
			break;
		pointer_check(&p, "ah", d->ah, &ud_wr(wr)->ah->drv);
		MEMBERS_CHECK(&p, SAME("remote_qpn", d->remote_qpn, ud_wr(wr)->remote_qpn),
			      SAME("remote_qkey", d->remote_qkey, ud_wr(wr)->remote_qkey));
		break;
	}
}

void posted_check(struct checker *c, const struct drv_qp *drv, const struct drv_send_wr *d)
{
	const unsigned thread = ask_thread();
	struct posting *p = postings;

	user_posted_check(c, drv, d);
	while (p && p->thread != thread)
		p = p->next;
	if (!p || !c || p->qp->drv != drv)
		return;
	for (; d && p->wr; d = d->next, p->wr = p->wr->next)
		request_says(c, p->qp, p->wr, d);
}

W(int, ib_post_send, struct ib_qp *qp, const struct ib_send_wr *send_wr,
  const struct ib_send_wr **bad_send_wr)
{
	__attribute__((cleanup(posting_drop))) struct posting p = {postings, ask_thread(), qp,
								   send_wr};

	wrote_begin();
	postings = &p;
	return __real_ib_post_send(qp, send_wr, bad_send_wr);
}
