/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malformed packets: wrong lengths, wrong VL, truncated headers, unknown opcodes, raw packets,
 * payload in packets that must have none, foreign addresses. All are dropped without an answer;
 * those that the link layer detects count as port errors. The queue pair does not change and
 * accepts the next good packet.
 */
/* behaviours: IBA-7.3-packet-checks IBA-9.6.1-header-checks */
#include "testbench/services.h"

enum { NO_OPCODE = 0x3f, MANUFACTURER = 0xc0, CNP = 0x81, LEN = 64 };

#define SPOILED(...)                                                                               \
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, __VA_ARGS__)

SCENARIO(pkt_malformed, "malformed packets: dropped, counted, no queue pair touched")
{
	const uint64_t errors = tb_stat(b, "port1", "rcv_errors");
	struct drv_qp_attr before, after;

	post_recv(b, .wr_id = 1, .len = LEN);
	must(drv_qp_query(b->qp[0], &before));
	/* these are detected by the link layer */
	SPOILED(.pkt_len = 100);
	SPOILED(.pkt_len = 5);
	SPOILED(.vl = 14);
	SPOILED(.cut = 8);
	SPOILED(.cut = 80);
	expect_no_more(CFG_US(20));
	expect_equal(tb_stat(b, "port1", "rcv_errors"), errors + 5);
	/*
	 * These are detected above the link layer. PortRcvErrors counts physical errors, malformed
	 * data and link packets, and buffer overruns (IBA 16.1.3.5); PortRcvRemotePhysicalErrors
	 * counts packets with a bad end delimiter. Neither counts packets that the transport layer
	 * drops.
	 */
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = NO_OPCODE, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = MANUFACTURER, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = CNP, .len = LEN);
	SPOILED(.lnh = LNH_IPV6);
	SPOILED(.lnh = LNH_RAW);
	SPOILED(.lnh = LNH_IBA_GLOBAL);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = 0, .pad = 3);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = BTH_RC_READ_REQUEST, .len = 4);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = BTH_RC_COMPARE_SWAP, .len = 4);
	inject(b, RC_READ_REQUEST, .psn = 0xfffffe, .len = 4);
	inject(b, RC_ACKNOWLEDGE, .psn = 0xfffffc, .len = 4);
	SPOILED(.dlid = b->lid + 100);
	SPOILED(.dlid = 0);
	SPOILED(.dlid = 0xffff);
	SPOILED(.dlid = 0xc000);
	SPOILED(.qpn = 0xffffff);
	expect_no_more(CFG_US(20));
	expect_equal(tb_stat(b, "responder", "packets"), 0);
	expect_equal(tb_stat(b, "port1", "rcv_errors"), errors + 5);
	expect_stat(b, port1, rcv_remote_physical_errors, 0);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .tver = 3);
	expect_no_more(CFG_US(20));
	expect_equal(tb_stat(b, "port1", "rcv_errors"), errors + 5);
	must(drv_qp_query(b->qp[0], &after));
	expect_true(!memcmp(&before, &after, sizeof(before)));
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = LEN);
}
