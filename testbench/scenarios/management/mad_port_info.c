/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Set of PortInfo from the other end: a new LID (there is an event, and packets go to the new
 * LID), a smaller MTU, and the states from INIT to ARMED to ACTIVE with their events. A Set that
 * the specification does not allow is refused and changes nothing.
 */
/* behaviours: MAD-3 IBA-14.2.5.6-portinfo */
#include "testbench/manage.h"

enum { NEW_LID = 77 };

static struct port_info *info_of(struct smp *smp)
{
	return (void *)smp_data_ptr(smp);
}

#define SET(...)                                                                                   \
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1, \
	    .data = &info, __VA_ARGS__)

SCENARIO(mad_port_info, "PortInfo set from the other end: LID, MTU, states", .stays_up = true)
{
	struct drv_port_attr before, now;
	struct port_info info, good;
	struct smp answer;

	ignore_packets();
	must(drv_query_port(b->dev, 1, &before));
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1);
	expect_equal(port_info_get_lid(info_of(&answer)), before.lid);

	info = good = port_info_to_set(&answer);
	port_info_set_state(&info, PORT_STATE_INIT);
	SET(.status = MAD_STATUS_BAD_VALUE);
	info = good;
	port_info_set_lid(&info, 0xc000);
	SET(.status = MAD_STATUS_BAD_VALUE);
	info = good;
	port_info_set_neighbor_mtu(&info, IB_MTU_4096 + 1);
	SET(.status = MAD_STATUS_BAD_VALUE);
	must(drv_query_port(b->dev, 1, &now));
	expect_true(now.lid == before.lid && now.state == IBV_PORT_ACTIVE);
	expect_no_more(CFG_US(20));

	info = good;
	port_info_set_lid(&info, NEW_LID);
	SET();
	expect_equal(port_info_get_lid(info_of(&answer)), NEW_LID);
	expect_event(b, IBV_EVENT_LID_CHANGE);
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.lid, NEW_LID);
	b->lid = NEW_LID;
	reconnect(0);
	check_packets();
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .dlid = NEW_LID);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .slid = NEW_LID);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);

	info = good = port_info_to_set(&answer);
	port_info_set_state(&info, PORT_STATE_DOWN);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1,
	    .data = &info, .maybe_silent = true); /* the link goes down and takes the answer with
						    * it, unless the driver is slow to send it */
	expect_event(b, IBV_EVENT_PORT_ERR);
	ignore_events(a);
	pass_time(CFG_MS(5));
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.state, IBV_PORT_INIT); /* the link has been trained again */
	info = good;
	port_info_set_state(&info, PORT_STATE_ACTIVE);
	SET(.status = MAD_STATUS_BAD_VALUE);
	port_info_set_state(&info, PORT_STATE_ARMED);
	SET();
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.state, IBV_PORT_ARMED);
	port_info_set_neighbor_mtu(&info, IB_MTU_1024);
	port_info_set_state(&info, PORT_STATE_ACTIVE);
	SET();
	expect_event(b, IBV_EVENT_PORT_ACTIVE);
	must(drv_query_port(b->dev, 1, &now));
	expect_equal(now.active_mtu, IBV_MTU_1024);
	ignore_events(b);
	take_down(b);
	take_down(a);
}
