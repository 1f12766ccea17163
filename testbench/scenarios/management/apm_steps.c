/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alternate path is loaded by one modify and armed by another one, and each query tells what has come
 * of it: a loaded path is not armed yet, REARM becomes ARMED when the peer has answered in that state, and
 * the queue pair moves when it is told to. Then the same with another path: the one from which it has moved.
 * Source: IBA 17.2.8.1, migration states
 */
/* behaviours: APM-1 */
#include "testbench/scenario.h"

enum { PATHS = 2, TIMEOUT = 9, PAUSE_US = 40 };

static void is(struct tb *tb, struct tb_end *end, enum ibv_mig_state state, unsigned primary,
	       unsigned alternate)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(end->qp[0], &attr));
	expect_equal(attr.path_mig_state, state);
	expect_equal(attr.ah_attr.dlid, end->peer->lid + primary);
	expect_equal(attr.ah_attr.src_path_bits, primary);
	if (alternate == PATHS)
		return;
	expect_equal(attr.alt_ah_attr.dlid, end->peer->lid + alternate);
	expect_equal(attr.alt_ah_attr.src_path_bits, alternate);
	expect_equal(attr.alt_port_num, 1);
	expect_equal(attr.alt_timeout, TIMEOUT + alternate);
}

static void load(struct tb *tb, struct tb_end *end, unsigned path)
{
	const struct drv_qp_attr attr = {/* alt_port_num counts, and not the port of the address */
					 .alt_ah_attr = {.dlid = end->peer->lid + path,
							 .src_path_bits = path,
							 .port_num = 2},
					 .alt_port_num = 1,
					 .alt_timeout = TIMEOUT + path};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH));
}

static void go(struct tb *tb, struct tb_end *end, enum ibv_mig_state state)
{
	const struct drv_qp_attr attr = {.path_mig_state = state};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_PATH_MIG_STATE));
}

static void exchange(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned i = 0; i < 2; i++) {
		rdma_write(a, .wr_id = i, .len = 8);
		expect_cqe(a, .wr_id = i);
	}
	expect_data(b, .len = 8);
}

SCENARIO(apm_steps, "the alternate path is loaded, armed and taken, step by step",
	 .any_packets = true, .lmc = 1)
{
	for (unsigned from = 0; from < PATHS && still_right(); from++) {
		const unsigned to = !from;

		name_row("from path %u", from);
		load(tb, a, to);
		is(tb, a, IBV_MIG_MIGRATED, from, to);
		load(tb, b, to);
		exchange(tb, a, b);
		is(tb, a, IBV_MIG_MIGRATED, from, to);
		go(tb, a, IBV_MIG_REARM);
		is(tb, a, IBV_MIG_REARM, from, to);
		is(tb, b, IBV_MIG_MIGRATED, from, to);
		exchange(tb, a, b);
		is(tb, a, IBV_MIG_REARM, from, to);
		go(tb, b, IBV_MIG_REARM);
		exchange(tb, a, b);
		is(tb, a, IBV_MIG_ARMED, from, to);
		is(tb, b, IBV_MIG_ARMED, from, to);
		go(tb, a, IBV_MIG_MIGRATED);
		expect_event(a, IBV_EVENT_PATH_MIG);
		is(tb, a, IBV_MIG_MIGRATED, to, PATHS);
		exchange(tb, a, b);
		expect_event(b, IBV_EVENT_PATH_MIG);
		is(tb, b, IBV_MIG_MIGRATED, to, PATHS);
	}
}
