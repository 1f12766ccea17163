/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proposal of 2007: a frame of MPA's own says that the client is ready. S in the Request of
 * revision 1 announces it, S in the Reply says that the server will wait for it. The proposal spells
 * its key in two ways; both are understood.
 */
#include "testbench/iwarp.h"

static const struct {
	const char *key;
	uint64_t breaks;
} rows[] = {
	{"MPA ID Rtr Frame", 0},
	{"MPA ID RtR Frame", IW_BREAKS_BIT(rtr_dump_spelling)},
};

SCENARIO(iwarp_rtr_frame, "an Rtr frame says that the initiator is ready", .bare = true)
{
	iw_serve(b, .design = IW_RTR_FRAME);
	for_each_row(i, rows) {
		struct tb_iw *client, *server;

		name_row("%s", rows[i].key);
		client = iw_dial(a, .rev = 1, .design = IW_RTR_FRAME, .breaks = rows[i].breaks);
		iw_recv(client);
		expect_message(a_to_b, "MPA ID Req Frame rev 1 crc s, private data 0");
		server = expect_iw_request(b);
		iw_take(server);
		iw_send(server, "greeting");
		expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc s, private data 0");
		expect_message(a_to_b, rows[i].key);
		expect_iw(client, CONNECT_REPLY);
		expect_iw(server, ESTABLISHED);
		expect_message(b_to_a, "SEND, 8 bytes");
		expect_iw_text(client, "greeting");
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}
