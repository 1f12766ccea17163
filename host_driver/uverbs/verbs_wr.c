// SPDX-License-Identifier: Apache-2.0
/* The library: posting by calls (ibv_wr_start ... ibv_wr_complete). Each call builds a request with
 * its gather list and inline bytes; ibv_wr_complete posts them all as one list. The memory of the
 * requests is used again for the next list. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/macros.h"

struct built {
	struct built *next;
	struct ibv_send_wr wr;
	struct ibv_sge *sges;
	size_t max_sges; /* room in sges */
	uint8_t *bytes;  /* for inline data */
	size_t max_bytes;
};

struct uv_batch {
	uint64_t ops;
	/* first: all requests ever made, kept for reuse; last: the one being built, or NULL */
	struct built *first, *last;
	int error;
};

/* --- which operations --- */

enum {
	OPS_UD = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	OPS_UC = OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW,
	OPS_RC = OPS_UC | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
};

bool uv_batch_possible(enum ibv_qp_type type, uint64_t ops)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return !(ops & ~(uint64_t)OPS_RC);
	case IBV_QPT_UC:
		return !(ops & ~(uint64_t)OPS_UC);
	case IBV_QPT_UD:
		return !(ops & ~(uint64_t)OPS_UD);
	default:
		return !ops;
	}
}

int uv_batch_create(struct uv_qp *qp, uint64_t ops)
{
	qp->batch = uv_heap_alloc(uv_process_of(qp->ibv.context), sizeof(*qp->batch));
	if (!qp->batch)
		return -ENOMEM;
	qp->batch->ops = ops;
	return 0;
}

void uv_batch_free(struct uv_qp *qp)
{
	struct built *b = qp->batch ? qp->batch->first : NULL;

	while (b) {
		struct built *next = b->next;

		uv_heap_free(b->sges);
		uv_heap_free(b->bytes);
		uv_heap_free(b);
		b = next;
	}
	uv_heap_free(qp->batch);
	qp->batch = NULL;
}

/* --- the list --- */

static struct uv_batch *batch_of(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct uv_qp, ex)->batch;
}

static void fail(struct uv_batch *batch, int error)
{
	if (!batch->error)
		batch->error = error;
}

/* Begins the next request of the list. NULL: the list has failed. */
static struct ibv_send_wr *add(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint64_t op)
{
	struct uv_batch *batch = batch_of(qp);
	struct built **at = batch->last ? &batch->last->next : &batch->first;

	if (!(batch->ops & op))
		fail(batch, EINVAL);
	if (batch->error)
		return NULL;
	if (!*at)
		*at = uv_heap_alloc(uv_process_of(qp->qp_base.context), sizeof(**at));
	if (!*at) {
		fail(batch, ENOMEM);
		return NULL;
	}
	if (batch->last)
		batch->last->wr.next = &(*at)->wr;
	batch->last = *at;
	batch->last->wr = (struct ibv_send_wr){
		.wr_id = qp->wr_id, .opcode = opcode, .send_flags = qp->wr_flags};
	return &batch->last->wr;
}

void ibv_wr_start(struct ibv_qp_ex *qp)
{
	struct uv_batch *batch = batch_of(qp);

	batch->last = NULL;
	batch->error = 0;
}

void ibv_wr_abort(struct ibv_qp_ex *qp)
{
	ibv_wr_start(qp);
}

int ibv_wr_complete(struct ibv_qp_ex *qp)
{
	struct uv_batch *batch = batch_of(qp);
	struct ibv_send_wr *bad;
	int rc = batch->error;

	if (!rc && batch->last)
		rc = uv_post_send(&qp->qp_base, &batch->first->wr, true, &bad);
	batch->last = NULL;
	batch->error = 0;
	return rc;
}

/* --- operations --- */

void ibv_wr_send(struct ibv_qp_ex *qp)
{
	add(qp, IBV_WR_SEND, IBV_QP_EX_WITH_SEND);
}

void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM);

	if (wr)
		wr->imm_data = imm_data;
}

void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_INV, IBV_QP_EX_WITH_SEND_WITH_INV);

	if (wr)
		wr->invalidate_rkey = invalidate_rkey;
}

static struct ibv_send_wr *add_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint64_t op,
				    uint32_t rkey, uint64_t remote_addr)
{
	struct ibv_send_wr *wr = add(qp, opcode, op);

	if (wr) {
		wr->wr.rdma.rkey = rkey;
		wr->wr.rdma.remote_addr = remote_addr;
	}
	return wr;
}

void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_rdma(qp, IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE, rkey, remote_addr);
}

