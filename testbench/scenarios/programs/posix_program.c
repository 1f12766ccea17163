/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for libibverbs with a main() of its own, sockets and getopt runs unchanged. It runs as
 * two processes, each with its own variables. The packets that it posts through ibv_wr_* appear on
 * the wire: a write gathered from two places, a read, an atomic, a send of inline pieces.
 */
#include "testbench/process.h"

#define PROGRAM "testbench/programs/wr_ping.c"

SCENARIO(posix_program, "a program written for libibverbs runs unchanged in two processes",
	 .no_qps = true)
{
	struct process *server = start_program(b, PROGRAM, "-p", "7");
	struct process *client = start_program(a, PROGRAM, "-p", "7", "hostb");

	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0, .dma_len = 128);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 1, .dma_len = 40);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = 2);
	expect_pkt(a_to_b, RC_SEND_ONLY_IMM, .psn = 3, .imm = 0x1234);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 1);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 3);
	expect_exit(client, 0);
	expect_exit(server, 0);
}
