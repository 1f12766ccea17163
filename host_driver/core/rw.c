// SPDX-License-Identifier: Apache-2.0
/*
 * READ and WRITE contexts: see rdma/rw.h. The same code lays out a transfer twice: the first time
 * it counts the work requests and list entries, the second time it fills what was allocated for
 * them.
 */
#include "host_driver/core/core.h"
#include "host_driver/core/include/rdma/rw.h"

#include <errno.h>
#include <stdlib.h>

enum { MR_PAGES_MAX = 256, REG_WRS = 2 /* beside the request: invalidate and register */ };

/* --- where in the list --- */

struct cursor {
	struct scatterlist *sg;
	uint32_t left;   /* entries, including the present one */
	uint32_t offset; /* in the present entry */
};

static void cursor_skip(struct cursor *c, uint64_t bytes)
{
	while (c->left && bytes >= sg_dma_len(c->sg) - c->offset) {
		bytes -= sg_dma_len(c->sg) - c->offset;
		c->offset = 0;
		if (--c->left)
			c->sg = sg_next(c->sg);
	}
	c->offset += (uint32_t)bytes;
}

struct transfer {
	struct ib_qp *qp;
	struct cursor at;
	uint64_t remote_addr;
	uint32_t rkey;
	enum dma_data_direction dir;
};

static void wr_fill(const struct transfer *t, struct ib_rdma_wr *wr, struct ib_sge *sges, int n)
{
	*wr = (struct ib_rdma_wr){
		.wr = {.sg_list = sges,
		       .num_sge = n,
		       .opcode = t->dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ},
		.remote_addr = t->remote_addr,
		.rkey = t->rkey,
	};
}

/* --- entries as they are --- */

/* Lays out one request from the cursor on, and moves the cursor behind it. Fills sges[] unless it
 * is NULL. Returns the number of entries. */
static unsigned request_layout(struct transfer *t, struct ib_sge *sges, unsigned max_sge)
{
	const struct ib_device *device = t->qp->device;
	uint64_t room = device->attrs.max_message;
	unsigned n = 0;

	for (; t->at.left && n < max_sge && room; n++) {
		const uint32_t rest = sg_dma_len(t->at.sg) - t->at.offset;
		const uint32_t len = rest < room ? rest : (uint32_t)room;

		if (sges)
			sges[n] = (struct ib_sge){.addr = sg_dma_address(t->at.sg) + t->at.offset,
						  .length = len,
						  .lkey = t->qp->pd->local_dma_lkey};
		room -= len;
		t->remote_addr += len;
		cursor_skip(&t->at, len);
	}
	return n;
}

static unsigned max_sge_of(const struct transfer *t)
{
	return t->dir == DMA_TO_DEVICE ? t->qp->max_write_sge : t->qp->max_read_sge;
}

static int map_init(struct rdma_rw_ctx *ctx, struct transfer *t)
{
	const unsigned max_sge = max_sge_of(t);
	struct transfer count = *t;
	unsigned n_sges = 0, n;

	if (!max_sge)
		return -EINVAL;
	for (ctx->nr_ops = 0; count.at.left; ctx->nr_ops++)
		n_sges += request_layout(&count, NULL, max_sge);
	ctx->type = n_sges == 1 ? RDMA_RW_SINGLE_WR : RDMA_RW_MULTI_WR;
	if (n_sges == 1) {
		wr_fill(t, &ctx->single, &ctx->single_sge, 1);
		request_layout(t, &ctx->single_sge, 1);
		return 1;
	}
	ctx->wrs = drv_calloc(ctx->nr_ops, sizeof(*ctx->wrs));
	ctx->sges = drv_calloc(n_sges, sizeof(*ctx->sges));
	if (!ctx->wrs || !ctx->sges) {
		free(ctx->wrs);
		free(ctx->sges);
		return -ENOMEM;
	}
	n_sges = 0;
	for (unsigned i = 0; i < ctx->nr_ops; i++) {
		const struct transfer start = *t;

		n = request_layout(t, &ctx->sges[n_sges], max_sge);
		wr_fill(&start, &ctx->wrs[i], &ctx->sges[n_sges], (int)n);
		if (i)
			ctx->wrs[i - 1].wr.next = &ctx->wrs[i].wr;
		n_sges += n;
	}
	return (int)ctx->nr_ops;
}

/* --- registered --- */

static unsigned mr_pages(const struct ib_device *device)
{
	const unsigned max = device->attrs.max_fast_reg_page_list_len;

	return max < MR_PAGES_MAX ? max : MR_PAGES_MAX;
}

/* Used for counting, in place of a region's own function. */
static int count_page(struct ib_mr *mr, uint64_t addr)
{
	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	mr->npages++;
	return 0;
}

