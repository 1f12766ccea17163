/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both drivers find their HCA, start it, and take it down again. The subnet manager at host 0 finds
 * the other HCA through the cable and brings both ports to ACTIVE. Then everything happens once
 * more on the same devices, because a second start finds state left by the first.
 */
#include "testbench/scenario.h"

SCENARIO(bring_up,
	 "driver and device start, ports become ACTIVE by SMPs, everything is given back; twice",
	 .bare = true)
{
	for (unsigned round = 0; round < 2 && still_right(); round++) {
		struct drv_device_attr attr;
		struct drv_port_attr port;
		struct sm_result sm;

		phase(round ? "again" : "start");
		bring_up(a);
		bring_up(b);
		if (!still_right())
			return;
		must(drv_query_device(a->dev, &attr));
		expect_equal(attr.vendor_id, attr.node_guid >> 40); /* both have the maker's OUI */
		expect_that(attr.max_qp, >, 1000);
		must(sm_run(a->dev, 1, NULL, &sm));
		expect_true(sm.peer_found && !sm.peer_is_self);
		expect_equal(sm.own.state, IBV_PORT_ACTIVE);
		expect_equal(sm.peer.state, IBV_PORT_ACTIVE);
		expect_equal(sm.smps_failed, 0);
		must(drv_port_wait(b->dev, 1, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
		must(drv_query_port(b->dev, 1, &port));
		expect_equal(port.lid, sm.peer.lid);
		expect_equal(port.active_mtu, IBV_MTU_4096);
		expect_true(sm.own.lid != sm.peer.lid);
		phase("tear-down");
		take_down(b);
		take_down(a);
	}
}
