/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How ibv_alloc_xrc_rcv_qp treats its attributes. Those of a responder reach the device, including
 * the migration state in the transition from INIT to RTR. Those of a requester are accepted and
 * have no effect. Rights without a depth, and migration without an alternate path, are refused. A process
 * cannot query them, so the scenario asks the driver.
 */
#include "model/interface/macros.h"
#include "testbench/programs.h"

enum { ALT_TIMEOUT = 9, RNR_CODE = 21, DEPTH = 8, OTHER_SIDE = 0x00abcd, FIRST_PSN = 0x123456 };

static int alloc(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;
	int mask;

	p->access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	mask = program_rcv_attr(p, &attr);
	attr.rq_psn = FIRST_PSN;
	attr.min_rnr_timer = RNR_CODE;
	attr.max_dest_rd_atomic = DEPTH;
	attr.path_mig_state = IBV_MIG_REARM;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_ah_attr.sl = 3;
	attr.alt_port_num = 1;
	attr.alt_timeout = ALT_TIMEOUT;
	/* a responder ignores these attributes, whatever their values */
	attr.timeout = 200;
	attr.retry_cnt = 200;
	attr.rnr_retry = 200;
	attr.max_rd_atomic = 200;
	attr.qkey = 0x80000001;
	attr.qp_state = attr.cur_qp_state = IBV_QPS_SQE;
	attr.sq_psn = FIRST_PSN + 1;
	attr.cap.max_send_wr = attr.cap.max_recv_wr = UINT32_MAX;
	attr.en_sqd_async_notify = 1;
	mask |= IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_QKEY | IBV_QP_STATE |
		IBV_QP_CUR_STATE | IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_EN_SQD_ASYNC_NOTIFY;
	return ibv_alloc_xrc_rcv_qp(p->pd, (struct ibv_xrc_domain *)p->xrcd, &attr, mask, &p->qpn);
}

static int alloc_sends_only(void *arg)
{
	struct program *p = arg;
	struct ibv_qp_attr attr;
	int mask = program_rcv_attr(p, &attr) & ~IBV_QP_MAX_DEST_RD_ATOMIC;

	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attr.max_dest_rd_atomic = DEPTH; /* without its bit */
	return ibv_alloc_xrc_rcv_qp(p->pd, (struct ibv_xrc_domain *)p->xrcd, &attr, mask, &p->qpn);
}

/* Rights to read or to change need a depth, and migration an alternate path. Source: OFED's
 * ib_uverbs_create_xrc_rcv_qp and mlx4_ib_modify_xrc_rcv_qp */
static int alloc_refused(void *arg)
{
	static const struct {
		unsigned access;
		int without, with;
		enum ibv_mig_state mig_state;
		int rc;
	} rows[] = {
		{IBV_ACCESS_REMOTE_READ, IBV_QP_MAX_DEST_RD_ATOMIC, 0, IBV_MIG_MIGRATED, EINVAL},
		{IBV_ACCESS_REMOTE_ATOMIC, IBV_QP_MAX_DEST_RD_ATOMIC, 0, IBV_MIG_MIGRATED, EINVAL},
		{0, 0, IBV_QP_PATH_MIG_STATE, IBV_MIG_REARM, EINVAL},
		{0, 0, IBV_QP_PATH_MIG_STATE, IBV_MIG_ARMED, EINVAL},
		{0, 0, IBV_QP_PATH_MIG_STATE, IBV_MIG_MIGRATED, 0},
	};
	struct program *p = arg;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_qp_attr attr;
		int mask = (program_rcv_attr(p, &attr) & ~rows[i].without) | rows[i].with;

		attr.qp_access_flags = rows[i].access;
		attr.path_mig_state = rows[i].mig_state;
		if (ibv_alloc_xrc_rcv_qp(p->pd, (struct ibv_xrc_domain *)p->xrcd, &attr, mask,
					 &p->qpn) != rows[i].rc)
			return (int)i + 1;
	}
	return 0;
}

SCENARIO(xrc_rcv_attributes,
	 "XRC receive QP: its attributes in the device, and those that do not matter",
	 .no_qps = true, .any_packets = true)
{
	struct process *p = start_worker(b);
	struct program r = {.file = "domain", .peer_lid = a->lid, .peer_qpn = OTHER_SIDE};
	struct drv_qp_attr got = {0};

	run_in(p, program_open, &r);
	run_in(p, program_open_xrcd, &r);
	run_in(p, alloc, &r);
	if (!still_right())
		return;
	must(drv_qp_query(drv_qp_find(b->dev, r.qpn), &got));
	expect_equal(got.qp_state, IBV_QPS_RTR);
	expect_equal(got.path_mig_state, IBV_MIG_REARM);
	expect_equal(got.path_mtu, IBV_MTU_2048);
	expect_equal(got.rq_psn, FIRST_PSN);
	expect_equal(got.dest_qp_num, OTHER_SIDE);
	expect_equal(got.qp_access_flags, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	expect_equal(got.max_dest_rd_atomic, DEPTH);
	expect_equal(got.min_rnr_timer, RNR_CODE);
	expect_equal(got.ah_attr.dlid, a->lid);
	expect_equal(got.alt_ah_attr.sl, 3);
	expect_equal(got.alt_timeout, ALT_TIMEOUT);
	expect_equal(got.timeout, 0);
	expect_equal(got.retry_cnt, 0);
	expect_equal(got.rnr_retry, 0);
	expect_equal(got.qkey, 0);
	expect_equal(got.sq_psn, 0);

	phase("no reads, no depth");
	run_in(p, alloc_sends_only, &r);
	if (!still_right())
		return;
	must(drv_qp_query(drv_qp_find(b->dev, r.qpn), &got));
	expect_equal(got.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	expect_equal(got.path_mig_state, IBV_MIG_MIGRATED);
	expect_that(got.max_dest_rd_atomic, <=, 1); /* the device's field has no 0 */

	phase("refused");
	run_in(p, alloc_refused, &r);
	end_worker(p);
}
