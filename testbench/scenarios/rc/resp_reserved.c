/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserved opcodes in the range of a reliable service. With the expected PSN they are invalid
 * requests and end the queue pair, as the responder's table of errors says; with a later PSN they
 * are out of sequence; with an earlier PSN they are ignored. A queue pair of another service
 * ignores them too. Sources of the NAK and its event: Mellanox's MT25408 PRM (counters sq_num_rire,
 * rq_num_rire: an opcode reserved or not supported, RC only) and the same counters of Oracle's sif
 * driver (EPSC_QUERY_RQ_NUM_RIRE). It is an assumption that the PSN is checked first, as for valid
 * opcodes (IBA 9.7.1); Linux' soft RoCE drops such packets.
 * behaviours: IBA-9.7.4.1.3-reserved-opcode
 */
#include "testbench/services.h"

enum { RESERVED = 0x1f, RESERVED_XRC = 0xbf, RESERVED_UC = 0x3f, LEN = 64 };

SCENARIO(resp_reserved, "reserved opcodes: NAK of an invalid request, in turn only")
{
	post_recv(b, .wr_id = 1, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffd, .opcode = RESERVED, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = RESERVED_XRC, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = RESERVED_UC, .len = LEN);
	expect_no_more(CFG_US(20));
	inject(b, RC_SEND_ONLY, .psn = 0xffffff, .opcode = RESERVED, .len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_PSN_SEQUENCE);
	expect_stat(b, port1, rcv_errors, 0);

	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .opcode = RESERVED, .len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_INVALID_REQ);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_WR_FLUSH_ERR);
	reconnect(0);

	phase("without payload, and in the middle of a message");
	post_recv(b, .wr_id = 2, .len = 3 * 4096);
	inject(b, RC_SEND_FIRST, .psn = 0xfffffe, .len = 4096);
	inject(b, RC_SEND_ONLY, .psn = 0xffffff, .opcode = RESERVED);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xffffff, .nak = NAK_INVALID_REQ);
	expect_cqe(b, .wr_id = 2, .status = IBV_WC_REM_INV_REQ_ERR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
	ignore_data(b, .len = 4096);
}
