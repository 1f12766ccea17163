/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WRITE, WRITE with immediate, READ and atomics over XRC work as with RC, except that keys are
 * checked against the SRQ's PD. Keys of that PD are valid although the target queue pair belongs to
 * another PD, and a key of the target's PD is refused.
 */
/* behaviours: XRC-5 XRC-1 RESP-7 */
#include "testbench/services.h"

enum { MTU = 256 };

SCENARIO(xrc_rdma, "XRC: WRITE, READ, atomics; the SRQ's PD counts", .mtu = IBV_MTU_256)
{
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_srq *s = new_srq(b, .xrcd = xrcd);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND), *y = NULL;
	const struct drv_qp_init init = {.type = IBV_QPT_XRC_RECV, .xrcd = xrcd};
	struct drv_pd *pd = NULL;
	struct drv_mr *mr = NULL;

	must(drv_pd_alloc(b->dev, &pd));
	must(drv_qp_create(pd, &init, &y));
	must(drv_mr_reg_iova(pd, b->dst, 4096, tb_va(b, b->dst),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &mr));
	connect_two(x, y);
	if (!still_right())
		return;
	ignore_packets();
	recv_srq(b, s, .wr_id = 1);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 11, .len = 3 * MTU,
		.srqn = drv_srq_num(s));
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 12, .dst = 2000, .len = 10,
		.with_imm = true, .imm = 99, .srqn = drv_srq_num(s));
	expect_cqe(a, .wr_id = 11);
	expect_cqe(a, .wr_id = 12);
	expect_cqe(b, .wr_id = 1, .on = y, .srq = s, .byte_len = 10, .imm = 99,
		   .opcode = IBV_WC_RECV_RDMA_WITH_IMM);
	expect_data(b, .len = 3 * MTU);
	expect_data(b, .dst = 2000, .len = 10);
	check_packets();
	send_on(a, x, .opcode = IBV_WR_RDMA_READ, .wr_id = 13, .len = 2 * MTU + 3,
		.srqn = drv_srq_num(s));
	expect_pkt(a_to_b, XRC_READ_REQUEST, .psn = 2, .srqn = drv_srq_num(s));
	expect_pkt(b_to_a, XRC_READ_RESP_FIRST, .psn = 2, .len = MTU);
	expect_pkt(b_to_a, XRC_READ_RESP_MIDDLE, .psn = 3, .len = MTU);
	expect_pkt(b_to_a, XRC_READ_RESP_LAST, .psn = 4, .len = 3);
	expect_cqe(a, .wr_id = 13);
	expect_data(a, .len = 2 * MTU + 3);
	set_word(b, 4096, 5);
	send_on(a, x, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr_id = 14, .len = 8, .dst = 4096,
		.compare = 3, .srqn = drv_srq_num(s));
	expect_pkt(a_to_b, XRC_FETCH_ADD, .psn = 5, .srqn = drv_srq_num(s));
	expect_pkt(b_to_a, XRC_ATOMIC_ACKNOWLEDGE, .psn = 5);
	expect_cqe(a, .wr_id = 14);
	expect_word(b, 4096, 8);
	expect_word(a, 4096, 5);

	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 15, .dst = 3000, .len = 10,
		.rkey = drv_mr_rkey(mr), .srqn = drv_srq_num(s));
	expect_pkt(a_to_b, XRC_WRITE_ONLY, .psn = 6);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .psn = 6, .nak = NAK_REM_ACCESS);
	expect_cqe(a, .wr_id = 15, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	must(drv_mr_dereg(mr));
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(s);
	must(drv_pd_free(pd));
	destroy_xrcd(xrcd);
}
