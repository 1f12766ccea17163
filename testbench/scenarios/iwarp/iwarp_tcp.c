/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What TCP may do during set-up: nobody listens, the SYN and its answer are lost, the client ends its
 * direction before the Reply, or it ends or resets the stream while the server waits to hear that it
 * is ready.
 */
#include "testbench/iwarp.h"

/* The three segments that open a stream: each comes twice, late or not at all, and others come in between. */
static void opens(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const char *const names[] = {"the ACK is lost",  "the ACK and the Request are lost",
					    "a second SYN",     "a second SYN that is late",
					    "a second answer",  "ACKs with wrong numbers",
					    "a FIN before all", "all ACKs of the answer are lost"};

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]) && still_right(); n++) {
		struct tb_iw *client, *server;

		name_row("%s", names[n]);
		if (n == 0 || n == 1)
			drop_frame(a_to_b, ETH_ANY, .nth = 2);
		if (n == 1)
			drop_frame(a_to_b, ETH_DATA);
		if (n == 2)
			duplicate_frame(a_to_b, ETH_SYN);
		if (n == 3)
			delay_frame(a_to_b, ETH_SYN, CFG_MS(300));
		if (n == 4)
			duplicate_frame(b_to_a, ETH_SYN);
		client = iw_dial(a, .fallback = 0);
		if (n == 5) {
			inject_segment(client, .ack = 100);
			inject_segment(client, .ack = -1);
			inject_segment(client, .seq = 5, .flags = TCP_PSH, .text = "no ACK");
		}
		if (n == 6)
			inject_segment(client, .flags = TCP_FIN);
		if (n == 7) {
			for (unsigned i = 0; i < 3; i++)
				drop_frame(a_to_b, ETH_ANY, .nth = 2);
			drop_frame(b_to_a, ETH_SYN, .nth = 2);
		}
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, "WRITE, 0 bytes");
		expect_iw(client, CONNECT_REPLY);
		expect_iw(server, ESTABLISHED);
		expect_silence(CFG_S(1));
		iw_send(client, "hello");
		expect_message(a_to_b, "SEND, 5 bytes");
		expect_iw_text(server, "hello");
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
		expect_iw(server, CLOSE);
		expect_iw(client, CLOSE);
	}
}

/* A client that goes at each step of the opening: nothing of it stays at the server. */
static void goes_early(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned us = 0; us < 16 && still_right(); us++) {
		struct tb_iw *client = iw_dial(a, .fallback = 0);

		name_row("the client goes after %u us", us);
		pass_time(CFG_US(us));
		iw_forget(client);
		if (us > 10) { /* the Request has left */
			expect_message(a_to_b, "MPA ID Req Frame");
			expect_iw(expect_iw_request(b), CLOSE, .status = -ECONNRESET);
		}
		expect_silence(CFG_MS(1));
	}
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		struct tb_iw *client;

		name_row("%s", n ? "FIN before the answer" : "FIN at once");
		client = iw_dial(a, .fallback = 0);
		if (n)
			pass_time(CFG_US(3));
		half_close_stream(client);
		expect_iw(client, CONNECT_REPLY, .status = -EPIPE);
		expect_silence(CFG_S(1));
	}
}

SCENARIO(iwarp_tcp, "lost SYNs, FIN and RST in the middle of set-up", .bare = true)
{
	struct tb_iw *client = iw_dial(a), *server;

	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED);
	iw_serve(b);
	drop_frame(a_to_b, ETH_SYN);
	drop_frame(b_to_a, ETH_SYN);
	client = iw_dial(a);
	expect_silence(CFG_MS(200)); /* the SYN's answer is lost too, so it takes longer */
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	half_close_stream(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	/* the RST looks like an old server, and the client tries once more */
	expect_message(a_to_b, "MPA ID Req Frame rev 1");
	server = expect_iw_request(b);
	half_close_stream(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);

	opens(tb, a, b);
	goes_early(tb, a, b);
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_iw(client, CONNECT_REPLY);
		if (n) {
			half_close_stream(client);
			expect_iw(client, CLOSE, .status = -ECONNRESET);
		} else {
			break_stream(client);
		}
		expect_iw(server, CLOSE, .status = -ECONNRESET);
	}
}
