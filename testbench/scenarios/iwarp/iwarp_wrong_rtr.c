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
