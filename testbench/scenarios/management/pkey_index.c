/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs of another partition than the first one in the table, over primary and alternate
 * path. Each uses the P_Key that its index names; packets carry it, and a packet with the first
 * P_Key of the table is not theirs. After migration the alternate path's index counts.
 */
/* behaviours: IBA-10.9-pkey-index */
#include "testbench/manage.h"

enum { FULL = 0xffff, FIRST = 0x8055, SECOND = 0x8066 };

static void write_tables(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned hops = 0; hops < 2; hops++)
		write_pkeys(a, 1, hops, FULL, FIRST, SECOND);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
}

static void alternate(struct tb *tb, struct drv_qp *qp, unsigned dlid, unsigned index)
{
	const struct drv_qp_attr attr = {.path_mig_state = IBV_MIG_REARM,
					 .alt_ah_attr = {.dlid = dlid},
					 .alt_port_num = 1,
					 .alt_pkey_index = index,
					 .alt_timeout = 10};

	must(drv_qp_modify(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

SCENARIO(pkey_index, "P_Keys of other indices than 0, on primary and alternate paths")
{
	const struct drv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_qp_attr attr = {0};

	write_tables(tb, a, b);
	connect_two(x, y, .pkey_index = 1);
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = 64);
	send_on(a, x, .wr_id = 2, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .pkey = FIRST);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .pkey = FIRST);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_data(b, .len = 64);
	inject(b, RC_WRITE_ONLY, .qpn = drv_qp_num(y), .psn = 0, .len = 8, .dma_len = 8,
	       .pkey = FULL);
	expect_no_more(CFG_US(20));

	alternate(tb, x, b->lid, 2);
	alternate(tb, y, a->lid, 2);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .pkey = FIRST);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .pkey = FIRST);
	expect_cqe(a, .wr_id = 3);
	must(drv_qp_modify(x, &migrate, IBV_QP_PATH_MIG_STATE));
	expect_event(a, IBV_EVENT_PATH_MIG);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 4, .len = 8);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .pkey = SECOND);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .pkey = SECOND);
	expect_event(b, IBV_EVENT_PATH_MIG);
	expect_cqe(a, .wr_id = 4);
	must(drv_qp_query(y, &attr));
	expect_equal(attr.pkey_index, 2);
	expect_data(b, .len = 8);
	destroy_qp(y);
	destroy_qp(x);
}
