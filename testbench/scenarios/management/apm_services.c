/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path migration of UC and of XRC. With XRC, packets flow in both directions, so the peer's packets
 * arm a queue pair; with UC the peer's own requests do. Software requests the migration, both ends
 * follow, and messages go on over the other LIDs.
 */
/* behaviours: APM-1 IBA-17.2.8-apm-uc IBA-17.2.8-apm-xrc */
#include "testbench/services.h"

static void load(struct tb *tb, struct tb_end *end, struct drv_qp *qp)
{
	const struct drv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = {.dlid = end->peer->lid + 1, .src_path_bits = 1},
		.alt_port_num = 1,
		.alt_timeout = 14};

	must(drv_qp_modify(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

static void state(struct tb *tb, struct drv_qp *qp, enum ibv_mig_state want, unsigned dlid)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(qp, &attr));
	expect_equal(attr.path_mig_state, want);
	expect_equal(attr.ah_attr.dlid, dlid);
}

SCENARIO(apm_services, "path migration of UC and XRC", .lmc = 1)
{
	const struct drv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};
	struct drv_xrcd *xrcd = new_xrcd(b);
	struct drv_srq *srq = new_srq(b, .xrcd = xrcd);
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UC), *v = new_qp(b, .type = IBV_QPT_UC);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_XRC_SEND),
		      *y = new_qp(b, .type = IBV_QPT_XRC_RECV, .xrcd = xrcd);

	connect_two(u, v);
	connect_two(x, y);
	if (!still_right())
		return;
	phase("UC");
	load(tb, a, u);
	load(tb, b, v);
	recv_on(b, v, .wr_id = 1, .len = 8, .repeat = 2);
	recv_on(a, u, .wr_id = 3, .len = 8);
	send_on(a, u, .wr_id = 10, .len = 8);
	expect_pkt(a_to_b, UC_SEND_ONLY, .mig_req = 0, .dlid = b->lid);
	expect_cqe(a, .wr_id = 10);
	expect_cqe(b, .wr_id = 1);
	send_on(b, v, .wr_id = 11, .len = 8);
	expect_pkt(b_to_a, UC_SEND_ONLY, .mig_req = 0);
	expect_cqe(b, .wr_id = 11);
	expect_cqe(a, .wr_id = 3);
	state(tb, u, IBV_MIG_ARMED, b->lid);
	state(tb, v, IBV_MIG_ARMED, a->lid);
	must(drv_qp_modify(u, &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	send_on(a, u, .wr_id = 12, .src = 8, .len = 8);
	expect_pkt(a_to_b, UC_SEND_ONLY, .mig_req = 1, .dlid = b->lid + 1, .slid = a->lid + 1);
	expect_cqe(a, .wr_id = 12);
	expect_cqe(b, .wr_id = 2);
	expect_event(b, IBV_EVENT_PATH_MIG);
	state(tb, v, IBV_MIG_MIGRATED, a->lid + 1);
	expect_data(a, .len = 8);
	expect_data(b, .len = 8);
	expect_data(b, .dst = 8, .src = 8, .len = 8);

	phase("XRC");
	load(tb, a, x);
	load(tb, b, y);
	recv_srq(b, srq, .wr_id = 21, .dst = 100, .len = 8, .repeat = 2);
	send_on(a, x, .wr_id = 30, .len = 8, .srqn = drv_srq_num(srq));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .mig_req = 0, .dlid = b->lid);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .mig_req = 0);
	expect_cqe(a, .wr_id = 30);
	expect_cqe(b, .wr_id = 21);
	state(tb, x, IBV_MIG_ARMED, b->lid);
	state(tb, y, IBV_MIG_ARMED, a->lid);
	must(drv_qp_modify(x, &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	send_on(a, x, .wr_id = 31, .src = 8, .len = 8, .srqn = drv_srq_num(srq));
	expect_pkt(a_to_b, XRC_SEND_ONLY, .mig_req = 1, .dlid = b->lid + 1, .slid = a->lid + 1);
	expect_pkt(b_to_a, XRC_ACKNOWLEDGE, .mig_req = 1, .dlid = a->lid + 1);
	expect_cqe(a, .wr_id = 31);
	expect_cqe(b, .wr_id = 22);
	expect_event(b, IBV_EVENT_PATH_MIG);
	state(tb, y, IBV_MIG_MIGRATED, a->lid + 1);
	expect_data(b, .dst = 100, .len = 8);
	expect_data(b, .dst = 108, .src = 8, .len = 8);
	destroy_qp(y);
	destroy_qp(x);
	destroy_qp(v);
	destroy_qp(u);
	destroy_srq(srq);
	destroy_xrcd(xrcd);
}
