/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is lacking when something arrives or a timer is over, at each allocation of a connection's life. Nothing of what could not be done counts:
 * numbers of messages, places of READs, markers. Who cannot say that it is ready, or answer a READ, ends the connection; each user hears of that once.
 */
#include "testbench/harm.h"
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static const struct kind {
	const char *name;
	uint32_t rev, design, kinds;
	const char *message;
	unsigned allocations; /* until what says ready has left */
} kinds[] = {
	{"WRITE", 2, IW_RTR_MESSAGE, MPA_RTR_WRITE, "WRITE, 0 bytes", 2},
	{"READ", 2, IW_RTR_MESSAGE, MPA_RTR_READ, "READ_REQUEST, 0 bytes", 2},
	{"SEND", 2, IW_RTR_MESSAGE, MPA_RTR_SEND, "SEND, 0 bytes", 2},
	{"Rtr frame", 1, IW_RTR_FRAME, MPA_RTR_ALL, "MPA ID Rtr Frame", 1},
};

/* The allocation has failed, and nothing is told or sent again. */
static void over(struct tb *tb)
{
	expect_silence(CFG_MS(500));
	expect_that(lack_memory_elsewhere(0), ==, true);
}

/* The stream of a server, the Request of the client, the connection of the server. */
static void streams(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client;
	struct iw_pair p;
	uint64_t since = tb_now(tb);

	name_row("%s", "the server's stream");
	lack_memory_elsewhere(1);
	client = iw_dial(a);
	p = iw_pair_of(tb, client, b, 0);
	expect_that(tb_now(tb) - since, >=, CFG_MS(200));
	iw_pair_ends(tb, p);
	over(tb);
	name_row("%s", "the Request");
	lack_memory_elsewhere(2);
	client = iw_dial(a);
	expect_iw(client, CONNECT_REPLY, .status = -ENOMEM);
	over(tb);
	name_row("%s", "the server's connection");
	lack_memory_elsewhere(3);
	client = iw_dial(a, .fallback = 0);
	expect_message(a_to_b, "MPA ID Req Frame");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	over(tb);
	/* of a client that falls back: to it the server looks like an old one, and then its own stream finds no memory */
	name_row("%s", "the second stream");
	iw_serve(b, .rev = 1);
	lack_memory_elsewhere(4);
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	over(tb);
	iw_serve(b);
}

/* A Request that the server's user is not asked about: the rejection finds no memory. */
static void rejection(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client;

	name_row("%s", "the rejection of markers");
	iw_serve(b, .can_markers = 0);
	lack_memory_elsewhere(4);
	client = iw_dial(a, .markers = 1, .fallback = 0);
	expect_message(a_to_b, "MPA ID Req Frame");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	over(tb);
}

/* What says ready, at once and after a wait. */
static void ready(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *kind,
		  unsigned nth, unsigned after_reply_ms)
{
	struct tb_iw *client, *server;

	name_row("%s, allocation %u%s", kind->name, nth, after_reply_ms ? ", after a wait" : "");
	iw_serve(b, .rev = kind->rev, .design = kind->design);
	client = iw_dial(a, .rev = kind->rev, .design = kind->design, .kinds = kind->kinds,
			 .after_reply_ms = after_reply_ms);
	iw_recv(client);
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame");
	lack_memory_elsewhere(nth);
	expect_iw(client, CONNECT_REPLY, .status = -ENOMEM);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	over(tb);
}

/* The response to a READ, and then the greeting. Markers show what counts as sent. */
static void answers(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned nth)
{
	struct tb_iw *client, *server;

	name_row("the response to a READ, allocation %u", nth);
	iw_serve(b);
	client = iw_dial(a, .kinds = MPA_RTR_READ, .markers = 1);
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_take(server);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame");
	lack_memory_elsewhere(nth);
	expect_message(a_to_b, "READ_REQUEST, 0 bytes");
	expect_iw(client, CONNECT_REPLY);
	expect_message(b_to_a, "TERMINATE");
	expect_iw(server, TERMINATE, .term = IW_TERM_LOCAL, .sent = true);
	expect_iw(client, TERMINATE, .term = IW_TERM_LOCAL);
	expect_iw(client, CLOSE);
	expect_iw(server, CLOSE);
	over(tb);
}

