/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manager disables a port: both ends of the cable hear that it is down, it stays disabled, and the other end polls. When the
 * manager lets it poll again, the link is trained. A port that is set down is trained at once. In between the port is
 * asked by its own host; its LID stays, and afterwards all works as before. Each of the two ports in turn.
 */
/* behaviours: IBA-7.2.7-port-states IBA-14.2.5.6-portinfo */
#include "testbench/manage.h"

enum { PORT = 1, TRAINED_MS = 5, LEN = 64 };

/* The end's own manager asks for these states. */
static void set_states(struct tb *tb, struct tb_end *end, enum port_state state,
		       enum port_phys_state phys)
{
	struct port_info info;
	struct smp answer;

	ask(end, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT);
	info = port_info_to_set(&answer);
	port_info_set_state(&info, state);
	port_info_set_phys_state(&info, phys);
	ask(end, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .data = &info);
}

static void states_are(struct tb *tb, struct tb_end *end, enum ibv_port_state state,
		       enum port_phys_state phys)
{
	struct drv_port_attr now;

	must(drv_query_port(end->dev, PORT, &now));
	expect_equal(now.state, state);
	expect_equal(now.phys_state, phys);
	expect_equal(now.lid, end->lid);
}

static void both_down(struct tb *tb, struct tb_end *end)
{
	expect_event(end, IBV_EVENT_PORT_ERR);
	expect_event(end->peer, IBV_EVENT_PORT_ERR);
}

static void works_again(struct tb *tb, struct tb_end *a, struct tb_end *end)
{
	struct sm_result sm;

	pass_time(CFG_MS(TRAINED_MS));
	states_are(tb, end, IBV_PORT_INIT, PORT_PHYS_LINK_UP);
	states_are(tb, end->peer, IBV_PORT_INIT, PORT_PHYS_LINK_UP);
	must(sm_run(a->dev, PORT, NULL, &sm));
	expect_event(end, IBV_EVENT_PORT_ACTIVE);
	expect_event(end->peer, IBV_EVENT_PORT_ACTIVE);
	rdma_write(end, .wr_id = 1, .len = LEN);
	expect_cqe(end, .wr_id = 1);
	expect_data(end->peer, .len = LEN);
}

SCENARIO(port_disabled, "a port that its manager disables, lets poll again, and sets down",
	 .any_packets = true)
{
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		struct tb_end *end = i ? b : a;

		phase(i ? "b" : "a");
		set_states(tb, end, PORT_STATE_NOP, PORT_PHYS_DISABLED);
		both_down(tb, end);
		pass_time(CFG_MS(TRAINED_MS));
		states_are(tb, end, IBV_PORT_DOWN, PORT_PHYS_DISABLED);
		states_are(tb, end->peer, IBV_PORT_DOWN, PORT_PHYS_POLLING);
		set_states(tb, end, PORT_STATE_NOP, PORT_PHYS_POLLING);
		works_again(tb, a, end);
		set_states(tb, end, PORT_STATE_DOWN, PORT_PHYS_NOP);
		both_down(tb, end);
		works_again(tb, a, end);
	}
}
