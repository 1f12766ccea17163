/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cable of port 1 loses every packet. When the retries are used up, the armed queue pair goes
 * on over port 2 with its full number of retries; nothing is lost, nothing arrives twice, and the
 * peer follows. Then port 1 is loaded as alternate path again. When nobody answers there either, a
 * queue pair that has already migrated fails as usual.
 * behaviours: APM-1
 */
#include "testbench/scenario.h"

static void load(struct tb *tb, struct tb_end *end, unsigned dlid, unsigned port)
{
	const struct drv_qp_attr attr = {.path_mig_state = IBV_MIG_REARM,
					 .alt_ah_attr = {.dlid = dlid},
					 .alt_port_num = port,
					 .alt_timeout = 8};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

SCENARIO(apm_ports, "retries used up: migration to the second port", .any_packets = true,
	 .timeout = 8, .retry_cnt = 2, .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct drv_qp_attr attr = {0};

	load(tb, a, b->lid_2, 2);
	load(tb, b, a->lid_2, 2);
	rdma_write(a, .wr_id = 1, .len = 8);
	expect_cqe(a, .wr_id = 1);
	rdma_write(a, .wr_id = 2, .len = 8); /* arms b too, whichever ACK arrived first */
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 8);

	phase("port 1 is deaf");
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
	expect_equal(attr.port_num, 2);
	expect_equal(attr.ah_attr.dlid, b->lid_2);
	expect_equal(attr.qp_state, IBV_QPS_RTS);

	phase("the other way, on port 2");
	post_recv(a, .wr_id = 6, .len = 64);
	post_send(b, .wr_id = 7, .len = 64);
	expect_cqe(b, .wr_id = 7);
	expect_cqe(a, .wr_id = 6);
	expect_data(a, .len = 64);

	phase("no third path");
	drop_next(a_to_b, RC_WRITE_ONLY, .times = 3);
	rdma_write(a, .wr_id = 8, .len = 8);
	expect_cqe(a, .wr_id = 8, .status = IBV_WC_RETRY_EXC_ERR);
}
