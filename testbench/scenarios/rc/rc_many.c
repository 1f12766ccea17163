/* SPDX-License-Identifier: Apache-2.0 */
/* More queue pairs than the context caches hold, all busy in both directions at once. Contexts move
 * between device and ICM, and no messages are mixed up. */
#include "testbench/scenario.h"

enum { PAIRS = 80, LEN = 1000, ROUNDS = 4 };

SCENARIO(rc_many, "80 busy queue pairs on caches of 16 contexts", .qps = PAIRS, .any_packets = true,
	 .memory = 256 << 10, .interrupts = true,
	 .settings = {"hca.context_cache.requester_entries=16",
		      "hca.context_cache.responder_entries=16"})
{
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		for (unsigned pair = 0; pair < PAIRS; pair++) {
			rdma_write(a, .wr_id = pair, .qp = pair, .len = LEN, .src = LEN * pair,
				   .dst = LEN * (PAIRS - 1 - pair));
			rdma_read(b, .wr_id = pair, .qp = pair, .len = LEN, .src = LEN * pair,
				  .dst = LEN * (2 * PAIRS - 1 - pair));
		}
		expect_cqes(a, PAIRS);
		expect_cqes(b, PAIRS);
	}
	for (unsigned pair = 0; pair < PAIRS; pair++) {
		expect_data(b, .len = LEN, .src = LEN * pair, .dst = LEN * (PAIRS - 1 - pair));
		expect_data(b, .len = LEN, .src = LEN * pair, .dst = LEN * (2 * PAIRS - 1 - pair));
	}
	expect_that(tb_stat(a, "context_cache", "misses"), >, PAIRS);
	expect_stat(a, retry, retransmitted, 0);
	expect_stat(b, retry, retransmitted, 0);
}
