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
} rows[] = {
	{"a bit of the key", IW_BREAKS_BIT(key_bit)},
	{"513 bytes", IW_BREAKS_BIT(pd_513)},
	{"revision 0", IW_BREAKS_BIT(rev_0)},
	{"revision 3", IW_BREAKS_BIT(rev_3)},
	{"enhanced data of 3 bytes", IW_BREAKS_BIT(short_enhanced)},
	{"a byte behind", IW_BREAKS_BIT(byte_behind)},
	{"the other key", IW_BREAKS_BIT(wrong_key)},
	{"the key of Rtr", IW_BREAKS_BIT(rtr_key)},
};

SCENARIO(iwarp_bad_frames, "Requests and Replies that break a rule", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	for_each_row(i, rows) {
		name_row("%s, in a Request", rows[i].name);
		client = iw_dial(a, .breaks = rows[i].breaks, .fallback = 0);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	}
	client = iw_dial(a, .breaks = IW_BREAKS_BIT(half_start), .fallback = 0);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	expect_silence(CFG_MS(4999));
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);
	for_each_row(i, rows) {
		name_row("%s, in a Reply", rows[i].name);
		iw_serve(b, .breaks = rows[i].breaks);
		client = iw_dial(a);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_iw(client, CONNECT_REPLY, .status = -EPROTO);
		expect_iw(server, CLOSE, .status = -ECONNRESET);
	}
}
