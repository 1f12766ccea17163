/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the Rtr frame was not taken: hardware that knows only FPDUs behind the Reply reads "MP", the
 * first bytes of its key, as the length of an FPDU of 19,792 bytes, and waits for them. What the client
 * sends next is swallowed. Asked properly, an old server answers S = 0, and no Rtr frame is sent.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_rtr_frame_old, "an Rtr frame to a server that does not know it", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b, .rev = 1);
	client = iw_dial(a, .rev = 1, .design = IW_RTR_FRAME);
	expect_message(a_to_b, "MPA ID Req Frame rev 1 crc s, private data 0");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc, private data 0");
	expect_iw(client, CONNECT_REPLY);
	expect_silence(CFG_S(1));
	iw_send(client, "first");
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_iw(server, ESTABLISHED);
	expect_iw_text(server, "first");
	iw_hang_up(client);
	expect_iw(server, DISCONNECT);
	expect_iw(server, CLOSE);
	expect_iw(client, CLOSE);

	client = iw_dial(a, .rev = 1, .design = IW_CLIENT_FIRST,
			 .breaks = IW_BREAKS_BIT(rtr_frame_anyway));
	expect_message(a_to_b, "MPA ID Req Frame rev 1 crc, private data 0");
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc, private data 0");
	expect_message(a_to_b, "MPA ID Rtr Frame");
	expect_iw(client, CONNECT_REPLY);
	iw_send(client, "lost");
	expect_message(a_to_b, "SEND, 4 bytes");
	expect_silence(CFG_S(20)); /* the server waits for 19,792 bytes */
	break_stream(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
}