/* A message that waited behind the fence: its user hears of it, and the next one is the first. */
static void greetings(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned nth)
{
	struct tb_iw *client, *server;

	name_row("the greeting, allocation %u", nth);
	client = iw_dial(a, .markers = 1);
	for (unsigned i = 0; i < 2; i++)
		iw_recv(client);
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_take(server);
	iw_send(server, "not sent");
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_message(a_to_b, "WRITE, 0 bytes");
	lack_memory_elsewhere(nth);
	expect_iw(client, CONNECT_REPLY);
	expect_iw(server, ESTABLISHED);
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(client, "greeting");
	expect_that(lack_memory_elsewhere(0), ==, true);
	/* and one that its user posts: the first allocation is refused, the others are told as its completion */
	for (nth = 1; nth < 4; nth++) {
		lack_memory(nth);
		expect_equal(iw_post_send(tb_iw_id(server), 1, (const uint8_t *)"none", 4),
			     nth == 1 ? -ENOMEM : 0);
		expect_that(lack_memory(0), ==, true);
	}
	iw_send(server, "the next");
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(client, "the next");
	lack_memory(1);
	must_fail(-ENOMEM, iw_post_recv(tb_iw_id(server), 1, NULL, 0));
	expect_that(lack_memory(0), ==, true);
	iw_pair_ends(tb, (struct iw_pair){client, server});
}

/* A TERMINATE: without it the connection ends all the same. */
static void terminates(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned nth)
{
	struct iw_pair p;

	name_row("a TERMINATE, allocation %u", nth);
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	pass_time(CFG_US(50));
	lack_memory_elsewhere(nth);
	inject_ddp(p.client, RDMAP_SEND, .msn = 2);
	expect_iw(p.server, TERMINATE, .term = IW_TERM_UNTAGGED_MSN, .sent = true);
	expect_iw(p.client, DISCONNECT);
	expect_iw(p.client, CLOSE);
	expect_iw(p.server, CLOSE);
	over(tb);
}

/* Calls of the user: each has no effect, and then one that finds its memory. */
static void calls(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client = iw_dial(a), *server;

	name_row("%s", "accept and reject");
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	lack_memory(1);
	must_fail(-ENOMEM, iw_accept(tb_iw_id(server), (const uint8_t *)"yes", 3));
	lack_memory(1);
	must_fail(-ENOMEM, iw_reject(tb_iw_id(server), (const uint8_t *)"no", 2));
	lack_memory(0);
	iw_recv(server);
	iw_take_with(server, (const uint8_t *)"welcome", 7);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 crc");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(client, CONNECT_REPLY, .pdata = "welcome");
	expect_iw(server, ESTABLISHED);
	iw_send(client, "hello");
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_iw_text(server, "hello");
	iw_pair_ends(tb, (struct iw_pair){client, server});
}

SCENARIO(iwarp_lacks_memory, "memory that is lacking at each allocation of a connection",
	 .bare = true)
{
	iw_serve(b);
	streams(tb, a, b);
	rejection(tb, a, b);
	for_each_row(i, kinds)
		for (unsigned n = 0; n < 2 * kinds[i].allocations && still_right(); n++)
			ready(tb, a, b, &kinds[i], 1 + n / 2, n % 2);
	for (unsigned nth = 1; nth < 3 && still_right(); nth++) {
		answers(tb, a, b, nth + 2);
		greetings(tb, a, b, nth);
		terminates(tb, a, b, nth);
	}
	calls(tb, a, b);
	expect_silence(CFG_S(11)); /* longer than each timer */
}
