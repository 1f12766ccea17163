/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each number of a DDP segment one beyond what there is, and one below: the opcode, the versions, the queue,
 * the message, the offset; and an opcode in the wrong kind of segment. Each ends the connection with the code of the
 * registry, and nothing of the segment reaches the program. Sources: RFC 5040 section 4.8, RFC 5041 section 7.2.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static const struct {
	const char *name;
	unsigned opcode;
	struct tb_ddp ddp;
	enum iw_term term;
} rows[] = {
#define DDP(...)                                                                                   \
	{                                                                                          \
		TB_DDP_DEFAULTS, __VA_ARGS__                                                       \
	}
	{"the first opcode that there is not", RDMAP_OPCODE_COUNT, DDP(), IW_TERM_RDMAP_OPCODE},
	{"the same, tagged", RDMAP_OPCODE_COUNT, DDP(.tagged = true), IW_TERM_RDMAP_OPCODE},
	{"the last opcode of four bits", 15, DDP(), IW_TERM_RDMAP_OPCODE},
	{"a tagged SEND", RDMAP_SEND, DDP(.tagged = true), IW_TERM_RDMAP_OPCODE},
	{"a tagged TERMINATE", RDMAP_TERMINATE, DDP(.tagged = true), IW_TERM_RDMAP_OPCODE},
	{"an untagged WRITE", RDMAP_WRITE, DDP(.tagged = false), IW_TERM_RDMAP_OPCODE},
	{"a READ_RESPONSE to no READ", RDMAP_READ_RESPONSE, DDP(), IW_TERM_RDMAP_OPCODE},
	{"DDP version 0, untagged", RDMAP_SEND, DDP(.ddp = 0), IW_TERM_UNTAGGED_VERSION},
	{"DDP version 2, untagged", RDMAP_SEND, DDP(.ddp = 2), IW_TERM_UNTAGGED_VERSION},
	{"DDP version 0, tagged", RDMAP_WRITE, DDP(.ddp = 0), IW_TERM_TAGGED_VERSION},
	{"DDP version 2, tagged", RDMAP_WRITE, DDP(.ddp = 2), IW_TERM_TAGGED_VERSION},
	{"RDMAP version 0", RDMAP_SEND, DDP(.rdmap = 0), IW_TERM_RDMAP_VERSION},
	{"RDMAP version 2", RDMAP_SEND, DDP(.rdmap = 2), IW_TERM_RDMAP_VERSION},
	{"queue 1 for a SEND", RDMAP_SEND, DDP(.qn = 1), IW_TERM_UNTAGGED_QN},
	{"queue 0 for a READ", RDMAP_READ_REQUEST, DDP(.qn = 0), IW_TERM_UNTAGGED_QN},
	{"the first queue that there is not", RDMAP_SEND, DDP(.qn = RDMAP_QUEUES),
	 IW_TERM_UNTAGGED_QN},
	{"message 0", RDMAP_SEND, DDP(.msn = 0), IW_TERM_UNTAGGED_MSN},
	{"message 2 in place of 1", RDMAP_SEND, DDP(.msn = 2), IW_TERM_UNTAGGED_MSN},
	{"message 2 in place of 1, of READs", RDMAP_READ_REQUEST, DDP(.msn = 2),
	 IW_TERM_UNTAGGED_MSN},
	{"an offset in the first segment", RDMAP_SEND, DDP(.mo = 4), IW_TERM_UNTAGGED_MO},
	{"an offset of a READ", RDMAP_READ_REQUEST, DDP(.mo = 1), IW_TERM_UNTAGGED_MO},
	{"queue 0 in the last byte alone", RDMAP_SEND, DDP(.qn = 1 << 8), IW_TERM_UNTAGGED_QN},
	{"in the lower half alone", RDMAP_SEND, DDP(.qn = 1 << 16), IW_TERM_UNTAGGED_QN},
	{"in the last three bytes", RDMAP_SEND, DDP(.qn = 1 << 24), IW_TERM_UNTAGGED_QN},
	{"message 1 in the last byte alone", RDMAP_SEND, DDP(.msn = 1 + (1 << 8)),
	 IW_TERM_UNTAGGED_MSN},
	{"in the lower half alone", RDMAP_SEND, DDP(.msn = 1 + (1 << 16)), IW_TERM_UNTAGGED_MSN},
	{"in the last three bytes", RDMAP_SEND, DDP(.msn = 1 + (1 << 24)), IW_TERM_UNTAGGED_MSN},
	{"no offset in the last byte alone", RDMAP_SEND, DDP(.mo = 1 << 8), IW_TERM_UNTAGGED_MO},
	{"in the lower half alone", RDMAP_SEND, DDP(.mo = 1 << 16), IW_TERM_UNTAGGED_MO},
	{"in the last three bytes", RDMAP_SEND, DDP(.mo = 1 << 24), IW_TERM_UNTAGGED_MO},
	{"a READ in two segments", RDMAP_READ_REQUEST, DDP(.last = false), IW_TERM_UNTAGGED_LONG},
	{"a READ with a byte behind it", RDMAP_READ_REQUEST, DDP(.text = "x"),
	 IW_TERM_UNTAGGED_LONG},
	{"a WRITE of a byte", RDMAP_WRITE, DDP(.text = "x"), IW_TERM_TAGGED_STAG},
	{"a SEND that invalidates", RDMAP_SEND_INVALIDATE, DDP(), IW_TERM_REMOTE_INVALIDATE},
	{"a solicited one that does", RDMAP_SEND_SOLICITED_INVALIDATE, DDP(),
	 IW_TERM_REMOTE_INVALIDATE},
	{"a READ of a byte", RDMAP_READ_REQUEST, DDP(.read_len = 1), IW_TERM_REMOTE_STAG},
	{"a READ of all bytes", RDMAP_READ_REQUEST, DDP(.read_len = UINT32_MAX),
	 IW_TERM_REMOTE_STAG},
	{"an offset of a TERMINATE", RDMAP_TERMINATE, DDP(.mo = 1), IW_TERM_UNTAGGED_MO},
	{"queue 0 for a TERMINATE", RDMAP_TERMINATE, DDP(.qn = 0), IW_TERM_UNTAGGED_QN},
	{"an empty ULPDU", RDMAP_SEND, DDP(.cut = 18), IW_TERM_MPA_MARKER},
	{"a byte of a ULPDU", RDMAP_SEND, DDP(.cut = 17), IW_TERM_MPA_MARKER},
	{"a tagged header without its last byte", RDMAP_WRITE, DDP(.cut = 1), IW_TERM_MPA_MARKER},
	{"an untagged one", RDMAP_SEND, DDP(.cut = 1), IW_TERM_MPA_MARKER},
	{"an untagged one that ends where a tagged one does", RDMAP_SEND, DDP(.cut = 4),
	 IW_TERM_MPA_MARKER},
	{"a READ without its last byte", RDMAP_READ_REQUEST, DDP(.cut = 1), IW_TERM_UNTAGGED_LONG},
	{"a READ that is nothing but a header", RDMAP_READ_REQUEST, DDP(.cut = 28),
	 IW_TERM_UNTAGGED_LONG},
	{"a TERMINATE without its last byte", RDMAP_TERMINATE, DDP(.cut = 1), IW_TERM_RDMAP_OTHER},
	{"a TERMINATE that is nothing but a header", RDMAP_TERMINATE, DDP(.cut = 4),
	 IW_TERM_RDMAP_OTHER},
#undef DDP
};

