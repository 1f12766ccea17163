/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that begin and end within pages. Every byte can be written, the first and the last
 * included, and the bytes just outside cannot, although they lie in pages that the region's
 * translations name. This holds for regions at other addresses than those of the bus, and for
 * regions of huge pages, also where bus and region do not have the same place in a huge page: a region
 * may have the processor's addresses, or begin with a huge page. It holds for regions of listed pages, too.
 */
/* behaviours: IBA-10.6.3-bounds */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { PAGE = 4096, AREA = 8 * PAGE };

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

static void bounds(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		   unsigned at, unsigned src, unsigned len, uint64_t va)
{
	reach(tb, a, b, mr, va, src, len, IBV_WC_SUCCESS);
	reach(tb, a, b, mr, va + len - 1, src + len - 1, 1, IBV_WC_SUCCESS);
	expect_data(b, .dst = at, .src = src, .len = len);
	reach(tb, a, b, mr, va - 1, 0, 1, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, va + len, 0, 1, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, va, 0, len + 1, IBV_WC_REM_ACCESS_ERR);
}

static void region(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned at, unsigned len,
		   uint64_t va, unsigned access)
{
	struct drv_mr *mr;

	must(drv_mr_reg_iova(b->pd, b->dst + at, len, va,
			     access | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &mr));
	if (!still_right())
		return;
	bounds(tb, a, b, mr, at, at, len, va);
	must(drv_mr_dereg(mr));
}

/* The same, of pages that are listed. Their number must be right, too. */
static void region_of_pages(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned at,
			    unsigned len, uint64_t va)
{
	const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const uint64_t bus = b->platform->ops->dma_map(b->platform, b->dst, AREA);
	const unsigned n = (at % PAGE + len + PAGE - 1) / PAGE;
	uint64_t pages[AREA / PAGE];
	struct drv_mr *mr;

	for (unsigned i = 0; i <= n; i++)
		pages[i] = bus + (uint64_t)(at / PAGE + i) * PAGE;
	must_fail(-EINVAL, drv_mr_reg_pages(b->pd, pages, n - 1, va, len, access, &mr));
	must_fail(-EINVAL, drv_mr_reg_pages(b->pd, pages, n + 1, va, len, access, &mr));
	must_fail(-EINVAL,
		  drv_mr_reg_pages(b->pd, pages, n, va, len, IBV_ACCESS_REMOTE_WRITE, &mr));
	if (in_software(b)) { /* it looks for the pages at once */
		const uint64_t last = pages[n - 1];

		pages[n - 1] = UINT64_C(1) << 60;
		must_fail(-EINVAL, drv_mr_reg_pages(b->pd, pages, n, va, len, access, &mr));
		pages[n - 1] = last;
	}
	must(drv_mr_reg_pages(b->pd, pages, n, va, len, access, &mr));
	if (!still_right())
		return;
	bounds(tb, a, b, mr, at, at + 1, len, va);
	must(drv_mr_dereg(mr));
	b->platform->ops->dma_unmap(b->platform, bus, AREA);
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
	for_each_row(i, rows) {
		name_row("at 0x%x, %u bytes, pages", rows[i].at, rows[i].len);
		region_of_pages(tb, a, b, rows[i].at, rows[i].len,
				address_of(b, SHIFTED_BY_PAGES, b->dst + rows[i].at));
	}
}
