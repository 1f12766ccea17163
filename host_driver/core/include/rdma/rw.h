/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA READ and WRITE of a whole scatterlist, as storage targets use it. Names, arguments and
 * errors are those of Linux (include/rdma/rw.h, drivers/infiniband/core/rw.c).
 *
 * A context maps the list and prepares the work requests for one transfer of a connected queue pair
 * whose max_rdma_ctxs is set. There are three ways.
 *
 * One entry: one request with that entry.
 *
 * Several entries: requests with as many entries as max_send_sge and (READ) attrs.max_sge_rd allow.
 *
 * Registration: each piece of the list that one region can cover (up to 256 blocks of 4096, without
 * gaps) becomes one entry. Its requests are LOCAL_INV if the region is still valid, REG_MR, and the
 * READ or WRITE.
 *
 * Registration is used if the device's rdma_rw_force_mr is set, or if a READ has more entries than
 * its max_sgl_rd (if not 0). No request moves more than attrs.max_message.
 */
#ifndef RDMA_RW_H
#define RDMA_RW_H

#include "host_driver/core/include/rdma/mr_pool.h"

/* The requests for one region. */
struct rdma_rw_reg_ctx {
	struct ib_sge sge;
	struct ib_rdma_wr wr;
	struct ib_reg_wr reg_wr;
	struct ib_send_wr inv_wr;
	struct ib_mr *mr;
};

enum rdma_rw_type { RDMA_RW_SINGLE_WR, RDMA_RW_MULTI_WR, RDMA_RW_MR };

/* The caller allocates it. Its members are private. It is valid until rdma_rw_ctx_destroy(). */
struct rdma_rw_ctx {
	uint32_t nr_ops; /* number of READs or WRITEs */
	enum rdma_rw_type type;
	struct ib_sge single_sge;
	struct ib_rdma_wr single;
	struct ib_sge *sges; /* for RDMA_RW_MULTI_WR */
	struct ib_rdma_wr *wrs;
	struct rdma_rw_reg_ctx *reg; /* for RDMA_RW_MR */
};

/*
 * Maps sg[sg_cnt] and prepares the transfer of everything from byte sg_offset on: from remote_addr
 * of rkey (DMA_FROM_DEVICE: READ), or to it (DMA_TO_DEVICE: WRITE). Returns the number of work
 * requests. -EINVAL: no bytes, fewer entries than sg_cnt, another direction, or no such port;
 * -ENOMEM: an entry cannot be mapped, or no host memory; -EAGAIN: the queue pair's pool, which
 * max_rdma_ctxs determines, has not enough regions now, or never has.
 */
int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
		     struct scatterlist *sg, uint32_t sg_cnt, uint32_t sg_offset,
		     uint64_t remote_addr, uint32_t rkey, enum dma_data_direction dir);
/* Releases the regions, memory and mapping. Call after the transfer has completed, or if it was never
 * posted. sg, sg_cnt and dir must be those given to rdma_rw_ctx_init. */
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
			 struct scatterlist *sg, uint32_t sg_cnt, enum dma_data_direction dir);
/* Returns the first of the linked work requests. chain_wr (may be NULL) is linked after the last one;
 * without it, the last one is signalled with cqe. Call once per context, because it gives the regions
 * new keys. */
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
				   struct ib_cqe *cqe, struct ib_send_wr *chain_wr);
/* Posts these work requests. Errors as ib_post_send. */
int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
		     struct ib_cqe *cqe, struct ib_send_wr *chain_wr);

/* The number of regions that a transfer of maxpages pages may need, for max_rdma_ctxs. */
unsigned rdma_rw_mr_factor(struct ib_device *device, uint32_t port_num, unsigned maxpages);

/* Used by ib_create_qp(): add room to the send queue, make the region pool, destroy the pool. */
void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr);
int rdma_rw_init_mrs(struct ib_qp *qp, struct ib_qp_init_attr *attr);
void rdma_rw_cleanup_mrs(struct ib_qp *qp);

#endif
