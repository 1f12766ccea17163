/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic path migration between the LMC path bits of one port. MigReq is 1 while Migrated, and 0
 * once an alternate path has been loaded; packets then arm both ends. Then software at one end
 * migrates: its packets arrive from the other LIDs with MigReq 1, the peer follows, both ends
 * report it by event, and the primary path equals the alternate path. Actions allowed only to an
 * armed queue pair are refused otherwise.
 * behaviours: DEFECT-migreq APM-1
 */
#include "testbench/scenario.h"

#include <errno.h>

static void load(struct tb *tb, struct tb_end *end)
{
	struct drv_qp_attr attr = {.path_mig_state = IBV_MIG_REARM,
				   .alt_ah_attr = {.dlid = end->peer->lid + 1, .src_path_bits = 1},
				   .alt_port_num = 1,
				   .alt_timeout = 14};

	must(drv_qp_modify(end->qp[0], &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	must(drv_qp_query(end->qp[0], &attr));
	expect_equal(attr.path_mig_state, IBV_MIG_REARM);
	expect_equal(attr.alt_ah_attr.dlid, end->peer->lid + 1);
}

static void state(struct tb *tb, struct tb_end *end, enum ibv_mig_state want, unsigned dlid)
{
	struct drv_qp_attr attr = {0};

	must(drv_qp_query(end->qp[0], &attr));
	expect_equal(attr.path_mig_state, want);
	expect_equal(attr.ah_attr.dlid, dlid);
}

SCENARIO(apm_lmc, "path migration on LMC bits: load, arm by packets, migrate on request", .lmc = 1)
{
	const struct drv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};
	const struct drv_qp_attr arm = {.path_mig_state = IBV_MIG_ARMED};

	rdma_write(a, .wr_id = 1, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .mig_req = 1, .dlid = b->lid, .slid = a->lid);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .mig_req = 1);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 8);

	phase("load");
	must_fail(-EINVAL, drv_qp_modify(a->qp[0], &arm, IBV_QP_PATH_MIG_STATE));
	load(tb, a);
	must_fail(-EINVAL, drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	rdma_write(a, .wr_id = 2, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .mig_req = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .mig_req = 1);
	expect_cqe(a, .wr_id = 2);
	state(tb, a, IBV_MIG_REARM, b->lid); /* the peer has not loaded an alternate path */
	load(tb, b);
	rdma_write(a, .wr_id = 3, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .mig_req = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .mig_req = 0);
	expect_cqe(a, .wr_id = 3);
	state(tb, a, IBV_MIG_ARMED, b->lid);
	state(tb, b, IBV_MIG_ARMED, a->lid);

	phase("migrate");
	must(drv_qp_modify(a->qp[0], &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	state(tb, a, IBV_MIG_MIGRATED, b->lid + 1);
	rdma_write(a, .wr_id = 4, .len = 8, .dst = 8, .src = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .mig_req = 1, .dlid = b->lid + 1, .slid = a->lid + 1);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .mig_req = 1, .dlid = a->lid + 1, .slid = b->lid + 1);
	expect_cqe(a, .wr_id = 4);
	expect_data(b, .len = 8, .dst = 8, .src = 8);
	expect_event(b, IBV_EVENT_PATH_MIG);
	state(tb, b, IBV_MIG_MIGRATED, a->lid + 1);
}
