/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP sends two lost segments again in one. It has two FPDUs, and the receiver takes both; the same where a
 * segment ends in the middle of an FPDU.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_coalesced, "two FPDUs in one segment, and one in two", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	for (unsigned i = 0; i < 4; i++)
		iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(client, CONNECT_REPLY);
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(server, ESTABLISHED);
	for (unsigned bytes = 0; bytes <= 24 && still_right(); bytes += 24) {
		name_row("segments of %u bytes at most", bytes);
		cut_segments(a, bytes);
		drop_frame(a_to_b, ETH_DATA);
		drop_frame(a_to_b, ETH_DATA, .nth = 2);
		iw_send(client, "the first");
		expect_message(a_to_b, "SEND, 9 bytes");
		iw_send(client, "and the second");
		expect_message(a_to_b, "SEND, 14 bytes");
		expect_iw_text(server, "the first");
		expect_iw_text(server, "and the second");
	}
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}
