/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IRD and ORD. The server's ORD goes down to the client's IRD and its IRD to the client's ORD. 16383
 * leaves a depth open: that of one end, of one direction, of both. A READ that says ready needs an IRD of 1: a server raises its 0, or the client
 * ends the connection for lack of it. So it does when the server's ORD is beyond its reach; one that is
 * above its IRD and within reach raises the IRD.
 */
#include "testbench/iwarp.h"

static const struct row {
	const char *name;
	unsigned ird, ord, its_ird, its_ord, its_ird_max;
	const char *reply;
	struct {
		unsigned ird, ord, its_ird, its_ord;
	} agreed;
	enum iw_term term; /* of the client, which does not connect */
	uint64_t breaks;   /* of the server */
	unsigned ird_max;  /* of the client [16] */
} rows[] = {
	{"equal", 4, 4, 4, 4, 16, "ird 4 ord 4", .agreed = {4, 4, 4, 4}},
	{"lower", 1, 2, 8, 8, 16, "ird 2 ord 1", .agreed = {1, 2, 2, 1}},
	{"higher", 8, 8, 2, 1, 16, "ird 2 ord 1", .agreed = {1, 2, 2, 1}},
	{"the client reads alone", 0, 4, 4, 4, 16, "ird 4 ord 0", .agreed = {0, 4, 4, 0}},
	{"the server reads not", 4, 4, 4, 0, 16, "ird 4 ord 0", .agreed = {0, 4, 4, 0}},
	{"client open", 16383, 16383, 2, 1, 16, "ird 16383 ord 16383",
	 .agreed = {16383, 16383, 2, 1}},
	{"client's ird open", 16383, 3, 2, 1, 16, "ird 2 ord 16383", .agreed = {16383, 2, 2, 1}},
	{"client's ord open", 3, 16383, 2, 5, 16, "ird 16383 ord 3", .agreed = {3, 16383, 2, 3}},
	{"server open", 4, 3, 16383, 16383, 16, "ird 3 ord 4", .agreed = {4, 3, 3, 4}},
	{"server's ird open", 4, 3, 16383, 2, 16, "ird 3 ord 2", .agreed = {2, 3, 3, 2}},
	{"server's ord open", 4, 3, 2, 16383, 16, "ird 2 ord 4", .agreed = {4, 2, 2, 4}},
	{"one way open", 16383, 4, 4, 16383, 16, "ird 4 ord 16383", .agreed = {16383, 4, 4, 16383}},
	{"other way open", 4, 16383, 16383, 4, 16, "ird 16383 ord 4",
	 .agreed = {4, 16383, 16383, 4}},
	{"below open", 4, 16382, 16382, 4, 16, "ird 16382 ord 4", .agreed = {4, 16382, 16382, 4}},
	{"raised to 1", 4, 4, 0, 4, 16, "ird 1 ord 4", .agreed = {4, 1, 1, 4}},
	{"raised, client's ord open", 4, 16383, 0, 4, 16, "ird 16383 ord 4",
	 .agreed = {4, 16383, 1, 4}},
	{"client has 0", 4, 0, 4, 4, 16, "ird 1 ord 4", .agreed = {4, 1, 1, 4}},
	{"cannot be raised", 4, 4, 0, 4, 0, "ird 0 ord 4", .term = IW_TERM_MPA_IRD},
	{"ord within reach", 16, 4, 4, 16, 16, "ird 4 ord 16", .agreed = {16, 4, 4, 16}},
	{"ord out of reach", 17, 4, 4, 17, 16, "ird 4 ord 17", .term = IW_TERM_MPA_IRD},
	{"ord far too high", 4, 4, 4, 4, 16, "ird 4 ord 4", .term = IW_TERM_MPA_IRD,
	 .breaks = IW_BREAKS_BIT(reply_ord)},
	{"ord far above the ird, and within reach", 4, 4, 4, 4, 16, "ird 4 ord 4",
	 .agreed = {255, 4, 4, 4}, .breaks = IW_BREAKS_BIT(reply_ord), .ird_max = 255},
};

SCENARIO(iwarp_depths, "IRD and ORD of both ends", .bare = true)
{
	for_each_row(i, rows) {
		const bool bad = rows[i].term != IW_TERM_NONE;
		struct tb_iw *client, *server;
		char reply[64];

		name_row("%s", rows[i].name);
		iw_serve(b, .ird = rows[i].its_ird, .ord = rows[i].its_ord,
			 .ird_max = rows[i].its_ird_max, .breaks = rows[i].breaks);
		client = iw_dial(a, .ird = rows[i].ird, .ord = rows[i].ord, .kinds = MPA_RTR_READ,
				 .ird_max = rows[i].ird_max ? rows[i].ird_max : 16);
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
		expect_iw(client, CONNECT_REPLY, .ird = rows[i].agreed.ird,
			  .ord = rows[i].agreed.ord);
		expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
		expect_iw(server, ESTABLISHED, .ird = rows[i].agreed.its_ird,
			  .ord = rows[i].agreed.its_ord);
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}
