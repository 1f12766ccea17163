/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs of several DDP segments: they fill one receive and count as one message, and the next SEND begins at offset 0. The whole
 * message must fit, the offsets must follow each other. Source: RFC 5041 sections 4.2 and 5.3.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

enum { RECEIVE_BYTES = 1024 };

static char most[RECEIVE_BYTES],
	full[RECEIVE_BYTES + 1]; /* all but one byte of a receive, and all */

/* The segments before it were right. */
static void ends(struct tb *tb, struct iw_pair p, enum iw_term term)
{
	expect_message(b_to_a, "TERMINATE");
	expect_iw(p.server, TERMINATE, .term = term, .sent = true);
	expect_iw(p.client, TERMINATE, .term = term);
	expect_iw(p.client, CLOSE);
	expect_iw(p.server, CLOSE);
}

SCENARIO(iwarp_segments, "SENDs of several segments", .bare = true)
{
	struct iw_pair p;

	memset(most, 'm', sizeof(most) - 1);
	snprintf(full, sizeof(full), "%sx", most);
	iw_serve(b);
	p = iw_pair_of(tb, iw_dial(a), b, 4);
	inject_ddp(p.client, RDMAP_SEND, .last = false, .text = "in ");
	inject_ddp(p.client, RDMAP_SEND, .last = false, .mo = 3, .text = "three ");
	inject_ddp(p.client, RDMAP_SEND, .mo = 9, .text = "parts");
	expect_iw_text(p.server, "in three parts");
	inject_ddp(p.client, RDMAP_SEND, .msn = 2, .text = "in one");
	expect_iw_text(p.server, "in one");
	/* the last segment has no byte */
	inject_ddp(p.client, RDMAP_SEND, .msn = 3, .last = false, .text = "and no more");
	inject_ddp(p.client, RDMAP_SEND, .msn = 3, .mo = 11);
	expect_iw_text(p.server, "and no more");
	/* as many bytes as the receive has */
	inject_ddp(p.client, RDMAP_SEND, .msn = 4, .last = false, .text = most);
	inject_ddp(p.client, RDMAP_SEND, .msn = 4, .mo = RECEIVE_BYTES - 1, .text = "x");
	expect_iw_text(p.server, full);
	iw_pair_ends(tb, p);

	/* one more */
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	inject_ddp(p.client, RDMAP_SEND, .last = false, .text = most);
	inject_ddp(p.client, RDMAP_SEND, .mo = RECEIVE_BYTES - 1, .text = "xy");
	ends(tb, p, IW_TERM_UNTAGGED_LONG);
	/* a gap, an overlap, the next message too early, the same segment again */
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	inject_ddp(p.client, RDMAP_SEND, .last = false, .text = "four");
	inject_ddp(p.client, RDMAP_SEND, .mo = 5, .text = "five");
	ends(tb, p, IW_TERM_UNTAGGED_MO);
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	inject_ddp(p.client, RDMAP_SEND, .last = false, .text = "four");
	inject_ddp(p.client, RDMAP_SEND, .mo = 3, .text = "five");
	ends(tb, p, IW_TERM_UNTAGGED_MO);
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	inject_ddp(p.client, RDMAP_SEND, .last = false, .text = "four");
	inject_ddp(p.client, RDMAP_SEND, .msn = 2, .text = "five");
	ends(tb, p, IW_TERM_UNTAGGED_MSN);
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	inject_ddp(p.client, RDMAP_SEND, .text = "four");
	expect_iw_text(p.server, "four");
	inject_ddp(p.client, RDMAP_SEND, .text = "four");
	ends(tb, p, IW_TERM_UNTAGGED_MSN);
}
