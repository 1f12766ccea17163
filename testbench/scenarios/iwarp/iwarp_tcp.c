/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What TCP may do during set-up: nobody listens, the SYN and its answer are lost, the client ends its
 * direction before the Reply, or it ends or resets the stream while the server waits to hear that it
 * is ready.
 */
#include "testbench/iwarp.h"

SCENARIO(iwarp_tcp, "lost SYNs, FIN and RST in the middle of set-up", .bare = true)
{
	struct tb_iw *client = iw_dial(a), *server;

	expect_iw(client, CONNECT_REPLY, .status = -ECONNREFUSED);
	iw_serve(b);
	drop_frame(a_to_b, ETH_SYN);
	drop_frame(b_to_a, ETH_SYN);
	client = iw_dial(a);
	expect_silence(CFG_MS(200)); /* the SYN's answer is lost too, so it takes longer */
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	half_close_stream(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	/* the RST looks like an old server, and the client tries once more */
	expect_message(a_to_b, "MPA ID Req Frame rev 1");
	server = expect_iw_request(b);
	half_close_stream(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	expect_iw(client, CONNECT_REPLY, .status = -ECONNRESET);

	for (unsigned n = 0; n < 2 && still_right(); n++) {
		client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_iw(client, CONNECT_REPLY);
		if (n) {
			half_close_stream(client);
			expect_iw(client, CLOSE, .status = -ECONNRESET);
		} else {
			break_stream(client);
		}
		expect_iw(server, CLOSE, .status = -ECONNRESET);
	}
}
