/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subnet manager uses all virtual lanes that both ports say they have. A datagram of each service level then leaves
 * on the lane that the table of its port names, and arrives, over the cable and back.
 */
/* behaviours: MAD-7 */
#include "testbench/manage.h"

enum { PORT = 1, SLS = 16, QKEY = 0x51, GRH_AREA = 40, LEN = 64 };

static void each_level(struct tb *tb, struct tb_end *from, struct tb_end *to, struct drv_qp *x,
		       struct drv_qp *y, enum tb_direction direction)
{
	const struct sl2vl *table;
	struct drv_ah_attr ah = ah_to(to);
	struct smp answer;

	ask(from, &answer, .attr = SMP_ATTR_SL2VL);
	table = (const struct sl2vl *)(const void *)smp_data_cptr(&answer);
	check_packets();
	for (unsigned sl = 0; sl < SLS && still_right(); sl++) {
		name_row("SL %u", sl);
		ah.sl = sl;
		recv_on(to, y, .wr_id = 1, .len = GRH_AREA + LEN);
		send_on(from, x, .wr_id = 2, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY,
			.len = LEN);
		tb_expect_pkt(
			tb, TB_HERE, direction, WINDOW(0, EVENT_NEVER), BTH_UD_SEND_ONLY,
			&(const struct tb_pkt){TB_PKT_ANY, .sl = sl, .vl = sl2vl_get(table, sl)});
		expect_cqe(from, .wr_id = 2);
		expect_cqe(to, .wr_id = 1, .sl = sl);
	}
	name_row("%s", "");
	ignore_packets();
	ignore_data(to, .len = GRH_AREA + LEN);
}

SCENARIO(lanes_all, "all virtual lanes that both ports have, one for each service level")
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_port_attr of_a, of_b;
	struct sm_options options = {0};
	struct sm_result sm;

	ignore_packets();
	ignore_events(a);
	ignore_events(b);
	must(drv_query_port(a->dev, PORT, &of_a));
	must(drv_query_port(b->dev, PORT, &of_b));
	options.vls = of_a.vl_cap < of_b.vl_cap ? of_a.vl_cap : of_b.vl_cap;
	must(sm_run(a->dev, PORT, &options, &sm));
	must(drv_query_port(b->dev, PORT, &of_b));
	expect_equal(of_b.oper_vls, options.vls);
	pass_time(CFG_US(100));
	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	each_level(tb, a, b, x, y, a_to_b);
	each_level(tb, b, a, y, x, b_to_a);
	destroy_qp(y);
	destroy_qp(x);
}
