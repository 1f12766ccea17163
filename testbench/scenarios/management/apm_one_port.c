/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migration between the LIDs of one port, when it cannot be. Software asks for it while the alternate path has
 * an empty P_Key, and while the port is down: there is an event, and the queue pair stays armed on its path.
 * A queue pair whose retries are used up on such a path fails, and the timer of another one that begins at that
 * moment runs out, too. A peer that moves to another path than the alternate one is not heard. Then both ends are
 * asked at the same time, and meet on the new path.
 */
/* behaviours: APM-3 APM-1 */
#include "testbench/services.h"

enum { EMPTY = 1, PAIR = 2, TRIES = 3, TIMEOUT = 8, SHORT = 2, MOMENTS = 4, QUIET_US = 20 };

#define MOMENT CFG_NS(100)

static void load_qp(struct tb *tb, struct tb_end *end, struct drv_qp *qp, unsigned path,
		    unsigned pkey_index)
{
	const struct drv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = {.dlid = end->peer->lid + path, .src_path_bits = path},
		.alt_port_num = 1,
		.alt_pkey_index = pkey_index,
		.alt_timeout = 8};

	must(drv_qp_modify(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

static void load(struct tb *tb, struct tb_end *end, unsigned path, unsigned pkey_index)
{
	load_qp(tb, end, end->qp[0], path, pkey_index);
}

static void write_two(struct tb *tb, struct tb_end *a)
{
	rdma_write(a, .wr_id = 1, .len = 8, .repeat = PAIR);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
}

static void is(struct tb *tb, struct tb_end *end, enum ibv_mig_state state, unsigned path)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(end->qp[0], &attr));
	expect_equal(attr.path_mig_state, state);
	expect_equal(attr.ah_attr.dlid, end->peer->lid + path);
}

/* The first request of `other` is sent around the moment at which x uses up its retries. */
static void timers_at_once(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *other = new_qp(a), *to = new_qp(b), *x = new_qp(a), *y = new_qp(b);

	connect_two(other, to, .timeout = SHORT);
	for (unsigned i = 0; i < MOMENTS && still_right(); i++) {
		connect_two(x, y, .timeout = TIMEOUT, .retry_cnt = 0);
		load_qp(tb, a, x, 1, EMPTY);
		load_qp(tb, b, y, 1, 0);
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = 8);
		expect_cqe(a, .wr_id = 1, .on = x);
		drop_next(a_to_b, RC_WRITE_ONLY, .qpn = drv_qp_num(y));
		drop_next(a_to_b, RC_WRITE_ONLY, .qpn = drv_qp_num(to));
		pass_time(CFG_US(QUIET_US)); /* both are sent by a host that sleeps */
		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 2, .len = 8);
		pass_time(ack_timeout_ps(TIMEOUT) + i * MOMENT);
		send_on(a, other, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = 8);
		expect_cqes_of(a, CQE(.wr_id = 2, .status = IBV_WC_RETRY_EXC_ERR, .on = x),
			       CQE(.wr_id = 3, .on = other, .within_ps = CFG_MS(1)));
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
	}
	destroy_qp(y);
	destroy_qp(x);
	destroy_qp(to);
	destroy_qp(other);
}

SCENARIO(apm_one_port, "migration that cannot be, and of both ends at once, on one port",
	 .exact = true, .any_packets = true, .timeout = TIMEOUT, .retry_cnt = TRIES - 1, .lmc = 2)
{
	const struct drv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};

	phase("an empty P_Key");
	load(tb, a, 1, EMPTY);
	load(tb, b, 1, 0);
	write_two(tb, a);
	expect_data(b, .len = 8);
	is(tb, a, IBV_MIG_ARMED, 0);
	is(tb, b, IBV_MIG_ARMED, 0);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG_ERR);
	is(tb, a, IBV_MIG_ARMED, 0);
	write_two(tb, a);

	phase("two timers at once");
	timers_at_once(tb, a, b);

	phase("a port that is down");
	load(tb, a, 1, 0);
	write_two(tb, a);
	is(tb, a, IBV_MIG_ARMED, 0);
	ignore_events(a);
	ignore_events(b);
	must(drv_port_down(a->dev, 1));
	pass_time(CFG_MS(1));
	check_events(a);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG_ERR);
	is(tb, a, IBV_MIG_ARMED, 0);
	ignore_events(a);
	must(drv_port_up(a->dev, 1));
	activate_ports();
	pass_time(CFG_MS(1));
	check_events(a);
	check_events(b);
	write_two(tb, a);

	phase("not the peer's alternate path");
	load(tb, a, 2, 0);
	write_two(tb, a);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	rdma_write(a, .wr_id = 3, .len = 8);
	for (unsigned i = 0; i < TRIES; i++)
		expect_event(b, IBV_EVENT_PATH_MIG_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_RETRY_EXC_ERR);
	is(tb, b, IBV_MIG_ARMED, 0);
	reconnect(0);

	phase("both at once");
	load(tb, a, 3, 0);
	load(tb, b, 3, 0);
	write_two(tb, a);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	must(drv_qp_modify(b->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	expect_event(b, IBV_EVENT_PATH_MIG);
	write_two(tb, a);
	is(tb, a, IBV_MIG_MIGRATED, 3);
	is(tb, b, IBV_MIG_MIGRATED, 3);
	must_fail(-EINVAL,
		  drv_qp_modify(a->qp[0],
				&(const struct drv_qp_attr){.path_mig_state = IBV_MIG_ARMED},
				IBV_QP_PATH_MIG_STATE));
}
