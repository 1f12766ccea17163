// SPDX-License-Identifier: Apache-2.0
/* What an object of the device points to, read from its context. */
#include "testbench/dsan/held/claims_impl.h"

#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"

enum {
	LOG_PAGE_MIN = 12,
	LOG_WQE_UNIT = 4,
	LOG_ENTRY = 5,
	SRQ_OFFSET_UNIT = 64,
	CQ_OFFSET_UNIT = 32
};

_Static_assert(CQE_SIZE == 1 << LOG_ENTRY && EQE_SIZE == 1 << LOG_ENTRY &&
		       WQE_UNIT == 1 << LOG_WQE_UNIT,
	       "sizes of entries");

static uint64_t ring_bytes(unsigned log_size, unsigned log_stride)
{
	return (uint64_t)WQE_UNIT << (log_size + log_stride);
}

static void queue_set(struct object_memory *m, uint64_t mtt_addr, unsigned log_page, uint64_t start,
		      uint64_t bytes)
{
	m->mtt_addr = mtt_addr;
	m->log_page = LOG_PAGE_MIN + log_page;
	m->start = start;
	m->bytes = bytes;
	/* MTT 0 is among the reserved ones: a queue that has no buffer */
	m->has_pages = mtt_addr && bytes;
}

/* Of its two queues that with the larger stride stands first. */
static void qp_rings(const struct qpc *c, struct object_memory *m)
{
	struct ring_shape *sq = &m->sends, *rq = &m->receives;

	if (!m->has_pages)
		return;
	*sq = (struct ring_shape){m->start, LOG_WQE_UNIT + qpc_get_log_sq_stride(c),
				  qpc_get_log_sq_size(c)};
	m->no_prefetch = qpc_get_sq_no_prefetch(c);
	if (!qpc_has_rq(c))
		return;
	*rq = (struct ring_shape){m->start, LOG_WQE_UNIT + qpc_get_log_rq_stride(c),
				  qpc_get_log_rq_size(c)};
	if (rq->log_stride > sq->log_stride)
		sq->offset += UINT64_C(1) << (rq->log_stride + rq->log_count);
	else
		rq->offset += UINT64_C(1) << (sq->log_stride + sq->log_count);
}

static void qp_read(const struct qpc *c, struct object_memory *m)
{
	/* Linux's rings of a network interface have one queue each; of the other one they say a
	 * size of one entry: mlx4_en_fill_qp_context */
	const bool frames = qpc_has_frames(c);
	uint64_t bytes = 0;

	if (!frames || qpc_get_log_sq_size(c))
		bytes += ring_bytes(qpc_get_log_sq_size(c), qpc_get_log_sq_stride(c));
	if (qpc_has_rq(c) && (!frames || qpc_get_log_rq_size(c)))
		bytes += ring_bytes(qpc_get_log_rq_size(c), qpc_get_log_rq_stride(c));
	queue_set(m, qpc_get_mtt_addr(c), qpc_get_log_page_size(c),
		  (uint64_t)qpc_get_page_offset(c) * WQE_CHUNK, bytes);
	qp_rings(c, m);
	m->record = qpc_get_db_rec_addr(c);
	m->frames = frames;
	m->xrc = qpc_get_service(c) == QP_ST_XRC;
	m->srq = qpc_get_srq(c) && !m->xrc;
	m->srqn = qpc_get_srqn(c);
}

static void cq_read(const struct cqc *c, struct object_memory *m)
{
	queue_set(m, cqc_get_mtt_addr(c), cqc_get_log_page_size(c),
		  (uint64_t)cqc_get_page_offset(c) * CQ_OFFSET_UNIT,
		  (uint64_t)CQE_SIZE << cqc_get_log_size(c));
	m->entries = (struct ring_shape){m->start, LOG_ENTRY, cqc_get_log_size(c)};
	m->record = cqc_get_db_rec_addr(c);
}

static void eq_read(const struct eqc *c, struct object_memory *m)
{
	queue_set(m, eqc_get_mtt_addr(c), eqc_get_log_page_size(c),
		  (uint64_t)eqc_get_page_offset(c) * CQ_OFFSET_UNIT,
		  (uint64_t)EQE_SIZE << eqc_get_log_size(c));
	m->entries = (struct ring_shape){m->start, LOG_ENTRY, eqc_get_log_size(c)};
}

static void srq_read(const struct srqc *c, struct object_memory *m)
{
	queue_set(m, srqc_get_mtt_addr(c), srqc_get_log_page_size(c),
		  (uint64_t)srqc_get_page_offset(c) * SRQ_OFFSET_UNIT,
		  ring_bytes(srqc_get_log_size(c), srqc_get_log_stride(c)));
	m->receives = (struct ring_shape){m->start, LOG_WQE_UNIT + srqc_get_log_stride(c),
					  srqc_get_log_size(c)};
	m->record = srqc_get_db_rec_addr(c);
}

