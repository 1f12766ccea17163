// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: contexts of rdma/rw.h. Their requests must transfer what the context was made for, and the
 * regions that they register must be invalidated before they are registered again.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/taken.h"

#include "host_driver/core/core.h"
#include "host_driver/core/include/rdma/mr_pool.h"
#include "host_driver/core/include/rdma/rw.h"

enum { NAMES_BYTES = 200 };

/* --- their mappings, their memory, and the regions that they take from pools --- */

/* Source: Linux ib_mr_pool_init, whose way out of an error is ib_mr_pool_destroy */
W(int, ib_mr_pool_init, struct ib_qp *qp, struct drv_list *list, int nr, enum ib_mr_type type,
  uint32_t max_num_sg, uint32_t max_num_meta_sg)
{
	struct checker *c = checker_of_host(qp->device->platform->host);
	const bool empty = drv_list_empty(list);
	const int rc = __real_ib_mr_pool_init(qp, list, nr, type, max_num_sg, max_num_meta_sg);

	if (c && rc && empty && !drv_list_empty(list))
		c->tell(c,
			&(struct breach){RULE_not_given_back, {0}, INSIDE(ib_mr_pool_init), HERE},
			"a pool could not be filled, and the regions that it got are left");
	return rc;
}

W(struct ib_mr *, ib_mr_pool_get, struct ib_qp *qp, struct drv_list *list)
{
	struct ib_mr *mr = __real_ib_mr_pool_get(qp, list);

	if (mr)
		taken_add(TAKEN_POOLED, mr, 0, HERE);
	return mr;
}

W(void, ib_mr_pool_put, struct ib_qp *qp, struct drv_list *list, struct ib_mr *mr)
{
	taken_back(TAKEN_POOLED, mr, 0, HERE);
	__real_ib_mr_pool_put(qp, list, mr);
}

/* What a context must transfer. */
struct transfer {
	uint64_t remote_addr, bytes;
	uint32_t rkey;
	enum ib_wr_opcode opcode;
};

static uint64_t bytes_of(struct scatterlist *sg, uint32_t n)
{
	uint64_t bytes = 0;

	for (; n; n--, sg = sg_next(sg))
		bytes += sg_dma_len(sg);
	return bytes;
}

static const struct ib_rdma_wr *request_of(const struct rdma_rw_ctx *ctx, unsigned i)
{
	return ctx->type == RDMA_RW_MR         ? &ctx->reg[i].wr
	       : ctx->type == RDMA_RW_MULTI_WR ? &ctx->wrs[i]
					       : &ctx->single;
}

static void differs(const struct ask *a, const char *what, uint64_t is, uint64_t should)
{
	char names[ENTERED_CHARS];

	entered_format(names);
	a->c->tell(
		a->c, &(struct breach){RULE_request_differs, {0}, NULL, NULL},
		"%s: a request of the context has the %s 0x%llx, and it should be 0x%llx; it came "
		"by %s",
		ask_provider(a), what, (unsigned long long)is, (unsigned long long)should, names);
}

/* The requests follow each other in the peer's memory, and are as long as the list from its offset on.
 * Source: Linux rdma_rw_init_map_wrs, rdma_rw_init_mr_wrs */
static void layout_check(const struct ask *a, const struct rdma_rw_ctx *ctx,
			 const struct transfer *t)
{
	const unsigned n = ctx->type == RDMA_RW_SINGLE_WR ? 1 : ctx->nr_ops;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct ib_rdma_wr *wr = request_of(ctx, i);

		if (wr->wr.opcode != t->opcode)
			differs(a, "opcode", wr->wr.opcode, t->opcode);
		else if (wr->rkey != t->rkey)
			differs(a, "R_Key", wr->rkey, t->rkey);
		else if (wr->remote_addr != t->remote_addr + bytes)
			differs(a, "remote address", wr->remote_addr, t->remote_addr + bytes);
		for (int k = 0; k < wr->wr.num_sge; k++)
			bytes += wr->wr.sg_list[k].length;
	}
	if (bytes != t->bytes)
		differs(a, "end of its bytes", bytes, t->bytes);
}

/* Source: IBA 10.6.3.3: a key that is valid cannot be registered; Linux rdma_rw_inv_key,
 * rdma_rw_update_lkey */
static void keys_check(const struct ask *a, const struct rdma_rw_ctx *ctx)
{
	for (unsigned i = 0; ctx->type == RDMA_RW_MR && i < ctx->nr_ops; i++) {
		const struct rdma_rw_reg_ctx *reg = &ctx->reg[i];

		if (!reg->mr->need_inval)
			differs(a, "mark that its region must be invalidated before the next use",
				false, true);
		else if (reg->reg_wr.key != reg->mr->lkey)
			differs(a, "key to register", reg->reg_wr.key, reg->mr->lkey);
		else if (reg->sge.lkey != reg->mr->lkey)
			differs(a, "L_Key", reg->sge.lkey, reg->mr->lkey);
	}
}

W(struct ib_send_wr *, rdma_rw_ctx_wrs, struct rdma_rw_ctx *ctx, struct ib_qp *qp,
  uint32_t port_num, struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	struct ib_send_wr *first;
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, qp->device->platform, qp->qp_num);
	first = __real_rdma_rw_ctx_wrs(ctx, qp, port_num, cqe, chain_wr);
	if (a.c)
		keys_check(&a, ctx);
	return first;
}

W(int, rdma_rw_ctx_post, struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
  struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, qp->device->platform, qp->qp_num);
	rc = __real_rdma_rw_ctx_post(ctx, qp, port_num, cqe, chain_wr);
	if (!rc && a.c)
		keys_check(&a, ctx);
	return rc;
}

W(int, rdma_rw_ctx_init, struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
  struct scatterlist *sg, uint32_t sg_cnt, uint32_t sg_offset, uint64_t remote_addr, uint32_t rkey,
  enum dma_data_direction dir)
{
	ASK a;
	int rc;

	ask_begin(&a, ASK_OTHER, __func__, qp->device->platform, qp->qp_num);
	rc = __real_rdma_rw_ctx_init(ctx, qp, port_num, sg, sg_cnt, sg_offset, remote_addr, rkey,
				     dir);
	if (rc < 0)
		taken_failed(&a, a.call);
	else
		taken_made(&a, ctx);
	if (rc >= 0 && a.c)
		layout_check(&a, ctx,
			     &(struct transfer){remote_addr, bytes_of(sg, sg_cnt) - sg_offset, rkey,
						dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE
								     : IB_WR_RDMA_READ});
	return rc;
}

W(void, rdma_rw_ctx_destroy, struct rdma_rw_ctx *ctx, struct ib_qp *qp, uint32_t port_num,
  struct scatterlist *sg, uint32_t sg_cnt, enum dma_data_direction dir)
{
	ASK a;

	ask_begin(&a, ASK_OTHER, __func__, qp->device->platform, qp->qp_num);
	a.object = ctx;
	__real_rdma_rw_ctx_destroy(ctx, qp, port_num, sg, sg_cnt, dir);
	taken_gone(&a, a.call, ctx);
}
