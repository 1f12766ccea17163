/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program does from inside its handlers: it accepts, rejects or goes within CONNECT_REQUEST, sends, closes or goes within each other event and
 * within a completion, where it posts again, too. The work that completes is no longer in its list then, and nothing is told to who is gone.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static void completions(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const enum tb_iw_act acts[] = {IW_DO_SEND, IW_DO_RECV, IW_DO_HANG_UP, IW_DO_FORGET};

	for (unsigned n = 0; n < 2 * sizeof(acts) / sizeof(acts[0]) && still_right(); n++) {
		const enum tb_iw_act what = acts[n / 2];
		const bool of_send = n % 2;
		struct iw_pair p;
		struct tb_iw *actor, *other;

		name_row("act %u within the completion of a %s", what,
			 of_send ? "send" : "receive");
		p = iw_pair_of(tb, iw_dial(a), b, 3);
		actor = of_send ? p.client : p.server;
		other = of_send ? p.server : p.client;
		iw_recv(p.client);
		iw_recv(p.client);
		iw_within_completion(actor, what);
		iw_send(p.client, "hello");
		expect_message(a_to_b, "SEND, 5 bytes");
		expect_iw_text(p.server, "hello");
		if (what == IW_DO_SEND) {
			expect_message(of_send ? a_to_b : b_to_a, "SEND, 5 bytes");
			expect_iw_text(other, "again");
		}
		if (what == IW_DO_HANG_UP || what == IW_DO_FORGET) {
			if (what == IW_DO_FORGET) {
				expect_iw(other, CLOSE, .status = -ECONNRESET);
			} else {
				expect_iw(other, DISCONNECT);
				expect_iw(p.server, CLOSE);
				expect_iw(p.client, CLOSE);
			}
			continue;
		}
		iw_send(p.client, "more");
		expect_message(a_to_b, "SEND, 4 bytes");
		expect_iw_text(p.server, "more");
		iw_pair_ends(tb, p);
	}
}

/* The message that opens a connection is also the first that completes. */
static void first_message(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		struct tb_iw *client = iw_dial(a, .design = IW_CLIENT_FIRST), *server;

		name_row("%s within the first completion", n ? "goes" : "closes");
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_iw(client, CONNECT_REPLY);
		iw_within_completion(server, n ? IW_DO_FORGET : IW_DO_HANG_UP);
		iw_send(client, "hello");
		expect_message(a_to_b, "SEND, 5 bytes");
		expect_iw_text(server, "hello");
		if (n) {
			expect_iw(client, CLOSE, .status = -ECONNRESET);
			continue;
		}
		expect_iw(client, DISCONNECT);
		expect_iw(client, CLOSE);
		expect_iw(server, CLOSE);
	}
}

/* A connection with work that will be flushed, and a program that goes within the first completion. */
static struct iw_pair flushed(struct tb *tb, struct tb_end *a, struct tb_end *b, const char *cause)
{
	struct iw_pair p;

	name_row("within a flush by %s", cause);
	p = iw_pair_of(tb, iw_dial(a), b, 3);
	iw_within_completion(p.server, IW_DO_FORGET);
	return p;
}