/* A region that is free has MTT entries of its own if it is for fast registration, but no pages. */
static void mpt_read(const struct mpt_entry *e, struct object_memory *m)
{
	const unsigned log_page = mpt_entry_get_log_page_size(e);

	if (!mpt_entry_get_region(e) || mpt_entry_get_physical(e))
		return;
	m->mtt_addr = mpt_entry_get_mtt_addr(e);
	m->mtt_count = mpt_entry_get_fre(e) ? mpt_entry_get_mtt_size(e) : 0;
	/* Linux unmaps what a work request has registered for local use only while it is registered
	 * still: nobody names its key any more (rdma_rw_ctx_destroy). */
	if (mpt_entry_get_fre(e) && !mpt_entry_get_remote_read(e) &&
	    !mpt_entry_get_remote_write(e) && !mpt_entry_get_remote_atomic(e))
		return;
	if (mpt_entry_get_status(e) == MPT_STATUS_FREE || log_page < LOG_PAGE_MIN || log_page > 31)
		return;
	m->has_pages = true;
	m->log_page = log_page;
	m->start = mpt_entry_get_first_byte_offset(e)
			   ? mpt_entry_get_first_byte_offset(e)
			   : mpt_entry_get_start(e) & ((UINT64_C(1) << log_page) - 1);
	m->bytes = mpt_entry_get_length(e);
}

bool object_read(struct hca *hca, enum hca_object type, uint32_t number,
		 const struct mpt_entry *mpt, struct object_memory *m)
{
	union {
		struct qpc qp;
		struct cqc cq;
		struct eqc eq;
		struct srqc srq;
		struct mpt_entry mpt;
	} u;
	uint64_t pages;

	*m = (struct object_memory){0};
	if (mpt)
		u.mpt = *mpt;
	else if (hca_context_read(hca, type, number, &u, sizeof(u)) <= 0)
		return false;
	switch (type) {
	case HCA_QP:
		qp_read(&u.qp, m);
		break;
	case HCA_CQ:
		cq_read(&u.cq, m);
		break;
	case HCA_EQ:
		eq_read(&u.eq, m);
		break;
	case HCA_SRQ:
		srq_read(&u.srq, m);
		break;
	case HCA_MPT:
		mpt_read(&u.mpt, m);
		break;
	}
	if (!m->has_pages)
		return true;
	pages = (m->start + m->bytes + (UINT64_C(1) << m->log_page) - 1) >> m->log_page;
	if (pages > m->mtt_count && pages <= UINT32_MAX)
		m->mtt_count = (uint32_t)pages;
	return true;
}

/* The entries of other tables that an object has, with its own number. Source: Linux mlx4_qp_alloc_icm,
 * mlx4_cq_alloc_icm, mlx4_srq_alloc_icm, mlx4_init_icm. */
static const struct need {
	enum hca_object type;
	unsigned table;
	uint32_t base; /* added to the number */
	const char *what;
} needs[] = {
	{HCA_QP, FW_TABLE_QPC, 0, "context"},
	{HCA_QP, FW_TABLE_ALTC, 0, "alternate path context"},
	{HCA_QP, FW_TABLE_AUXC, 0, "auxiliary context"},
	{HCA_QP, FW_TABLE_CMPT, (uint32_t)CMPT_QP << CMPT_TYPE_SHIFT, "cMPT"},
	{HCA_CQ, FW_TABLE_CQC, 0, "context"},
	{HCA_CQ, FW_TABLE_CMPT, (uint32_t)CMPT_CQ << CMPT_TYPE_SHIFT, "cMPT"},
	{HCA_SRQ, FW_TABLE_SRQC, 0, "context"},
	{HCA_SRQ, FW_TABLE_CMPT, (uint32_t)CMPT_SRQ << CMPT_TYPE_SHIFT, "cMPT"},
	{HCA_EQ, FW_TABLE_EQC, 0, "context"},
	{HCA_EQ, FW_TABLE_CMPT, (uint32_t)CMPT_EQ << CMPT_TYPE_SHIFT, "cMPT"},
	{HCA_MPT, FW_TABLE_MPT, 0, "entry"},
};

uint32_t object_index(const struct hca *hca, enum hca_object type, uint32_t number)
{
	unsigned table;
	uint64_t index;

	return hca_icm_find(hca, hca_icm_address(hca, type, number), &table, &index)
		       ? (uint32_t)index
		       : number;
}

bool object_needs(const struct hca *hca, enum hca_object type, uint32_t number, unsigned nth,
		  uint64_t *va, const char **what)
{
	for (const struct need *n = needs; n < needs + ARRAY_SIZE(needs); n++) {
		if (n->type != type || nth--)
			continue;
		*va = hca_icm_address(hca, n->table, n->base + object_index(hca, type, number));
		*what = n->what;
		return true;
	}
	return false;
}
