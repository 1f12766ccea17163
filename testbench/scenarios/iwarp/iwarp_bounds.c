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
	{"a READ in two segments", RDMAP_READ_REQUEST, DDP(.last = false), IW_TERM_UNTAGGED_LONG},
	{"a READ with a byte behind it", RDMAP_READ_REQUEST, DDP(.text = "x"),
	 IW_TERM_UNTAGGED_LONG},
	{"a WRITE of a byte", RDMAP_WRITE, DDP(.text = "x"), IW_TERM_TAGGED_STAG},
	{"a SEND that invalidates", RDMAP_SEND_INVALIDATE, DDP(), IW_TERM_REMOTE_INVALIDATE},
	{"a solicited one that does", RDMAP_SEND_SOLICITED_INVALIDATE, DDP(),
	 IW_TERM_REMOTE_INVALIDATE},
#undef DDP
};

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
}
