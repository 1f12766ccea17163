/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several packets of one message are lost, far from each other, and there is no ACK timer. So each loss
 * is told by what comes behind it: the responder answers a sequence NAK once for each, also in the same
 * message and behind an RNR NAK, and the requester asks anew for each lost response of a READ. One retry
 * is enough, because each loss comes after progress.
 */
/* behaviours: IBA-9.7.5.2.2-sequence-nak REQ-9 */
#include "testbench/services.h"

enum {
	MTU = 256,
	PACKETS = 480,
	LEN = PACKETS * MTU,
	LOSSES = 3,
	APART = 150, /* packets: no second one is sent before the first loss is known */
	MESSAGES = 24,
	FIRST = 0xfffffe,
	MASK = 0xffffff,
};

static uint32_t lost_psn(uint32_t first, unsigned i)
{
	return (first + 1 + i * APART) & MASK;
}

static void long_send(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t first)
{
	phase("a SEND; without a credit only its first packet goes, and gets an RNR NAK");
	for (unsigned i = 0; i < LOSSES; i++)
		drop_next(a_to_b, RC_SEND_MIDDLE, .psn = lost_psn(first, i));
	post_send(a, .wr_id = 1, .len = LEN);
	pass_time(CFG_US(50));
	post_recv(b, .wr_id = 2, .len = LEN);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 2, .byte_len = LEN);
	expect_data(b, .len = LEN);
	expect_stat(b, responder, rnr_naks, 1);
	expect_stat(a, retry, sequence_naks, LOSSES);
}

static void long_write(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t first)
{
	phase("a WRITE");
	for (unsigned i = 0; i < LOSSES; i++)
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = lost_psn(first, i));
	rdma_write(a, .wr_id = 3, .len = LEN);
	expect_cqe(a, .wr_id = 3);
	expect_stat(a, retry, sequence_naks, 2 * LOSSES);
}

static void short_writes(struct tb *tb, struct tb_end *a, uint32_t first)
{
	phase("WRITEs of few packets: each loss is in another one");
	drop_next(a_to_b, RC_WRITE_FIRST, .psn = first);
	for (unsigned i = 1; i < LOSSES; i++)
		drop_next(a_to_b, RC_WRITE_MIDDLE, .psn = lost_psn(first, i));
	rdma_write(a, .wr_id = 10, .len = LEN / MESSAGES, .repeat = MESSAGES);
	for (unsigned i = 0; i < MESSAGES; i++)
		expect_cqe(a, .wr_id = 10 + i);
	expect_stat(a, retry, sequence_naks, 3 * LOSSES);
}

static void long_read(struct tb *tb, struct tb_end *a, uint32_t first)
{
	phase("a READ");
	for (unsigned i = 0; i < LOSSES; i++)
		drop_next(b_to_a, RC_READ_RESP_MIDDLE, .psn = lost_psn(first, i));
	rdma_read(a, .wr_id = 4, .len = LEN);
	expect_cqe(a, .wr_id = 4, .byte_len = LEN);
	expect_data(a, .len = LEN);
}

static void late_receives(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	phase("each message waits for its receive, and has all retries for that");
	for (unsigned i = 0; i < 2; i++) {
		post_send(a, .wr_id = 5 + i, .len = 16);
		pass_time(CFG_US(50));
		post_recv(b, .wr_id = 7 + i, .len = 16);
		expect_cqe(a, .wr_id = 5 + i);
		expect_cqe(b, .wr_id = 7 + i);
	}
	expect_stat(a, retry, ack_timeouts, 0);
}

SCENARIO(rc_lost_often, "losses far apart in one message, each told without a timer",
	 .mtu = IBV_MTU_256, .memory = 128 << 10, .timeout = 0, .retry_cnt = 1, .rnr_retry = 1,
	 .any_packets = true)
{
	long_send(tb, a, b, FIRST);
	long_write(tb, a, b, (FIRST + PACKETS) & MASK);
	short_writes(tb, a, (FIRST + 2 * PACKETS) & MASK);
	long_read(tb, a, (FIRST + 3 * PACKETS) & MASK);
	late_receives(tb, a, b);
}
