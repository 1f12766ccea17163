/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and Replies that break a rule. The responder drops the stream without a word to its user,
 * as RFC 5044 asks; the initiator's user learns of it. A Request of which only the first bytes come
 * holds the responder for 5 s.
 */
#include "testbench/iwarp.h"

static const struct {
	const char *name;
	uint64_t breaks;
	bool enhanced, of_reply; /* only of enhanced data, only of a Reply */
} rows[] = {
	{"a bit of the key", IW_BREAKS_BIT(key_bit), false, false},
	{"513 bytes", IW_BREAKS_BIT(pd_513), false, false},
	{"revision 0", IW_BREAKS_BIT(rev_0), false, false},
	{"revision 3", IW_BREAKS_BIT(rev_3), false, false},
	{"enhanced data of 3 bytes", IW_BREAKS_BIT(short_enhanced), true, false},
	{"a byte behind", IW_BREAKS_BIT(byte_behind), false, false},
	{"the other key", IW_BREAKS_BIT(wrong_key), false, false},
	{"the key of Rtr", IW_BREAKS_BIT(rtr_key), false, false},
	{"not enhanced", IW_BREAKS_BIT(reply_without_s), true, true},
};

static const struct {
	const char *name;
	uint32_t rev, design;
} designs[] = {
	{"revision 2", 2, IW_RTR_MESSAGE},
	{"revision 2, client first", 2, IW_CLIENT_FIRST},
	{"revision 1", 1, IW_CLIENT_FIRST},
	{"revision 1, Rtr frame", 1, IW_RTR_FRAME},
};

/* Only the first bytes come. */
static void halves(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t rev, uint32_t design)
{
	struct tb_iw *client, *server;

	iw_serve(b, .rev = rev, .design = design);
	client = iw_dial(a, .rev = rev, .design = design, .breaks = IW_BREAKS_BIT(half_start),
			 .fallback = 0);
	expect_message(a_to_b, "MPA ID Req Frame");
	expect_silence(CFG_MS(4999));
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	iw_serve(b, .rev = rev, .design = design, .breaks = IW_BREAKS_BIT(half_start));
	client = iw_dial(a, .rev = rev, .design = design, .rep_ms = 1000);
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame");
	expect_silence(CFG_MS(999));
	expect_iw(client, CONNECT_REPLY, .status = -ETIMEDOUT);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
}

/* A rejection that breaks a rule is none. */
static void rejections(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const uint64_t breaks[] = {IW_BREAKS_BIT(key_bit), IW_BREAKS_BIT(pd_513),
					  IW_BREAKS_BIT(rev_3), IW_BREAKS_BIT(wrong_key),
					  IW_BREAKS_BIT(rtr_key)};
	struct tb_iw *client;

	for_each_row(i, breaks) {
		name_row("a rejection, rule %zu", i);
		iw_serve(b, .breaks = breaks[i]);
		client = iw_dial(a);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		iw_refuse(expect_iw_request(b), "no", 2);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected, private data 2");
		expect_iw(client, CONNECT_REPLY, .status = -EPROTO, .pdata_len = 0);
	}
}

SCENARIO(iwarp_bad_frames, "Requests and Replies that break a rule", .bare = true)
{
	struct tb_iw *client, *server;

	for_each_row(d, designs) {
		const uint32_t rev = designs[d].rev, design = designs[d].design;

		for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]) && still_right(); i++) {
			const bool reply = i % 2;

			if ((rows[i / 2].enhanced && rev == 1) || (rows[i / 2].of_reply && !reply))
				continue;
			name_row("%s, %s, in a %s", designs[d].name, rows[i / 2].name,
				 reply ? "Reply" : "Request");
			iw_serve(b, .rev = rev, .design = design,
				 .breaks = reply ? rows[i / 2].breaks : 0);
			client = iw_dial(a, .rev = rev, .design = design, .fallback = 0,
					 .breaks = reply ? 0 : rows[i / 2].breaks);
			expect_message(a_to_b, "MPA ID Req Frame");
			if (!reply) {
				expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
				continue;
			}
			server = expect_iw_request(b);
			iw_take(server);
			expect_message(b_to_a, "MPA ID Rep Frame");
			expect_iw(client, CONNECT_REPLY, .status = -EPROTO);
			expect_iw(server, CLOSE, .status = -ECONNRESET);
		}
		name_row("%s, half a frame", designs[d].name);
		halves(tb, a, b, rev, design);
	}
	rejections(tb, a, b);
}
