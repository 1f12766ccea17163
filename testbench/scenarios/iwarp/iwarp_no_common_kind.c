/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client can only send a SEND, the server can only take a WRITE. The Reply names what the server
 * can; the client ends the connection with the code that RFC 6581 has for it. The same where the
 * Reply lacks flag A or all kinds, which a card in the field was seen to send. An end that cannot send markers rejects a peer that wants them, or drops it.
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

/* Its user is not asked. */
static void markers(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	name_row("%s", "a server that cannot send markers");
	for (unsigned rev = 1; rev <= 2 && still_right(); rev++) {
		iw_serve(b, .can_markers = 0);
		client = iw_dial(a, .markers = 1, .rev = rev);
		expect_message(a_to_b, rev == 2 ? "MPA ID Req Frame rev 2 markers crc s"
						: "MPA ID Req Frame rev 1 markers crc");
		expect_message(b_to_a, rev == 2
					       ? "MPA ID Rep Frame rev 2 rejected, private data 0"
					       : "MPA ID Rep Frame rev 1 rejected, private data 0");
		expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata_len = 0);
		expect_silence(CFG_MS(1));
	}
	name_row("%s", "a client that cannot");
	iw_serve(b, .markers = 1);
	client = iw_dial(a, .can_markers = 0);
	expect_message(a_to_b, "MPA ID Req Frame rev 2 crc s");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 markers crc s");
	expect_iw(client, CONNECT_REPLY, .status = -EPROTO);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
}

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
	markers(tb, a, b);
}
