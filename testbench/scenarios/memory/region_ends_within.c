/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that begin and end within pages. Every byte can be written, the first and the last
 * included, and the bytes just outside cannot, although they lie in pages that the region's
 * translations name. This holds for regions at other addresses than those of the bus, and for
 * regions of huge pages, also where bus and region do not have the same place in a huge page: a region
 * may have the processor's addresses, or begin with a huge page.
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

enum addresses {
	OF_BUS,
	SHIFTED_BY_PAGES,
	SHIFTED_BY_HUGE_PAGES,
	OF_PROCESSOR,
	OF_HUGE_PAGE, /* the first byte is in the first page of a huge page */
};

static const struct {
	enum addresses addresses;
	unsigned access;
} kinds[] = {
	{OF_BUS, 0},
	{SHIFTED_BY_PAGES, 0},
	{OF_BUS, IBV_ACCESS_HUGETLB},
	{SHIFTED_BY_PAGES, IBV_ACCESS_HUGETLB},
	{SHIFTED_BY_HUGE_PAGES, IBV_ACCESS_HUGETLB},
	{OF_PROCESSOR, IBV_ACCESS_HUGETLB},
	{OF_HUGE_PAGE, IBV_ACCESS_HUGETLB},
};

static uint64_t address_of(const struct tb_end *end, enum addresses addresses,
			   const unsigned char *first)
{
	switch (addresses) {
	case SHIFTED_BY_PAGES:
		return tb_va(end, first) + 0x7f0000123000;
	case SHIFTED_BY_HUGE_PAGES:
		return tb_va(end, first) + 0x7f0000000000;
	case OF_PROCESSOR:
		return (uintptr_t)first;
	case OF_HUGE_PAGE:
		return 0x7f0000000000 + (uintptr_t)first % PAGE;
	case OF_BUS:
		break;
	}
	return tb_va(end, first);
}

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
			       address_of(b, kinds[k].addresses, b->dst + rows[i].at),
			       kinds[k].access);
		}
}
