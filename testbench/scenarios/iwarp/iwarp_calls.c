/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the state of a connection does not allow, and private data that is too long. Each says why and changes nothing: the connection goes on, and
 * ends as the others do.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

/* What each call of a user says now; 0: it is allowed, and not made here. */
struct allowed {
	int send, recv, hang_up, answer;
};

static const struct allowed before = {-ENOTCONN, 0, -ENOTCONN, -EINVAL},
			    asked = {-ENOTCONN, 0, -ENOTCONN, 0}, open = {0, 0, 0, -EINVAL},
			    ends = {-ENOTCONN, -ENOTCONN, -ENOTCONN, -EINVAL},
			    over = {-ENOTCONN, -ENOTCONN, -ENOTCONN, -ECONNRESET};

static void refused(struct tb *tb, struct tb_iw *iw, const struct allowed *now)
{
	static uint8_t byte;
	struct iw_cm_id *id = tb_iw_id(iw);

	if (now->send)
		must_fail(now->send, iw_post_send(id, 1, &byte, 1));
	if (now->recv)
		must_fail(now->recv, iw_post_recv(id, 1, &byte, 1));
	if (now->hang_up)
		must_fail(now->hang_up, iw_disconnect(id));
	if (now->answer) {
		must_fail(now->answer, iw_accept(id, NULL, 0));
		must_fail(now->answer, iw_reject(id, NULL, 0));
	}
}

static void play(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t design, bool term)
{
	struct tb_iw *client = iw_dial(a, .design = design, .after_reply_ms = 100), *server;

	name_row("design %u, %s", design, term ? "TERMINATE" : "FIN");
	refused(tb, client, &before); /* the stream is not up */
	iw_recv(client);
	expect_message(a_to_b, "MPA ID Req Frame");
	refused(tb, client, &before); /* no Reply has come */
	server = expect_iw_request(b);
	refused(tb, server, &asked);
	iw_recv(server);
	iw_take(server);
	refused(tb, server, &open);
	expect_message(b_to_a, "MPA ID Rep Frame");
	pass_time(CFG_MS(50));
	refused(tb, client, &before); /* it has not said that it is ready */
	expect_iw(client, CONNECT_REPLY);
	if (design == IW_RTR_MESSAGE)
		expect_message(a_to_b, "WRITE, 0 bytes");
	refused(tb, client, &open);
	iw_send(client, "hello");
	expect_message(a_to_b, "SEND, 5 bytes");
	expect_iw(server, ESTABLISHED);
	expect_iw_text(server, "hello");
	refused(tb, server, &open);
	drop_frame(b_to_a, ETH_FIN);
	if (term) {
		inject_ddp(client, RDMAP_SEND, .msn = 7);
		expect_message(b_to_a, "TERMINATE");
		expect_iw(server, TERMINATE, .term = IW_TERM_UNTAGGED_MSN, .sent = true);
		expect_iw(client, TERMINATE, .term = IW_TERM_UNTAGGED_MSN);
	} else {
		iw_hang_up(client);
		expect_iw(server, DISCONNECT);
	}
	/* the FIN of the server comes late */
	refused(tb, server, &ends);
	refused(tb, client, &ends);
	expect_iw(client, CLOSE);
	expect_iw(server, CLOSE);
	refused(tb, client, &over);
	refused(tb, server, &over);
}

/* A peer that goes while the user has its Request. */
static void peer_goes(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client = iw_dial(a), *server;

	name_row("%s", "the client goes");
	expect_message(a_to_b, "MPA ID Req Frame");
	server = expect_iw_request(b);
	iw_forget(client);
	expect_iw(server, CLOSE, .status = -ECONNRESET);
	refused(tb, server, &over);
}

/* Private data of one byte more than its frame has room for, and then of as many. */
static void too_long(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const uint8_t bytes[MPA_PDATA_MAX + 1];

	for (unsigned rev = 1; rev <= 2 && still_right(); rev++) {
		const uint16_t room = rev == 2 ? 508 : 512;
		struct tb_rdma_iw *client = rdma_iw_resolved(a);
		const struct iw_options *options = TB_IW_OPTIONS(.rev = rev);
		struct iw_cm_id *id;
		struct tb_iw *server;

		name_row("private data, revision %u", rev);
		must_fail(-EINVAL, rdma_iw_connect(tb_rdma_iw_id(client), options, bytes,
						   (uint16_t)(room + 1)));
		must(rdma_iw_connect(tb_rdma_iw_id(client), options, bytes, room));
		expect_message(a_to_b, rev == 2 ? "MPA ID Req Frame rev 2 crc s"
						: "MPA ID Req Frame rev 1 crc, private data 512");
		server = expect_iw_request(b, .pdata_len = room);
		id = tb_iw_id(server);
		must_fail(-EINVAL, iw_accept(id, bytes, (uint16_t)(room + 1)));
		must_fail(-EINVAL, iw_reject(id, bytes, MPA_PDATA_MAX + 1));
		iw_take_with(server, bytes, room);
		expect_message(b_to_a, "MPA ID Rep Frame");
		expect_rdma_iw(client, ESTABLISHED, .pdata_len = room);
		if (rev == 2) {
			expect_message(a_to_b, "WRITE, 0 bytes");
			expect_iw(server, ESTABLISHED);
		}
		rdma_iw_forget(client);
		expect_iw(server, CLOSE, .status = -ECONNRESET);
	}
}

SCENARIO(iwarp_calls, "calls that the state of a connection does not allow", .bare = true)
{
	iw_serve(b);
	for (unsigned n = 0; n < 4 && still_right(); n++)
		play(tb, a, b, n & 1 ? IW_CLIENT_FIRST : IW_RTR_MESSAGE, n & 2);
	peer_goes(tb, a, b);
	too_long(tb, a, b);
	expect_silence(CFG_S(11));
}