/* Maps as much of the list as fits into one region, from the cursor on. With `mr` NULL it only
 * counts. Returns the bytes, or -errno. */
static int64_t region_layout(struct transfer *t, struct ib_mr *mr)
{
	struct ib_mr dry = {.page_size = PLATFORM_PAGE_SIZE, .max_pages = mr_pages(t->qp->device)};
	unsigned offset = t->at.offset;
	int rc;

	if (mr)
		rc = ib_map_mr_sg(mr, t->at.sg, (int)t->at.left, &offset, PLATFORM_PAGE_SIZE);
	else
		rc = ib_sg_to_pages(&dry, t->at.sg, (int)t->at.left, &offset, count_page);
	if (rc < 0)
		return rc;
	return (int64_t)(mr ? mr->length : dry.length);
}

static int reg_one(struct transfer *t, struct rdma_rw_reg_ctx *reg)
{
	int64_t length;
	int n = REG_WRS;

	reg->mr = ib_mr_pool_get(t->qp, &t->qp->rdma_mrs);
	if (!reg->mr)
		return -EAGAIN;
	length = region_layout(t, reg->mr);
	if (length < 0)
		return (int)length;
	if (reg->mr->need_inval) {
		reg->inv_wr = (struct ib_send_wr){.next = &reg->reg_wr.wr,
						  .opcode = IB_WR_LOCAL_INV,
						  .ex.invalidate_rkey = reg->mr->lkey};
		n++;
	}
	reg->reg_wr = (struct ib_reg_wr){
		.wr = {.next = &reg->wr.wr, .opcode = IB_WR_REG_MR},
		.mr = reg->mr,
		.access = t->dir == DMA_FROM_DEVICE ? IB_ACCESS_LOCAL_WRITE : 0,
	};
	reg->sge = (struct ib_sge){.addr = reg->mr->iova, .length = (uint32_t)length};
	wr_fill(t, &reg->wr, &reg->sge, 1);
	t->remote_addr += (uint64_t)length;
	cursor_skip(&t->at, (uint64_t)length);
	return n;
}

static void regs_put(struct rdma_rw_ctx *ctx, struct ib_qp *qp)
{
	for (unsigned i = 0; i < ctx->nr_ops; i++)
		if (ctx->reg[i].mr)
			ib_mr_pool_put(qp, &qp->rdma_mrs, ctx->reg[i].mr);
	free(ctx->reg);
}

static struct ib_send_wr *reg_first(struct rdma_rw_reg_ctx *reg)
{
	return reg->inv_wr.next ? &reg->inv_wr : &reg->reg_wr.wr;
}

static int mr_init(struct rdma_rw_ctx *ctx, struct transfer *t)
{
	struct transfer count = *t;
	int total = 0;

	ctx->type = RDMA_RW_MR;
	for (ctx->nr_ops = 0; count.at.left; ctx->nr_ops++)
		cursor_skip(&count.at, (uint64_t)region_layout(&count, NULL));
	ctx->reg = drv_calloc(ctx->nr_ops, sizeof(*ctx->reg));
	if (!ctx->reg)
		return -ENOMEM;
	for (unsigned i = 0; i < ctx->nr_ops; i++) {
		int n = reg_one(t, &ctx->reg[i]);

		if (n < 0) {
			regs_put(ctx, t->qp);
			return n;
		}
		if (i)
			ctx->reg[i - 1].wr.wr.next = reg_first(&ctx->reg[i]);
		total += n;
	}
	return total;
}

/* --- contexts --- */

static bool needs_mr(const struct ib_device *device, enum dma_data_direction dir, uint32_t nents)
{
	return device->rdma_rw_force_mr ||
	       (dir == DMA_FROM_DEVICE && device->max_sgl_rd && nents > device->max_sgl_rd);
}

int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
		     struct scatterlist *sg, uint32_t sg_cnt, uint32_t sg_offset,
		     uint64_t remote_addr, uint32_t rkey, enum dma_data_direction dir)
{
	struct transfer t = {.qp = qp,
			     .at = {sg, sg_cnt, 0},
			     .remote_addr = remote_addr,
			     .rkey = rkey,
			     .dir = dir};
	struct ib_device *device = qp->device;
	int mapped, rc = -EINVAL;

	if ((dir != DMA_FROM_DEVICE && dir != DMA_TO_DEVICE) || !port_num ||
	    port_num > device->phys_port_cnt || !sg_cnt)
		return -EINVAL;
	mapped = ib_dma_map_sg(device, sg, (int)sg_cnt, dir);
	if (!mapped)
		return -ENOMEM;
	if (mapped != (int)sg_cnt) {
		ib_dma_unmap_sg(device, sg, mapped, dir);
		return -EINVAL;
	}
	CORE_ENTER(device, "qpn %06x, %u entries, %s", qp->qp_num, sg_cnt,
		   dir == DMA_TO_DEVICE ? "write" : "read");
	*ctx = (struct rdma_rw_ctx){0};
	cursor_skip(&t.at, sg_offset);
	if (t.at.left)
		rc = needs_mr(device, dir, t.at.left) ? mr_init(ctx, &t) : map_init(ctx, &t);
	if (rc < 0)
		ib_dma_unmap_sg(device, sg, (int)sg_cnt, dir);
	return CORE_LEAVE(device, rc);
}

