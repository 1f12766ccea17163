/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: memory registered by work requests, and the older interfaces. Names, arguments and
 * errors are those of Linux (include/rdma/ib_verbs.h, drivers/infiniband/core/verbs.c; the older
 * ones as they were until 4.3). Regions are those of IBA vol. 1, 10.6.
 *
 * A region of ib_alloc_mr() is invalid at first. ib_map_mr_sg() stores its blocks on the host's
 * side. IB_WR_REG_MR makes the device use them, with a key whose lower 8 bits the caller chooses
 * (ib_update_fast_reg_key). IB_WR_LOCAL_INV makes the region invalid again. REG_MR is only possible
 * on an invalid region; on a valid one it completes with an error.
 */
#ifndef RDMA_IB_MR_H
#define RDMA_IB_MR_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* A region of up to max_num_sg blocks. -EINVAL: another type than IB_MR_TYPE_MEM_REG (this device
 * has no regions with gaps), or max_num_sg is 0 or above attrs.max_fast_reg_page_list_len. */
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type, uint32_t max_num_sg);

/*
 * Stores the mapped list sg[sg_nents] as blocks of page_size, beginning at byte *sg_offset (NULL:
 * 0) of its first entry. iova becomes the bus address of the first byte, length the number of bytes
 * covered. Every entry except the last must end at a block's edge, and every one except the first
 * must begin at one, unless two entries adjoin. Returns the number of entries that are covered
 * completely. It is less than sg_nents if there is a gap or the blocks are used up; in the second
 * case *sg_offset is set to the covered bytes of the next entry, otherwise to 0. -EINVAL: not a
 * region of ib_alloc_mr, page_size is not a power of two from 4096 to 2^31, sg_nents is below 1, or
 * the offset is beyond the first entry.
 */
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned *sg_offset,
		 unsigned page_size);

/* Does what ib_map_mr_sg() does, for any region whose page_size is set. Calls set_page() for each
 * block. If set_page() returns -errno, the list ends there; the error is returned only if nothing
 * is covered. -EINVAL: sg_nents or the offset. */
int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents, unsigned *sg_offset,
		   int (*set_page)(struct ib_mr *mr, uint64_t addr));

/* Sets the lower 8 bits of both keys. */
static inline void ib_update_fast_reg_key(struct ib_mr *mr, uint8_t newkey)
{
	mr->lkey = (mr->lkey & ~UINT32_C(0xff)) | newkey;
	mr->rkey = (mr->rkey & ~UINT32_C(0xff)) | newkey;
}

/* The same key with its lower 8 bits increased by one. */
static inline uint32_t ib_inc_rkey(uint32_t rkey)
{
	return (rkey & ~UINT32_C(0xff)) | ((rkey + 1) & 0xff);
}

/* --- interfaces until Linux 4.3 --- */

struct ib_phys_buf {
	uint64_t addr; /* bus address; the caller has mapped it */
	uint64_t size;
};

/*
 * A valid region over the buffers, one after the other, at *iova_start. -EINVAL: no buffer, length
 * 0, access (C10-56), a buffer except the first that does not begin at a page's edge, a buffer
 * except the last that does not end at one, or an offset in the first page other than that of
 * *iova_start.
 */
struct ib_mr *ib_reg_phys_mr(struct ib_pd *pd, struct ib_phys_buf *phys_buf_array, int num_phys_buf,
			     int mr_access_flags, uint64_t *iova_start);

/* As ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, max_page_list_len). */
struct ib_mr *ib_alloc_fast_reg_mr(struct ib_pd *pd, int max_page_list_len);

struct ib_fast_reg_page_list {
	struct ib_device *device;
	uint64_t *page_list; /* bus addresses, which the caller fills in */
	unsigned max_page_list_len;
	void *mapped; /* the list as the device reads it */
	uint64_t bus;
};

/* Must not be changed or freed between a FAST_REG_MR that uses it and that request's completion.
 * -EINVAL: the length is 0 or above attrs.max_fast_reg_page_list_len. */
struct ib_fast_reg_page_list *ib_alloc_fast_reg_page_list(struct ib_device *device,
							  int max_page_list_len);
void ib_free_fast_reg_page_list(struct ib_fast_reg_page_list *page_list);

#endif
