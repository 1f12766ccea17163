/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UC: a message that loses a packet is dropped completely, and its receive serves the next message.
 * First, middle and last packets of a SEND and of a WRITE with immediate are lost. The sender
 * completes anyway, and no packet is ever returned.
 * behaviours: UC-1
 */
#include "testbench/scenario.h"

enum { LEN = 3 * 1024 };

static void lost_send(struct tb *tb, struct tb_end *a, struct tb_end *b, enum bth_opcode which)
{
	tb_fault(tb, TB_HERE, FAULT_DROP, a_to_b, which,
		 &(const struct tb_fault){
			 .psn = TB_ANY, .qpn = TB_ANY, .transmission = TB_ANY, .times = 1});
	post_send(a, .wr_id = 2, .len = LEN);
	expect_cqe(a, .wr_id = 2);
	post_send(a, .wr_id = 3, .len = LEN, .src = 4096);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 1, .byte_len = LEN);
	expect_data(b, .len = LEN, .src = 4096);
}

SCENARIO(uc_lost, "UC drops a message with a lost packet whole, and says nothing",
	 .type = IBV_QPT_UC, .mtu = IBV_MTU_1024, .any_packets = true)
{
	post_recv(b, .wr_id = 1, .len = LEN);
	lost_send(tb, a, b, BTH_UC_SEND_FIRST);
	post_recv(b, .wr_id = 1, .len = LEN);
	lost_send(tb, a, b, BTH_UC_SEND_MIDDLE);
	post_recv(b, .wr_id = 1, .len = LEN);
	lost_send(tb, a, b, BTH_UC_SEND_LAST);

	phase("write with immediate");
	post_recv(b, .wr_id = 5, .len = 64);
	drop_next(a_to_b, UC_WRITE_MIDDLE);
	rdma_write(a, .wr_id = 6, .len = LEN, .dst = 8192, .with_imm = true, .imm = 77);
	expect_cqe(a, .wr_id = 6);
	rdma_write(a, .wr_id = 7, .len = LEN, .dst = 16384, .with_imm = true, .imm = 78);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(b, .wr_id = 5, .imm = 78);
	expect_data(b, .len = LEN, .dst = 16384);
	ignore_data(b, .dst = 8192, .len = LEN); /* packets that arrived before the loss */
	expect_stat(b, link_port, tx_packets, 0);
}
