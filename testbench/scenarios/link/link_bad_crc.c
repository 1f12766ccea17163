/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet with a wrong VCRC or ICRC is dropped: no answer, no completion, the port's error
 * counters increase, and the queue pair does not change. The same packet with right CRCs is
 * accepted. This is done with packets made here, and with one that the cable corrupts and the
 * sender resends.
 */
/* behaviours: LINK-1 */
#include "testbench/services.h"

SCENARIO(link_bad_crc, "wrong VCRC and wrong ICRC: dropped and counted")
{
	const uint64_t errors = tb_stat(b, "port1", "rcv_errors"),
		       symbols = tb_stat(b, "port1", "symbol_errors");

	post_recv(b, .wr_id = 1, .len = 64);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .ack_req = true, .bad_vcrc = true);
	expect_no_more(CFG_US(20));
	expect_stat(b, port1, rcv_errors, errors + 1);
	expect_stat(b, port1, symbol_errors, symbols + 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .ack_req = true, .bad_icrc = true);
	expect_no_more(CFG_US(20));
	expect_stat(b, port1, rcv_errors, errors + 2);
	expect_stat(b, port1, symbol_errors, symbols + 1);
	expect_stat(b, responder, packets, 0);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 64, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = 64);

	reconnect(0);
	corrupt_next(a_to_b, RC_WRITE_ONLY, .offset = 50, .fix = FAULT_FIX_VCRC);
	rdma_write(a, .wr_id = 7, .dst = 100, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 7);
	expect_data(b, .dst = 100, .len = 64);
	expect_stat(b, port1, rcv_errors, errors + 3);
}
