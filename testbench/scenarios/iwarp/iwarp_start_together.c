/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP knows no frames: what follows a Request, a Reply or what says ready can come in the same read as its end, or any byte later. In each design the
 * bytes of all of them come in segments of each size, and then all in one, while a window is closed. Each byte belongs to the frame that it is part of.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

/* bytes of a segment: the frames that say ready and the message behind them are shorter than the last one */
enum { SIZES = 60, REQUEST_BYTES = 24 };

static const struct row {
	const char *name;
	uint32_t rev, design, kinds;
	const char *ready, *answer; /* the messages, NULL: none */
} rows[] = {
	{"WRITE", 2, IW_RTR_MESSAGE, MPA_RTR_WRITE, "WRITE, 0 bytes", NULL},
	{"READ", 2, IW_RTR_MESSAGE, MPA_RTR_READ, "READ_REQUEST, 0 bytes",
	 "READ_RESPONSE, 0 bytes"},
	{"SEND", 2, IW_RTR_MESSAGE, MPA_RTR_SEND, "SEND, 0 bytes", NULL},
	{"Rtr frame", 1, IW_RTR_FRAME, MPA_RTR_ALL, "MPA ID Rtr Frame", NULL},
	{"client first", 2, IW_CLIENT_FIRST, MPA_RTR_ALL, NULL, NULL},
};

static void cut_both(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned size)
{
	cut_segments(a, size);
	cut_segments(b, size);
}

/* What says ready, and two messages behind it; then the answers. */
static void to_server(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct row *row)
{
	struct iw_pair p;

	p.client = iw_dial_with(a, "hello", 5, .rev = row->rev, .design = row->design,
				.kinds = row->kinds, .after_reply_ms = 1);
	iw_recv(p.client);
	iw_recv(p.client);
	expect_message(a_to_b, "MPA ID Req Frame");
	p.server = expect_iw_request(b, .pdata = "hello");
	for (unsigned i = 0; i < 3; i++)
		iw_recv(p.server);
	iw_take_with(p.server, (const uint8_t *)"welcome", 7);
	iw_send(p.server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame");
	pass_time(CFG_US(500));
	inject_segment(p.server, .window = 0);
	iw_within(p.client, CONNECT_REPLY, IW_DO_SEND);
	expect_iw(p.client, CONNECT_REPLY, .pdata = "welcome");
	iw_send(p.client, "more");
	if (row->ready)
		expect_message(a_to_b, row->ready);
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_message(a_to_b, "SEND, 4 bytes");
	expect_silence(CFG_MS(1));
	inject_segment(p.server);
	expect_iw(p.server, ESTABLISHED);
	if (row->kinds == MPA_RTR_SEND)
		expect_iw_text(p.server, "");
	expect_iw_text(p.server, "again");
	expect_iw_text(p.server, "more");
	if (row->answer)
		expect_message(b_to_a, row->answer);
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(p.client, "greeting");
	iw_pair_ends(tb, p);
}

/* A Reply with a message of a server that does not wait behind it. */
static struct iw_pair reply_and_more(struct tb *tb, struct tb_end *b, struct tb_iw *client)
{
	struct iw_pair p = {.client = client};

	iw_recv(client);
	expect_message(a_to_b, "MPA ID Req Frame");
	p.server = expect_iw_request(b);
	iw_recv(p.server);
	iw_recv(p.server);
	pass_time(CFG_US(500));
	inject_segment(client, .window = 0);
	pass_time(CFG_US(20));
	iw_take_with(p.server, (const uint8_t *)"welcome", 7);
	iw_send(p.server, "early");
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_message(b_to_a, "SEND, 5 bytes");
	expect_silence(CFG_MS(1));
	inject_segment(client);
	return p;
}

/* A client that tolerates it gets both. */
static void to_client(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct row *row,
		      uint32_t after_reply_ms)
{
	struct iw_pair p = reply_and_more(tb, b,
					  iw_dial(a, .rev = row->rev, .design = row->design,
						  .kinds = row->kinds, .strict = 0,
						  .after_reply_ms = after_reply_ms));

	expect_iw(p.client, CONNECT_REPLY, .pdata = "welcome");
	expect_iw_text(p.client, "early");
	if (row->ready)
		expect_message(a_to_b, row->ready);
	if (row->answer)
		expect_message(b_to_a, row->answer);
	iw_send(p.client, "hello");
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_iw(p.server, ESTABLISHED);
	if (row->kinds == MPA_RTR_SEND)
		expect_iw_text(p.server, "");
	expect_iw_text(p.server, "hello");
	iw_pair_ends(tb, p);
}

/* A client that does not tolerate it. */
static void to_strict_client(struct tb *tb, struct tb_end *a, struct tb_end *b,
			     const struct row *row)
{
	struct iw_pair p = reply_and_more(
		tb, b, iw_dial(a, .rev = row->rev, .design = row->design, .kinds = row->kinds));

	expect_iw(p.client, CONNECT_REPLY, .status = -EPROTO);
	expect_iw(p.server, CLOSE, .status = -ECONNRESET);
}

/* A byte behind a frame that nothing may follow. */
static void behind_the_end(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	name_row("%s", "a byte behind a rejection");
	iw_serve(b, .breaks = IW_BREAKS_BIT(byte_behind));
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_refuse(server, "no", 2);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata = "no");
	iw_serve(b);
	for (unsigned n = 0; n < 2 && still_right(); n++) {
		name_row("a byte behind a Request, in %s segment", n ? "the next" : "its");
		cut_segments(a, n ? REQUEST_BYTES : 0);
		client = iw_dial(a, .breaks = IW_BREAKS_BIT(byte_behind), .fallback = 0);
		expect_message(a_to_b, "MPA ID Req Frame");
		if (n) {
			server = expect_iw_request(b);
			expect_iw(server, CLOSE, .status = -EPROTO);
		}
		expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	}
	cut_segments(a, 0);
}

SCENARIO(iwarp_start_together, "frames of the start together with what follows, cut everywhere",
	 .bare = true)
{
	for_each_row(i, rows) {
		for (unsigned size = 0; size < SIZES && still_right(); size++) {
			name_row("%s, segments of %u bytes", rows[i].name, size);
			cut_both(tb, a, b, size);
			iw_serve(b, .rev = rows[i].rev, .design = rows[i].design);
			to_server(tb, a, b, &rows[i]);
			iw_serve(b, .rev = rows[i].rev, .design = rows[i].design,
				 .breaks = IW_BREAKS_BIT(early_send));
			to_client(tb, a, b, &rows[i], size % 2);
		}
		cut_both(tb, a, b, 0);
		to_strict_client(tb, a, b, &rows[i]);
	}
	behind_the_end(tb, a, b);
	expect_silence(CFG_S(11));
}
