/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each rule of FPDUs that an end breaks on purpose, in each kind of first message, with markers and without, by either end. The other end names what is
 * wrong, or takes what is right all the same: a rule of untagged messages is broken by the first one of those. Nothing behind the wrong message is taken.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static const struct kind {
	const char *message; /* the first one */
	uint32_t design, kinds;
	bool tagged;
} kinds[] = {
	{"WRITE, 0 bytes", IW_RTR_MESSAGE, MPA_RTR_WRITE, true},
	{"READ_REQUEST, 0 bytes", IW_RTR_MESSAGE, MPA_RTR_READ, false},
	{"SEND, 0 bytes", IW_RTR_MESSAGE, MPA_RTR_SEND, false},
	{"SEND, 5 bytes", IW_CLIENT_FIRST, MPA_RTR_ALL, false},
};

static const struct rule {
	const char *name;
	uint64_t breaks;
	bool needs_crc, needs_markers;
	enum iw_term tagged, untagged; /* what the other end says of the message that breaks it */
} rules[] = {
	{"wrong CRC", IW_BREAKS_BIT(bad_crc), true, false, IW_TERM_MPA_CRC, IW_TERM_MPA_CRC},
	{"wrong marker", IW_BREAKS_BIT(bad_marker), false, true, IW_TERM_MPA_MARKER,
	 IW_TERM_MPA_MARKER},
	{"5 bytes", IW_BREAKS_BIT(bad_length), false, false, IW_TERM_MPA_MARKER,
	 IW_TERM_MPA_MARKER},
	{"DDP version", IW_BREAKS_BIT(ddp_version), false, false, IW_TERM_TAGGED_VERSION,
	 IW_TERM_UNTAGGED_VERSION},
	{"RDMAP version", IW_BREAKS_BIT(rdmap_version), false, false, IW_TERM_RDMAP_VERSION,
	 IW_TERM_RDMAP_VERSION},
	{"opcode", IW_BREAKS_BIT(bad_opcode), false, false, IW_TERM_RDMAP_OPCODE,
	 IW_TERM_RDMAP_OPCODE},
	{"queue", IW_BREAKS_BIT(bad_qn), false, false, IW_TERM_NONE, IW_TERM_UNTAGGED_QN},
	{"number of the message", IW_BREAKS_BIT(bad_msn), false, false, IW_TERM_NONE,
	 IW_TERM_UNTAGGED_MSN},
};

/* The end from which the message came ends the connection. */
static void terminated(struct tb *tb, enum tb_direction direction, struct tb_iw *by,
		       struct tb_iw *other, enum iw_term term)
{
	expect_message(direction, "TERMINATE");
	expect_iw(by, TERMINATE, .term = term, .sent = true);
	expect_iw(other, TERMINATE, .term = term);
	expect_iw(other, CLOSE);
	expect_iw(by, CLOSE);
}

/* The client's first message, and a second one behind it. */
static void by_client(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *kind,
		      const struct rule *rule, bool markers, bool crc)
{
	enum iw_term term = kind->tagged ? rule->tagged : rule->untagged;
	struct tb_iw *client, *server;

	if ((rule->needs_markers && !markers) || (rule->needs_crc && !crc))
		term = IW_TERM_NONE;
	iw_serve(b, .crc = 0, .markers = markers);
	client = iw_dial(a, .design = kind->design, .kinds = kind->kinds, .crc = crc,
			 .breaks = rule->breaks);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	server = expect_iw_request(b);
	for (unsigned i = 0; i < 3; i++)
		iw_recv(server);
	iw_take(server);
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(client, CONNECT_REPLY);
	if (kind->design == IW_CLIENT_FIRST)
		iw_send(client, "hello");
	expect_message(a_to_b, kind->message);
	iw_send(client, "second");
	expect_message(a_to_b, "SEND, 6 bytes");
	if (term) {
		terminated(tb, b_to_a, server, client, term);
		return;
	}
	if (kind->kinds == MPA_RTR_READ)
		expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
	if (kind->kinds == MPA_RTR_SEND)
		expect_iw_text(server, "");
	if (kind->design == IW_CLIENT_FIRST)
		expect_iw_text(server, "hello");
	expect_iw(server, ESTABLISHED);
	if (kind->tagged && rule->untagged && !rule->tagged) {
		terminated(tb, b_to_a, server, client, rule->untagged);
		return;
	}
	expect_iw_text(server, "second");
	iw_pair_ends(tb, (struct iw_pair){client, server});
}

/* The server's first message: the response to a READ, or its greeting. */
static void by_server(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct kind *kind,
		      const struct rule *rule, bool markers, bool crc)
{
	const bool response = kind->kinds == MPA_RTR_READ;
	enum iw_term term = response ? rule->tagged : rule->untagged;
	struct tb_iw *client, *server;

	if ((rule->needs_markers && !markers) || (rule->needs_crc && !crc))
		term = IW_TERM_NONE;
	iw_serve(b, .crc = 0, .breaks = rule->breaks);
	client = iw_dial(a, .design = kind->design, .kinds = kind->kinds, .crc = crc,
			 .markers = markers);
	expect_message(a_to_b, "MPA ID Req Frame rev 2");
	iw_recv(client);
	server = expect_iw_request(b);
	iw_recv(server);
	iw_take(server);
	iw_send(server, "greeting");
	expect_message(b_to_a, "MPA ID Rep Frame rev 2");
	expect_iw(client, CONNECT_REPLY);
	if (kind->design == IW_CLIENT_FIRST)
		iw_send(client, "hello");
	expect_message(a_to_b, kind->message);
	if (kind->kinds == MPA_RTR_SEND)
		expect_iw_text(server, "");
	if (kind->design == IW_CLIENT_FIRST)
		expect_iw_text(server, "hello");
	expect_iw(server, ESTABLISHED);
	if (response)
		expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
	expect_message(b_to_a, "SEND, 8 bytes");
	if (!term && response && rule->untagged && !rule->tagged)
		term = rule->untagged;
	if (term) {
		terminated(tb, a_to_b, client, server, term);
		return;
	}
	expect_iw_text(client, "greeting");
	iw_pair_ends(tb, (struct iw_pair){client, server});
}

