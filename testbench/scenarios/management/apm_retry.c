/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody answers on the primary path. When the retries are used up, an armed queue pair moves to the
 * other LIDs of the same ports, with all its retries again (IBA 17.2.8); everything that was not
 * acknowledged goes there. A queue pair that has moved and loaded no further path fails as usual.
 */
/* behaviours: APM-1 */
#include "testbench/scenario.h"

enum { TRIES = 3 };

/* The path between the LIDs with that number. */
static void load(struct tb *tb, struct tb_end *end, unsigned number)
{
	const struct drv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = {.dlid = end->peer->lid + number, .src_path_bits = number},
		.alt_port_num = 1,
		.alt_timeout = 9};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

SCENARIO(apm_retry, "retries used up: migration to the other LIDs of the port", .any_packets = true,
	 .lmc = 1, .timeout = 8, .retry_cnt = 2)
{
	struct drv_qp_attr attr = {0};

	load(tb, a, 1);
	load(tb, b, 1);
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

	phase("each path has all the retries");
	load(tb, a, 0);
	load(tb, b, 0);
	for (unsigned i = 7; i <= 8; i++) {
		rdma_write(a, .wr_id = i, .len = 8);
		expect_cqe(a, .wr_id = i);
	}
	pass_time(CFG_US(20));
	check_packets();
	drop_next(b_to_a, RC_ACKNOWLEDGE, .times = 2 * TRIES - 1);
	rdma_write(a, .wr_id = 9, .len = 8);
	for (unsigned i = 0; i < TRIES; i++)
		expect_pkt(a_to_b, RC_WRITE_ONLY, .dlid = b->lid + 1, .slid = a->lid + 1,
			   .mig_req = 0);
	for (unsigned i = 0; i < TRIES; i++)
		expect_pkt(a_to_b, RC_WRITE_ONLY, .dlid = b->lid, .slid = a->lid, .mig_req = 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .dlid = a->lid, .slid = b->lid);
	expect_cqe(a, .wr_id = 9);
	expect_event(a, IBV_EVENT_PATH_MIG);
	expect_event(b, IBV_EVENT_PATH_MIG);
	ignore_packets();

	phase("no third path");
	drop_next(a_to_b, RC_WRITE_ONLY, .times = 3);
	rdma_write(a, .wr_id = 6, .len = 8);
	expect_cqe(a, .wr_id = 6, .status = IBV_WC_RETRY_EXC_ERR);
}
