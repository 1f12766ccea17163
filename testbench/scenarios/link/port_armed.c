/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager has armed both ports of a cable and activated one. The first data packet makes
 * the other port Active, with its event, so that it can answer; management packets and damaged
 * packets do not. When the manager then sets the port Active, it already is.
 * behaviours: IBA-7.2.7-port-states
 */
#include "testbench/manage.h"

static struct port_info *info_of(struct smp *smp)
{
	return (void *)smp_data_ptr(smp);
}

/* Sets a port's state from a: its own port (hops 0) or the one at the other end (hops 1). */
static void set_state(struct tb *tb, struct tb_end *a, unsigned hops, enum port_state state)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = hops);
	info = *info_of(&answer);
	port_info_set_state(&info, state);
	port_info_set_phys_state(&info, PORT_PHYS_NOP);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1,
	    .hops = hops, .data = &info);
}

static void expect_state(struct tb *tb, struct tb_end *end, enum ibv_port_state state)
{
	struct drv_port_attr now;

	must(drv_query_port(end->dev, 1, &now));
	expect_equal(now.state, state);
}

/* Starts after the link has been down; one end is activated, the other one stays armed. */
static void arm(struct tb *tb, struct tb_end *a, struct tb_end *b, bool activate_a)
{
	hca_link_set(host_hca(a->host), 1, false);
	expect_event(a, IBV_EVENT_PORT_ERR);
	expect_event(b, IBV_EVENT_PORT_ERR);
	hca_link_set(host_hca(a->host), 1, true);
	pass_time(CFG_MS(5));
	set_state(tb, a, 0, PORT_STATE_ARMED);
	set_state(tb, a, 1, PORT_STATE_ARMED);
	set_state(tb, a, activate_a ? 0 : 1, PORT_STATE_ACTIVE);
	expect_event(activate_a ? a : b, IBV_EVENT_PORT_ACTIVE);
}

SCENARIO(port_armed, "a data packet makes an Armed port Active")
{
	arm(tb, a, b, true);
	expect_state(tb, b, IBV_PORT_ARMED);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .bad_icrc = true);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .bad_vcrc = true);
	inject(b, RC_WRITE_ONLY, .psn = 0xfffffe, .lver = 1);
	pass_time(CFG_US(50));
	expect_state(tb, b, IBV_PORT_ARMED);
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);
	expect_event(b, IBV_EVENT_PORT_ACTIVE);
	expect_state(tb, b, IBV_PORT_ACTIVE);
	set_state(tb, a, 1, PORT_STATE_ACTIVE);

	phase("the other way");
	arm(tb, a, b, false);
	expect_state(tb, a, IBV_PORT_ARMED);
	rdma_write(b, .wr_id = 2, .len = 64);
	expect_pkt(b_to_a, RC_WRITE_ONLY);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE);
	expect_cqe(b, .wr_id = 2);
	expect_data(a, .len = 64);
	expect_event(a, IBV_EVENT_PORT_ACTIVE);
	expect_state(tb, a, IBV_PORT_ACTIVE);
}
