/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams of queue pairs of the second port: they leave through the port that their address
 * vector names, and through the queue pair's own where it names none. The first port sees nothing.
 */
/* behaviours: IBA-17.2-two-ports */
#include "testbench/services.h"

enum { PORT_2 = 2, LID_2 = 40, QKEY = 0x11111111, GRH_AREA = 40, LEN = 32 };

SCENARIO(ud_port_2, "datagrams over the second port",
	 .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_port_attr at_b = {0};
	struct drv_ah_attr ah = {0};

	ignore_events(a);
	ignore_events(b);
	must(sm_run(a->dev, PORT_2, &(const struct sm_options){.lid = LID_2}, NULL));
	must(drv_port_wait(b->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	must(drv_query_port(b->dev, PORT_2, &at_b));
	if (!still_right())
		return;
	must(drv_ud_qp_start(x, PORT_2, 0, QKEY, 0));
	must(drv_ud_qp_start(y, PORT_2, 0, QKEY, 0));
	ah.dlid = at_b.lid;
	for (unsigned port = 0; port <= PORT_2; port += PORT_2) {
		ah.port_num = port; /* 0: the queue pair's */
		recv_on(b, y, .wr_id = port, .len = GRH_AREA + LEN);
		send_on(a, x, .wr_id = 9, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y),
			.qkey = QKEY);
		expect_pkt(a_to_b, UD_SEND_ONLY, .slid = LID_2, .dlid = at_b.lid);
		expect_cqe(a, .wr_id = 9);
		expect_cqe(b, .wr_id = port, .on = y, .slid = LID_2);
	}
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	expect_stat(b, port1, rcv_pkts, 0);
	destroy_qp(y);
	destroy_qp(x);
}
