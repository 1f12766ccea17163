/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers of several queue pairs run at the same time, and each ends in its own turn: ACK timers of different
 * lengths, and an RNR wait between them. The timer of a queue pair belongs to its oldest packet: requests
 * that are sent meanwhile do not put it off.
 */
/* behaviours: IBA-9.9.2.1.1-timers */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum {
	LEN = 8,
	RNR_20_MS = 22,
	BUSY = 1,
	A_TIMEOUT = 4,
	POSTS = 2 * A_TIMEOUT,
	LONG = 2 << 20,
	SHORT = 6
};

/* In the order in which they are made; they end in the order of `turn`. */
static const struct {
	unsigned timeout; /* 0: an RNR wait */
	unsigned turn;
} rows[] = {{11, 1}, {8, 0}, {0, 2}, {14, 3}};

enum { QPS = ARRAY_SIZE(rows) };

static void waits_for_receive(struct tb *tb, struct tb_end *b, struct drv_qp *y, unsigned i)
{
	expect_pkt(a_to_b, RC_SEND_ONLY, .transmission = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .rnr = RNR_20_MS);
	recv_on(b, y, .wr_id = QPS, .len = LEN, .dst = LEN * i);
}

static void ends_in_turn(struct tb *tb, struct drv_qp *const y[QPS])
{
	for (unsigned turn = 0; turn < QPS && still_right(); turn++) {
		unsigned i = 0;

		while (rows[i].turn != turn)
			i++;
		name_row("timeout %u", rows[i].timeout);
		if (rows[i].timeout)
			expect_pkt(a_to_b, RC_WRITE_ONLY, .qpn = drv_qp_num(y[i]),
				   .transmission = 2);
		else
			expect_pkt(a_to_b, RC_SEND_ONLY, .qpn = drv_qp_num(y[i]),
				   .transmission = 2);
	}
}

/* The timer begins anew with each answer, in the middle of a long message, too. */
static void moves_on(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		     struct drv_qp *y)
{
	const uint64_t timeouts = tb_stat(a, "retry", "ack_timeouts");

	phase("messages that take longer than the timer");
	move_qp(x, IBV_QPS_RESET);
	move_qp(y, IBV_QPS_RESET);
	connect_two(x, y, .timeout = SHORT);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t began = tb_now(tb);

		send_on(a, x, .wr_id = i, .len = LONG, .dst = 0,
			.opcode = i ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE);
		expect_cqe(a, .wr_id = i);
		expect_that(tb_now(tb) - began, >, ack_timeout_ps(SHORT));
	}
	expect_equal(tb_stat(a, "retry", "ack_timeouts"), timeouts);
	expect_data(b, .len = LONG);
	expect_data(a, .len = LONG);
}

SCENARIO(timers_apart, "timers of several queue pairs, each in its turn", .rnr_retry = 7,
	 .memory = LONG)
{
	struct drv_qp *x[QPS], *y[QPS];
	uint64_t timeouts;

	phase("several queue pairs");
	allow_pkt(b_to_a, RC_ACKNOWLEDGE);
	for (unsigned i = 0; i < QPS; i++) {
		x[i] = new_qp(a);
		y[i] = new_qp(b);
		connect_two(x[i], y[i], .timeout = rows[i].timeout, .min_rnr_timer = RNR_20_MS);
		if (rows[i].timeout)
			drop_next(a_to_b, RC_WRITE_ONLY, .qpn = drv_qp_num(y[i]));
	}
	for (unsigned i = 0; i < QPS; i++)
		send_on(a, x[i], .wr_id = i, .len = LEN, .dst = LEN * i,
			.opcode = rows[i].timeout ? IBV_WR_RDMA_WRITE : IBV_WR_SEND);
	for (unsigned i = 0; i < QPS; i++)
		if (!rows[i].timeout)
			waits_for_receive(tb, b, y[i], i);
	ends_in_turn(tb, y);
	for (unsigned turn = 0; turn < QPS; turn++)
		for (unsigned i = 0; i < QPS; i++)
			if (rows[i].turn == turn)
				expect_cqe(a, .wr_id = i, .on = x[i]);
	expect_cqe(b, .wr_id = QPS);
	for (unsigned i = 0; i < QPS; i++)
		expect_data(b, .dst = LEN * i, .len = LEN);

	phase("the oldest packet counts");
	move_qp(y[BUSY], IBV_QPS_RESET);
	ignore_packets();
	timeouts = tb_stat(a, "retry", "ack_timeouts");
	for (unsigned i = 0; i < POSTS; i++) {
		send_on(a, x[BUSY], .wr_id = i, .len = LEN, .opcode = IBV_WR_RDMA_WRITE);
		pass_time(ack_timeout_ps(rows[BUSY].timeout) / A_TIMEOUT);
	}
	expect_that(tb_stat(a, "retry", "ack_timeouts"), >, timeouts);
	move_qp(x[BUSY], IBV_QPS_RESET);
	moves_on(tb, a, b, x[QPS - 1], y[QPS - 1]);
	for (unsigned i = 0; i < QPS; i++) {
		destroy_qp(x[i]);
		destroy_qp(y[i]);
	}
}