/* The program goes while more of its work waits: by each way in which work is flushed. */
static void flushes(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct iw_pair p = flushed(tb, a, b, "the peer's end");

	iw_hang_up(p.client);
	expect_iw(p.client, CLOSE);
	p = flushed(tb, a, b, "the own end");
	iw_hang_up(p.server);
	expect_iw(p.client, DISCONNECT);
	expect_iw(p.client, CLOSE);
	p = flushed(tb, a, b, "an own TERMINATE");
	inject_ddp(p.client, RDMAP_SEND, .msn = 7);
	expect_message(b_to_a, "TERMINATE");
	expect_iw(p.client, TERMINATE, .term = IW_TERM_UNTAGGED_MSN);
	expect_iw(p.client, CLOSE, .status = -ECONNRESET);
	p = flushed(tb, a, b, "a TERMINATE of the peer");
	inject_ddp(p.client, RDMAP_TERMINATE);
	expect_iw(p.client, CLOSE, .status = -ECONNRESET);
	p = flushed(tb, a, b, "a RST");
	iw_forget(p.client);
	expect_silence(CFG_MS(1));
	name_row("%s", "within a flush by a rejection");
	p.client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	p.server = expect_iw_request(b);
	iw_recv(p.server);
	iw_recv(p.server);
	iw_within_completion(p.server, IW_DO_FORGET);
	iw_refuse(p.server, "no", 2);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_iw(p.client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata = "no");
	name_row("%s", "within a flush by a timer");
	p.client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	p.server = expect_iw_request(b);
	iw_recv(p.server);
	iw_take(p.server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(p.client, CONNECT_REPLY);
	iw_send(p.server, "not sent");
	iw_send(p.server, "not sent");
	iw_within_completion(p.server, IW_DO_FORGET);
	expect_iw(p.client, CLOSE, .status = -ECONNRESET);
	/* who goes at once hears of no completion */
	p = flushed(tb, a, b, "nothing");
	iw_forget(p.server);
	expect_iw(p.client, CLOSE, .status = -ECONNRESET);
	expect_silence(CFG_MS(1));
}

static void requests(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	name_row("%s", "within a request");
	iw_within_request(b, IW_DO_TAKE);
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(client, CONNECT_REPLY);
	expect_iw(server, ESTABLISHED);
	iw_pair_ends(tb, (struct iw_pair){client, server});
	iw_within_request(b, IW_DO_REFUSE);
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_iw_request(b);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED);
	/* who was rejected goes, and leaves nothing that waits for the end of the stream */
	client = iw_dial(a);
	iw_within(client, CONNECT_REPLY, IW_DO_FORGET);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_iw_request(b);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED);
	iw_within_request(b, IW_DO_FORGET);
	client = iw_dial(a, .fallback = 0);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_iw_request(b);
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	iw_within_request(b, IW_DO_NOTHING);
	expect_silence(CFG_S(11));
}

/* The client within its CONNECT_REPLY, the server within ESTABLISHED. */
static void connects(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned n = 0; n < 6 && still_right(); n++) {
		static const enum tb_iw_act acts[] = {IW_DO_SEND, IW_DO_HANG_UP, IW_DO_FORGET};
		const enum tb_iw_act what = acts[n / 2];
		struct tb_iw *client = iw_dial(a), *server;

		name_row("act %u within %s", what, n % 2 ? "ESTABLISHED" : "CONNECT_REPLY");
		iw_recv(client);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_recv(server);
		if (n % 2)
			iw_within(server, ESTABLISHED, what);
		else
			iw_within(client, CONNECT_REPLY, what);
		iw_take(server);
		if (what == IW_DO_HANG_UP && n % 2)
			iw_send(server, "flushed");
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, "WRITE, 0 bytes");
		expect_iw(client, CONNECT_REPLY);
		expect_iw(server, ESTABLISHED);
		if (what == IW_DO_FORGET) {
			expect_iw(n % 2 ? client : server, CLOSE, .status = -ECONNRESET);
			continue;
		}
		if (what == IW_DO_HANG_UP) {
			expect_iw(n % 2 ? client : server, DISCONNECT);
			expect_iw(client, CLOSE);
			expect_iw(server, CLOSE);
			continue;
		}
		expect_message(n % 2 ? b_to_a : a_to_b, "SEND, 5 bytes");
		expect_iw_text(n % 2 ? client : server, "again");
		iw_pair_ends(tb, (struct iw_pair){client, server});
	}
}

/* Within the events of an end. */
static void ends(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct iw_pair p;

	name_row("%s", "within an end");
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	iw_within(p.server, DISCONNECT, IW_DO_FORGET);
	iw_within(p.client, CLOSE, IW_DO_FORGET);
	iw_hang_up(p.client);
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.client, CLOSE);
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	iw_within(p.server, TERMINATE, IW_DO_FORGET);
	iw_within(p.client, TERMINATE, IW_DO_FORGET);
	inject_ddp(p.client, RDMAP_SEND, .msn = 2);
	expect_message(b_to_a, "TERMINATE");
	expect_iw(p.server, TERMINATE, .term = IW_TERM_UNTAGGED_MSN, .sent = true);
	expect_iw(p.client, TERMINATE, .term = IW_TERM_UNTAGGED_MSN);
	expect_silence(CFG_S(11));
}

SCENARIO(iwarp_handlers, "a program accepts, sends, closes and goes within its handlers",
	 .bare = true)
{
	iw_serve(b);
	completions(tb, a, b);
	first_message(tb, a, b);
	flushes(tb, a, b);
	requests(tb, a, b);
	connects(tb, a, b);
	ends(tb, a, b);
}
