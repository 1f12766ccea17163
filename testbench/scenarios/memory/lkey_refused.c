/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local keys that must be refused: a key of another protection domain for a SEND, for a receive and
 * for the target of a READ; a key without local write for a receive and for the target of a READ.
 * The side that used the key gets a local protection error, the peer of a failed receive gets a
 * remote operational error, and no byte is moved.
 * behaviours: MEM-1
 */
#include "testbench/scenario.h"

static void refuse_receive(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t lkey)
{
	post_recv(b, .wr_id = 1, .len = 64, .lkey = lkey);
	post_send(a, .wr_id = 2, .len = 64);
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_REM_OP_ERR);
	reconnect(0);
}

static void refuse_read(struct tb *tb, struct tb_end *end, uint32_t lkey)
{
	rdma_read(end, .wr_id = 3, .len = 64, .lkey = lkey);
	expect_cqe(end, .wr_id = 3, .status = IBV_WC_LOC_PROT_ERR);
	reconnect(0);
}

SCENARIO(lkey_refused, "L_Keys of another PD and without local write", .any_packets = true)
{
	struct drv_mr *foreign = NULL, *readable = NULL;
	struct drv_pd *pd = NULL;

	must(drv_pd_alloc(b->dev, &pd));
	must(drv_mr_reg_iova(pd, b->src, 128 << 10, tb_va(b, b->src), IBV_ACCESS_LOCAL_WRITE,
			     &foreign));
	must(drv_mr_reg_iova(b->pd, b->src, 128 << 10, tb_va(b, b->src), 0, &readable));
	if (!still_right())
		return;
	post_send(b, .wr_id = 4, .len = 64, .lkey = drv_mr_lkey(foreign));
	expect_cqe(b, .wr_id = 4, .status = IBV_WC_LOC_PROT_ERR);
	reconnect(0);
	refuse_receive(tb, a, b, drv_mr_lkey(foreign));
	refuse_receive(tb, a, b, drv_mr_lkey(readable));
	refuse_read(tb, b, drv_mr_lkey(foreign));
	refuse_read(tb, b, drv_mr_lkey(readable));

	phase("good");
	post_recv(a, .wr_id = 5, .len = 64);
	post_send(b, .wr_id = 6, .len = 64, .lkey = drv_mr_lkey(readable));
	expect_cqe(b, .wr_id = 6);
	expect_cqe(a, .wr_id = 5);
	expect_data(a, .len = 64);
	must(drv_mr_dereg(foreign));
	must(drv_mr_dereg(readable));
	must(drv_pd_free(pd));
}
