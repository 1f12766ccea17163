/* SPDX-License-Identifier: Apache-2.0 */
/* Small sends are inline: the payload is in the WQE, and the WQE comes through BlueFlame without a
 * DMA read. There are enough of them to use both BlueFlame buffers alternately. */
#include "testbench/scenario.h"

enum { SENDS = 20 };

SCENARIO(rc_inline, "inline SENDs through BlueFlame, without a DMA read of the WQE",
	 .inline_bytes = 64)
{
	for (unsigned i = 0; i < SENDS && still_right(); i++) {
		post_recv(b, .wr_id = i, .len = 64, .dst = 64 * i);
		post_send(a, .wr_id = i, .len = 1 + i, .src = 100 + i, .inlined = true);
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = (0xfffffe + i) & 0xffffff, .len = 1 + i);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = (0xfffffe + i) & 0xffffff);
		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = i, .byte_len = 1 + i);
		expect_data(b, .dst = 64 * i, .src = 100 + i, .len = 1 + i);
	}
	expect_stat(a, doorbell, blueflames, SENDS);
	expect_stat(a, wqe_fetch, reads, 0);
}

SCENARIO(rc_inline_empty, "an inline SEND without data: the WQE has no inline segment",
	 .inline_bytes = 64)
{
	post_recv(b, .wr_id = 1, .len = 64);
	post_send(a, .wr_id = 1, .len = 0, .inlined = true);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1, .byte_len = 0);
}

SCENARIO(rc_inline_large, "BlueFlame registers of 1 KiB, as the device then says they are",
	 .inline_bytes = 400, .settings = {"hca.doorbell.log_bf_reg=10"})
{
	for (unsigned i = 0; i < 3; i++) {
		post_recv(b, .wr_id = i, .len = 400, .dst = 400 * i);
		post_send(a, .wr_id = i, .len = 400, .src = 100 + i, .inlined = true);
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = (0xfffffe + i) & 0xffffff, .len = 400);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = (0xfffffe + i) & 0xffffff);
		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = i, .byte_len = 400);
		expect_data(b, .dst = 400 * i, .src = 100 + i, .len = 400);
	}
	expect_stat(a, doorbell, blueflames, 3);
}