void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
			 struct scatterlist *sg, uint32_t sg_cnt, enum dma_data_direction dir)
{
	if (ctx->type == RDMA_RW_MR) {
		regs_put(ctx, qp);
	} else {
		free(ctx->wrs);
		free(ctx->sges);
	}
	ib_dma_unmap_sg(qp->device, sg, (int)sg_cnt, dir);
}

/* Each registration gets a new key, which neither the peer nor a stale request can know. */
static void key_renew(struct rdma_rw_reg_ctx *reg)
{
	ib_update_fast_reg_key(reg->mr, (uint8_t)ib_inc_rkey(reg->mr->lkey));
	reg->mr->need_inval = true;
	reg->reg_wr.key = reg->mr->lkey;
	reg->sge.lkey = reg->mr->lkey;
}

struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
				   struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	struct ib_send_wr *first, *last;

	switch (ctx->type) {
	case RDMA_RW_MR:
		for (unsigned i = 0; i < ctx->nr_ops; i++)
			key_renew(&ctx->reg[i]);
		first = reg_first(&ctx->reg[0]);
		last = &ctx->reg[ctx->nr_ops - 1].wr.wr;
		break;
	case RDMA_RW_MULTI_WR:
		first = &ctx->wrs[0].wr;
		last = &ctx->wrs[ctx->nr_ops - 1].wr;
		break;
	default:
		first = last = &ctx->single.wr;
		break;
	}
	last->next = chain_wr;
	if (!chain_wr) {
		last->wr_cqe = cqe;
		last->send_flags |= IB_SEND_SIGNALED;
	}
	return first;
}

static bool in_chain(const struct ib_send_wr *wr, const struct ib_send_wr *wanted)
{
	for (; wr; wr = wr->next)
		if (wr == wanted)
			return true;
	return false;
}

/* Requests from `bad` on have not been posted. Puts their regions back to what the device has:
 * still registered if the invalidate was not posted either, otherwise invalid. */
static void regs_not_posted(struct rdma_rw_ctx *ctx, const struct ib_send_wr *bad)
{
	for (unsigned i = 0; i < ctx->nr_ops; i++) {
		struct rdma_rw_reg_ctx *reg = &ctx->reg[i];

		if (!in_chain(bad, &reg->reg_wr.wr))
			continue;
		reg->mr->need_inval = in_chain(bad, &reg->inv_wr);
		if (reg->mr->need_inval)
			ib_update_fast_reg_key(reg->mr, (uint8_t)reg->inv_wr.ex.invalidate_rkey);
	}
}

int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
		     struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	struct ib_send_wr *first = rdma_rw_ctx_wrs(ctx, qp, port_num, cqe, chain_wr);
	const struct ib_send_wr *bad;
	int rc = ib_post_send(qp, first, &bad);

	if (rc && ctx->type == RDMA_RW_MR)
		regs_not_posted(ctx, bad);
	return rc;
}

/* --- queue pairs --- */

static bool can_use_mr(const struct ib_device *device)
{
	return device->rdma_rw_force_mr || device->max_sgl_rd;
}

unsigned rdma_rw_mr_factor(struct ib_device *device, uint32_t port_num, unsigned maxpages)
{
	const unsigned pages = can_use_mr(device) ? mr_pages(device) : device->attrs.max_sge_rd;

	return (maxpages + pages - 1) / pages;
}

void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr)
{
	const uint64_t factor = 1 + (can_use_mr(dev) ? REG_WRS : 0);
	const uint64_t wrs = attr->cap.max_send_wr + factor * attr->cap.max_rdma_ctxs;

	attr->cap.max_send_wr = wrs < dev->attrs.max_qp_wr ? (uint32_t)wrs : dev->attrs.max_qp_wr;
}

int rdma_rw_init_mrs(struct ib_qp *qp, struct ib_qp_init_attr *attr)
{
	if (!can_use_mr(qp->device))
		return 0;
	return ib_mr_pool_init(qp, &qp->rdma_mrs, (int)attr->cap.max_rdma_ctxs, IB_MR_TYPE_MEM_REG,
			       mr_pages(qp->device), 0);
}

void rdma_rw_cleanup_mrs(struct ib_qp *qp)
{
	ib_mr_pool_destroy(qp, &qp->rdma_mrs);
}
