/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A region of more than 128 MiB has more translations (MTT entries) than one chunk of ICM holds.
 * Bytes in its first and last page, and on both sides of each chunk's end, are where they belong.
 * Then the region goes, a second one takes its translations, and the ICM chunks come and go. A third one
 * has huge pages.
 */
/* behaviours: MEM-large */
#include "testbench/services.h"

enum { PAGE = 4096, CHUNK_PAGES = 256 * 1024 / 8, PAGES = 2 * CHUNK_PAGES + 5, LEN = 64 };

static const unsigned pages[] = {
	0, 1, CHUNK_PAGES - 1, CHUNK_PAGES, 2 * CHUNK_PAGES - 1, 2 * CHUNK_PAGES, PAGES - 1};

static void write_and_look(struct tb *tb, struct tb_end *a, const uint8_t *memory,
			   const struct drv_mr *mr, uint64_t bus)
{
	for_each_row(i, pages) {
		const uint64_t at = (uint64_t)pages[i] * PAGE + PAGE - LEN;

		name_row("page %u", pages[i]);
		rdma_write(a, .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)(bus + at),
			   .src = i * LEN, .len = LEN);
		expect_cqe(a);
		expect_true(!memcmp(memory + at, a->src + i * LEN, LEN));
	}
}

SCENARIO(region_large, "regions of 256 MiB: their translations are in several chunks of ICM",
	 .any_packets = true)
{
	const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	const struct platform_ops *ops = b->platform->ops;
	struct drv_mr *mr;
	uint64_t bus;
	uint8_t *memory = ops->pages_alloc(b->platform, (size_t)PAGES * PAGE, &bus);

	expect_true(memory);
	for (unsigned round = 0; round < 3 && still_right(); round++) {
		must(drv_mr_reg_iova(b->pd, memory, (uint64_t)PAGES * PAGE, bus,
				     round < 2 ? access : access | IBV_ACCESS_HUGETLB, &mr));
		if (!still_right())
			break;
		write_and_look(tb, a, memory, mr, bus);
		must(drv_mr_dereg(mr));
		if (memory)
			memset(memory, 0, PAGE);
	}
	if (memory)
		ops->pages_free(b->platform, memory, (size_t)PAGES * PAGE);
}