/* What says ready, and is not what was agreed: strict and tolerant servers. */
static void other_ready(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		uint64_t breaks;
		uint32_t kinds;
		const char *messages[2];
		const char *text; /* that a tolerant server gets */
		enum iw_term strict, tolerant;
		unsigned responses;
	} rows[] = {
#define OTHER IW_BREAKS_BIT(rtr_other_kind)
#define DATA  IW_BREAKS_BIT(rtr_data)
#define TWICE IW_BREAKS_BIT(rtr_twice)
		{"WRITE for READ",
		 OTHER,
		 MPA_RTR_READ,
		 {"WRITE, 0 bytes"},
		 .strict = IW_TERM_MPA_RTR},
		{"WRITE for SEND",
		 OTHER,
		 MPA_RTR_SEND,
		 {"WRITE, 0 bytes"},
		 .strict = IW_TERM_MPA_RTR},
		{"READ for WRITE",
		 OTHER,
		 MPA_RTR_WRITE,
		 {"READ_REQUEST, 0 bytes"},
		 .strict = IW_TERM_MPA_RTR,
		 .responses = 1},
		{"WRITE of 4 bytes",
		 DATA,
		 MPA_RTR_WRITE,
		 {"WRITE, 4 bytes"},
		 .strict = IW_TERM_MPA_RTR,
		 .tolerant = IW_TERM_TAGGED_STAG},
		{"READ of 4 bytes",
		 DATA,
		 MPA_RTR_READ,
		 {"READ_REQUEST, 0 bytes"},
		 .strict = IW_TERM_MPA_RTR,
		 .tolerant = IW_TERM_REMOTE_STAG},
		{"SEND of 4 bytes",
		 DATA,
		 MPA_RTR_SEND,
		 {"SEND, 4 bytes"},
		 .text = "\1\2\3\4",
		 .strict = IW_TERM_MPA_RTR},
		{"WRITE twice",
		 TWICE,
		 MPA_RTR_WRITE,
		 {"WRITE, 0 bytes", "WRITE, 0 bytes"},
		 .text = NULL},
		{"READ twice",
		 TWICE,
		 MPA_RTR_READ,
		 {"READ_REQUEST, 0 bytes", "READ_REQUEST, 0 bytes"},
		 .responses = 2},
		{"SEND twice", TWICE, MPA_RTR_SEND, {"SEND, 0 bytes", "SEND, 0 bytes"}, .text = ""},
#undef OTHER
#undef DATA
#undef TWICE
	};

	for_each_row(i, rows) {
		for (unsigned strict = 0; strict < 2 && still_right(); strict++) {
			const enum iw_term term = strict ? rows[i].strict : rows[i].tolerant;
			struct tb_iw *client, *server;

			name_row("%s, a %s server", rows[i].name, strict ? "strict" : "tolerant");
			iw_serve(b, .strict = strict);
			client = iw_dial(a, .kinds = rows[i].kinds, .breaks = rows[i].breaks);
			iw_recv(client);
			expect_message(a_to_b, "MPA ID Req Frame rev 2");
			server = expect_iw_request(b);
			for (unsigned n = 0; n < 3; n++)
				iw_recv(server);
			iw_take(server);
			iw_send(server, "greeting");
			expect_message(b_to_a, "MPA ID Rep Frame rev 2");
			expect_iw(client, CONNECT_REPLY);
			for (unsigned n = 0; n < 2 && rows[i].messages[n]; n++)
				expect_message(a_to_b, rows[i].messages[n]);
			if (term) {
				terminated(tb, b_to_a, server, client, term);
				continue;
			}
			expect_iw(server, ESTABLISHED);
			for (unsigned n = 0; n < rows[i].responses; n++) {
				expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
				if (!n)
					expect_message(b_to_a, "SEND, 8 bytes");
			}
			if (!rows[i].responses)
				expect_message(b_to_a, "SEND, 8 bytes");
			for (unsigned n = 0; n < 2 && rows[i].text && rows[i].messages[n]; n++)
				expect_iw_text(server, rows[i].text);
			expect_iw_text(client, "greeting");
			iw_pair_ends(tb, (struct iw_pair){client, server});
		}
	}
}

SCENARIO(iwarp_breaks, "each rule of FPDUs broken in each first message", .bare = true)
{
	for_each_row(i, rules)
		for_each_row(k, kinds)
			for (unsigned n = 0; n < 8 && still_right(); n++) {
				name_row("%s, %s, by the %s%s%s", rules[i].name, kinds[k].message,
					 n & 1 ? "server" : "client", n & 2 ? ", markers" : "",
					 n & 4 ? ", no CRC" : "");
				if (n & 1)
					by_server(tb, a, b, &kinds[k], &rules[i], n & 2, !(n & 4));
				else
					by_client(tb, a, b, &kinds[k], &rules[i], n & 2, !(n & 4));
			}
	other_ready(tb, a, b);
	expect_silence(CFG_S(11));
}
