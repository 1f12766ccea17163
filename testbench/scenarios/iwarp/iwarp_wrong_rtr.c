/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an initiator may do wrong when it says that it is ready. A strict responder ends the connection
 * with the code of the registry, and its greeting never leaves. Where nothing comes at all, it gives
 * up after 10 s.
 */
#include "testbench/iwarp.h"

static const struct {
	const char *name;
	uint64_t breaks;
	unsigned kind;
	const char *message;
	enum iw_term term;
} rows[] = {
	{"other kind", IW_BREAKS_BIT(rtr_other_kind), MPA_RTR_READ, "WRITE", IW_TERM_MPA_RTR},
	{"data", IW_BREAKS_BIT(rtr_data), MPA_RTR_WRITE, "WRITE, 4 bytes", IW_TERM_MPA_RTR},
	{"data", IW_BREAKS_BIT(rtr_data), MPA_RTR_READ, "READ_REQUEST", IW_TERM_MPA_RTR},
	{"crc", IW_BREAKS_BIT(bad_crc), MPA_RTR_WRITE, "WRITE", IW_TERM_MPA_CRC},
	{"length", IW_BREAKS_BIT(bad_length), MPA_RTR_WRITE, "WRITE", IW_TERM_MPA_MARKER},
	{"opcode", IW_BREAKS_BIT(bad_opcode), MPA_RTR_WRITE, "WRITE", IW_TERM_RDMAP_OPCODE},
	{"version", IW_BREAKS_BIT(rdmap_version), MPA_RTR_WRITE, "WRITE", IW_TERM_RDMAP_VERSION},
	{"number", IW_BREAKS_BIT(bad_msn), MPA_RTR_READ, "READ_REQUEST", IW_TERM_UNTAGGED_MSN},
};

/* Where an Rtr frame was agreed, no FPDU can say ready: there is no reason to send in one, either. Nor can a half of a frame. */
static void no_frame(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct tb_iw *client, *server;

	iw_serve(b, .design = IW_RTR_FRAME, .rtr_ms = 1000);
	for (unsigned n = 0; n < 3 && still_right(); n++) {
		name_row("%s", n == 0   ? "an FPDU in place of an Rtr frame"
			       : n == 1 ? "an FPDU of 19 bytes, and nothing more"
					: "nothing in place of an Rtr frame");
		client = iw_dial(a, .rev = 1, .design = IW_RTR_FRAME,
				 .breaks = IW_BREAKS_BIT(no_rtr));
		expect_message(a_to_b, "MPA ID Req Frame rev 1 crc s");
		server = expect_iw_request(b);
		iw_recv(server);
		iw_take(server);
		iw_send(server, "greeting");
		expect_message(b_to_a, "MPA ID Rep Frame rev 1 crc s");
		expect_iw(client, CONNECT_REPLY);
		if (!n) {
			iw_send(client, "hello");
			expect_message(a_to_b, "SEND, 5 bytes");
		}
		if (n == 1) {
			cut_segments(a, 19);
			drop_frame(a_to_b, ETH_DATA, .nth = 2);
			iw_send(client, "hello");
			expect_message(a_to_b, "SEND, 5 bytes");
			expect_silence(CFG_MS(199));
		}
		if (n == 2)
			expect_silence(CFG_MS(999));
		expect_iw(server, CLOSE, .status = n == 2 ? -ETIMEDOUT : -EPROTO);
		expect_iw(client, CLOSE, .status = -ECONNRESET);
		cut_segments(a, 0);
	}
}

SCENARIO(iwarp_wrong_rtr, "wrong, damaged, repeated or missing ready to receive", .bare = true)
{
	struct tb_iw *client, *server;

	iw_serve(b);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		client = iw_dial(a, .kinds = rows[i].kind, .breaks = rows[i].breaks);
		expect_message(a_to_b, "MPA ID Req Frame rev 2");
		server = expect_iw_request(b);
		iw_take(server);
		iw_send(server, "greeting");
		expect_message(b_to_a, "MPA ID Rep Frame rev 2");
		expect_message(a_to_b, rows[i].message);
		expect_iw(client, CONNECT_REPLY);
		expect_message(b_to_a, "TERMINATE");
		expect_iw(server, TERMINATE, .term = rows[i].term, .sent = true);
		expect_iw(client, TERMINATE, .term = rows[i].term);
		expect_iw(client, CLOSE);
		expect_iw(server, CLOSE);
	}
	no_frame(tb, a, b);
	iw_serve(b);
	client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr));
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(client, CONNECT_REPLY);
	expect_silence(CFG_MS(9999));
	expect_iw(server, CLOSE, .status = -ETIMEDOUT);
	expect_iw(client, CLOSE, .status = -ECONNRESET);
}
