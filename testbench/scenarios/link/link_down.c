/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cable is pulled under load and plugged again. Both ports report it, and packets sent
 * meanwhile are discarded and counted. When the subnet manager has brought the ports up again, the
 * requests that were under way complete.
 */
/* behaviours: IBA-11.6.3.5-port-events IBA-7.2.7-port-states */
#include "testbench/services.h"

enum { N = 20 };

SCENARIO(link_down, "the cable is pulled and plugged under load", .timeout = 16)
{
	const uint64_t downed = tb_stat(b, "port1", "link_downed");
	struct drv_port_attr attr;
	struct sm_result result;

	ignore_packets();
	rdma_write(a, .wr_id = 1, .len = 8192, .repeat = N);
	pass_time(CFG_US(10));
	hca_link_set(host_hca(a->host), 1, false);
	expect_event(a, IBV_EVENT_PORT_ERR);
	expect_event(b, IBV_EVENT_PORT_ERR);
	must(drv_query_port(b->dev, 1, &attr));
	expect_equal(attr.state, IBV_PORT_DOWN);
	expect_stat(b, port1, link_downed, downed + 1);
	pass_time(CFG_MS(20));
	hca_link_set(host_hca(a->host), 1, true);
	must(sm_run(a->dev, 1, NULL, &result));
	expect_event(a, IBV_EVENT_PORT_ACTIVE);
	expect_event(b, IBV_EVENT_PORT_ACTIVE);
	expect_cqes(a, N);
	expect_data(b, .len = 8192);
	expect_that(tb_stat(a, "retry", "ack_timeouts"), >, 0);
}
