/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each state that may last only so long ends when its time is over, not before, and its timer ends with it: a state that follows lasts as long as it
 * likes.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

/* Each time in which a state must be left, as its default is and as the user has set it. */
static void lasts(struct tb *tb, uint64_t since, unsigned ms)
{
	expect_that(tb_now(tb) - since, >=, CFG_MS(ms));
	expect_that(tb_now(tb) - since, <, CFG_MS(ms) + CFG_US(100));
}

static void defaults(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;
	uint64_t since;
	struct iw_pair p;

	for (unsigned n = 0; n < 2 && still_right(); n++) {
		name_row("%s", n ? "times that are set" : "default times");
		if (n)
			iw_serve(b, .req_ms = 70, .rtr_ms = 30, .close_ms = 50);
		else
			iw_serve(b);
		since = tb_now(tb);
		client = n ? iw_dial(a, .rep_ms = 20) : iw_dial(a);
		expect_message(a_to_b, "MPA ID Req Frame");
		server = expect_iw_request(b);
		expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
		lasts(tb, since, n ? 20 : 10000);
		expect_iw(server, CLOSE, .status = -ECONNRESET);

		since = tb_now(tb);
		client = iw_dial(a, .breaks = IW_BREAKS_BIT(half_start), .fallback = 0);
		expect_message(a_to_b, "MPA ID Req Frame");
		expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
		lasts(tb, since, n ? 70 : 5000);

		client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
		expect_message(a_to_b, "MPA ID Req Frame");
		server = expect_iw_request(b);
		since = tb_now(tb);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame");
		expect_iw(client, CONNECT_REPLY);
		expect_iw(server, CLOSE, .status = -ETIMEDOUT);
		lasts(tb, since, n ? 30 : 10000);
		expect_iw(client, CLOSE, .status = -ECONNRESET);

		/* the peer's FIN is lost, however often */
		p = iw_pair_of(tb, iw_dial(a), b, 0);
		for (unsigned i = 0; i < (n ? 1 : 6); i++)
			drop_frame(a_to_b, ETH_FIN);
		since = tb_now(tb);
		iw_hang_up(p.server);
		expect_iw(p.client, DISCONNECT);
		expect_iw(p.server, CLOSE, .status = -ETIMEDOUT);
		lasts(tb, since, n ? 50 : 10000);
		expect_iw(p.client, CLOSE); /* a RST behind the FINs of both */
	}
}

/* Who has rejected is told nothing more, and waits for the end of the stream no longer than others. */
static void after_rejection(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client;

	for (unsigned n = 0; n < 2 && still_right(); n++) {
		name_row("%s", n ? "a rejection, and the FIN is lost" : "a rejection");
		iw_serve(b, .close_ms = 50);
		client = iw_dial(a, .close_ms = 60);
		expect_message(a_to_b, "MPA ID Req Frame");
		if (n)
			drop_frame(a_to_b, ETH_FIN);
		iw_refuse(expect_iw_request(b), "no", 2);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
		expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata = "no");
		expect_silence(CFG_MS(500));
	}
}

/* A state that may last as long as the one before it begins anew. */
static void equal_times(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	enum { EACH_MS = 100, SPENT_MS = 80 };
	struct tb_iw *client, *server;
	uint64_t since;

	iw_serve(b, .rtr_ms = EACH_MS, .close_ms = EACH_MS);
	client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_iw(client, CONNECT_REPLY);
	pass_time(CFG_MS(SPENT_MS));
	drop_frame(a_to_b, ETH_FIN);
	since = tb_now(tb);
	iw_hang_up(server);
	expect_iw(client, DISCONNECT);
	expect_iw(server, CLOSE, .status = -ETIMEDOUT);
	lasts(tb, since, EACH_MS);
	expect_iw(client, CLOSE);
}

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
	defaults(tb, a, b);
	equal_times(tb, a, b);
	after_rejection(tb, a, b);
}
