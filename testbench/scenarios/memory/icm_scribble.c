/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts live in ICM, which is the host's memory. Software writes other PSNs into the contexts of
 * two queue pairs while the devices do not have them cached. The next request goes out with these
 * PSNs, and is accepted.
 */
/* behaviours: HCA-contexts-in-icm */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

enum { NEW_PSN = 0x123456 };

static struct qpc *context_of(struct tb_end *end, unsigned pair)
{
	struct drv_icm_table *t = &end->dev->tables[DRV_T_QPC];

	return drv_table_find(t, drv_qp_num(end->qp[pair]) & (t->entries - 1), NULL);
}

SCENARIO(icm_scribble,
	 "contexts live in ICM: PSNs written into uncached QPCs are the ones on the wire",
	 .qps = 16,
	 .settings = {"hca.context_cache.requester_entries=4",
		      "hca.context_cache.responder_entries=4"})
{
	struct qpc *at_a = context_of(a, 0), *at_b = context_of(b, 0);

	expect_true(at_a && at_b);
	if (!still_right())
		return;
	/* the contexts of other queue pairs take over the cache */
	for (unsigned pair = 1; pair < 16; pair++) {
		rdma_write(a, .wr_id = pair, .len = 8, .qp = pair);
		expect_cqe(a, .wr_id = pair, .qp = pair);
		rdma_write(b, .wr_id = pair, .len = 8, .qp = pair);
		expect_cqe(b, .wr_id = pair, .qp = pair);
	}
	expect_data(a, .len = 8);
	expect_data(b, .len = 8);
	ignore_packets();
	check_packets();
	expect_equal(qpc_get_next_send_psn(at_a), 0xfffffe);
	qpc_set_next_send_psn(at_a, NEW_PSN);
	qpc_set_last_acked_psn(at_a, NEW_PSN - 1);
	qpc_set_next_rcv_psn(at_b, NEW_PSN);
	rdma_write(a, .wr_id = 77, .len = 64, .dst = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = NEW_PSN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEW_PSN);
	expect_cqe(a, .wr_id = 77);
	expect_data(b, .len = 64, .dst = 64);
}
