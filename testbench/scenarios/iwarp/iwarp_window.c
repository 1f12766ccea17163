/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer's window. What does not fit waits, and leaves when a segment opens the window that acknowledges nothing new. That segment may be lost, so a
 * window that stays closed is probed, however often. An old segment that arrives late does not change the window. What was sent and is sent again
 * counts as sent meanwhile, so an ACK for all of it ends the tries. Source: RFC 9293 sections 3.8.6, 3.8.6.1.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

enum { SEGMENT = 32, LONG = 1000 };

/* What is posted does not arrive for that long. */
static void wait(struct tb *tb, struct iw_pair p, const char *text, uint64_t ps)
{
	iw_recv(p.server);
	iw_send(p.client, text);
	expect_message(a_to_b, "SEND, ");
	expect_silence(ps);
}

/* Two segments have come, and no ACK of them has. Together they are longer than what one may carry. */
static void acks_lost(struct tb *tb, struct iw_pair p)
{
	static char text[LONG + 1];

	memset(text, 'x', LONG);
	for (unsigned i = 0; i < 2; i++) {
		drop_frame(b_to_a, ETH_ANY);
		iw_recv(p.server);
		iw_send(p.client, text);
		expect_message(a_to_b, "SEND, ");
	}
	for (unsigned i = 0; i < 2; i++)
		expect_iw_text(p.server, text);
	expect_silence(CFG_S(30)); /* longer than all tries */
}

SCENARIO(iwarp_window, "windows that close, open and stay closed", .bare = true)
{
	static const char long_text[] = "two whole segments and a half fit, and the rest of this "
					"text waits until the peer has "
					"told of what came, which is at once";
	struct iw_pair p;
	uint64_t since;

	iw_serve(b);
	p = iw_pair_of(tb, iw_dial(a), b, 0);
	pass_time(CFG_US(100));
	/* closed, and opened */
	inject_segment(p.server, .window = 0);
	pass_time(CFG_US(100));
	wait(tb, p, "held back", CFG_MS(100));
	since = tb_now(tb);
	inject_segment(p.server);
	expect_iw_text(p.server, "held back");
	expect_that(tb_now(tb) - since, <, CFG_MS(1));
	/* the segment that opens it is lost: the first byte is a probe, and its ACK opens the window */
	inject_segment(p.server, .window = 0);
	pass_time(CFG_US(100));
	wait(tb, p, "probed", CFG_MS(190));
	since = tb_now(tb);
	expect_iw_text(p.server, "probed");
	expect_that(tb_now(tb) - since, <, CFG_MS(20));
	/* it stays closed for longer than all tries of a segment last: the peer answers, so the stream lives */
	inject_segment(p.server, .window = 0);
	pass_time(CFG_US(100));
	iw_recv(p.server);
	for (unsigned i = 0; i < 4; i++)
		drop_frame(a_to_b, ETH_DATA);
	iw_send(p.client, "patient");
	expect_message(a_to_b, "SEND, ");
	for (unsigned i = 0; i < 40 && still_right(); i++) {
		inject_segment(p.server, .window = 0);
		expect_silence(CFG_MS(20));
	}
	inject_segment(p.server);
	expect_iw_text(p.server, "patient");
	/* a small one: as many bytes as it has */
	inject_segment(p.server, .window = 10);
	pass_time(CFG_US(100));
	iw_recv(p.server);
	iw_send(p.client, "in two segments");
	expect_message(a_to_b, "SEND, ");
	expect_iw_text(p.server, "in two segments");
	/* room for two segments and a half: what is under way takes its part of it */
	cut_segments(a, SEGMENT);
	inject_segment(p.server, .window = 2 * SEGMENT + SEGMENT / 2);
	pass_time(CFG_US(100));
	iw_recv(p.server);
	iw_send(p.client, long_text);
	expect_message(a_to_b, "SEND, ");
	expect_iw_text(p.server, long_text);
	cut_segments(a, 0);
	/* an ACK of long ago closes nothing, and one of what was never sent opens nothing */
	inject_segment(p.server, .ack = -20, .window = 0);
	pass_time(CFG_US(100));
	since = tb_now(tb);
	iw_recv(p.server);
	iw_send(p.client, "at once");
	expect_message(a_to_b, "SEND, ");
	expect_iw_text(p.server, "at once");
	expect_that(tb_now(tb) - since, <, CFG_MS(1));
	inject_segment(p.server, .ack = 1000);
	inject_segment(p.server, .window = 0);
	inject_segment(p.server, .ack = 1000);
	pass_time(CFG_US(100));
	wait(tb, p, "not before its time", CFG_MS(100));
	inject_segment(p.server);
	expect_iw_text(p.server, "not before its time");
	/* a FIN behind what waits */
	inject_segment(p.server, .window = 0);
	pass_time(CFG_US(100));
	wait(tb, p, "the last", CFG_MS(10));
	iw_hang_up(p.client);
	expect_silence(CFG_MS(10));
	inject_segment(p.server);
	expect_iw_text(p.server, "the last");
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.server, CLOSE);
	expect_iw(p.client, CLOSE);

	p = iw_pair_of(tb, iw_dial(a), b, 0);
	pass_time(CFG_US(100));
	acks_lost(tb, p);
	iw_pair_ends(tb, p);
}
