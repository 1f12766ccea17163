// SPDX-License-Identifier: Apache-2.0
/* Memory regions that work requests make valid: splits scatterlists into blocks of equal size. Also
 * the older interfaces for this. */
#include "host_driver/core/core.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCK_MIN = PLATFORM_PAGE_SIZE, PAGE_OFFSET = PLATFORM_PAGE_SIZE - 1 };

#define BLOCK_MAX (1u << 31)

struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type, uint32_t max_num_sg)
{
	const uint32_t most = pd->device->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr;

	/* 0: the device has none, and its driver says so */
	if (mr_type != IB_MR_TYPE_MEM_REG || (most && (!max_num_sg || max_num_sg > most)))
		return ERR_PTR(-EINVAL);
	mr = core_mr_new(pd, mr_type);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	return core_mr_made(mr, drv_mr_alloc_fast(pd->drv, max_num_sg, &mr->drv));
}

/* --- scatterlists --- */

/* Whether a piece that begins at `start` can follow one that ends at `end`: they adjoin, or both
 * lie at a block's edge. */
static bool follows(const struct ib_mr *mr, uint64_t end, uint64_t start)
{
	return start == end || !((start | end) & (mr->page_size - 1));
}

/* Passes the blocks of [from, to) to set_page(). first_is_there: the first block has been passed
 * already. Returns `to`, or with *rc set the address at which set_page() failed. */
static uint64_t blocks_take(struct ib_mr *mr, uint64_t from, uint64_t to, bool first_is_there,
			    int (*set_page)(struct ib_mr *mr, uint64_t addr), int *rc)
{
	uint64_t block = from & ~(uint64_t)(mr->page_size - 1);

	if (first_is_there)
		block += mr->page_size;
	for (; block < to; block += mr->page_size) {
		*rc = set_page(mr, block);
		if (*rc < 0)
			return block > from ? block : from;
	}
	return to;
}

int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents, unsigned *sg_offset,
		   int (*set_page)(struct ib_mr *mr, uint64_t addr))
{
	unsigned offset = sg_offset ? *sg_offset : 0;
	struct scatterlist *sg;
	uint64_t end = 0;
	int i, rc = 0;

	if (sg_nents < 1 || offset > sg_dma_len(sgl))
		return -EINVAL;
	mr->iova = sg_dma_address(sgl) + offset;
	mr->length = 0;
	for_each_sg(sgl, sg, sg_nents, i)
	{
		const uint64_t start = sg_dma_address(sg) + (i ? 0 : offset);
		const uint64_t wanted = sg_dma_address(sg) + sg_dma_len(sg);

		if (i && !follows(mr, end, start))
			break;
		end = blocks_take(mr, start, wanted, i && start & (mr->page_size - 1), set_page,
				  &rc);
		mr->length += end - start;
		if (end == wanted)
			continue;
		offset = (unsigned)(end - sg_dma_address(sg));
		if (sg_offset)
			*sg_offset = offset;
		return i || mr->length ? i : rc;
	}
	if (sg_offset)
		*sg_offset = 0;
	return i;
}

static int block_set(struct ib_mr *mr, uint64_t addr)
{
	int rc = drv_mr_fast_page(mr->drv, mr->npages, addr);

	if (!rc)
		mr->npages++;
	return rc;
}

int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned *sg_offset,
		 unsigned page_size)
{
	if (mr->type != IB_MR_TYPE_MEM_REG || page_size < BLOCK_MIN || page_size > BLOCK_MAX ||
	    page_size & (page_size - 1))
		return -EINVAL;
	CORE_ENTER(mr->device, "key %08x, %d entries, blocks of %u", mr->rkey, sg_nents, page_size);
	mr->page_size = page_size;
	mr->npages = 0;
	return CORE_LEAVE(mr->device, ib_sg_to_pages(mr, sg, sg_nents, sg_offset, block_set));
}

/* --- physical regions --- */

