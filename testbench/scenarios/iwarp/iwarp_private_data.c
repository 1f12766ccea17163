/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest private data of each frame: 508 bytes beside the enhanced ones, 512 in a rejection, which
 * has none.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_private_data, "the longest private data in both directions", .bare = true)
{
	uint8_t data[MPA_PDATA_MAX];
	struct tb_iw *client, *server;

	memset(data, 'x', sizeof(data));
	iw_serve(b);
	client = iw_dial_with(a, data, 508);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b, .pdata_len = 508);
	iw_take_with(server, data, 508);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(client, CONNECT_REPLY, .pdata_len = 508);
	expect_iw(server, ESTABLISHED);
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
	client = iw_dial(a);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b, .pdata_len = 0);
	iw_refuse(server, data, 512);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 rejected, private data 512");
	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED, .pdata_len = 512);
	pass_time(CFG_US(10)); /* the ACK of the last FIN */
}
