/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Ethernet port sends to itself: a long packet, and a short one right behind it, again and again. The
 * frames follow one another as on the cable. If the short one came first, an unreliable connection would
 * lose both messages, because their packet sequence numbers would not follow each other.
 */
/* behaviours: ROCE-loopback-order */
#include "testbench/scenario.h"

enum { LONG = 1024, SHORT = 16, PAIRS = 8 };

SCENARIO(roce_loopback_order, "a port of RoCE to itself: a short packet does not pass the long one",
	 .loopback = true, .type = IBV_QPT_UC, .any_packets = true,
	 .settings = {"hca.port1.type=eth"})
{
	for (unsigned i = 0; i < PAIRS; i++) {
		const unsigned at = i * (LONG + SHORT);

		post_recv(b, .wr_id = 2 * i, .len = LONG, .dst = at);
		post_recv(b, .wr_id = 2 * i + 1, .len = SHORT, .dst = at + LONG);
		post_send(a, .wr_id = 2 * i, .len = LONG, .src = at);
		post_send(a, .wr_id = 2 * i + 1, .len = SHORT, .src = at + LONG);
	}
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		const unsigned at = i / 2 * (LONG + SHORT) + (i % 2 ? LONG : 0);

		expect_cqe(a, .wr_id = i);
		expect_cqe(b, .wr_id = i, .byte_len = i % 2 ? SHORT : LONG);
		expect_data(b, .dst = at, .src = at, .len = i % 2 ? SHORT : LONG);
	}
}
