// SPDX-License-Identifier: Apache-2.0
/* As posted.c, for user verbs: requests that the library passes on to the driver say what the process
 * has asked for. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/asked/running.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>

static struct running *postings;

static void bind_says(const struct passing *p, const struct ibv_send_wr *wr,
		      const struct drv_send_wr *d)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	const struct ibv_mw *mw = wr->bind_mw.mw;

	pointer_check(p, "bind_mw.mw", d->bind_mw, container_of(mw, struct uv_mw, ibv)->hw);
	pointer_check(p, "bind_mw.bind_info.mr", d->bind_mr,
		      info->mr ? container_of(info->mr, struct uv_mr, ibv)->hw : NULL);
	MEMBERS_CHECK(
		p,
		MEMBER("bind_mw.rkey", d->bind_rkey,
		       mw->type == IBV_MW_TYPE_2 ? wr->bind_mw.rkey : 0),
		MEMBER("bind_mw.bind_info.addr", d->bind_addr, info->addr),
		MEMBER("bind_mw.bind_info.length", d->bind_length, info->length),
		MEMBER("bind_mw.bind_info.mw_access_flags", d->bind_access, info->mw_access_flags));
}

static void kind_says(const struct passing *p, const struct ibv_qp *qp,
		      const struct ibv_send_wr *wr, const struct drv_send_wr *d)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		MEMBERS_CHECK(
			p, MEMBER("wr.rdma.remote_addr", d->remote_addr, wr->wr.rdma.remote_addr),
			MEMBER("wr.rdma.rkey", d->rkey, wr->wr.rdma.rkey));
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		MEMBERS_CHECK(
			p,
			MEMBER("wr.atomic.remote_addr", d->remote_addr, wr->wr.atomic.remote_addr),
			MEMBER("wr.atomic.rkey", d->rkey, wr->wr.atomic.rkey),
			MEMBER("wr.atomic.compare_add", d->compare_add, wr->wr.atomic.compare_add),
			MEMBER("wr.atomic.swap", d->swap, wr->wr.atomic.swap));
		break;
	case IBV_WR_BIND_MW:
		bind_says(p, wr, d);
		break;
	default:
		if (qp->qp_type == IBV_QPT_UD)
			MEMBERS_CHECK(
				p, MEMBER("wr.ud.remote_qpn", d->remote_qpn, wr->wr.ud.remote_qpn),
				MEMBER("wr.ud.remote_qkey", d->remote_qkey, wr->wr.ud.remote_qkey));
		break;
	}
}

static void request_says(struct checker *c, const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			 const struct drv_send_wr *d)
{
	const bool imm =
		wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	const bool inv = wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV;
	const struct passing p = {
		c, RULE_request_differs, {GUEST_QP, qp->qp_num}, "ibv_post_send", d, sizeof(*d)};

	MEMBERS_CHECK(&p, MEMBER("wr_id", d->wr_id, wr->wr_id),
		      MEMBER("send_flags", d->send_flags, wr->send_flags),
		      MEMBER("num_sge", d->num_sge, wr->num_sge),
		      MEMBER("opcode", d->opcode, wr->opcode),
		      MEMBER("imm_data", d->imm_data, imm ? ntohl(wr->imm_data) : 0),
		      MEMBER("invalidate_rkey", d->invalidate_rkey, inv ? wr->invalidate_rkey : 0));
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		MEMBERS_CHECK(&p, MEMBER("qp_type.xrc.remote_srqn", d->remote_srqn,
					 wr->qp_type.xrc.remote_srqn));
	kind_says(&p, qp, wr, d);
}

void user_posted_check(struct checker *c, const struct drv_qp *drv, const struct drv_send_wr *d)
{
	struct posting *p = running_find(postings);
	const struct ibv_qp *qp = p ? p->qp : NULL;
	const struct ibv_send_wr *wr = p ? p->wr : NULL;

	if (!p || !c || container_of(p->qp, const struct uv_qp, ibv)->hw != drv)
		return;
	for (; d && wr; d = d->next, wr = wr->next)
		request_says(c, qp, wr, d);
	p->wr = wr;
}

W(int, ibv_post_send, struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	__attribute__((cleanup(running_drop))) struct posting p = {.qp = qp, .wr = wr};

	running_begin(&p.running, &postings);
	return __real_ibv_post_send(qp, wr, bad);
}

/* What the functions ibv_wr_*() have gathered. */
W(int, uv_post_send, struct ibv_qp *qp, struct ibv_send_wr *wr, bool all, struct ibv_send_wr **bad)
{
	__attribute__((cleanup(running_drop))) struct posting p = {.qp = qp, .wr = wr};

	running_begin(&p.running, &postings);
	return __real_uv_post_send(qp, wr, all, bad);
}
