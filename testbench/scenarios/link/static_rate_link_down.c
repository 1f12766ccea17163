/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cable is pulled while packets wait for the static rate of their path. They are discarded, and
 * retries deliver their messages when the cable is back. When a queue pair is destroyed, none of
 * its waiting packets remain.
 * behaviours: IBA-9.11-static-rate IBA-7.2.8-link-down
 */
#include "testbench/services.h"

enum { RATE_2_5 = 2, LEN = 32 << 10 };

static void connect_slow(struct tb *tb, struct drv_qp *x, const struct tb_end *to, struct drv_qp *y)
{
	struct drv_rc_path path = path_to(to, drv_qp_num(y));

	path.static_rate = RATE_2_5;
	path.timeout = 17;
	must(drv_qp_connect(x, &path));
}

SCENARIO(static_rate_link_down, "the cable is pulled, a queue pair goes, while packets wait",
	 .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct sm_result sm;

	connect_slow(tb, x, b, y);
	connect_slow(tb, y, a, x);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 1, .len = LEN);
	send_on(b, y, .opcode = IBV_WR_RDMA_READ, .wr_id = 2, .len = LEN);
	pass_time(CFG_US(40));
	hca_link_set(host_hca(a->host), 1, false);
	phase("pulled");
	expect_event(a, IBV_EVENT_PORT_ERR);
	expect_event(b, IBV_EVENT_PORT_ERR);
	expect_that(tb_stat(a, "port1", "xmit_discards"), >, 0);
	pass_time(CFG_MS(2));
	ignore_events(a);
	ignore_events(b);
	hca_link_set(host_hca(a->host), 1, true);
	phase("plugged");
	must(sm_run(a->dev, 1, NULL, &sm));
	expect_cqe(a, .wr_id = 1, .on = x);
	expect_cqe(b, .wr_id = 2, .on = y);
	expect_data(b, .len = LEN);

	phase("a queue pair goes");
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = LEN);
	pass_time(CFG_US(20));
	destroy_qp(x);
	pass_time(CFG_MS(1));
	destroy_qp(y);
}
