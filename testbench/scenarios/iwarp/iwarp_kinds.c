/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message that may say ready to receive, with and without CRCs and markers. A READ takes a place
 * of the client's ORD, and its response comes before the server's first message. A SEND takes a
 * receive, which completes without a byte, or is eaten and counts as a message all the same. The STag is the one that the client was told to use.
 */
#include "testbench/iwarp.h"

static const struct {
	uint8_t kind;
	const char *message, *word;
} rows[] = {
	{MPA_RTR_WRITE, "WRITE, 0 bytes", "write"},
	{MPA_RTR_READ, "READ_REQUEST, 0 bytes", "read"},
	{MPA_RTR_SEND, "SEND, 0 bytes", "send"},
};

/* A SEND that says ready and takes no receive, of a server that has none yet. */
static void eaten(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	for (unsigned strict = 0; strict < 2 && still_right(); strict++) {
		iw_serve(b, .send_takes_receive = 0, .strict = strict);
		client = iw_dial(a, .kinds = MPA_RTR_SEND);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, "SEND, 0 bytes");
		expect_iw(client, CONNECT_REPLY);
		expect_iw(server, ESTABLISHED);
		/* only that one is eaten */
		iw_recv(server);
		iw_recv(server);
		iw_send(client, "second");
		expect_message(a_to_b, "SEND, 6 bytes");
		expect_iw_text(server, "second");
		iw_send(client, "");
		expect_message(a_to_b, "SEND, 0 bytes");
		expect_iw_text(server, "");
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}

/* A READ has one response, without a byte. */
static void answered_once(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		client = iw_dial(a, .kinds = MPA_RTR_READ,
				 .breaks = n ? IW_BREAKS_BIT(rtr_twice) : 0);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		for (unsigned i = 0; i < 1 + n; i++)
			expect_message(a_to_b, "READ_REQUEST, 0 bytes");
		expect_iw(client, CONNECT_REPLY);
		for (unsigned i = 0; i < 1 + n; i++)
			expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
		expect_iw(server, ESTABLISHED);
		pass_time(CFG_US(20));
		inject_ddp(server, RDMAP_READ_RESPONSE);
		expect_message(a_to_b, "TERMINATE");
		expect_iw(client, TERMINATE, .term = IW_TERM_RDMAP_OPCODE, .sent = true);
		expect_iw(server, TERMINATE, .term = IW_TERM_RDMAP_OPCODE);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
	/* one that has a byte, in place of the right one */
	iw_serve(b, .breaks = IW_BREAKS_BIT(early_send));
	client = iw_dial(a, .kinds = MPA_RTR_READ, .after_reply_ms = 0, .strict = 0);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	inject_ddp(server, RDMAP_READ_RESPONSE, .text = "x");
	expect_message(a_to_b, "READ_REQUEST, 0 bytes");
	expect_message(a_to_b, "TERMINATE");
	expect_iw(client, CONNECT_REPLY);
	expect_iw(client, TERMINATE, .term = IW_TERM_TAGGED_BOUNDS, .sent = true);
	expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
	expect_iw(server, ESTABLISHED);
	expect_iw(server, TERMINATE, .term = IW_TERM_TAGGED_BOUNDS);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}

SCENARIO(iwarp_kinds, "WRITE, READ and SEND as ready to receive, with CRCs and markers",
	 .bare = true)
{
	for (unsigned n = 0; n < 12 && still_right(); n++) {
		const unsigned i = n % 3, crc = n / 3 & 1, markers = n / 6;
		struct tb_iw *client, *server;
		char text[120];

		iw_serve(b, .crc = 0, .markers = markers);
		client = iw_dial(a, .kinds = rows[i].kind, .crc = crc, .markers = markers,
				 .stag = 0x01020304 << crc);
		iw_recv(client);
		snprintf(text, sizeof(text),
			 "MPA ID Req Frame rev 2%s%s s ird 4 ord 4 peer-to-peer %s, private data 0",
			 markers ? " markers" : "", crc ? " crc" : "", rows[i].word);
		expect_message(a_to_b, text);
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		iw_send(server, "greeting");
		memcpy(text, "MPA ID Rep", strlen("MPA ID Rep"));
		expect_message(b_to_a, text);
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
	eaten(tb, a, b);
	answered_once(tb, a, b);
}
