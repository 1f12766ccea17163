/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody answers on the primary path. When the retries are used up, an armed queue pair moves to the
 * other LIDs of the same ports, with all its retries again (IBA 17.2.8); everything that was not
 * acknowledged goes there. A queue pair that has moved and loaded no further path fails as usual.
 */
/* behaviours: APM-1 */
#include "testbench/scenario.h"

static void load(struct tb *tb, struct tb_end *end)
{
	const struct drv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = {.dlid = end->peer->lid + 1, .src_path_bits = 1},
		.alt_port_num = 1,
		.alt_timeout = 9};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

SCENARIO(apm_retry, "retries used up: migration to the other LIDs of the port", .any_packets = true,
	 .lmc = 1, .timeout = 8, .retry_cnt = 2)
{
	struct drv_qp_attr attr = {0};

	load(tb, a);
	load(tb, b);
	rdma_write(a, .wr_id = 1, .len = 8);
	expect_cqe(a, .wr_id = 1);
	rdma_write(a, .wr_id = 2, .len = 8); /* arms b too, whichever ACK arrived first */
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 8);

	phase("the primary path is dead");
	drop_next(a_to_b, RC_WRITE_FIRST, .times = 3);
	drop_next(a_to_b, RC_WRITE_LAST, .times = 3);
	post_recv(b, .wr_id = 3, .len = 64, .dst = 16384);
	rdma_write(a, .wr_id = 4, .len = 8192, .dst = 8192);
	post_send(a, .wr_id = 5, .len = 64);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 5);
	expect_cqe(b, .wr_id = 3);
	expect_data(b, .len = 8192, .dst = 8192);
	expect_data(b, .len = 64, .dst = 16384);
	expect_event(a, IBV_EVENT_PATH_MIG);
	expect_event(b, IBV_EVENT_PATH_MIG);
	must(drv_qp_query(a->qp[0], &attr));
	expect_equal(attr.path_mig_state, IBV_MIG_MIGRATED);
	expect_equal(attr.ah_attr.dlid, b->lid + 1);
	expect_equal(attr.timeout, 9);

	phase("no third path");
	drop_next(a_to_b, RC_WRITE_ONLY, .times = 3);
	rdma_write(a, .wr_id = 6, .len = 8);
	expect_cqe(a, .wr_id = 6, .status = IBV_WC_RETRY_EXC_ERR);
}
