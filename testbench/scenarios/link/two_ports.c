/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices with two ports, both cabled. The subnet manager brings up each subnet separately, queue
 * pairs of the second port send data over the second cable, and that port's counters increase.
 */
/* behaviours: IBA-17.2-two-ports */
#include "testbench/services.h"

#include <errno.h>

enum { PORT_2 = 2 };

SCENARIO(two_ports, "two ports: both become ACTIVE, and the second one carries its own traffic",
	 .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_rc_path to_b, to_a;
	struct drv_port_attr at_a, at_b;
	struct sm_result sm;

	ignore_events(a);
	ignore_events(b);
	must(sm_run(a->dev, PORT_2, &(const struct sm_options){.lid = 40}, &sm));
	expect_true(sm.peer_found && !sm.peer_is_self);
	must(drv_port_wait(b->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	must(drv_port_wait(b->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb)));
	must_fail(-ETIMEDOUT, drv_port_wait(b->dev, PORT_2, IBV_PORT_INIT, tb_now(tb) + CFG_MS(1)));
	must(drv_query_port(a->dev, PORT_2, &at_a));
	must(drv_query_port(b->dev, PORT_2, &at_b));
	if (!still_right())
		return;
	expect_equal(at_a.state, IBV_PORT_ACTIVE);
	expect_equal(at_a.lid, 40);
	to_b = drv_rc_path_default(at_b.lid, drv_qp_num(y));
	to_a = drv_rc_path_default(at_a.lid, drv_qp_num(x));
	to_b.port = to_a.port = PORT_2;
	must(drv_qp_connect(x, &to_b));
	must(drv_qp_connect(y, &to_a));
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = 6000);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .slid = 40, .dlid = at_b.lid);
	expect_pkt(a_to_b, RC_WRITE_LAST);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .dlid = 40);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 6000);
	expect_stat(b, port1, rcv_pkts, 0);
	/* the queue pair of the first port */
	rdma_write(a, .wr_id = 2, .len = 64, .dst = 8192);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = 64, .dst = 8192);
	destroy_qp(x);
	destroy_qp(y);
}