static bool phys_ok(const struct ib_phys_buf *buf, int n, uint64_t iova, uint64_t *total)
{
	*total = 0;
	if (n < 1 || (buf[0].addr ^ iova) & PAGE_OFFSET)
		return false;
	for (int i = 0; i < n; i++) {
		if ((i && buf[i].addr & PAGE_OFFSET) ||
		    (i < n - 1 && (buf[i].addr + buf[i].size) & PAGE_OFFSET))
			return false;
		if (buf[i].addr + buf[i].size < buf[i].addr || *total + buf[i].size < *total)
			return false;
		*total += buf[i].size;
	}
	return *total;
}

struct ib_mr *ib_reg_phys_mr(struct ib_pd *pd, struct ib_phys_buf *phys_buf_array, int num_phys_buf,
			     int mr_access_flags, uint64_t *iova_start)
{
	const unsigned access = (unsigned)mr_access_flags;
	uint64_t total, *pages;
	unsigned n = 0;
	struct ib_mr *mr;

	if (!phys_ok(phys_buf_array, num_phys_buf, *iova_start, &total) || !core_access_ok(access))
		return ERR_PTR(-EINVAL);
	pages = drv_calloc(total / PLATFORM_PAGE_SIZE + 2, sizeof(*pages));
	if (!pages)
		return ERR_PTR(-ENOMEM);
	for (int i = 0; i < num_phys_buf; i++) {
		const struct ib_phys_buf *b = &phys_buf_array[i];

		for (uint64_t at = b->addr & ~(uint64_t)PAGE_OFFSET; at < b->addr + b->size;
		     at += PLATFORM_PAGE_SIZE)
			pages[n++] = at;
	}
	mr = core_mr_new(pd, IB_MR_TYPE_DMA);
	if (mr) {
		mr->iova = *iova_start;
		mr->length = total;
		mr = core_mr_made(mr, drv_mr_reg_pages(pd->drv, pages, n, *iova_start, total,
						       access, &mr->drv));
	}
	free(pages);
	return mr ? mr : ERR_PTR(-ENOMEM);
}

/* --- page lists --- */

struct ib_mr *ib_alloc_fast_reg_mr(struct ib_pd *pd, int max_page_list_len)
{
	if (max_page_list_len < 1)
		return ERR_PTR(-EINVAL);
	return ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, (uint32_t)max_page_list_len);
}

static size_t mapped_bytes(const struct ib_fast_reg_page_list *list)
{
	return list->max_page_list_len * sizeof(struct mtt_entry);
}

struct ib_fast_reg_page_list *ib_alloc_fast_reg_page_list(struct ib_device *device,
							  int max_page_list_len)
{
	struct ib_fast_reg_page_list *list;

	if (max_page_list_len < 1 ||
	    (unsigned)max_page_list_len > device->attrs.max_fast_reg_page_list_len)
		return ERR_PTR(-EINVAL);
	list = drv_calloc(1, sizeof(*list));
	if (!list)
		return ERR_PTR(-ENOMEM);
	list->device = device;
	list->max_page_list_len = (unsigned)max_page_list_len;
	list->page_list = drv_calloc(list->max_page_list_len, sizeof(*list->page_list));
	if (!list->page_list)
		goto free_list;
	list->mapped = ib_dma_alloc_coherent(device, mapped_bytes(list), &list->bus);
	if (!list->mapped)
		goto free_pages;
	return list;

free_pages:
	free(list->page_list);
free_list:
	free(list);
	return ERR_PTR(-ENOMEM);
}

void ib_free_fast_reg_page_list(struct ib_fast_reg_page_list *page_list)
{
	ib_dma_free_coherent(page_list->device, mapped_bytes(page_list), page_list->mapped);
	free(page_list->page_list);
	free(page_list);
}

void core_page_list_write(struct ib_fast_reg_page_list *list, unsigned n)
{
	struct mtt_entry *e = list->mapped;

	for (unsigned i = 0; i < n; i++) {
		mtt_entry_set_addr(&e[i], list->page_list[i]);
		mtt_entry_set_present(&e[i], 1);
	}
}
