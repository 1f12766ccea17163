/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever TCP does to the message that says ready, the server's greeting does not leave before all of
 * it has come: it is lost and sent again, it comes in segments of one byte, it comes twice, with the
 * next message behind it.
 */
#include "testbench/iwarp.h"

static struct tb_iw *open_to(struct tb *tb, struct tb_end *a, struct tb_end *b,
			     struct tb_iw **client)
{
	struct tb_iw *server;

	*client = iw_dial(a);
	iw_recv(*client);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(*client, CONNECT_REPLY);
	return server;
}

static void finish(struct tb *tb, struct tb_iw *client, struct tb_iw *server)
{
	expect_iw(server, ESTABLISHED);
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(client, "greeting");
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}

SCENARIO(iwarp_fence, "no byte of the responder's program leaves early", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	/* the Request is the first segment with data, the WRITE the second one */
	drop_frame(a_to_b, ETH_DATA, .nth = 2);
	server = open_to(tb, a, b, &client);
	expect_silence(CFG_MS(199));
	finish(tb, client, server);

	cut_segments(a, 1);
	server = open_to(tb, a, b, &client);
	finish(tb, client, server);
	cut_segments(a, 0);

	duplicate_frame(a_to_b, ETH_DATA, .nth = 2);
	server = open_to(tb, a, b, &client);
	iw_send(client, "behind");
	expect_message(a_to_b, "SEND, 6 bytes");
	expect_iw_text(server, "behind");
	finish(tb, client, server);
}
