/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message that may say ready to receive, with and without CRCs and markers. A READ takes a place
 * of the client's ORD, and its response comes before the server's first message. A SEND takes a
 * receive, which completes without a byte.
 */
#include "testbench/iwarp.h"

static const struct {
	uint8_t kind;
	const char *message;
} rows[] = {
	{MPA_RTR_WRITE, "WRITE, 0 bytes"},
	{MPA_RTR_READ, "READ_REQUEST, 0 bytes"},
	{MPA_RTR_SEND, "SEND, 0 bytes"},
};

SCENARIO(iwarp_kinds, "WRITE, READ and SEND as ready to receive, with CRCs and markers",
	 .bare = true)
{
	for (unsigned n = 0; n < 12 && still_right(); n++) {
		const unsigned i = n % 3, crc = n / 3 & 1, markers = n / 6;
		struct tb_iw *client, *server;

		iw_serve(b, .crc = 0, .markers = markers);
		client = iw_dial(a, .kinds = rows[i].kind, .crc = crc, .markers = markers);
		iw_recv(client);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		iw_send(server, "greeting");
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, rows[i].message);
		expect_iw(client, CONNECT_REPLY);
		if (rows[i].kind == MPA_RTR_READ)
			expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
		if (rows[i].kind == MPA_RTR_SEND)
			expect_iw_text(server, "");
		expect_iw(server, ESTABLISHED);
		expect_message(b_to_a, "SEND, 8 bytes");
		expect_iw_text(client, "greeting");
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}
