/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set-up that revision 2 of MPA is for: the server's program greets at once, and its greeting
 * waits until a WRITE without data says that the client is ready.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_rtr_write, "a WRITE without data says that the initiator is ready", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	client = iw_dial_with(a, "hello", 5);
	iw_recv(client);
	expect_message(a_to_b,
		       "MPA ID Req Frame rev 2 crc s ird 4 ord 4 peer-to-peer send write read");
	server = expect_iw_request(b, .pdata = "hello", .ird = 4, .ord = 4);
	iw_take_with(server, (const uint8_t *)"welcome", 7);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame rev 2 crc s ird 4 ord 4 peer-to-peer");
	expect_message(a_to_b, "WRITE, 0 bytes");
	expect_iw(client, CONNECT_REPLY, .pdata = "welcome");
	expect_iw(server, ESTABLISHED);
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(client, "greeting");
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}
