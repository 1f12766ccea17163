/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cable is pulled during traffic in both directions. Both ports report it, and the packets on
 * the cable are lost. The cable is plugged again, the subnet manager brings the ports up, and
 * retries deliver every byte.
 */
/* behaviours: IBA-7.2.8-link-down */
#include "testbench/scenario.h"

SCENARIO(link_pulled, "the cable is pulled under load and plugged again: nothing is lost",
	 .memory = 1 << 20, .any_packets = true, .timeout = 17)
{
	struct sm_result sm;

	rdma_write(a, .wr_id = 1, .len = 1 << 20);
	rdma_write(b, .wr_id = 2, .len = 1 << 20);
	pass_time(CFG_US(40));
	hca_link_set(host_hca(a->host), 1, false);
	phase("pulled");
	expect_event(a, IBV_EVENT_PORT_ERR);
	expect_event(b, IBV_EVENT_PORT_ERR);
	pass_time(CFG_MS(5));
	ignore_events(a);
	ignore_events(b);
	hca_link_set(host_hca(a->host), 1, true);
	phase("plugged");
	must(sm_run(a->dev, 1, NULL, &sm));
	expect_true(sm.peer_found);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 2);
	expect_data(b, .len = 1 << 20);
	expect_data(a, .len = 1 << 20);
}
