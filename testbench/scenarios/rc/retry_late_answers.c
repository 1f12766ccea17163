/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses that arrive when the requester has already begun to retransmit. READ responses behind a
 * lost one report the same loss repeatedly, which counts as one retry. A late ACK of the whole
 * message, in the middle of its retransmission, ends the retransmission.
 * behaviours: IBA-9.7.5.1.1-implied-ack IBA-9.7.6.1.3-late-ack
 */
#include "testbench/scenario.h"

enum {
	MTU = 1024,
	PACKETS = 192, /* take much longer than one ACK; too few to request one on the way */
	TIMEOUT = 8,   /* code of the ACK timeout: 4.096 us * 2^8 */
};

SCENARIO(retry_late_answers, "answers that come after going back: one try, and no more than needed",
	 .mtu = IBV_MTU_1024, .retry_cnt = 1, .timeout = TIMEOUT, .any_packets = true,
	 .exact = true, .memory = (PACKETS + 3) * MTU,
	 .settings = {"hca.responder.ack_coalesce=4096", "hca.responder.ack_delay=10ms",
		      "hca.requester.ack_interval=65536"},
	 .of_mlx4 = "interval at which a requester asks for ACKs")
{
	uint64_t begin, took_ps;

	phase("five responses tell of a lost one");
	drop_next(b_to_a, RC_READ_RESP_FIRST);
	rdma_read(a, .wr_id = 1, .len = 6 * MTU);
	expect_cqe(a, .wr_id = 1);
	expect_data(a, .len = 6 * MTU);
	expect_stat(a, retry, ack_timeouts, 0);
	expect_stat(a, retry, retransmitted, 1);

	phase("how long the long message takes");
	begin = tb_now(tb);
	rdma_write(a, .wr_id = 2, .len = PACKETS * MTU);
	expect_cqe(a, .wr_id = 2);
	took_ps = tb_now(tb) - begin;
	expect_stat(a, retry, retransmitted, 1);

	/*
	 * The timer starts with the first packet, and the ACK comes after the last one. The ACK is
	 * delayed by the timeout less half of the time between the two, so it arrives in the middle
	 * of the retransmission.
	 */
	phase("the ACK comes in the middle of the repetition");
	delay_next(b_to_a, RC_ACKNOWLEDGE, .psn = 6 - 2 + 2 * PACKETS - 1,
		   .by_ps = (CFG_NS(4096) << TIMEOUT) - took_ps / 2);
	rdma_write(a, .wr_id = 3, .len = PACKETS * MTU);
	expect_cqe(a, .wr_id = 3);
	expect_stat(a, retry, ack_timeouts, 1);
	expect_that(tb_stat(a, "retry", "retransmitted"), >, 1 + 1);
	expect_that(tb_stat(a, "retry", "retransmitted"), <, 1 + PACKETS);
	rdma_write(a, .wr_id = 4, .len = 3 * MTU, .dst = PACKETS * MTU);
	expect_cqe(a, .wr_id = 4);
	expect_data(b, .len = PACKETS * MTU);
	expect_data(b, .len = 3 * MTU, .dst = PACKETS * MTU);
}
