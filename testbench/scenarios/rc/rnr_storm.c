/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight SENDs are under way when the first one finds no receive. There is one RNR NAK and one wait,
 * and each SEND goes out once more, not once for each response. Credits play no part: the receives
 * come from an SRQ, whose ACKs carry none.
 */
/* behaviours: DEFECT-rnr-storm IBA-9.7.5.2.8-one-nak */
#include "testbench/services.h"

enum { SENDS = 8, MANY = 10, SHORT = 8 /* 1 ms */, RNR_40_MS = 24 };

/* Seven RNR retries are no number: the requester goes on until there is a receive. */
static void for_ever(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		     struct drv_srq *srq)
{
	phase("many waits, one behind the other");
	send_on(a, x, .wr_id = 20, .len = 8);
	while (still_right() && tb_stat(a, "retry", "rnr_waits") < MANY)
		pass_time(CFG_US(100));
	recv_srq(b, srq, .wr_id = 21, .len = 8);
	expect_cqe(a, .wr_id = 20);
	expect_cqe(b, .wr_id = 21);
}

/* The NAK of the second SEND may acknowledge the first one, too, and it ends the ACK timer: while the queue pair waits
 * for longer than all its ACK timeouts together, none runs out. */
static void no_timeout(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_srq *srq)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);

	phase("a wait that is longer than the ACK timeouts");
	connect_two(x, y, .timeout = SHORT, .retry_cnt = 1, .min_rnr_timer = RNR_40_MS);
	recv_srq(b, srq, .wr_id = 30, .len = 8, .repeat = 2);
	send_on(a, x, .wr_id = 30, .len = 8); /* its ACK ends the count of credits */
	pass_time(CFG_US(100));
	send_on(a, x, .wr_id = 31, .len = 8, .repeat = 3);
	pass_time(CFG_MS(20));
	recv_srq(b, srq, .wr_id = 32, .len = 8, .repeat = 2);
	for (unsigned i = 0; i < 4; i++) {
		expect_cqe(a, .wr_id = 30 + i);
		expect_cqe(b, .wr_id = 30 + i);
	}
	expect_stat(a, retry, ack_timeouts, 0);
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(rnr_storm, "RNR under eight SENDs: one NAK, one wait, one resend of each",
	 .any_packets = true)
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);

	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = 8);
	send_on(a, x, .wr_id = 1,
		.len = 8); /* its ACK tells the requester that there are no credits to count */
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1);
	send_on(a, x, .wr_id = 2, .len = 8, .repeat = SENDS);
	pass_time(CFG_US(100));
	expect_stat(b, responder, rnr_naks, 1);
	recv_srq(b, srq, .wr_id = 2, .len = 8, .repeat = SENDS);
	for (unsigned i = 0; i < SENDS; i++) {
		expect_cqe(a, .wr_id = 2 + i);
		expect_cqe(b, .wr_id = 2 + i);
	}
	for (unsigned i = 0; i < SENDS; i++)
		expect_data(b, .dst = 8 * i, .len = 8);
	expect_stat(b, responder, rnr_naks, 1);
	expect_stat(b, responder, naks, 0);
	expect_stat(a, retry, rnr_waits, 1);
	expect_that(tb_stat(a, "retry", "retransmitted"), <=, SENDS);
	for_ever(tb, a, b, x, srq);
	no_timeout(tb, a, b, srq);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
}
