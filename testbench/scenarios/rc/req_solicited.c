/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only the last packet of a SEND or of a WRITE with immediate carries the solicited event bit. The
 * bit is never set in earlier packets, a plain WRITE, a READ or an atomic, even if the work request
 * asks for it.
 * behaviours: BTH-5
 */
#include "testbench/services.h"

enum { MTU = 1024 };

SCENARIO(req_solicited, "the solicited event bit: last packets of messages that take a receive",
	 .interrupts = true, .mtu = IBV_MTU_1024, .settings = {"hca.responder.ack_delay=1ms"})
{
	unsigned events;

	post_recv(b, .wr_id = 1, .len = 2 * MTU, .repeat = 2);
	post_send(a, .wr_id = 1, .len = 2 * MTU, .solicited = true);
	expect_pkt(a_to_b, RC_SEND_FIRST, .solicited = 0);
	expect_pkt(a_to_b, RC_SEND_LAST, .solicited = 1);
	expect_pkt(
		b_to_a, RC_ACKNOWLEDGE,
		.psn = 0xfffffe); /* the requester asked for this ACK because it knows of no credits */
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .solicited = 0);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 2 * MTU);
	rdma_write(a, .wr_id = 2, .len = 2 * MTU, .solicited = true, .with_imm = true);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .solicited = 0);
	expect_pkt(a_to_b, RC_WRITE_LAST_IMM, .solicited = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 2);

	phase("of no meaning");
	rdma_write(a, .wr_id = 3, .len = 2 * MTU, .solicited = true);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .solicited = 0);
	expect_pkt(a_to_b, RC_WRITE_LAST, .solicited = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 3);
	rdma_read(a, .wr_id = 4, .len = 2 * MTU, .solicited = true);
	expect_pkt(a_to_b, RC_READ_REQUEST, .solicited = 0);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .solicited = 0);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .solicited = 0);
	expect_cqe(a, .wr_id = 4);
	expect_data(a, .len = 2 * MTU);
	set_word(b, 8192, 5);
	fetch_add(a, .wr_id = 5, .dst = 8192, .target = 8192, .compare = 1, .solicited = true);
	expect_pkt(a_to_b, RC_FETCH_ADD, .solicited = 0);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .solicited = 0);
	expect_cqe(a, .wr_id = 5);
	expect_word(a, 8192, 5);
	expect_word(b, 8192, 6);

	phase("in packets that no driver makes");
	must(drv_cq_arm(b->cq, true));
	events = drv_cq_events(b->cq);
	inject(b, RC_WRITE_ONLY, .psn = 6, .va = tb_va(b, b->dst), .rkey = drv_mr_rkey(b->mr),
	       .dma_len = 64, .len = 64, .solicited = true, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 6);
	expect_data(b, .len = 64);
	pass_time(CFG_US(20));
	expect_equal(drv_cq_events(b->cq), events);
}
