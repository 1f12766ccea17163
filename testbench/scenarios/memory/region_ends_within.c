/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that begin and end within pages. Every byte can be written and read, the first and the
 * last included, and the bytes just outside cannot, although they lie in pages that the region's
 * translations name.
 */
/* behaviours: IBA-10.6.3-bounds */
#include "testbench/services.h"

enum { PAGE = 4096 };

static const struct {
	unsigned at, len;
} rows[] = {
	{PAGE, PAGE},         {PAGE + 1, PAGE - 2},       {PAGE + 100, 50},
	{PAGE + 4000, 200},   {PAGE + 4095, 2},           {PAGE, 3 * PAGE + 1},
	{PAGE + 8, 3 * PAGE}, {PAGE + 2048, PAGE + 2048}, {PAGE + 4095, 2 * PAGE + 1},
};

/* A request to the region at `at` (from the area's first byte), which must end with that status. */
static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		  uint64_t at, unsigned len, enum ibv_wc_status status)
{
	rdma_write(a, .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)(tb_va(b, b->dst) + at),
		   .src = at, .len = len);
	expect_cqe(a, .status = status);
	if (status == IBV_WC_SUCCESS)
		return;
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

SCENARIO(region_ends_within, "regions that begin and end within pages, to the byte",
	 .any_packets = true)
{
	const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct drv_mr *mr;

	for_each_row(i, rows) {
		const uint64_t at = rows[i].at;
		const unsigned len = rows[i].len;

		name_row("at 0x%x, %u bytes", rows[i].at, len);
		must(drv_mr_reg_iova(b->pd, b->dst + at, len, tb_va(b, b->dst) + at, access, &mr));
		if (!still_right())
			return;
		reach(tb, a, b, mr, at, len, IBV_WC_SUCCESS);
		reach(tb, a, b, mr, at, 1, IBV_WC_SUCCESS);
		reach(tb, a, b, mr, at + len - 1, 1, IBV_WC_SUCCESS);
		expect_data(b, .dst = at, .src = at, .len = len);
		reach(tb, a, b, mr, at - 1, 1, IBV_WC_REM_ACCESS_ERR);
		reach(tb, a, b, mr, at + len, 1, IBV_WC_REM_ACCESS_ERR);
		reach(tb, a, b, mr, at, len + 1, IBV_WC_REM_ACCESS_ERR);
		must(drv_mr_dereg(mr));
	}
}