/* What a TERMINATE says, and what its reader tells: all that the registries have, and neighbours that they do not have. Source: RFC 6580. */
static const struct {
	uint16_t code;
	enum iw_term term;
} codes[] = {
	{0x0000, IW_TERM_LOCAL},
	{0x0100, IW_TERM_REMOTE_STAG},
	{0x0101, IW_TERM_REMOTE_BOUNDS},
	{0x0102, IW_TERM_REMOTE_ACCESS},
	{0x0103, IW_TERM_REMOTE_STREAM},
	{0x0104, IW_TERM_REMOTE_WRAP},
	{0x0109, IW_TERM_REMOTE_INVALIDATE},
	{0x0205, IW_TERM_RDMAP_VERSION},
	{0x0206, IW_TERM_RDMAP_OPCODE},
	{0x0207, IW_TERM_RDMAP_STREAM},
	{0x0208, IW_TERM_RDMAP_GLOBAL},
	{0x02ff, IW_TERM_RDMAP_OTHER},
	{0x1100, IW_TERM_TAGGED_STAG},
	{0x1101, IW_TERM_TAGGED_BOUNDS},
	{0x1102, IW_TERM_TAGGED_STREAM},
	{0x1103, IW_TERM_TAGGED_WRAP},
	{0x1104, IW_TERM_TAGGED_VERSION},
	{0x1201, IW_TERM_UNTAGGED_QN},
	{0x1202, IW_TERM_UNTAGGED_NO_BUFFER},
	{0x1203, IW_TERM_UNTAGGED_MSN},
	{0x1204, IW_TERM_UNTAGGED_MO},
	{0x1205, IW_TERM_UNTAGGED_LONG},
	{0x1206, IW_TERM_UNTAGGED_VERSION},
	{0x2001, IW_TERM_MPA_LOST},
	{0x2002, IW_TERM_MPA_CRC},
	{0x2003, IW_TERM_MPA_MARKER},
	{0x2004, IW_TERM_MPA_START},
	{0x2005, IW_TERM_MPA_LOCAL},
	{0x2006, IW_TERM_MPA_IRD},
	{0x2007, IW_TERM_MPA_RTR},
	{0x0001, IW_TERM_COUNT},
	{0x0010, IW_TERM_COUNT},
	{0x0105, IW_TERM_COUNT},
	{0x0209, IW_TERM_COUNT},
	{0x1200, IW_TERM_COUNT},
	{0x1207, IW_TERM_COUNT},
	{0x2000, IW_TERM_COUNT},
	{0x2008, IW_TERM_COUNT},
	{0x2107, IW_TERM_COUNT},
	{0xf207, IW_TERM_COUNT},
};

