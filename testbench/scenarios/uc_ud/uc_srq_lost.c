/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UC and UD with an SRQ. When a message loses a packet or does not fit, the receive it had taken
 * completes in error: it cannot return to the SRQ, because others may have taken the next receive.
 * The next message takes another receive, and the queue pair stays in RTS. Cases: the first packet
 * is lost (no receive was taken), a middle or the last packet is lost; the loss is detected by the
 * first packet of the next message, or by its only packet; an R_Key is refused after a WRITE with
 * immediate took a receive.
 * behaviours: UC-1 SRQ-4 IBA-9.9-class-E
 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 3 * MTU, QKEY = 0x77, GRH = 40 };

struct side {
	struct drv_qp *x, *y;
	struct drv_srq *srq;
};

/* Sends a message of three packets that loses one of them, and then another message. */
static void lose(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct side *s,
		 enum bth_opcode which, uint32_t next_len)
{
	const bool taken = which != BTH_UC_SEND_FIRST;

	recv_srq(b, s->srq, .wr_id = 1, .len = LEN);
	recv_srq(b, s->srq, .wr_id = 2, .len = LEN);
	tb_fault(tb, TB_HERE, FAULT_DROP, a_to_b, which,
		 &(const struct tb_fault){
			 .psn = TB_ANY, .qpn = TB_ANY, .transmission = TB_ANY, .times = 1});
	send_on(a, s->x, .wr_id = 10, .len = LEN);
	send_on(a, s->x, .wr_id = 11, .len = next_len, .src = LEN);
	expect_cqe(a, .wr_id = 10);
	expect_cqe(a, .wr_id = 11);
	if (taken)
		expect_cqe(b, .wr_id = 1, .on = s->y, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_cqe(b, .wr_id = taken ? 2 : 1, .on = s->y, .byte_len = next_len);
	expect_data(b, .len = next_len, .src = LEN);
	if (next_len < LEN)
		ignore_data(b, .dst = next_len, .len = LEN - next_len);
	if (!taken) {
		send_on(a, s->x, .wr_id = 12, .len = LEN);
		expect_cqe(a, .wr_id = 12);
		expect_cqe(b, .wr_id = 2, .on = s->y);
		expect_data(b, .len = LEN);
	}
}

static void key_refused(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct side *s)
{
	recv_srq(b, s->srq, .wr_id = 3, .len = LEN);
	recv_srq(b, s->srq, .wr_id = 4, .len = LEN);
	for (unsigned i = 0; i < 2; i++)
		send_on(a, s->x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 20 + i, .with_imm = true,
			.imm = i, .len = 64, .dst = 4096, .rkey = drv_mr_rkey(b->mr) ^ !i);
	expect_cqe(a, .wr_id = 20);
	expect_cqe(a, .wr_id = 21);
	expect_cqe(b, .wr_id = 3, .on = s->y, .status = IBV_WC_LOC_ACCESS_ERR);
	expect_cqe(b, .wr_id = 4, .on = s->y, .imm = 1);
	expect_data(b, .dst = 4096, .len = 64);
}

static void datagram_too_long(struct tb *tb, struct tb_end *a, struct tb_end *b,
			      const struct side *s)
{
	const struct drv_ah_attr ah = ah_to(b);

	recv_srq(b, s->srq, .wr_id = 5, .dst = 8192, .len = GRH + 64);
	recv_srq(b, s->srq, .wr_id = 6, .dst = 8192, .len = GRH + 64);
	send_on(a, s->x, .wr_id = 30, .len = 65, .ah = &ah, .remote_qpn = drv_qp_num(s->y),
		.qkey = QKEY);
	send_on(a, s->x, .wr_id = 31, .len = 64, .ah = &ah, .remote_qpn = drv_qp_num(s->y),
		.qkey = QKEY);
	expect_cqe(a, .wr_id = 30);
	expect_cqe(a, .wr_id = 31);
	expect_cqe(b, .wr_id = 5, .on = s->y, .status = IBV_WC_LOC_LEN_ERR);
	expect_cqe(b, .wr_id = 6, .on = s->y, .byte_len = GRH + 64);
	expect_data(b, .dst = 8192 + GRH, .len = 64);
}

SCENARIO(uc_srq_lost, "UC and UD behind an SRQ: a message that fails ends its receive in error",
	 .mtu = IBV_MTU_256, .any_packets = true)
{
	static const enum bth_opcode which[] = {BTH_UC_SEND_FIRST, BTH_UC_SEND_MIDDLE,
						BTH_UC_SEND_LAST};
	struct drv_srq *srq = new_srq(b);
	struct side uc = {new_qp(a, .type = IBV_QPT_UC), new_qp(b, .type = IBV_QPT_UC, .srq = srq),
			  srq};
	struct side ud = {new_qp(a, .type = IBV_QPT_UD), new_qp(b, .type = IBV_QPT_UD, .srq = srq),
			  srq};
	struct drv_qp_attr attr = {0};

	connect_two(uc.x, uc.y);
	start_ud(ud.x, QKEY, 0);
	start_ud(ud.y, QKEY, 0);
	for (unsigned i = 0; i < 3 && still_right(); i++) {
		lose(tb, a, b, &uc, which[i], LEN);
		lose(tb, a, b, &uc, which[i], MTU);
	}
	key_refused(tb, a, b, &uc);
	datagram_too_long(tb, a, b, &ud);
	must(drv_qp_query(uc.y, &attr));
	expect_equal(attr.qp_state, IBV_QPS_RTS);
	must(drv_qp_query(ud.y, &attr));
	expect_equal(attr.qp_state, IBV_QPS_RTS);
	destroy_qp(ud.y);
	destroy_qp(ud.x);
	destroy_qp(uc.y);
	destroy_qp(uc.x);
	destroy_srq(srq);
}
