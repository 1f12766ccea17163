/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights of a region are changed: the driver takes the MPT entry back, edits it in ICM, and
 * tells the device to read it again. New rights hold at once, and rights that were taken away are
 * gone, whether the key was in the device's cache or not. The region's key, bounds and
 * translations stay.
 */
/* behaviours: MEM-reregister */
#include "testbench/harm.h"

enum { LEN = 64, LOCAL = IBV_ACCESS_LOCAL_WRITE };

static const struct {
	unsigned access;
	bool write, read;
} rows[] = {
	{LOCAL, false, false},
	{LOCAL | IBV_ACCESS_REMOTE_WRITE, true, false},
	{LOCAL | IBV_ACCESS_REMOTE_READ, false, true},
	{IBV_ACCESS_REMOTE_READ, false, true},
	{LOCAL | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, true, true},
};

static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		  enum ibv_wr_opcode op, bool allowed)
{
	send_on(a, a->qp[0], .opcode = op, .rkey = drv_mr_rkey(mr), .len = LEN,
		.remote_addr = (int64_t)tb_va(b, op == IBV_WR_RDMA_READ ? b->src : b->dst));
	expect_cqe(a, .status = allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	if (allowed)
		return;
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

SCENARIO(rereg_access, "the rights of a region change while it is in use", .any_packets = true)
{
	const uint64_t from =
		tb_va(b, b->src) < tb_va(b, b->dst) ? tb_va(b, b->src) : tb_va(b, b->dst);
	uint8_t *memory = b->src < b->dst ? b->src : b->dst;
	const uint64_t len = (uint64_t)(b->src < b->dst ? b->dst - b->src : b->src - b->dst) + LEN;
	struct drv_mr *mr;

	must(drv_mr_reg_iova(b->pd, memory, len, from, LOCAL, &mr));
	for (unsigned evicted = 0; evicted < 2; evicted++)
		for_each_row(i, rows) {
			name_row("access 0x%x%s", rows[i].access, evicted ? ", not cached" : "");
			must(drv_mr_rereg_access(mr, rows[i].access));
			if (evicted)
				evict_key(b, drv_mr_rkey(mr));
			reach(tb, a, b, mr, IBV_WR_RDMA_WRITE, rows[i].write);
			reach(tb, a, b, mr, IBV_WR_RDMA_READ, rows[i].read);
		}
	name_row("%s", "the device keeps the entry");
	refuse_command(b, 1, HCR_STATUS_REG_BOUND); /* as if a window were bound to it */
	expect_equal(drv_mr_rereg_access(mr, LOCAL), -EBUSY);
	expect_true(refuse_command(b, 0, 0));
	reach(tb, a, b, mr, IBV_WR_RDMA_WRITE, true);
	expect_data(b, .len = LEN);
	expect_data(a, .len = LEN);
	must(drv_mr_dereg(mr));

	name_row("%s", "a region that the device does not take");
	refuse_command(b, 1, HCR_STATUS_BAD_PARAM);
	must_fail(-EINVAL, drv_mr_reg_iova(b->pd, memory, len, from, LOCAL, &mr));
	expect_true(refuse_command(b, 0, 0));
	refuse_command(b, 1, HCR_STATUS_BAD_PARAM);
	must_fail(-EINVAL, drv_mr_reg_dma(b->pd, LOCAL, &mr));
	expect_true(refuse_command(b, 0, 0));
	/* each right of a region of all memory alone */
	for_each_row(i, rows) {
		name_row("all memory, access 0x%x", rows[i].access);
		must(drv_mr_reg_dma(b->pd, rows[i].access, &mr));
		must(drv_mr_dereg(mr));
	}
}
