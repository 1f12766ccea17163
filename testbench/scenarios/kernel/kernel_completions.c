/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each field of a completion, to the kernel and to a process: of a datagram that differs from others in
 * all of them. Arming tells of completions that are there only if it is asked to. Armed for solicited
 * completions, a CQ has no event for others, also if it is asked to tell.
 */
#include "host_driver/uverbs/lib.h"
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

#include <arpa/inet.h>

enum {
	LMC = 2,
	FROM_BITS = 2,
	TO_BITS = 1,
	SL = 5,
	LEN = 100,
	GRH = 40,
	IMM = 0x00c0ffee,
	KEY = 0x8055,
	KEYS = 4, /* the last one is KEY */
	VENDOR = 0x93
};

static void write_tables(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned hops = 0; hops < 2; hops++)
		write_pkeys(a, 1, hops, PKEY_DEFAULT, 0x8011, 0x8022, [KEYS - 1] = KEY);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
}

static void start(struct tb *tb, struct kv *x)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .pkey_index = KEYS - 1, .qkey = KV_QKEY};

	must(ib_modify_qp(x->qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_QKEY));
	attr.qp_state = IB_QPS_RTR;
	must(ib_modify_qp(x->qp, &attr, IB_QP_STATE));
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(x->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN));
}

static void datagram_is(struct tb *tb, struct kv *x, struct kv *y, bool with_imm)
{
	kv_wait(y, 7, IB_WC_SUCCESS);
	expect_equal(y->wc.opcode, IB_WC_RECV);
	expect_equal(y->wc.byte_len, GRH + LEN);
	expect_true(y->wc.qp == y->qp);
	expect_equal(y->wc.src_qp, x->qp->qp_num);
	expect_equal(y->wc.slid, x->end->lid + FROM_BITS);
	expect_equal(y->wc.sl, SL);
	expect_equal(y->wc.dlid_path_bits, TO_BITS);
	expect_equal((unsigned)y->wc.wc_flags, IB_WC_GRH | (with_imm ? IB_WC_WITH_IMM : 0));
	if (with_imm)
		expect_equal(ntohl(y->wc.ex.imm_data), IMM);
	else
		expect_equal(y->wc.pkey_index, KEYS - 1);
	kv_wait(x, 8, IB_WC_SUCCESS);
}

static void datagrams(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct rdma_ah_attr to = kv_ah_to(b);
	struct ib_sge sge, into;
	const struct ib_recv_wr recv = {.wr_id = 7, .sg_list = &into, .num_sge = 1};
	struct ib_ud_wr wr = {.wr = {.wr_id = 8,
				     .sg_list = &sge,
				     .num_sge = 1,
				     .opcode = IB_WR_SEND,
				     .send_flags = IB_SEND_SIGNALED,
				     .ex.imm_data = htonl(IMM)},
			      .remote_qkey = KV_QKEY};
	struct kv x, y;

	to.dlid = (uint16_t)(b->lid + TO_BITS);
	to.src_path_bits = FROM_BITS;
	to.sl = SL;
	to.ah_flags = IB_AH_GRH;
	must(drv_query_gid(b->dev, 1, 0, to.grh.dgid.raw));
	if (!kv_open(a, &x, .type = IB_QPT_UD) || !kv_open(b, &y, .type = IB_QPT_UD))
		return;
	start(tb, &x);
	start(tb, &y);
	sge = kv_sge(&x, 0, LEN);
	into = kv_sge(&y, 0, GRH + LEN);
	wr.remote_qpn = y.qp->qp_num;
	wr.ah = kv_made(rdma_create_ah(x.pd, &to, 0));
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		wr.wr.opcode = i ? IB_WR_SEND_WITH_IMM : IB_WR_SEND;
		must(ib_post_recv(y.qp, &recv, NULL));
		must(ib_post_send(x.qp, &wr.wr, NULL));
		datagram_is(tb, &x, &y, i);
	}
	if (wr.ah)
		must(rdma_destroy_ah(wr.ah, 0));
	kv_close(&y);
	kv_close(&x);
}

/* What the library of a process makes of a completion. */
static void of_process(struct tb *tb)
{
	struct drv_wc d = {.wr_id = 0x1122334455667788,
			   .status = IBV_WC_REM_OP_ERR,
			   .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
			   .vendor_err = VENDOR,
			   .byte_len = 0x12345678,
			   .imm_data = 0x21222324,
			   .invalidated_rkey = 0x31323334,
			   .qp_num = 0x414243,
			   .src_qp = 0x515253,
			   .wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM,
			   .slid = 0x6162,
			   .sl = 7,
			   .dlid_path_bits = 0x71,
			   .pkey_index = 0x81};
	struct ibv_wc w;

	memset(&w, 0x77, sizeof(w));
	for (unsigned i = 0; i < 2; i++) {
		if (i)
			d.wc_flags = IBV_WC_GRH | IBV_WC_WITH_INV;
		uv_wc_fill(&d, &w);
		expect_equal(w.wr_id, d.wr_id);
		expect_equal(w.status, d.status);
		expect_equal(w.opcode, d.opcode);
		expect_equal(w.vendor_err, d.vendor_err);
		expect_equal(w.byte_len, d.byte_len);
		expect_equal(i ? w.invalidated_rkey : ntohl(w.imm_data),
			     i ? d.invalidated_rkey : d.imm_data);
		expect_equal(w.qp_num, d.qp_num);
		expect_equal(w.src_qp, d.src_qp);
		expect_equal((unsigned)w.wc_flags, d.wc_flags);
		expect_equal(w.slid, d.slid);
		expect_equal(w.sl, d.sl);
		expect_equal(w.dlid_path_bits, d.dlid_path_bits);
		expect_equal(w.pkey_index, d.pkey_index);
	}
}

/* Arming says 1 only if it is asked to tell, and there is something. */
static void arming(struct tb *tb, struct tb_end *a)
{
	struct ib_rdma_wr wr = {
		.wr = {.wr_id = 5, .opcode = IB_WR_RDMA_WRITE, .send_flags = IB_SEND_SIGNALED}};
	const enum ib_cq_notify_flags tell = IB_CQ_REPORT_MISSED_EVENTS;
	struct kv x;

	if (!kv_open(a, &x) || !kv_connect(&x, &x))
		return;
	/* the completion of a request that has no solicited event */
	must(ib_req_notify_cq(x.cq, IB_CQ_SOLICITED | tell));
	must(ib_post_send(x.qp, &wr.wr, NULL));
	pass_time(CFG_US(200));
	expect_equal(x.comp_events, 0);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_SOLICITED), 0);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_SOLICITED | tell), 1);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_NEXT_COMP), 0);
	kv_wait(&x, 5, IB_WC_SUCCESS);
	expect_equal((uint64_t)ib_req_notify_cq(x.cq, IB_CQ_NEXT_COMP | tell), 0);
	kv_close(&x);
}

SCENARIO(kernel_completions, "each field of a completion, to the kernel and to a process",
	 .no_qps = true, .any_packets = true, .lmc = LMC)
{
	write_tables(tb, a, b);
	datagrams(tb, a, b);
	of_process(tb);
	arming(tb, a);
}
