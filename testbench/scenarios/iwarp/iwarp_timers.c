/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each state that may last only so long ends when its time is over, not before, and its timer ends with it: a state that follows lasts as long as it
 * likes.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

SCENARIO(iwarp_timers, "the timer of each state, and that it ends with the state", .bare = true)
{
	struct tb_iw *client, *server;
	struct iw_pair p;

	/* no state of these connections is left by its timer: Request, Reply, readiness come just in time */
	iw_serve(b, .req_ms = 100, .rtr_ms = 100, .close_ms = 100);
	client = iw_dial(a, .rep_ms = 150, .after_reply_ms = 90, .close_ms = 100);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	expect_silence(CFG_MS(140)); /* the time for the Request is over */
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_silence(CFG_MS(89));
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(client, CONNECT_REPLY);
	expect_iw(server, ESTABLISHED);
	expect_silence(CFG_S(2));
	p = (struct iw_pair){client, server};
	iw_pair_ends(tb, p);

	/* a client that speaks first may wait as long as it likes */
	client = iw_dial(a, .design = IW_CLIENT_FIRST, .rep_ms = 150);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(client, CONNECT_REPLY);
	expect_silence(CFG_S(2));
	iw_send(client, "late");
	expect_message(a_to_b, "SEND, 4 bytes");
	expect_iw_text(server, "late");
	expect_iw(server, ESTABLISHED);
	iw_pair_ends(tb, (struct iw_pair){client, server});

	/* the Reply is late by a moment */
	client = iw_dial(a, .rep_ms = 150);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	expect_silence(CFG_MS(149));
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
	expect_iw(server, CLOSE, .status = -ECONNRESET);

	/* the peer's FIN does not come: behind a close, and behind a TERMINATE */
	iw_serve(b);
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		p = iw_pair_of(tb, iw_dial(a, .close_ms = 100), b, 0);
		drop_frame(b_to_a, ETH_FIN);
		if (n) {
			inject_ddp(p.server, RDMAP_SEND, .msn = 7);
			expect_message(a_to_b, "TERMINATE");
			expect_iw(p.client, TERMINATE, .term = IW_TERM_UNTAGGED_MSN, .sent = true);
			expect_iw(p.server, TERMINATE, .term = IW_TERM_UNTAGGED_MSN);
		} else {
			iw_hang_up(p.client);
			expect_iw(p.server, DISCONNECT);
		}
		expect_silence(CFG_MS(99));
		expect_iw(p.client, CLOSE, .status = -ETIMEDOUT);
		expect_iw(p.server, CLOSE); /* it had ended its direction, too */
	}
	/* who goes from the handler of the event that a timer has caused */
	client = iw_dial(a, .rep_ms = 150);
	iw_within(client, CONNECT_REPLY, IW_DO_FORGET);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	expect_silence(CFG_S(1));
}
