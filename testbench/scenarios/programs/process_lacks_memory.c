/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call of libibverbs allocates some, one after the other. Each call
 * that finds none says ENOMEM and gives back what it had taken until then, also of the process' heap. The next
 * one succeeds. Nothing else reaches the error paths of these calls.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/heap_pieces.h"

#include <fcntl.h>
#include <stdlib.h>

enum { LEN = 64, MANY = 24, DOUBLED = 100 };

struct objects {
	struct ibv_device **list;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_srq *srq, *xrc_srq;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp, *ud;
	struct ibv_ah *ah;
	uint8_t *buf;
};

static bool succeeds(int error)
{
	if (error)
		errno = error;
	return !error;
}

static int open_all(struct objects *o)
{
	struct ibv_cq_init_attr_ex ex = {.cqe = 4};

	MADE_WITHOUT_PIECES((o->list = ibv_get_device_list(NULL)));
	MADE_WITHOUT_PIECES((o->context = ibv_open_device(o->list[0])));
	ibv_free_device_list(o->list);
	o->buf = process_memory(LEN);
	MADE_WITHOUT_PIECES((o->pd = ibv_alloc_pd(o->context)));
	MADE_WITHOUT_PIECES((o->channel = ibv_create_comp_channel(o->context)));
	MADE_WITHOUT_PIECES((o->cq = ibv_create_cq(o->context, 2 * MANY, NULL, o->channel, 0)));
	MADE_WITHOUT_PIECES((o->cq_ex = ibv_create_cq_ex(o->context, &ex)));
	MADE_WITHOUT_PIECES((o->mr = ibv_reg_mr(o->pd, o->buf, LEN, IBV_ACCESS_LOCAL_WRITE)));
	MADE_WITHOUT_PIECES((o->mw = ibv_alloc_mw(o->pd, IBV_MW_TYPE_1)));
	return 0;
}

static int open_srqs(struct objects *o)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex xrc = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = o->pd,
		.cq = o->cq,
	};

	MADE_WITHOUT_PIECES((o->srq = ibv_create_srq(o->pd, &init)));
	MADE_WITHOUT_PIECES((o->xrcd = ibv_open_xrcd(o->context, &domain)));
	xrc.xrcd = o->xrcd;
	MADE_WITHOUT_PIECES((o->xrc_srq = ibv_create_srq_ex(o->context, &xrc)));
	return 0;
}

static int open_qps(struct objects *o)
{
	struct ibv_qp_init_attr init = {.send_cq = o->cq,
					.recv_cq = o->cq,
					.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = MANY,
						.max_recv_wr = 1,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_init_attr_ex ex = {.send_cq = o->cq,
					 .recv_cq = o->cq,
					 .qp_type = IBV_QPT_RC,
					 .cap = init.cap,
					 .comp_mask = IBV_QP_INIT_ATTR_PD |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					 .pd = o->pd,
					 .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5};
	struct ibv_ah_attr ah = {.dlid = 1, .port_num = 1};

	MADE_WITHOUT_PIECES((o->ud = ibv_create_qp(o->pd, &init)));
	MADE_WITHOUT_PIECES((o->qp = ibv_create_qp_ex(o->context, &ex)));
	MADE_WITHOUT_PIECES((o->ah = ibv_create_ah(o->pd, &ah)));
	MADE_WITHOUT_PIECES(succeeds(ibv_modify_qp(
		o->ud, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY)));
	attr.qp_state = IBV_QPS_RTR;
	MADE_WITHOUT_PIECES(succeeds(ibv_modify_qp(o->ud, &attr, IBV_QP_STATE)));
	attr.qp_state = IBV_QPS_RTS;
	MADE_WITHOUT_PIECES(succeeds(ibv_modify_qp(o->ud, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN)));
	return 0;
}

static int use_all(struct objects *o)
{
	const union ibv_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 9}};
	struct ibv_srq_attr srq = {0};
	struct ibv_send_wr wr[MANY], *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	MADE_WITHOUT_PIECES(succeeds(ibv_query_qp(o->ud, &attr, IBV_QP_STATE, &init)));
	if (attr.qp_state != IBV_QPS_RTS)
		return __LINE__;
	MADE_WITHOUT_PIECES(succeeds(ibv_modify_srq(o->srq, &srq, IBV_SRQ_LIMIT)));
	MADE_WITHOUT_PIECES(succeeds(ibv_query_srq(o->srq, &srq)));
	if (srq.max_wr < 4)
		return __LINE__;

	MADE_WITHOUT_PIECES(succeeds(ibv_attach_mcast(o->ud, &group, 0xc001)));
	if (ibv_detach_mcast(o->ud, &group, 0xc001))
		return __LINE__;
	MADE_WITHOUT_PIECES(succeeds(ibv_resize_cq(o->cq, DOUBLED)));
	for (unsigned i = 0; i < MANY; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i,
					     .next = i + 1 < MANY ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_SEND,
					     .send_flags = i + 1 < MANY ? 0 : IBV_SEND_SIGNALED,
					     .wr.ud = {.ah = o->ah, .remote_qpn = 0xfffffe}};
	MADE_WITHOUT_PIECES(succeeds(ibv_post_send(o->ud, wr, &bad)));
	while (!ibv_poll_cq(o->cq, 1, &wc))
		process_sleep_us(1);
	return wc.status || wc.wr_id != MANY - 1 ? __LINE__ : 0;
}

static int close_all(struct objects *o)
{
	if (ibv_destroy_ah(o->ah) || ibv_destroy_qp(o->qp) || ibv_destroy_qp(o->ud) ||
	    ibv_destroy_srq(o->xrc_srq) || ibv_close_xrcd(o->xrcd) || ibv_destroy_srq(o->srq))
		return __LINE__;
	if (ibv_dealloc_mw(o->mw) || ibv_dereg_mr(o->mr) ||
	    ibv_destroy_cq(ibv_cq_ex_to_cq(o->cq_ex)) || ibv_destroy_cq(o->cq) ||
	    ibv_destroy_comp_channel(o->channel) || ibv_dealloc_pd(o->pd))
		return __LINE__;
	return ibv_close_device(o->context) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct objects *o = calloc(1, sizeof(*o));
	const unsigned pieces = heap_pieces(uv_process_current());
	int rc = o ? open_all(o) : __LINE__;

	if (!rc)
		rc = open_srqs(o);
	if (!rc)
		rc = open_qps(o);
	if (!rc)
		rc = use_all(o);
	if (!rc)
		rc = close_all(o);
	free(o);
	return rc || heap_pieces(uv_process_current()) == pieces ? rc : __LINE__;
}

SCENARIO(process_lacks_memory, "each call of libibverbs finds no memory at each place in turn",
	 .no_qps = true, .any_packets = true)
{
	expect_exit(start_process(a, program, NULL), 0);
}
