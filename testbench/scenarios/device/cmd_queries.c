/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that a driver seldom needs: QUERY_HCA, QUERY_EQ, QUERY_CQ, QUERY_MPT, SET_NODE,
 * DIAG_RPRT and a transition from INIT to INIT. Each reports the true state, or has its effect.
 */
/* behaviours: HCA-query-commands ST-7 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/manage.h"

#define QUERY(dev_, op_, number, box)                                                              \
	must(drv_cmd(dev_, &(struct drv_raw_cmd){.op = HCR_##op_,                                  \
						 .in_mod = number,                                 \
						 .out = &(box),                                    \
						 .out_len = sizeof(box)}))

static struct diag_rprt counts(struct tb *tb, struct tb_end *end)
{
	struct diag_rprt d = {{0}};

	must(drv_cmd(end->dev,
		     &(struct drv_raw_cmd){
			     .op = HCR_DIAG_RPRT, .op_mod = 2, .out = &d, .out_len = sizeof(d)}));
	return d;
}

static void diagnostics(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct diag_rprt at_a = counts(tb, a), at_b = counts(tb, b), after;

	drop_next(b_to_a, RC_ACKNOWLEDGE);
	post_send(a, .wr_id = 1, .len = 8);
	/* an RNR wait whose NAK is lost: a timeout, then a receive is there */
	pass_time(CFG_US(100));
	post_recv(b, .wr_id = 2, .len = 8);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 2);
	expect_data(b, .len = 8);
	rdma_write(a, .wr_id = 3, .len = 8, .rkey = 0x1234500);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	after = counts(tb, a);
	expect_equal(diag_rprt_get_sq_rae(&after) - diag_rprt_get_sq_rae(&at_a), 1);
	expect_equal(diag_rprt_get_sq_to(&after) - diag_rprt_get_sq_to(&at_a),
		     tb_stat(a, "retry", "ack_timeouts"));
	after = counts(tb, b);
	expect_equal(diag_rprt_get_rq_rae(&after) - diag_rprt_get_rq_rae(&at_b),
		     0); /* no receive was used */
	expect_equal(diag_rprt_get_rq_rnr(&after) - diag_rprt_get_rq_rnr(&at_b),
		     tb_stat(b, "responder", "rnr_naks"));
	expect_that(tb_stat(b, "responder", "rnr_naks"), >, 0);
}

SCENARIO(cmd_queries, "seldom used commands: queries, diagnostics, node description, INIT to INIT",
	 .any_packets = true, .timeout = 8)
{
	const struct drv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct drv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct set_node description = {{0}};
	struct init_hca hca;
	struct mpt_entry mpt;
	struct smp answer;
	struct eqc eqc;
	struct cqc cqc;

	QUERY(a->dev, QUERY_HCA, 0, hca);
	expect_equal(init_hca_get_qpc_base(&hca), a->dev->tables[DRV_T_QPC].virt);
	QUERY(a->dev, QUERY_CQ, drv_cq_num(a->cq), cqc);
	expect_equal(cqc_get_status(&cqc), 0);
	expect_equal(1u << cqc_get_log_size(&cqc), drv_cq_entries(a->cq) + 1);
	QUERY(a->dev, QUERY_EQ, a->dev->eqs[0].eqn, eqc);
	expect_equal(eqc_get_mtt_addr(&eqc) / 8, a->dev->eqs[0].buf.mtt.first);
	QUERY(a->dev, QUERY_MPT, a->mr->index & drv_table_mask(a->dev, DRV_T_DMPT), mpt);
	expect_equal(mpt_entry_get_length(&mpt), 2 << 16);
	must_fail(-EBADF, drv_cmd(a->dev, &(struct drv_raw_cmd){.op = HCR_QUERY_CQ,
								.in_mod = drv_cq_num(a->cq) + 77,
								.out = &cqc,
								.out_len = sizeof(cqc)}));

	expect_guest_error(a, object_dead);

	memcpy(set_node_description_ptr(&description), "a node of its own", 18);
	must(drv_cmd(b->dev, &(struct drv_raw_cmd){.op = HCR_SET_NODE,
						   .in_mod = 1,
						   .in = &description,
						   .in_len = sizeof(description)}));
	ask(a, &answer, .attr = SMP_ATTR_NODE_DESC, .hops = 1);
	expect_true(!memcmp(smp_data_cptr(&answer), "a node of its own", 18));

	diagnostics(tb, a, b);

	must(drv_qp_modify(a->qp[0], &reset, IBV_QP_STATE));
	init.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	must(drv_qp_modify(a->qp[0], &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	must(drv_qp_modify(a->qp[0], &init, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS));
	must(drv_qp_query(a->qp[0], &init));
	expect_equal(init.qp_state, IBV_QPS_INIT);
	expect_equal(init.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
}
