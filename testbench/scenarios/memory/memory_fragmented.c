/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host has single pages left and nothing larger. The driver maps the device's tables page by page,
 * with several mailboxes, and finds an entry of a table by walking over its pages. Elsewhere a chunk of
 * a table is one piece, so nothing else shows an entry that is looked up in the wrong page.
 */
/* behaviours: MEM-reregister */
#include "testbench/services.h"

/* REGIONS: their entries in the dMPT fill several pages of 64. QPS: their contexts do, with 16 a page. */
enum { REGIONS = 200, QPS = 40, LEN = 64, AT = QPS * LEN, LOCAL = IBV_ACCESS_LOCAL_WRITE };

static void write_into(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		       bool allowed)
{
	send_on(a, a->qp[0], .opcode = IBV_WR_RDMA_WRITE, .rkey = drv_mr_rkey(mr), .len = LEN,
		.remote_addr = (int64_t)tb_va(b, b->dst + AT));
	expect_cqe(a, .status = allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
}

SCENARIO(memory_fragmented, "the tables of the device lie in single pages of the host",
	 .settings = {"host.largest_piece=4KiB"}, .qps = QPS, .any_packets = true,
	 .of_mlx4 = "tables in the memory of the host")
{
	struct drv_mr *mrs[REGIONS];

	for (unsigned i = 0; i < REGIONS && still_right(); i++)
		must(drv_mr_reg_iova(b->pd, b->dst + AT, LEN, tb_va(b, b->dst + AT), LOCAL,
				     &mrs[i]));
	if (!still_right())
		return;
	for (unsigned i = 0; i < REGIONS; i++) {
		name_row("region %u", i);
		must(drv_mr_rereg_access(mrs[i], LOCAL | IBV_ACCESS_REMOTE_WRITE));
		write_into(tb, a, b, mrs[i], true);
	}
	for (unsigned q = 0; q < QPS; q++) {
		name_row("queue pair %u", q);
		recv_on(b, b->qp[q], .wr_id = q, .dst = q * LEN, .len = LEN);
		send_on(a, a->qp[q], .wr_id = q, .len = LEN);
		expect_cqe(a, .wr_id = q);
		expect_cqe(b, .wr_id = q);
		expect_data(b, .dst = q * LEN, .len = LEN);
	}
	/* the entry in the last page is the one whose right is taken away, and no other */
	must(drv_mr_rereg_access(mrs[REGIONS - 1], LOCAL));
	write_into(tb, a, b, mrs[REGIONS - 2], true);
	write_into(tb, a, b, mrs[REGIONS - 1], false);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	expect_data(b, .dst = AT, .len = LEN);
	for (unsigned i = 0; i < REGIONS; i++)
		must(drv_mr_dereg(mrs[i]));
}
