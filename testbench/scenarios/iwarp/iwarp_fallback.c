/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client goes back to revision 1 when a server drops it. Nothing of its first try may stay: the half of a Reply that had come, what
 * it had asked for, the time it had waited. It does so once, and only where the peer has dropped it without a word.
 */
#include "testbench/iwarp.h"

/* It is dropped when half a Reply has come. */
static struct tb_iw *dropped(struct tb *tb, struct tb_end *b, struct tb_iw *client)
{
	struct tb_iw *server;

	iw_serve(b, .breaks = IW_BREAKS_BIT(half_start));
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	pass_time(CFG_US(20)); /* until it has come */
	return server;
}

static void talk(struct tb *tb, struct tb_iw *client, struct tb_iw *server)
{
	iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc, private data 0");
	expect_iw(client, CONNECT_REPLY);
	iw_send(client, "hello");
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_iw_text(server, "hello");
	expect_iw(server, ESTABLISHED);
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}

SCENARIO(iwarp_fallback, "back to revision 1, and nothing of the first try stays", .bare = true)
{
	struct tb_iw *client, *server;

	for (unsigned n = 0; n < 4 && still_right(); n++) {
		name_row("design %u, %s", n / 2, n % 2 ? "FIN" : "RST");
		client = iw_dial(a, .design = n / 2 ? IW_RTR_FRAME : IW_RTR_MESSAGE);
		server = dropped(tb, b, client);
		iw_serve(b);
		if (n % 2) {
			half_close_stream(server);
			expect_iw(server, CLOSE, .status = -ECONNRESET);
		} else {
			iw_forget(server);
		}
		expect_message(a_to_b, "MPA ID Req Frame rev 1 crc, private data 0");
		talk(tb, client, expect_iw_request(b));
	}

	/* each try has all its time */
	client = iw_dial(a, .rep_ms = 1000);
	server = dropped(tb, b, client);
	iw_serve(b, .rev = 1);
	pass_time(CFG_MS(900));
	iw_forget(server);
	expect_message(a_to_b, "MPA ID Req Frame rev 1");
	server = expect_iw_request(b);
	expect_silence(CFG_MS(999));
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
	expect_iw(server, CLOSE, .status = -ECONNRESET);

	/* once */
	client = iw_dial(a); /* of b, which knows revision 1 only */
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_message(a_to_b, "MPA ID Req Frame rev 1");
	iw_forget(expect_iw_request(b));
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);

	/* a peer that is not there, and one that is silent, have not dropped it */
	iw_serve(b);
	client = iw_dial(a, .rep_ms = 1000);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	expect_silence(CFG_S(1));

	/* a user that goes from within its last event */
	client = iw_dial(a);
	iw_within(client, CONNECT_REPLY, IW_DO_FORGET);
	iw_forget(dropped(tb, b, client));
	expect_message(a_to_b, "MPA ID Req Frame rev 1");
	iw_forget(expect_iw_request(b));
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	expect_silence(CFG_S(12));
}