/* It is never answered by another one. A server that waits to hear that the client is ready reads it, too. */
static void codes_told(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct iw_pair p;

	for_each_row(i, codes) {
		name_row("code 0x%04x", codes[i].code);
		p = iw_pair_of(tb, iw_dial(a), b, 1);
		inject_ddp(p.client, RDMAP_TERMINATE, .term = codes[i].code,
			   .text = i % 2 ? "what was wrong" : NULL);
		expect_iw(p.server, TERMINATE, .term = codes[i].term);
		expect_iw(p.client, DISCONNECT);
		expect_iw(p.client, CLOSE);
		expect_iw(p.server, CLOSE);
		p.client = iw_dial(a, .breaks = IW_BREAKS_BIT(no_rtr),
				   .design = i % 2 ? IW_CLIENT_FIRST : IW_RTR_MESSAGE);
		expect_message(a_to_b, "MPA ID Req Frame");
		p.server = expect_iw_request(b);
		iw_take(p.server);
		expect_message(b_to_a, "MPA ID Rep Frame");
		expect_iw(p.client, CONNECT_REPLY);
		inject_ddp(p.client, RDMAP_TERMINATE, .term = codes[i].code);
		expect_iw(p.server, TERMINATE, .term = codes[i].term);
		expect_iw(p.client, DISCONNECT);
		expect_iw(p.client, CLOSE);
		expect_iw(p.server, CLOSE);
	}
}

SCENARIO(iwarp_bounds, "each number of a DDP segment beyond its last value", .bare = true)
{
	struct iw_pair p;

	iw_serve(b);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		p = iw_pair_of(tb, iw_dial(a), b, 1);
		tb_inject_ddp(tb, TB_HERE, p.client, rows[i].opcode, &rows[i].ddp);
		expect_message(b_to_a, "TERMINATE");
		expect_iw(p.server, TERMINATE, .term = rows[i].term, .sent = true);
		expect_iw(p.client, TERMINATE, .term = rows[i].term);
		expect_iw(p.client, CLOSE);
		expect_iw(p.server, CLOSE);
	}
	/* the neighbours of those that are right */
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	inject_ddp(p.client, RDMAP_SEND_SOLICITED, .text = "one");
	inject_ddp(p.client, RDMAP_SEND, .msn = 2, .text = "two");
	inject_ddp(p.client, RDMAP_READ_REQUEST);
	inject_ddp(p.client, RDMAP_WRITE);
	expect_iw_text(p.server, "one");
	expect_iw_text(p.server, "two");
	expect_message(b_to_a, "READ_RESPONSE, 0 bytes");
	/* the client has sent no READ that it knows of */
	expect_message(a_to_b, "TERMINATE");
	expect_iw(p.client, TERMINATE, .term = IW_TERM_RDMAP_OPCODE, .sent = true);
	expect_iw(p.server, TERMINATE, .term = IW_TERM_RDMAP_OPCODE);
	expect_iw(p.server, CLOSE);
	expect_iw(p.client, CLOSE);
	codes_told(tb, a, b);
}
