// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: lists of pages that work requests make regions of. What the list says must be the memory
 * that was asked for, byte by byte, at the offsets that the region has.
 */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/hear/hooks.h"

#include "host_driver/core/core.h"
#include "host_driver/mlx4/mlx4_internal.h"

enum { NAMES_BYTES = 200, PLACES = 18 };

/* A list, and where the region begins in its first page. */
struct list {
	struct checker *c;
	const struct drv_mr *mr;
	uint64_t offset; /* of the region in its first page */
	unsigned log_page;
	const void *object; /* in the heap: who wrote into it is told, too */
	size_t object_bytes;
};

static void differs(const struct list *l, uint64_t at, const char *what, uint64_t is,
		    uint64_t asked)
{
	const uintptr_t entry = (uintptr_t)l->mr->page_list +
				((l->offset + at) >> l->log_page) * sizeof(struct mtt_entry);
	const void *pcs[PLACES];
	char storers[NAMES_BYTES], writers[NAMES_BYTES];

	checker_settle(l->c);
	checker_storers(l->c, entry, entry + sizeof(struct mtt_entry), 0, storers, sizeof(storers));
	checker_functions(pcs, heap_writers(l->object, l->object_bytes, pcs, PLACES), writers,
			  sizeof(writers));
	checker_report(
		l->c, &(struct breach){RULE_context_differs, {GUEST_MPT, l->mr->index}, NULL, NULL},
		"byte %llu of a region, by its page list: %s 0x%llx, asked for 0x%llx; written "
		"by %s, for %s",
		(unsigned long long)at, what, (unsigned long long)is, (unsigned long long)asked,
		storers, writers);
}

/* Byte `at` of the region must be at that address. */
static bool byte_says(const struct list *l, uint64_t at, uint64_t bus)
{
	const uint64_t in_list = l->offset + at, nth = in_list >> l->log_page;
	const struct mtt_entry *e = (const void *)(l->mr->page_list + nth * sizeof(*e));
	uint64_t is;

	if (nth >= l->mr->max_pages) {
		differs(l, at, "its page is beyond the list, whose pages are", l->mr->max_pages,
			nth);
		return false;
	}
	is = mtt_entry_get_addr(e) + (in_list & ((UINT64_C(1) << l->log_page) - 1));
	if (mtt_entry_get_present(e) && is == bus)
		return true;
	differs(l, at, mtt_entry_get_present(e) ? "it is at" : "its page is not present;", is, bus);
	return false;
}

/* So must all bytes of a piece that begins with byte `at`: the first and the last of each page. */
static bool piece_says(const struct list *l, uint64_t at, uint64_t bus, uint64_t len)
{
	const uint64_t page = UINT64_C(1) << l->log_page;

	for (uint64_t done = 0; done < len;) {
		const uint64_t room = page - ((l->offset + at + done) & (page - 1));
		const uint64_t n = room < len - done ? room : len - done;

		if (!byte_says(l, at + done, bus + done) ||
		    !byte_says(l, at + done + n - 1, bus + done + n - 1))
			return false;
		done += n;
	}
	return true;
}

void page_list_check(const struct ask *a, const struct drv_mr *mr, const void *addr, uint64_t len)
{
	const struct list l = {a->c,         mr, (uintptr_t)addr & (PLATFORM_PAGE_SIZE - 1),
			       DRV_LOG_PAGE, mr, sizeof(*mr)};

	if (a->c && checker_has(a->c, (uintptr_t)addr))
		piece_says(&l, 0, a->c->host.bus + ((uintptr_t)addr - (uintptr_t)a->c->host.memory),
			   len);
}

/* Whether that entry can follow the n entries before it: they adjoin, or both lie at a page's edge. */
static bool follows(const struct list *l, struct scatterlist *sg, int n,
		    const struct scatterlist *next)
{
	const uint64_t edge = (UINT64_C(1) << l->log_page) - 1;
	struct scatterlist *s;
	uint64_t end = 0;
	int i;

	for_each_sg(sg, s, n, i) end = sg_dma_address(s) + sg_dma_len(s);
	return end == sg_dma_address(next) || !((end | sg_dma_address(next)) & edge);
}

/* Source: Linux ib_sg_to_pages: what it maps is one range of addresses, from mr->iova on */
W(int, ib_map_mr_sg, struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned *sg_offset,
  unsigned page_size)
{
	const unsigned before = sg_offset ? *sg_offset : 0;
	const int n = __real_ib_map_mr_sg(mr, sg, sg_nents, sg_offset, page_size);
	struct list l = {.c = checker_of_host(mr->device->platform->host),
			 .mr = mr->drv,
			 .offset = mr->iova & (page_size - 1),
			 .object = mr,
			 .object_bytes = sizeof(*mr)};
	struct scatterlist *s;
	uint64_t at = 0;
	int i;

	if (n < 1 || !l.c)
		return n;
	l.log_page = (unsigned)__builtin_ctz(page_size);
	if (mr->iova != sg_dma_address(sg) + before)
		differs(&l, 0, "iova is", mr->iova, sg_dma_address(sg) + before);
	for_each_sg(sg, s, n, i)
	{
		const unsigned skip = i ? 0 : before;

		if (!piece_says(&l, at, sg_dma_address(s) + skip, sg_dma_len(s) - skip))
			return n;
		at += sg_dma_len(s) - skip;
	}
	if (n < sg_nents && mr->npages < mr->drv->max_pages && s && follows(&l, sg, n, s))
		differs(&l, at, "it ends before an entry that follows, at", 0, sg_dma_address(s));
	/* the next entry may be mapped in part */
	if (mr->length < at || (n == sg_nents && mr->length != at))
		differs(&l, 0, "its length is", mr->length, at);
	return n;
}
