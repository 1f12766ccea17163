/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios of this chapter do again and again. `server` is at b, and iw_serve() was called. */
#ifndef TESTBENCH_SCENARIOS_IWARP_IWARP_PARTS_H
#define TESTBENCH_SCENARIOS_IWARP_IWARP_PARTS_H

#include "testbench/iwarp.h"

struct iw_pair {
	struct tb_iw *client, *server;
};

/* Connects with a WRITE that says ready; the server has some receives. */
static inline struct iw_pair iw_pair_of(struct tb *tb, struct tb_iw *client, struct tb_end *b,
					unsigned receives)
{
	struct iw_pair p = {.client = client};

	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	p.server = expect_iw_request(b);
	while (receives--)
		iw_recv(p.server);
	iw_take(p.server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(p.client, CONNECT_REPLY);
	expect_iw(p.server, ESTABLISHED);
	return p;
}

/* The client ends the connection in order. */
static inline void iw_pair_ends(struct tb *tb, struct iw_pair p)
{
	iw_hang_up(p.client);
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.server, CLOSE);
	expect_iw(p.client, CLOSE);
}

#endif
