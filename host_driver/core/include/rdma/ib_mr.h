/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: memory registered by work requests, and the older forms. Names, arguments and
 * errors are those of Linux (include/rdma/ib_verbs.h, drivers/infiniband/core/verbs.c; the older
 * ones as they were until 4.3); regions are IBA vol. 1, 10.6.
 *
 * A region of ib_alloc_mr() is born invalid. ib_map_mr_sg() lays blocks down in it on the host's
 * side; IB_WR_REG_MR makes the device take them, under a key whose lower 8 bits the caller chooses
 * (ib_update_fast_reg_key); IB_WR_LOCAL_INV makes it invalid again. Only one of the two states
 * allows the next REG_MR: one on a valid region completes with an error.
 */
#ifndef RDMA_IB_MR_H
#define RDMA_IB_MR_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* A region of up to max_num_sg blocks. -EINVAL: another type than IB_MR_TYPE_MEM_REG (this device
 * has no gaps), max_num_sg 0 or above attrs.max_fast_reg_page_list_len. */
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type, uint32_t max_num_sg);

/*
 * Lays the mapped list sg[sg_nents] down from byte *sg_offset (NULL: 0) of its first entry on, in
 * blocks of page_size: iova becomes the bus address of the first byte, length what is covered.
 * Every entry but the last must end, every one but the first begin at a block's edge, unless it
 * goes on where the one before ended. Returns how many entries are covered: fewer than sg_nents
 * where such a gap stands or the blocks are used up. In the latter case *sg_offset is how much of
 * the entry behind those is covered too, else 0. -EINVAL: not a region of ib_alloc_mr, page_size no
 * power of two from 4096 to 2^31, sg_nents below 1, the offset behind the first entry.
 */
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned *sg_offset,
		 unsigned page_size);

/* What ib_map_mr_sg() does, for any region whose page_size is set: set_page() takes the blocks, and
 * ends the list with -errno; that is returned when nothing at all is covered. -EINVAL: sg_nents,
 * offset. */
int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents, unsigned *sg_offset,
		   int (*set_page)(struct ib_mr *mr, uint64_t addr));

/* The lower 8 bits of both keys. */
static inline void ib_update_fast_reg_key(struct ib_mr *mr, uint8_t newkey)
{
	mr->lkey = (mr->lkey & ~UINT32_C(0xff)) | newkey;
	mr->rkey = (mr->rkey & ~UINT32_C(0xff)) | newkey;
}

/* The same key with the next lower 8 bits. */
static inline uint32_t ib_inc_rkey(uint32_t rkey)
{
	return (rkey & ~UINT32_C(0xff)) | ((rkey + 1) & 0xff);
}

/* --- as it was until Linux 4.3 --- */

struct ib_phys_buf {
	uint64_t addr; /* bus; mapped by the caller */
	uint64_t size;
};

/* A valid region over the buffers, one behind the other, at *iova_start. -EINVAL: none, length 0,
 * access (C10-56), a buffer but the first that does not begin or one but the last that does not end
 * at a page's edge, an offset in the first page other than that of *iova_start. */
struct ib_mr *ib_reg_phys_mr(struct ib_pd *pd, struct ib_phys_buf *phys_buf_array, int num_phys_buf,
			     int mr_access_flags, uint64_t *iova_start);

/* As ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, max_page_list_len). */
struct ib_mr *ib_alloc_fast_reg_mr(struct ib_pd *pd, int max_page_list_len);

struct ib_fast_reg_page_list {
	struct ib_device *device;
	uint64_t *page_list; /* bus addresses, the caller's to fill */
	unsigned max_page_list_len;
	void *mapped; /* as the device reads it */
	uint64_t bus;
};

/* Not to be changed or freed between a FAST_REG_MR with it and its completion. -EINVAL: length 0 or
 * above attrs.max_fast_reg_page_list_len. */
struct ib_fast_reg_page_list *ib_alloc_fast_reg_page_list(struct ib_device *device,
							  int max_page_list_len);
void ib_free_fast_reg_page_list(struct ib_fast_reg_page_list *page_list);

#endif
