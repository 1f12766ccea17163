/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migration to an unusable path. First, software requests it while the second port is down: there
 * is an event, and the old path stays in use and armed. Second, the peer migrates to a path that is
 * not the alternate path here: its packets are dropped, there is an event, and the old path stays
 * in use.
 * behaviours: APM-3
 */
#include "testbench/scenario.h"

static void load(struct tb *tb, struct tb_end *end, unsigned dlid, unsigned port, unsigned bits)
{
	const struct drv_qp_attr attr = {.path_mig_state = IBV_MIG_REARM,
					 .alt_ah_attr = {.dlid = dlid, .src_path_bits = bits},
					 .alt_port_num = port,
					 .alt_timeout = 8};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

static void kept(struct tb *tb, struct tb_end *end)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(end->qp[0], &attr));
	expect_equal(attr.path_mig_state, IBV_MIG_ARMED);
	expect_equal(attr.port_num, 1);
	expect_equal(attr.ah_attr.dlid, end->peer->lid);
}

static void write_two(struct tb *tb, struct tb_end *a)
{
	rdma_write(a, .wr_id = 1, .len = 8, .repeat = 2);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
}

SCENARIO(apm_refused,
	 "migration to a port that is down, and to a path that is not the alternate one",
	 .any_packets = true, .timeout = 8, .retry_cnt = 2, .lmc = 2,
	 .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	const struct drv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};

	load(tb, a, b->lid_2, 2, 0);
	load(tb, b, a->lid + 2, 1, 2);
	write_two(tb, a);
	kept(tb, a);
	kept(tb, b);
	expect_data(b, .len = 8);

	phase("port 2 is down");
	ignore_events(a); /* events of the port itself */
	ignore_events(b);
	must(drv_port_down(a->dev, 2));
	pass_time(CFG_MS(1));
	check_events(a);
	check_events(b);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG_ERR);
	kept(tb, a);
	write_two(tb, a);

	phase("not the peer's alternate path");
	load(tb, a, b->lid + 1, 1, 1);
	write_two(tb, a);
	kept(tb, a);
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	rdma_write(a, .wr_id = 3, .len = 8, .dst = 64);
	for (unsigned i = 0; i < 3; i++) /* one for each transmission of the request */
		expect_event(b, IBV_EVENT_PATH_MIG_ERR);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_RETRY_EXC_ERR);
	kept(tb, b);
}
