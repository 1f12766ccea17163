/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets looped back inside the port occupy its receive buffer, like packets from the wire. When
 * memory accepts data more slowly than senders send it, the senders wait for credits, and the
 * amount of data in flight stays bounded.
 * behaviours: IBA-7.9-credits
 */
#include "testbench/services.h"

enum {
	PAIRS = 8,
	LEN = 1 << 16,
	ROUNDS = 4,
	DEPTH = 32,
	ROOM = 2 << 20 /* more than the buffer, the port's window and payload reads hold together */
};

SCENARIO(loopback_full, "loopback waits for credits: what is in flight is bounded",
	 .loopback = true, .unobserved = true, .qps = PAIRS, .queue = PAIRS * DEPTH)
{
	const size_t before = hca_footprint(host_hca(a->host));

	for (unsigned n = 0; n < ROUNDS; n++) {
		for (unsigned i = 0; i < PAIRS; i++) {
			rdma_write(a, .qp = i, .len = LEN, .repeat = DEPTH);
			rdma_write(b, .qp = i, .len = LEN, .repeat = DEPTH);
		}
		expect_cqes(a, PAIRS * DEPTH);
		expect_cqes(b, PAIRS * DEPTH);
	}
	expect_data(a, .len = LEN);
	expect_data(b, .len = LEN);
	expect_that(hca_footprint(host_hca(a->host)), <, before + ROOM);
}
