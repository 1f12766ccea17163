/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around a NAK. It waits until READs that came before it are answered, says how many messages
 * were executed although none of them was acknowledged, and comes once for each gap: a duplicate that
 * arrives in between is acknowledged, and asks for no other NAK. An ACK, too, waits for the READ before it, and
 * says nothing of the one behind it. Lengths that leave nothing for the last packet, or too much, are refused.
 */
/* behaviours: IBA-9.7.5.2.8-one-nak RESP-1 RESP-3 */
#include "testbench/services.h"

enum { MTU = 256, LEN = 64, PACKETS = 24, FIRST = 0xfffffe, MASK = 0xffffff };

static void once(struct tb *tb, struct tb_end *b, uint64_t dst, uint32_t rkey)
{
	phase("one NAK for a gap");
	for (unsigned i = 0; i < 3; i++)
		inject(b, RC_WRITE_ONLY, .psn = (FIRST + i) & MASK, .va = dst, .rkey = rkey,
		       .dma_len = LEN, .len = LEN);
	inject(b, RC_WRITE_ONLY, .psn = 2, .va = dst, .rkey = rkey, .dma_len = LEN, .len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 1, .nak = NAK_PSN_SEQUENCE, .msn = 3);
	inject(b, RC_WRITE_ONLY, .psn = 0xffffff, .va = dst, .rkey = rkey, .dma_len = LEN,
	       .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3);
	inject(b, RC_WRITE_ONLY, .psn = 3, .va = dst, .rkey = rkey, .dma_len = LEN, .len = LEN);
	expect_no_more(CFG_US(20));
	inject(b, RC_WRITE_ONLY, .psn = 1, .va = dst, .rkey = rkey, .dma_len = LEN, .len = LEN);
	inject(b, RC_WRITE_ONLY, .psn = 3, .va = dst, .rkey = rkey, .dma_len = LEN, .len = LEN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2, .nak = NAK_PSN_SEQUENCE, .msn = 4);
	expect_data(b, .len = LEN);
}

/* All of it has come before the first READ is answered. */
static void between(struct tb *tb, struct tb_end *b, uint64_t src, uint64_t dst, uint32_t rkey)
{
	const uint32_t write = (FIRST + PACKETS) & MASK;

	phase("an ACK between READs");
	inject(b, RC_READ_REQUEST, .psn = FIRST, .va = src, .rkey = rkey, .dma_len = PACKETS * MTU);
	inject(b, RC_WRITE_ONLY, .psn = write, .va = dst, .rkey = rkey, .dma_len = LEN, .len = LEN,
	       .ack_req = true);
	inject(b, RC_READ_REQUEST, .psn = write + 1, .va = src, .rkey = rkey, .dma_len = LEN);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = FIRST, .msn = 1);
	for (unsigned i = 1; i < PACKETS - 1; i++)
		expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = (FIRST + i) & MASK);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = write - 1, .msn = 1);
	/* with a syndrome, it is this ACK: the next one would acknowledge a READ that is not answered */
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = write, .msn = 2, .syndrome = 0);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = write + 1, .msn = 3);
	reconnect(0);
}

static void behind(struct tb *tb, struct tb_end *b, uint64_t src, uint32_t rkey)
{
	phase("a NAK behind READ responses");
	inject(b, RC_READ_REQUEST, .psn = 2, .va = src, .rkey = rkey, .dma_len = PACKETS * MTU);
	inject(b, RC_SEND_ONLY, .psn = 2 + PACKETS, .len = LEN); /* there is no receive */
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 2, .msn = 5);
	for (unsigned i = 1; i < PACKETS - 1; i++)
		expect_pkt(b_to_a, RC_READ_RESP_MIDDLE, .psn = 2 + i);
	expect_pkt(b_to_a, RC_READ_RESP_LAST, .psn = 1 + PACKETS, .msn = 5);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 2 + PACKETS, .rnr = TB_SOME, .msn = 5);
	reconnect(0);
}

#define REFUSED(at_psn)                                                                            \
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = at_psn, .nak = NAK_INVALID_REQ);                 \
	expect_event(b, IBV_EVENT_QP_REQ_ERR);                                                     \
	reconnect(0)

static void refused(struct tb *tb, struct tb_end *b, uint64_t dst, uint32_t rkey)
{
	phase("lengths");
	post_recv(b, .wr_id = 1, .len = 2 * MTU);
	inject(b, RC_SEND_FIRST, .psn = FIRST, .len = MTU);
	inject(b, RC_SEND_LAST, .psn = 0xffffff, .len = 0);
	expect_cqe(b, .wr_id = 1, .status = ANY_ERROR);
	REFUSED(0xffffff);
	inject(b, RC_WRITE_FIRST, .psn = FIRST, .va = dst, .rkey = rkey, .dma_len = MTU,
	       .len = MTU);
	REFUSED(FIRST);
	inject(b, RC_WRITE_FIRST, .psn = FIRST, .va = dst, .rkey = rkey, .dma_len = 2 * MTU,
	       .len = MTU);
	inject(b, RC_WRITE_MIDDLE, .psn = 0xffffff, .len = MTU);
	REFUSED(0xffffff);
	ignore_data(b, .len = 2 * MTU);
}

SCENARIO(naks_apart, "one NAK for a gap, behind the answers before it, with the MSN of now",
	 .mtu = IBV_MTU_256)
{
	const uint32_t rkey = drv_mr_rkey(b->mr);

	once(tb, b, tb_va(b, b->dst), rkey);
	behind(tb, b, tb_va(b, b->src), rkey);
	between(tb, b, tb_va(b, b->src), tb_va(b, b->dst), rkey);
	refused(tb, b, tb_va(b, b->dst), rkey);
}
