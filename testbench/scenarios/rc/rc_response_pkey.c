/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The P_Key of a response is checked like that of a request: an ACK of another partition is dropped
 * and counted, and the request is sent again after its timeout.
 * behaviours: IBA-9.6.1.1.3-response
 */
#include "testbench/scenario.h"

enum { PKEY_LOW_BYTE = 8 + 3, OTHER = 0x55 };

SCENARIO(rc_response_pkey, "an ACK with another partition's key is dropped and counted",
	 .timeout = 10)
{
	struct drv_port_attr before = {0}, after = {0};

	must(drv_query_port(a->dev, 1, &before));
	corrupt_next(b_to_a, RC_ACKNOWLEDGE, .offset = PKEY_LOW_BYTE, .mask = OTHER,
		     .fix = FAULT_FIX_BOTH);
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .pkey = 0xffff);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);
	must(drv_query_port(a->dev, 1, &after));
	expect_equal(after.bad_pkeys, before.bad_pkeys + 1);
	expect_stat(a, retry, ack_timeouts, 1);
}
