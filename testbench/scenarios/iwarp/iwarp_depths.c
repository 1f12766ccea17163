/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IRD and ORD. The server's ORD goes down to the client's IRD and its IRD to the client's ORD; 16383
 * leaves a depth open. A READ that says ready needs an IRD of 1: a server raises its 0, or the client
 * ends the connection for lack of it. So it does when the server's ORD is beyond its reach.
 */
#include "testbench/iwarp.h"

static const struct {
	const char *name;
	unsigned ird, ord, its_ird, its_ord, its_ird_max;
	const char *reply;
	enum iw_term term;
} rows[] = {
	{"equal", 4, 4, 4, 4, 16, "ird 4 ord 4", IW_TERM_NONE},
	{"lower", 1, 2, 8, 8, 16, "ird 2 ord 1", IW_TERM_NONE},
	{"higher", 8, 8, 2, 1, 16, "ird 2 ord 1", IW_TERM_NONE},
	{"open", 16383, 16383, 2, 1, 16, "ird 16383 ord 16383", IW_TERM_NONE},
	{"raised to 1", 4, 4, 0, 4, 16, "ird 1 ord 4", IW_TERM_NONE},
	{"client has 0", 4, 0, 4, 4, 16, "ird 1 ord 4", IW_TERM_NONE},
	{"cannot be raised", 4, 4, 0, 4, 0, "ird 0 ord 4", IW_TERM_MPA_IRD},
	{"ord too high", 32, 4, 4, 17, 16, "ird 4 ord 17", IW_TERM_MPA_IRD},
};

SCENARIO(iwarp_depths, "IRD and ORD of both ends", .bare = true)
{
	for_each_row(i, rows) {
		const bool bad = rows[i].term != IW_TERM_NONE;
		struct tb_iw *client, *server;
		char reply[64];

		name_row("%s", rows[i].name);
		iw_serve(b, .ird = rows[i].its_ird, .ord = rows[i].its_ord,
			 .ird_max = rows[i].its_ird_max,
			 .breaks = rows[i].its_ord > 16 ? IW_BREAKS_BIT(reply_ord) : 0);
		client = iw_dial(a, .ird = rows[i].ird, .ord = rows[i].ord, .kinds = MPA_RTR_READ);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b, .ird = rows[i].ird, .ord = rows[i].ord);
		iw_take(server);
		snprintf(reply, sizeof(reply), "MPA ID Rep Frame rev 2 crc s %s peer-to-peer",
			 rows[i].reply);
		expect_message(b_to_a, reply);
		expect_message(a_to_b, bad ? "TERMINATE" : "READ_REQUEST, 0 bytes");
		if (bad) {
			expect_iw(client, TERMINATE, .term = rows[i].term, .sent = true);
			expect_iw(client, CONNECT_REPLY, .status = -EPROTO);
			expect_iw(server, TERMINATE, .term = rows[i].term);
			expect_iw(server, CLOSE);
			continue;
		}
		expect_iw(client, CONNECT_REPLY);
		expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
		expect_iw(server, ESTABLISHED);
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}
