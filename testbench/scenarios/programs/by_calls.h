/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process with two queue pairs in one port, connected to each other, the first of which posts by calls
 * (ibv_wr_*). Each function returns 0 or the line that failed. The memory must always equal `image`, which
 * says byte for byte what the requests should have made of it.
 */
#ifndef TESTBENCH_SCENARIOS_PROGRAMS_BY_CALLS_H
#define TESTBENCH_SCENARIOS_PROGRAMS_BY_CALLS_H

#include "testbench/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>

enum { BYTES = 16384, HALF = BYTES / 2, SGES = 3, INLINE = 64, QKEY = 0x1234, PSN = 0xfffffe };
enum { WAIT_US = 100000 };

struct by_calls {
	enum ibv_qp_type type;
	uint64_t ops, peer_ops;
	uint64_t wc_flags; /* of its CQs, besides the standard ones */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq_ex *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_qp_ex *calls; /* of qp[0] */
	struct ibv_xrcd *xrcd;   /* XRC: the peer's, and its SRQ */
	struct ibv_srq *srq;
	struct ibv_ah_attr path;
	uint8_t *buf; /* the first half is the requester's, the second one the responder's */
	uint8_t image[BYTES];
};

static inline int open_srq(struct by_calls *x)
{
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 4, .max_sge = 1},
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
						    IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
					    .srq_type = IBV_SRQT_XRC,
					    .pd = x->pd,
					    .cq = ibv_cq_ex_to_cq(x->cq[1])};

	x->xrcd = init.xrcd = ibv_open_xrcd(x->context, &domain);
	x->srq = x->xrcd ? ibv_create_srq_ex(x->context, &init) : NULL;
	return x->srq ? 0 : __LINE__;
}

static inline struct ibv_qp *open_qp(struct by_calls *x, unsigned i)
{
	const bool target = i && x->type == IBV_QPT_XRC_SEND;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = target ? IBV_QPT_XRC_RECV : x->type,
		.send_cq = ibv_cq_ex_to_cq(x->cq[i]),
		.recv_cq = x->type == IBV_QPT_XRC_SEND ? NULL : ibv_cq_ex_to_cq(x->cq[i]),
		.cap = {.max_send_wr = 16,
			.max_recv_wr = x->type == IBV_QPT_XRC_SEND ? 0 : 8,
			.max_send_sge = SGES,
			.max_recv_sge = 1,
			.max_inline_data = INLINE},
		.comp_mask = target ? IBV_QP_INIT_ATTR_XRCD
				    : IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = x->pd,
		.xrcd = x->xrcd,
		.send_ops_flags = i ? x->peer_ops : x->ops};

	return ibv_create_qp_ex(x->context, &init);
}

static inline int attributes(const struct by_calls *x, bool target, unsigned step)
{
	static const int ud[] = {IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0, IBV_QP_SQ_PSN};
	static const int all[] = {IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
				  IBV_QP_SQ_PSN};
	int mask = IBV_QP_STATE | (x->type == IBV_QPT_UD ? ud : all)[step];

	if (x->type != IBV_QPT_RC && x->type != IBV_QPT_XRC_SEND)
		return mask;
	if (step == 1 && (x->type == IBV_QPT_RC || target))
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (step == 2)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

static inline int connect_qp(struct by_calls *x, unsigned i)
{
	const bool target = i && x->type == IBV_QPT_XRC_SEND;
	struct ibv_qp_attr attr = {.port_num = 1,
				   .qkey = QKEY,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = x->qp[!i]->qp_num,
				   .rq_psn = PSN,
				   .sq_psn = PSN,
				   .max_dest_rd_atomic = 4,
				   .max_rd_atomic = 4,
				   .min_rnr_timer = 12,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .ah_attr = x->path};

	if (x->type != IBV_QPT_UC)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	for (unsigned step = 0; step < (target ? 2 : 3); step++) {
		attr.qp_state = (enum ibv_qp_state)(IBV_QPS_INIT + step);
		if (ibv_modify_qp(x->qp[i], &attr, attributes(x, target, step)))
			return __LINE__;
	}
	return 0;
}

static inline int open_context(struct by_calls *x)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	x->context = list ? ibv_open_device(list[0]) : NULL;
	x->buf = process_memory(BYTES);
	if (!x->context || !x->buf || ibv_query_port(x->context, 1, &port))
		return __LINE__;
	ibv_free_device_list(list);
	for (unsigned i = 0; i < BYTES; i++)
		x->buf[i] = x->image[i] = (uint8_t)(i * 7 + i / 251);
	x->path = (struct ibv_ah_attr){
		.dlid = port.lid, .port_num = 1, .is_global = 1, .grh.hop_limit = 1};
	return ibv_query_gid(x->context, 1, 0, &x->path.grh.dgid) ? __LINE__ : 0;
}

