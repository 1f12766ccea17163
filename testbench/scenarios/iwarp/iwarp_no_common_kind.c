/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client can only send a SEND, the server can only take a WRITE. The Reply names what the server
 * can; the client ends the connection with the code that RFC 6581 has for it. The same where the
 * Reply lacks flag A or all kinds, which a card in the field was seen to send.
 */
#include "testbench/iwarp.h"

static const struct {
	const char *name;
	unsigned mine, its;
	uint64_t breaks;
} rows[] = {
	{"send against write", MPA_RTR_SEND, MPA_RTR_WRITE, 0},
	{"no A", MPA_RTR_ALL, MPA_RTR_ALL, IW_BREAKS_BIT(reply_without_a)},
	{"no B, C, D", MPA_RTR_ALL, MPA_RTR_ALL, IW_BREAKS_BIT(reply_no_kind)},
};

SCENARIO(iwarp_no_common_kind, "no kind of ready to receive that both ends know", .bare = true)
{
	for_each_row(i, rows) {
		struct tb_iw *client, *server;

		name_row("%s", rows[i].name);
		iw_serve(b, .kinds = rows[i].its, .breaks = rows[i].breaks);
		client = iw_dial(a, .kinds = rows[i].mine);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, "TERMINATE");
		expect_iw(client, TERMINATE, .term = IW_TERM_MPA_RTR, .sent = true);
		expect_iw(client, CONNECT_REPLY, .status = -EPROTO);
		expect_iw(server, TERMINATE, .term = IW_TERM_MPA_RTR);
		expect_iw(server, CLOSE);
	}
	/* a Reply that names a WRITE which nobody has asked for: what was asked for is sent */
	iw_serve(b, .breaks = IW_BREAKS_BIT(reply_write_too));
	for (unsigned kind = MPA_RTR_READ; kind <= MPA_RTR_SEND;
	     kind += MPA_RTR_SEND - MPA_RTR_READ) {
		const bool read = kind == MPA_RTR_READ;
		struct tb_iw *client = iw_dial(a, .kinds = kind), *server;

		name_row("a WRITE that is not wanted, in place of a %s", read ? "READ" : "SEND");
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, read ? "READ_REQUEST, 0 bytes" : "SEND, 0 bytes");
		expect_iw(client, CONNECT_REPLY);
		if (read)
			expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
		else
			expect_iw_text(server, "");
		expect_iw(server, ESTABLISHED);
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}
