/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer whose TCP takes short segments says so in its SYN. No segment to it is longer, and a message must fit into one segment with all that MPA adds:
 * length, CRC, padding, markers. Sources: RFC 9293 section 3.7.1, RFC 5044 section 4.5.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

enum { MOST = 1460, UNTAGGED = 18 };

static const struct row {
	uint16_t mss;            /* 0: no option */
	unsigned plain, markers; /* bytes of the longest message */
} rows[] = {
	{600, 600 - 6 - UNTAGGED, 600 - 6 - 2 * 4 - UNTAGGED},
	{601, 600 - 6 - UNTAGGED, 600 - 6 - 2 * 4 - UNTAGGED},
	{603, 600 - 6 - UNTAGGED, 600 - 6 - 2 * 4 - UNTAGGED},
	{512, 512 - 6 - UNTAGGED, 512 - 6 - 4 - UNTAGGED},
	{516, 516 - 6 - UNTAGGED, 516 - 6 - 2 * 4 - UNTAGGED},
	/* a ULPDU of 128 bytes is always right */
	{100, 128 - UNTAGGED, 128 - UNTAGGED},
	{135, 128 - UNTAGGED, 128 - UNTAGGED},
	{137, 130 - UNTAGGED, 128 - UNTAGGED},
	{140, 134 - UNTAGGED, 130 - UNTAGGED},
	{0, MOST - 6 - UNTAGGED, MOST - 6 - 3 * 4 - UNTAGGED},
	{MOST, MOST - 6 - UNTAGGED, MOST - 6 - 3 * 4 - UNTAGGED},
	{9000, MOST - 6 - UNTAGGED, MOST - 6 - 3 * 4 - UNTAGGED},
};

/* The client's own SYN is lost, and this one comes in its place. */
static void play(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct row *row,
		 bool markers)
{
	static const uint8_t bytes[MOST];
	const unsigned longest = markers ? row->markers : row->plain;
	char text[1000] = "";
	struct iw_pair p = {NULL, NULL};

	drop_frame(a_to_b, ETH_SYN);
	p.client = iw_dial(a, .markers = markers);
	inject_segment(p.client, .seq = -1, .flags = TCP_SYN, .mss = row->mss);
	p = iw_pair_of(tb, p.client, b, 0);
	must_fail(-EMSGSIZE, iw_post_send(tb_iw_id(p.server), 1, bytes, longest + 1));
	if (longest < sizeof(text)) {
		memset(text, 't', longest);
		for (unsigned i = 0; i < 3; i++)
			iw_recv(p.client);
		/* in one segment; then three in as few as there can be */
		iw_send(p.server, text);
		expect_message(b_to_a, "SEND, ");
		expect_iw_text(p.client, text);
		inject_segment(p.client, .window = 0);
		pass_time(CFG_US(20));
		for (unsigned i = 0; i < 2; i++) {
			iw_send(p.server, text);
			expect_message(b_to_a, "SEND, ");
		}
		inject_segment(p.client);
		for (unsigned i = 0; i < 2; i++)
			expect_iw_text(p.client, text);
		iw_pair_ends(tb, p);
		return;
	}
	/* longer than a receive of this end: the client says so, for it has the whole message */
	iw_recv(p.client);
	must(iw_post_send(tb_iw_id(p.server), 1, bytes, longest));
	expect_message(b_to_a, "SEND, ");
	expect_message(a_to_b, "TERMINATE");
	expect_iw(p.client, TERMINATE, .term = IW_TERM_UNTAGGED_LONG, .sent = true);
	expect_iw(p.server, TERMINATE, .term = IW_TERM_UNTAGGED_LONG);
	expect_iw(p.server, CLOSE);
	expect_iw(p.client, CLOSE);
}

SCENARIO(iwarp_mss, "a peer that takes short segments", .bare = true)
{
	iw_serve(b);
	for_each_row(i, rows) {
		for (unsigned markers = 0; markers < 2 && still_right(); markers++) {
			name_row("MSS %u%s", rows[i].mss, markers ? ", markers" : "");
			play(tb, a, b, &rows[i], markers);
		}
	}
	expect_silence(CFG_S(1));
}