static inline int open_by_calls(struct by_calls *x)
{
	struct ibv_cq_init_attr_ex cq = {.cqe = 32,
					 .wc_flags = IBV_WC_STANDARD_FLAGS | x->wc_flags};
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

	if (open_context(x))
		return __LINE__;
	x->pd = ibv_alloc_pd(x->context);
	x->mr = x->pd ? ibv_reg_mr(x->pd, x->buf, BYTES, access) : NULL;
	for (unsigned i = 0; i < 2; i++)
		x->cq[i] = x->mr ? ibv_create_cq_ex(x->context, &cq) : NULL;
	if (!x->cq[0] || !x->cq[1] || (x->type == IBV_QPT_XRC_SEND && open_srq(x)))
		return __LINE__;
	for (unsigned i = 0; i < 2; i++)
		x->qp[i] = open_qp(x, i);
	if (!x->qp[0] || !x->qp[1] || connect_qp(x, 0) || connect_qp(x, 1))
		return __LINE__;
	x->calls = ibv_qp_to_qp_ex(x->qp[0]);
	return x->calls ? 0 : __LINE__;
}

static inline int close_by_calls(struct by_calls *x)
{
	if (memcmp(x->buf, x->image, BYTES))
		return __LINE__;
	for (unsigned i = 0; i < 2; i++)
		if (ibv_destroy_qp(x->qp[i]))
			return __LINE__;
	if (x->srq && (ibv_destroy_srq(x->srq) || ibv_close_xrcd(x->xrcd)))
		return __LINE__;
	for (unsigned i = 0; i < 2; i++)
		if (ibv_destroy_cq(ibv_cq_ex_to_cq(x->cq[i])))
			return __LINE__;
	return ibv_dereg_mr(x->mr) || ibv_dealloc_pd(x->pd) || ibv_close_device(x->context)
		       ? __LINE__
		       : 0;
}

/* The address of that byte of the memory. */
static inline uint64_t at(const struct by_calls *x, unsigned offset)
{
	return (uintptr_t)x->buf + offset;
}

/* A receive of the responder, into `len` bytes at offset `at`. */
static inline int receive(struct by_calls *x, uint64_t wr_id, unsigned at, unsigned len)
{
	struct ibv_sge sge = {(uintptr_t)x->buf + at, len, x->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	return x->srq ? ibv_post_srq_recv(x->srq, &wr, &bad) : ibv_post_recv(x->qp[1], &wr, &bad);
}

/* Waits for the next entry; between this and ibv_end_poll it can be read. */
static inline int await(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {0};
	int rc = ibv_start_poll(cq, &attr);

	for (unsigned us = 0; us < WAIT_US && rc == ENOENT; us++) {
		process_sleep_us(1);
		rc = ibv_start_poll(cq, &attr);
	}
	return rc;
}

/* The next entry of the CQ of qp[i] is this one. Flags and length are compared where they are defined. */
static inline int next_is(struct by_calls *x, unsigned i, const struct ibv_wc *want)
{
	const unsigned flags =
		x->type == IBV_QPT_UD ? ~0u : ~(unsigned)IBV_WC_GRH; /* see ibv_poll_cq(3) */
	struct ibv_cq_ex *cq = x->cq[i];

	if (await(cq) || cq->status != want->status || cq->wr_id != want->wr_id ||
	    ibv_wc_read_qp_num(cq) != x->qp[i]->qp_num)
		return __LINE__;
	if (want->status == IBV_WC_SUCCESS && ibv_wc_read_opcode(cq) != want->opcode)
		return __LINE__;
	if (want->opcode & IBV_WC_RECV && (ibv_wc_read_wc_flags(cq) & flags) != want->wc_flags)
		return __LINE__;
	if ((want->byte_len || want->opcode & IBV_WC_RECV) &&
	    ibv_wc_read_byte_len(cq) != want->byte_len)
		return __LINE__;
	if (want->wc_flags & IBV_WC_WITH_IMM && ibv_wc_read_imm_data(cq) != want->imm_data)
		return __LINE__;
	if (want->wc_flags & IBV_WC_WITH_INV &&
	    ibv_wc_read_invalidated_rkey(cq) != want->invalidated_rkey)
		return __LINE__;
	ibv_end_poll(cq);
	return 0;
}

/* Nothing more has completed after a while, and the memory is what it should be. */
static inline int nothing_else(struct by_calls *x)
{
	struct ibv_poll_cq_attr attr = {0};

	process_sleep_us(20);
	for (unsigned i = 0; i < 2; i++)
		if (ibv_start_poll(x->cq[i], &attr) != ENOENT)
			return __LINE__;
	return memcmp(x->buf, x->image, BYTES) ? __LINE__ : 0;
}

/* Adds a WRITE, and one of 8 bytes from the offset that its number is. */
static inline void any_write(struct by_calls *x, unsigned wr_id, unsigned to)
{
	x->calls->wr_id = wr_id;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, to));
}

static inline void right_write(struct by_calls *x, unsigned wr_id, unsigned to)
{
	any_write(x, wr_id, to);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, wr_id), 8);
}

#define IS(x, i, ...) next_is(x, i, &(const struct ibv_wc){__VA_ARGS__})

#endif
