/* SPDX-License-Identifier: Apache-2.0 */
/* A process that reads the completions of datagrams from an extended queue, and datagrams that differ in
 * every field of their completions. */
#ifndef TESTBENCH_SCENARIOS_COMPLETION_FIELD_BY_FIELD_H
#define TESTBENCH_SCENARIOS_COMPLETION_FIELD_BY_FIELD_H

#include "testbench/programs.h"
#include "testbench/services.h"

enum { LMC = 2, QKEY = 0x11111111, GRH = 40, LEN = 100, SLOT = 256, IMM = 0x00c0ffee };
enum { FROM_BITS = 2, TO_BITS = 1, SL = 5 };

struct reader {
	struct program p;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	uint64_t flags;
	uint32_t qpn;              /* of qp */
	struct ibv_wc small, full; /* what the completions of two datagrams have */
	uint64_t posted;           /* the device's clock before they were sent */
};

static inline int open_qp(struct reader *r)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ibv_cq_ex_to_cq(r->cq),
		.recv_cq = ibv_cq_ex_to_cq(r->cq),
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	r->qp = ibv_create_qp(r->p.pd, &init);
	if (!r->qp || ibv_modify_qp(r->qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return __LINE__;
	r->qpn = r->qp->qp_num;
	attr.qp_state = IBV_QPS_RTR;
	return ibv_modify_qp(r->qp, &attr, IBV_QP_STATE) ? __LINE__ : 0;
}

static inline int open_reader(void *arg)
{
	struct reader *r = arg;
	struct ibv_cq_init_attr_ex init = {.cqe = 8, .cq_context = r, .wc_flags = r->flags};

	if (!r->p.context && program_open(&r->p))
		return __LINE__;
	r->cq = ibv_create_cq_ex(r->p.context, &init);
	if (!r->cq || r->cq->cqe < 8 || r->cq->cq_context != r || r->cq->context != r->p.context ||
	    r->cq->channel)
		return __LINE__;
	return open_qp(r);
}

static inline int close_reader(void *arg)
{
	struct reader *r = arg;

	return ibv_destroy_qp(r->qp) || ibv_destroy_cq(ibv_cq_ex_to_cq(r->cq)) ? __LINE__ : 0;
}

/* Three receives, the first of them with the number 1. */
static inline int receive(void *arg)
{
	struct reader *r = arg;

	for (unsigned i = 0; i < 3; i++) {
		struct ibv_sge sge = {(uintptr_t)r->p.buf + i * SLOT, GRH + LEN, r->p.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i + 1, .sg_list = &sge, .num_sge = 1}, *bad;

		if (ibv_post_recv(r->qp, &wr, &bad))
			return __LINE__;
	}
	return 0;
}

static inline struct ibv_wc read_entry(struct ibv_cq_ex *cq)
{
	return (struct ibv_wc){.wr_id = cq->wr_id,
			       .status = cq->status,
			       .opcode = ibv_wc_read_opcode(cq),
			       .vendor_err = ibv_wc_read_vendor_err(cq),
			       .byte_len = ibv_wc_read_byte_len(cq),
			       .imm_data = ibv_wc_read_imm_data(cq),
			       .qp_num = ibv_wc_read_qp_num(cq),
			       .src_qp = ibv_wc_read_src_qp(cq),
			       .wc_flags = ibv_wc_read_wc_flags(cq),
			       .slid = (uint16_t)ibv_wc_read_slid(cq),
			       .sl = ibv_wc_read_sl(cq),
			       .dlid_path_bits = ibv_wc_read_dlid_path_bits(cq)};
}

/* The entry is that of a datagram, received by the request of that number. */
static inline bool is(const struct reader *r, const struct ibv_wc *got, const struct ibv_wc *want,
		      uint64_t wr_id)
{
	return got->wr_id == wr_id && !got->status && got->opcode == IBV_WC_RECV &&
	       got->byte_len == want->byte_len && got->imm_data == want->imm_data &&
	       got->qp_num == r->qpn && got->src_qp == want->src_qp &&
	       got->wc_flags == want->wc_flags && got->slid == want->slid && got->sl == want->sl &&
	       got->dlid_path_bits == want->dlid_path_bits;
}

/* A small datagram without anything, then twice one that uses all fields. */
static inline void send_three(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			      struct reader *r)
{
	struct drv_ah_attr ah = ah_to(b);

	r->posted = drv_clock_read(b->dev);
	r->small = (struct ibv_wc){
		.byte_len = GRH + LEN / 2, .src_qp = drv_qp_num(x), .slid = (uint16_t)a->lid};
	r->full = (struct ibv_wc){.byte_len = GRH + LEN,
				  .imm_data = htobe32(IMM),
				  .src_qp = drv_qp_num(x),
				  .wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM,
				  .slid = (uint16_t)(a->lid + FROM_BITS),
				  .sl = SL,
				  .dlid_path_bits = TO_BITS};
	send_on(a, x, .wr_id = 1, .len = LEN / 2, .ah = &ah, .remote_qpn = r->qpn, .qkey = QKEY);
	ah.dlid += TO_BITS;
	ah.src_path_bits = FROM_BITS;
	ah.sl = SL;
	ah.is_global = true;
	must(drv_query_gid(b->dev, 1, 0, ah.dgid));
	send_on(a, x, .wr_id = 2, .len = LEN, .ah = &ah, .remote_qpn = r->qpn, .qkey = QKEY,
		.with_imm = true, .imm = IMM, .repeat = 2);
	expect_cqes(a, 3);
	pass_time(CFG_US(100));
}

#endif
