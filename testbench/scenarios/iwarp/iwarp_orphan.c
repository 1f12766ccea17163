/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program sends, closes, and gives its connection up at once. What it has sent still arrives: TCP sends a lost segment or FIN again after its usual
 * timeout, though nobody waits for it. Only when its FIN has been acknowledged does it wait, 10 s, for that of a peer, and then ends by RST.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static void expect_soon(struct tb *tb, uint64_t since, uint64_t from, uint64_t to)
{
	expect_that(tb_now(tb) - since, >=, from);
	expect_that(tb_now(tb) - since, <, to);
}

SCENARIO(iwarp_orphan, "a stream whose program is gone sends what is lost again", .bare = true)
{
	struct iw_pair p;
	uint64_t since;

	iw_serve(b);
	for (unsigned n = 0; n < 3 && still_right(); n++) {
		name_row("%s lost", n ? n == 1 ? "FIN" : "FIN, twice, is" : "message and FIN are");
		p = iw_pair_of(tb, iw_dial(a), b, 1);
		pass_time(CFG_US(50)); /* all that was sent is acknowledged */
		if (!n)
			drop_frame(a_to_b, ETH_DATA);
		drop_frame(a_to_b, ETH_FIN);
		if (n == 2)
			drop_frame(a_to_b, ETH_FIN);
		iw_send(p.client, "the last word");
		expect_message(a_to_b, "SEND, 13 bytes");
		if (n)
			pass_time(CFG_US(50));
		since = tb_now(tb);
		iw_hang_up(p.client);
		iw_forget(p.client);
		expect_iw_text(p.server, "the last word");
		if (!n)
			expect_soon(tb, since, CFG_MS(200), CFG_MS(201));
		expect_iw(p.server, DISCONNECT);
		expect_soon(tb, since, n == 2 ? CFG_MS(600) : CFG_MS(200),
			    n == 2 ? CFG_MS(601) : CFG_MS(201));
		expect_iw(p.server, CLOSE);
	}
	/* the peer's FIN is lost again and again */
	name_row("%s", "the peer's FIN is lost");
	iw_serve(b, .close_ms = 60000);
	p = iw_pair_of(tb, iw_dial(a), b, 0);
	for (unsigned i = 0; i < 6; i++)
		drop_frame(b_to_a, ETH_FIN);
	since = tb_now(tb);
	iw_hang_up(p.client);
	iw_forget(p.client);
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.server, CLOSE);
	expect_soon(tb, since, CFG_S(10), CFG_MS(10001));
	/* a peer that is gone altogether: all tries, and then nothing more */
	name_row("%s", "the peer is gone");
	p = iw_pair_of(tb, iw_dial(a), b, 0);
	for (unsigned i = 0; i < 7; i++)
		drop_frame(a_to_b, ETH_FIN);
	iw_hang_up(p.client);
	iw_forget(p.client);
	expect_iw(p.server, CLOSE, .status = -ECONNRESET);
	expect_silence(CFG_S(1));
}
