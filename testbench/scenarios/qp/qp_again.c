/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair that is reset has nothing of its former life: no alternate path, so that its packets do not say that
 * they could migrate; no requests, no fence that waits for READs, no RNR wait, no timer, no credits that are missing,
 * no answers. It is reset in the middle of each of these, and a message to and from it goes at once, with the PSNs
 * that it is given.
 */
/* behaviours: ST-3 ST-reset-receives */
#include "testbench/services.h"

enum { LEN = 64, QUEUED = 6, SOON_US = 30 };

struct ends {
	struct drv_qp *x, *y;
};

static void alternate(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	struct drv_qp_attr attr = {.path_mig_state = IBV_MIG_REARM,
				   .alt_ah_attr = {.dlid = b->lid},
				   .alt_port_num = 1,
				   .alt_timeout = 10};

	must(drv_qp_modify(q->x, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	attr.alt_ah_attr.dlid = a->lid;
	must(drv_qp_modify(q->y, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	send_on(a, q->x, .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .len = LEN);
	expect_cqe(a, .wr_id = 1);
	must(drv_qp_query(q->x, &attr));
	expect_equal(attr.path_mig_state, IBV_MIG_ARMED);
}

static void unanswered_read(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	drop_next(b_to_a, RC_READ_RESP_ONLY);
	send_on(a, q->x, .opcode = IBV_WR_RDMA_READ, .dst = 8192, .len = LEN);
	send_on(a, q->x, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .fence = true, .repeat = QUEUED);
}

static void no_receive(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	send_on(a, q->x, .len = LEN, .repeat = QUEUED);
}

static void unacknowledged(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	move_qp(q->y, IBV_QPS_ERR);
	send_on(a, q->x, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .repeat = QUEUED);
}

static void sequence_nak(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	drop_next(a_to_b, RC_WRITE_ONLY);
	drop_next(b_to_a, RC_ACKNOWLEDGE);
	send_on(a, q->x, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .repeat = 2);
}

static void drained(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q)
{
	move_qp(q->x, IBV_QPS_SQD);
	send_on(a, q->x, .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .repeat = QUEUED);
}

static const struct {
	const char *name;
	void (*before)(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct ends *q);
} lives[] = {
	{"an alternate path", alternate}, {"a READ without its response", unanswered_read},
	{"no receive", no_receive},       {"no acknowledgements", unacknowledged},
	{"a sequence NAK", sequence_nak}, {"a drained queue", drained},
};

static void message(struct tb *tb, struct tb_end *from, struct tb_end *to, struct drv_qp *x,
		    struct drv_qp *y, uint32_t psn, enum tb_direction there, enum tb_direction back)
{
	recv_on(to, y, .wr_id = 5, .len = LEN);
	send_on(from, x, .wr_id = 6, .len = LEN);
	expect_pkt(there, RC_SEND_ONLY, .psn = psn, .mig_req = 1, .qpn = drv_qp_num(y));
	expect_pkt(back, RC_ACKNOWLEDGE, .psn = psn, .msn = 1, .mig_req = 1);
	expect_cqe(from, .wr_id = 6, .within_ps = CFG_US(SOON_US));
	expect_cqe(to, .wr_id = 5, .within_ps = CFG_US(SOON_US));
	expect_data(to, .len = LEN);
}

SCENARIO(qp_again, "a queue pair that is reset has nothing of its former life", .timeout = 12,
	 .any_packets = true)
{
	struct ends q = {new_qp(a), new_qp(b)};
	uint32_t psn = 0x1000;

	for_each_row(i, lives) {
		struct drv_qp_attr attr = {0};

		if (a->ethernet && lives[i].before == alternate)
			continue; /* the driver refuses it there, as Linux does */
		name_row("%s", lives[i].name);
		connect_two(q.x, q.y);
		lives[i].before(tb, a, b, &q);
		pass_time(CFG_US(SOON_US));
		move_qp(q.x, IBV_QPS_RESET);
		move_qp(q.y, IBV_QPS_RESET);
		check_packets();
		connect_two(q.x, q.y, .x_psn = psn, .y_psn = psn + 0x100);
		must(drv_qp_query(q.x, &attr));
		expect_equal(attr.path_mig_state, IBV_MIG_MIGRATED);
		expect_true(!attr.sq_draining);
		message(tb, a, b, q.x, q.y, psn, a_to_b, b_to_a);
		message(tb, b, a, q.y, q.x, psn + 0x100, b_to_a, a_to_b);
		expect_no_more(CFG_MS(40)); /* more than all timers of the life before */
		ignore_packets();
		move_qp(q.x, IBV_QPS_RESET);
		move_qp(q.y, IBV_QPS_RESET);
		psn += 0x1000;
	}
	ignore_data(a, .dst = 8192, .len = LEN);
	ignore_discarded(a);
	destroy_qp(q.y);
	destroy_qp(q.x);
}
