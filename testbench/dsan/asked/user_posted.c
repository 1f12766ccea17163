// SPDX-License-Identifier: Apache-2.0
/* As posted.c, for user verbs: requests that the library passes on to the driver say what the process
 * has asked for. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

#include <arpa/inet.h>

/* A call that posts requests of a process, in any thread. */
struct posting {
	struct posting *next;
	unsigned thread;
	const struct ibv_qp *qp;
	const struct ibv_send_wr *wr; /* the next to be passed on */
};

static struct posting *postings;

static void posting_begin(struct posting *p)
{
	p->next = postings;
	p->thread = ask_thread();
	postings = p;
	wrote_begin();
}

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
		SAME("bind_mw.rkey", d->bind_rkey,
		     mw->type == IBV_MW_TYPE_2 ? wr->bind_mw.rkey : 0),
		SAME("bind_mw.bind_info.addr", d->bind_addr, info->addr),
		SAME("bind_mw.bind_info.length", d->bind_length, info->length),
		SAME("bind_mw.bind_info.mw_access_flags", d->bind_access, info->mw_access_flags));
}

static void kind_says(const struct passing *p, const struct ibv_qp *qp,
		      const struct ibv_send_wr *wr, const struct drv_send_wr *d)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		MEMBERS_CHECK(p,
			      SAME("wr.rdma.remote_addr", d->remote_addr, wr->wr.rdma.remote_addr),
			      SAME("wr.rdma.rkey", d->rkey, wr->wr.rdma.rkey));
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		MEMBERS_CHECK(
			p, SAME("wr.atomic.remote_addr", d->remote_addr, wr->wr.atomic.remote_addr),
			SAME("wr.atomic.rkey", d->rkey, wr->wr.atomic.rkey),
			SAME("wr.atomic.compare_add", d->compare_add, wr->wr.atomic.compare_add),
			SAME("wr.atomic.swap", d->swap, wr->wr.atomic.swap));
		break;
	case IBV_WR_BIND_MW:
		bind_says(p, wr, d);
		break;
	default:
		if (qp->qp_type == IBV_QPT_UD)
			MEMBERS_CHECK(
				p, SAME("wr.ud.remote_qpn", d->remote_qpn, wr->wr.ud.remote_qpn),
				SAME("wr.ud.remote_qkey", d->remote_qkey, wr->wr.ud.remote_qkey));
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

	MEMBERS_CHECK(&p, SAME("wr_id", d->wr_id, wr->wr_id),
		      SAME("send_flags", d->send_flags, wr->send_flags),
		      SAME("num_sge", d->num_sge, wr->num_sge),
		      SAME("opcode", d->opcode, wr->opcode),
		      SAME("imm_data", d->imm_data, imm ? ntohl(wr->imm_data) : 0),
		      SAME("invalidate_rkey", d->invalidate_rkey, inv ? wr->invalidate_rkey : 0));
	kind_says(&p, qp, wr, d);
}

void user_posted_check(struct checker *c, const struct drv_qp *drv, const struct drv_send_wr *d)
{
	const unsigned thread = ask_thread();
	struct posting *p = postings;

	while (p && p->thread != thread)
		p = p->next;
	if (!p || !c || container_of(p->qp, const struct uv_qp, ibv)->hw != drv)
		return;
	for (; d && p->wr; d = d->next, p->wr = p->wr->next)
		request_says(c, p->qp, p->wr, d);
}

W(int, ibv_post_send, struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	__attribute__((cleanup(posting_drop))) struct posting p = {.qp = qp, .wr = wr};

	posting_begin(&p);
	return __real_ibv_post_send(qp, wr, bad);
}

/* What the functions ibv_wr_*() have gathered. */
W(int, uv_post_send, struct ibv_qp *qp, struct ibv_send_wr *wr, bool all, struct ibv_send_wr **bad)
{
	__attribute__((cleanup(posting_drop))) struct posting p = {.qp = qp, .wr = wr};

	posting_begin(&p);
	return __real_uv_post_send(qp, wr, all, bad);
}
