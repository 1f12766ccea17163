/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments that do not belong to the stream, or no longer: a RST with a number that is not the next one, data behind a FIN, data without an ACK. The
 * stream takes none of them. A RST whose number is near is answered by an ACK, so that a peer which means it can send the right one.
 * Source: RFC 9293 sections 3.10.7.3 and 3.10.7.4.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static void message_passes(struct tb *tb, struct iw_pair p, const char *text)
{
	iw_recv(p.server);
	iw_send(p.client, text);
	expect_message(a_to_b, "SEND, ");
	expect_iw_text(p.server, text);
}

static void strays(struct tb *tb, struct iw_pair p)
{
	static const struct tb_segment stray[] = {
		{.seq = -1, .flags = TCP_RST | TCP_ACK},
		{.seq = 1, .flags = TCP_RST | TCP_ACK},
		{.seq = 65534, .flags = TCP_RST},
		{.seq = 65535, .flags = TCP_RST},
		{.seq = 70000, .flags = TCP_RST | TCP_ACK},
		{.flags = TCP_PSH, .text = "no ACK"},
		{.flags = TCP_PSH | TCP_FIN, .text = "no ACK"},
		{.flags = TCP_FIN},
		{.seq = 10, .flags = TCP_FIN | TCP_ACK},
		/* a SYN of long ago, and of now */
		{.seq = -100, .flags = TCP_SYN},
		{.flags = TCP_SYN, .mss = 100},
		{.seq = -1, .flags = TCP_SYN | TCP_ACK, .mss = 100},
		{.flags = TCP_SYN | TCP_FIN},
	};

	for_each_row(i, stray) {
		tb_inject_segment(tb, TB_HERE, p.server, &stray[i]);
		tb_inject_segment(tb, TB_HERE, p.client, &stray[i]);
		expect_silence(CFG_MS(1));
		message_passes(tb, p, "still here");
	}
}

SCENARIO(iwarp_stray_segments, "segments that do not belong to the stream change nothing",
	 .bare = true)
{
	struct iw_pair p;
	uint64_t since;

	iw_serve(b);
	p = iw_pair_of(tb, iw_dial(a), b, 0);
	strays(tb, p);
	/* the right number */
	inject_segment(p.client, .flags = TCP_RST);
	expect_iw(p.server, CLOSE, .status = -ECONNRESET);
	iw_forget(p.client);
	expect_silence(CFG_MS(1));
	/* before it data was lost: the peer has to say it again */
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	drop_frame(a_to_b, ETH_DATA);
	iw_send(p.client, "lost");
	expect_message(a_to_b, "SEND, ");
	iw_forget(p.client);
	expect_iw(p.server, CLOSE, .status = -ECONNRESET);
	/* behind the peer's FIN nothing comes; the answers to it are lost, so the stream is still there */
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	pass_time(CFG_US(50));
	drop_frame(b_to_a, ETH_ANY);
	drop_frame(b_to_a, ETH_FIN);
	since = tb_now(tb);
	half_close_stream(p.client);
	expect_iw(p.server, DISCONNECT);
	inject_segment(p.client, .flags = TCP_ACK | TCP_PSH, .text = "behind the end");
	inject_segment(p.client, .flags = TCP_ACK | TCP_FIN);
	expect_silence(CFG_MS(100));
	expect_iw(p.client, DISCONNECT);
	expect_iw(p.client, CLOSE);
	expect_iw(p.server, CLOSE);
	expect_that(tb_now(tb) - since, <, CFG_MS(210)); /* both were sent again once */
}
