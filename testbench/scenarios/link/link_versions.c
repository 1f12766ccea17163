/* SPDX-License-Identifier: Apache-2.0 */
/* Packets with a link version or a transport version other than 0 get no response and have no
 * effect. A wrong link version counts as a port error, a wrong transport version does not. */
/* behaviours: LINK-3 */
#include "testbench/services.h"

enum { VERSIONS = 16 };

SCENARIO(link_versions, "LVer and TVer 1 to 15 are dropped")
{
	const uint64_t errors = tb_stat(b, "port1", "rcv_errors");

	post_recv(b, .wr_id = 1, .len = 64);
	for (unsigned v = 1; v < VERSIONS && still_right(); v++) {
		inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 8, .ack_req = true, .lver = v);
		expect_no_more(CFG_US(5));
		expect_stat(b, port1, rcv_errors, errors + v);
		inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 8, .ack_req = true, .tver = v);
		expect_no_more(CFG_US(5));
		expect_stat(b, port1, rcv_errors, errors + v);
	}
	expect_stat(b, responder, packets, 0);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 8, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1, .byte_len = 8);
	expect_data(b, .len = 8);
}
