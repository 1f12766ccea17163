/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream fails by RST or ends by FIN in each state that a connection has. Each user hears of its end exactly once: by CONNECT_REPLY while it
 * connects, else by CLOSE; and who has rejected hears nothing more. What has ended keeps no timer.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

enum who { CLIENT, SERVER };
enum { STATE_MS = 400 };
#define SILENCE CFG_MS(600)

/* no state lasts longer than the silence that must follow */
#define SHORT .rep_ms = STATE_MS, .req_ms = STATE_MS, .rtr_ms = STATE_MS, .close_ms = STATE_MS

static const struct row {
	const char *name;
	uint32_t design, after_reply_ms;
	uint64_t breaks;
	bool taken, ready; /* the server has accepted; the client has said that it is ready */
} rows[] = {
	{.name = "before the Reply", .design = IW_RTR_MESSAGE},
	{.name = "before the client is ready",
	 .design = IW_RTR_MESSAGE,
	 .after_reply_ms = STATE_MS,
	 .taken = true},
	{.name = "before the server hears of it",
	 .design = IW_RTR_MESSAGE,
	 .breaks = IW_BREAKS_BIT(no_rtr),
	 .taken = true,
	 .ready = true},
	{.name = "before the first message",
	 .design = IW_CLIENT_FIRST,
	 .taken = true,
	 .ready = true},
	{.name = "in full operation", .design = IW_RTR_MESSAGE, .taken = true, .ready = true},
};

static bool is_full(const struct row *row)
{
	return row->ready && row->design == IW_RTR_MESSAGE && !row->breaks;
}

/* FIN of a connection in which both may send is an end in order. */
static bool in_order(const struct row *row, bool reset)
{
	return !reset && row->ready && !row->breaks;
}

static void expect_end(struct tb *tb, const struct row *row, bool reset, struct tb_iw *iw)
{
	if (in_order(row, reset)) {
		expect_iw(iw, DISCONNECT);
		expect_iw(iw, CLOSE);
	} else {
		expect_iw(iw, CLOSE, .status = -ECONNRESET);
	}
}

static void play(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct row *row,
		 enum who who, bool reset)
{
	struct tb_iw *client = iw_dial(a, .fallback = 0, .design = row->design,
				       .after_reply_ms = row->after_reply_ms, .breaks = row->breaks,
				       SHORT),
		     *server;

	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	if (row->taken) {
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	}
	pass_time(CFG_US(20));
	if (is_full(row)) {
		expect_message(a_to_b, "WRITE, 0 bytes");
		expect_iw(server, ESTABLISHED);
	}
	if (row->ready)
		expect_iw(client, CONNECT_REPLY);
	/* who ends the stream by RST is gone, and hears nothing */
	if (who == CLIENT && reset) {
		iw_forget(client);
		expect_end(tb, row, reset, server);
	} else if (who == CLIENT) {
		half_close_stream(client);
		expect_end(tb, row, reset, server);
		if (!row->ready)
			expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
		else
			expect_end(tb, row, reset, client);
	} else if (reset) {
		iw_forget(server);
		if (row->ready)
			expect_end(tb, row, reset, client);
		else
			expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	} else {
		half_close_stream(server);
		if (row->ready) {
			expect_iw(client, DISCONNECT);
			expect_iw(client, CLOSE);
			expect_end(tb, row, reset, server);
		} else {
			expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
			expect_iw(server, CLOSE, .status = -ECONNRESET);
		}
	}
	expect_silence(SILENCE);
}

SCENARIO(iwarp_told_once, "a stream ends in each state, and each user is told once", .bare = true)
{
	struct tb_iw *client, *server;
	struct iw_pair p;

	iw_serve(b, SHORT);
	for_each_row(i, rows) {
		for (unsigned n = 0; n < 4 && still_right(); n++) {
			name_row("%s, %s by %s", rows[i].name, n % 2 ? "RST" : "FIN",
				 n / 2 ? "server" : "client");
			play(tb, a, b, &rows[i], n / 2 ? SERVER : CLIENT, n % 2);
		}
	}
	/* while both ends close: RST */
	p = iw_pair_of(tb, iw_dial(a), b, 0);
	iw_within(p.server, DISCONNECT, IW_DO_BREAK);
	drop_frame(b_to_a, ETH_FIN);
	iw_hang_up(p.client);
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.client, CLOSE, .status = -ECONNRESET);
	/* it waits for an end that it has cut off */
	expect_iw(p.server, CLOSE, .status = -ETIMEDOUT);
	expect_silence(SILENCE);
	/* who has rejected, and who was rejected */
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_refuse(server, "no", 2);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata = "no");
	expect_silence(SILENCE);
	/* nobody answers the SYN */
	for (unsigned i = 0; i < 7; i++)
		drop_frame(a_to_b, ETH_SYN);
	client = iw_dial(a);
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
}
