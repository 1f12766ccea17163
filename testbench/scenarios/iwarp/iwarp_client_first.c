/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RFC 5044 alone: the server may send only after it has received an FPDU. Its greeting waits until the
 * client's program happens to send something; a client that waits for the greeting waits for ever.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_client_first, "the initiator's program must send first", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	client = iw_dial(a, .rev = 1, .design = IW_CLIENT_FIRST);
	iw_recv(client);
	expect_message(a_to_b, "MPA ID Req Frame rev 1 crc, private data 0");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc, private data 0");
	expect_iw(client, CONNECT_REPLY);
	expect_silence(CFG_S(1));
	iw_send(client, "anybody?");
	expect_message(a_to_b, "SEND, 8 bytes");
	expect_iw(server, ESTABLISHED);
	expect_iw_text(server, "anybody?");
	expect_message(b_to_a, "SEND, 8 bytes");
	expect_iw_text(client, "greeting");
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);
}
