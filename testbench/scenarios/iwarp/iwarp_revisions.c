/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every pair of revisions. A client of revision 2 whose Request is dropped by an old server connects
 * again with revision 1, once, and not after a rejection.
 */
#include "testbench/iwarp.h"

/* A rejection has the revision of its Request, and nobody connects again behind it. */
static void refused(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned mine, unsigned its)
{
	const bool both = mine == 2 && its == 2;
	struct tb_iw *client;

	iw_serve(b, .rev = its);
	client = iw_dial(a, .rev = mine, .design = mine == 2 ? IW_RTR_MESSAGE : IW_CLIENT_FIRST);
	if (mine == 2)
		expect_message(a_to_b, "MPA ID Req Frame rev 2 crc s");
	if (!both)
		expect_message(a_to_b, "MPA ID Req Frame rev 1 crc, private data 0");
	iw_refuse(expect_iw_request(b), "no", 2);
	expect_message(b_to_a, both ? "MPA ID Rep Frame rev 2 rejected, private data 2"
				    : "MPA ID Rep Frame rev 1 rejected, private data 2");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata = "no");
	expect_silence(CFG_MS(1));
}

SCENARIO(iwarp_revisions, "revision 1 against 2, and the way back to 1", .bare = true)
{
	struct tb_iw *client, *server;

	for (unsigned n = 0; n < 4 && still_right(); n++) {
		const unsigned mine = 1 + n % 2, its = 1 + n / 2;
		const bool both = mine == 2 && its == 2;

		iw_serve(b, .rev = its);
		client = iw_dial(a, .rev = mine,
				 .design = mine == 2 ? IW_RTR_MESSAGE : IW_CLIENT_FIRST);
		if (mine == 2)
			expect_message(a_to_b, "MPA ID Req Frame rev 2 crc s");
		if (!both)
			expect_message(a_to_b, "MPA ID Req Frame rev 1 crc, private data 0");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, both ? "MPA ID Rep Frame rev 2 crc s"
					    : "MPA ID Rep Frame rev 1 crc, private data 0");
		if (both) {
			expect_message(a_to_b, "WRITE, 0 bytes");
			expect_iw(server, ESTABLISHED);
		}
		expect_iw(client, CONNECT_REPLY);
		iw_hang_up(server);
		expect_iw(client, DISCONNECT);
		expect_iw(client, CLOSE);
		expect_iw(server, CLOSE);
	}
	for (unsigned n = 0; n < 4 && still_right(); n++)
		refused(tb, a, b, 1 + n % 2, 1 + n / 2);
	expect_silence(CFG_S(20));
}
