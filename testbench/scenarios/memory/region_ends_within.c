/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that begin and end within pages. Every byte can be written, the first and the last
 * included, and the bytes just outside cannot, although they lie in pages that the region's
 * translations name. This holds for regions at other addresses than those of the bus, and for
 * regions of huge pages, also where bus and region do not have the same place in a huge page.
 */
/* behaviours: IBA-10.6.3-bounds */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { PAGE = 4096 };

static const struct {
	unsigned at, len;
} rows[] = {
	{PAGE, PAGE},         {PAGE + 1, PAGE - 2},       {PAGE + 100, 50},
	{PAGE + 4000, 200},   {PAGE + 4095, 2},           {PAGE, 3 * PAGE + 1},
	{PAGE + 8, 3 * PAGE}, {PAGE + 2048, PAGE + 2048}, {PAGE + 4095, 2 * PAGE + 1},
};

static const struct {
	uint64_t shift; /* of the region's addresses from those of the bus */
	unsigned access;
} kinds[] = {
	{0, 0},
	{0x7f0000123000, 0},
	{0, IBV_ACCESS_HUGETLB},
	{0x7f0000123000, IBV_ACCESS_HUGETLB},
	{0x7f0000000000, IBV_ACCESS_HUGETLB},
};

/* A request to address va, which must end with that status. */
static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		  uint64_t va, uint64_t src, unsigned len, enum ibv_wc_status status)
{
	rdma_write(a, .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)va, .src = src, .len = len);
	expect_cqe(a, .status = status);
	if (status == IBV_WC_SUCCESS)
		return;
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
}

static void region(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned at, unsigned len,
		   uint64_t va, unsigned access)
{
	struct drv_mr *mr;

	must(drv_mr_reg_iova(b->pd, b->dst + at, len, va,
			     access | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &mr));
	if (!still_right())
		return;
	reach(tb, a, b, mr, va, at, len, IBV_WC_SUCCESS);
	reach(tb, a, b, mr, va + len - 1, at + len - 1, 1, IBV_WC_SUCCESS);
	expect_data(b, .dst = at, .src = at, .len = len);
	reach(tb, a, b, mr, va - 1, 0, 1, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, va + len, 0, 1, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, va, 0, len + 1, IBV_WC_REM_ACCESS_ERR);
	must(drv_mr_dereg(mr));
}

SCENARIO(region_ends_within, "regions that begin and end within pages, to the byte",
	 .any_packets = true)
{
	for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++)
		for_each_row(i, rows) {
			name_row("at 0x%x, %u bytes, kind %u", rows[i].at, rows[i].len, k);
			region(tb, a, b, rows[i].at, rows[i].len,
			       tb_va(b, b->dst) + rows[i].at + kinds[k].shift, kinds[k].access);
		}
}
