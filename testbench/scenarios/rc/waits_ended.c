/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that come while a requester waits to send again. A response of the READ behind a SEND, or an ACK
 * of both, says that all has arrived: nothing goes again, the wait is over, and the next request goes at
 * once. An RNR NAK that comes twice is one wait. A request whose memory cannot be read fails when those
 * before it have ended, and not before: the lost one is sent again first.
 */
/* behaviours: IBA-9.7.6.1.3-late-ack IBA-9.7.5.1.1-implied-ack REQ-7 */
#include "model/interface/syndromes.h"
#include "testbench/services.h"

enum { LEN = 8, FIRST = 0xfffffe, RNR_491_MS = 31, QUIET_US = 50, OTHER = 4096 };

static void in_rnr_wait(struct tb *tb, struct tb_end *a, struct tb_end *b, bool read)
{
	const uint64_t waits = tb_stat(a, "retry", "rnr_waits");

	move_qp(b->qp[0], IBV_QPS_RESET);
	post_send(a, .wr_id = 1, .len = LEN);
	rdma_read(a, .wr_id = 2, .dst = OTHER, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = FIRST);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 0xffffff);
	inject(a, RC_ACKNOWLEDGE, .psn = FIRST,
	       .syndrome = aeth_syndrome(AETH_RNR_NAK, RNR_491_MS));
	inject(a, RC_ACKNOWLEDGE, .psn = FIRST, .syndrome = aeth_syndrome(AETH_RNR_NAK, 1));
	expect_no_more(CFG_US(QUIET_US));
	expect_equal(tb_stat(a, "retry", "rnr_waits"), waits + 1);
	if (!read) {
		inject(a, RC_ACKNOWLEDGE, .psn = FIRST, .msn = 1);
		expect_cqe(a, .wr_id = 1);
	}
	inject(a, RC_READ_RESP_ONLY, .psn = 0xffffff, .msn = 2, .len = LEN);
	if (read)
		expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_data(a, .dst = OTHER, .len = LEN);
	rdma_write(a, .wr_id = 3, .len = LEN);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_MS(1)), RC_WRITE_ONLY, .psn = 0, .transmission = 1);
	inject(a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3);
	expect_cqe(a, .wr_id = 3);
	expect_no_more(CFG_US(QUIET_US));
	reconnect(0);
}

static void behind_a_loss(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	phase("a request that cannot be sent behind one that is lost");
	drop_next(a_to_b, RC_WRITE_ONLY);
	rdma_write(a, .wr_id = 4, .len = LEN);
	rdma_write(a, .wr_id = 5, .len = LEN, .lkey = drv_mr_lkey(a->mr) ^ 1);
	rdma_write(a, .wr_id = 6, .len = LEN);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = FIRST, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = FIRST);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 5, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 6, .status = IBV_WC_WR_FLUSH_ERR);
	expect_data(b, .len = LEN);
}

SCENARIO(waits_ended, "answers that end an RNR wait, and a request that cannot be sent",
	 .timeout = 10)
{
	phase("a READ response in an RNR wait");
	in_rnr_wait(tb, a, b, true);
	phase("an ACK in an RNR wait");
	in_rnr_wait(tb, a, b, false);
	behind_a_loss(tb, a, b);
}