void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			   __be32 imm_data)
{
	struct ibv_send_wr *wr = add_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM,
					  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

	if (wr)
		wr->imm_data = imm_data;
}

void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_rdma(qp, IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ, rkey, remote_addr);
}

static void add_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint64_t op, uint32_t rkey,
		       uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr *wr = add(qp, opcode, op);

	if (!wr)
		return;
	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}

void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			   uint64_t compare, uint64_t swap)
{
	add_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, rkey,
		   remote_addr, compare, swap);
}

void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			     uint64_t addend)
{
	add_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, rkey,
		   remote_addr, addend, 0);
}

void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *bind_info)
{
	struct ibv_send_wr *wr = add(qp, IBV_WR_BIND_MW, IBV_QP_EX_WITH_BIND_MW);

	if (!wr)
		return;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *bind_info;
}

void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	struct ibv_send_wr *wr = add(qp, IBV_WR_LOCAL_INV, IBV_QP_EX_WITH_LOCAL_INV);

	if (wr)
		wr->invalidate_rkey = invalidate_rkey;
}

/* --- what belongs to the last of them --- */

/* The request that a setter applies to. NULL: there is none, or the list has failed. */
static struct built *last(struct ibv_qp_ex *qp)
{
	struct uv_batch *batch = batch_of(qp);

	if (!batch->last)
		fail(batch, EINVAL);
	return batch->error ? NULL : batch->last;
}

/* Gives a buffer more room. Its old content is lost. */
static void *room(struct ibv_qp_ex *qp, void *old, size_t *has, size_t n, size_t size)
{
	void *more;

	if (n <= *has)
		return old;
	more = uv_heap_alloc(uv_process_of(qp->qp_base.context), n * size);
	if (!more) {
		fail(batch_of(qp), ENOMEM);
		return old;
	}
	uv_heap_free(old);
	*has = n;
	return more;
}

void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list)
{
	const struct uv_qp *q = container_of(qp, struct uv_qp, ex);
	struct built *b = last(qp);
	struct drv_qp_cap cap;

	if (!b)
		return;
	drv_qp_cap(q->hw, &cap);
	if (num_sge > cap.max_send_sge) {
		fail(batch_of(qp), EINVAL);
		return;
	}
	b->sges = room(qp, b->sges, &b->max_sges, num_sge, sizeof(*b->sges));
	if (num_sge > b->max_sges)
		return;
	if (num_sge)
		memcpy(b->sges, sg_list, num_sge * sizeof(*sg_list));
	b->wr.sg_list = b->sges;
	b->wr.num_sge = (int)num_sge;
}

void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	ibv_wr_set_sge_list(qp, 1, &sge);
}

void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
				 const struct ibv_data_buf *buf_list)
{
	const struct uv_qp *q = container_of(qp, struct uv_qp, ex);
	struct built *b = last(qp);
	size_t total = 0, at = 0;
	struct drv_qp_cap cap;

	if (!b)
		return;
	drv_qp_cap(q->hw, &cap);
	for (size_t i = 0; i < num_buf; total += buf_list[i++].length)
		if (buf_list[i].length > cap.max_inline_data - total) {
			fail(batch_of(qp), EINVAL);
			return;
		}
	b->bytes = room(qp, b->bytes, &b->max_bytes, total, 1);
	b->sges = room(qp, b->sges, &b->max_sges, 1, sizeof(*b->sges));
	if (total > b->max_bytes || !b->max_sges)
		return;
	for (size_t i = 0; i < num_buf; at += buf_list[i++].length)
		if (buf_list[i].length)
			memcpy(b->bytes + at, buf_list[i].addr, buf_list[i].length);
	*b->sges = (struct ibv_sge){.addr = (uintptr_t)b->bytes, .length = (uint32_t)total};
	b->wr.sg_list = b->sges;
	b->wr.num_sge = total ? 1 : 0;
	b->wr.send_flags |= IBV_SEND_INLINE;
}

void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	const struct ibv_data_buf buf = {.addr = addr, .length = length};

	ibv_wr_set_inline_data_list(qp, 1, &buf);
}

void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
			uint32_t remote_qkey)
{
	struct built *b = last(qp);

	if (!b)
		return;
	b->wr.wr.ud.ah = ah;
	b->wr.wr.ud.remote_qpn = remote_qpn;
	b->wr.wr.ud.remote_qkey = remote_qkey;
}

void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	struct built *b = last(qp);

	if (b)
		b->wr.qp_type.xrc.remote_srqn = remote_srqn;
}
