// SPDX-License-Identifier: Apache-2.0
/* Completion queues: creation, polling, parsing of entries, resize, waiting. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CQ_ENTRIES_MIN = 2 };

/* --- entries --- */

static struct cqe *cqe_at(const struct drv_buf *buf, uint32_t entries, uint32_t index)
{
	return drv_buf_at(buf, (size_t)(index & (entries - 1)) * CQE_SIZE);
}

/* The entry with that index, if the device has written it, otherwise NULL. */
static struct cqe *cq_entry(const struct drv_cq *cq, uint32_t index)
{
	struct cqe *e = cqe_at(&cq->buf, cq->entries, index);

	return cqe_get_owner(e) == !!(index & cq->entries) ? e : NULL;
}

static struct cqe *drv_cq_next(const struct drv_cq *cq)
{
	return cq_entry(cq, cq->ci);
}

static void cq_update_ci(struct drv_cq *cq)
{
	drv_entries_before_index();
	cq_dbrec_set_set_ci(cq->db.record, cq->ci);
}

#define SYNDROME_CASE(name, code, wc, wc_name)                                                     \
	case code:                                                                                 \
		return (enum ibv_wc_status)(wc);

static enum ibv_wc_status syndrome_status(uint32_t syndrome)
{
	switch (syndrome) {
		CQE_SYNDROMES(SYNDROME_CASE)
	default:
		return IBV_WC_GENERAL_ERR;
	}
}

static void parse_send(const struct cqe *cqe, struct drv_wc *wc)
{
	static const struct {
		enum wqe_opcode op;
		enum ibv_wc_opcode wc;
	} map[] = {
		{WQE_RDMA_WRITE, IBV_WC_RDMA_WRITE},
		{WQE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE},
		{WQE_SEND, IBV_WC_SEND},
		{WQE_SEND_IMM, IBV_WC_SEND},
		{WQE_SEND_INV, IBV_WC_SEND},
		{WQE_RDMA_READ, IBV_WC_RDMA_READ},
		{WQE_ATOMIC_CS, IBV_WC_COMP_SWAP},
		{WQE_ATOMIC_FA, IBV_WC_FETCH_ADD},
		{WQE_MASKED_ATOMIC_CS, IBV_WC_MASKED_COMP_SWAP},
		{WQE_MASKED_ATOMIC_FA, IBV_WC_MASKED_FETCH_ADD},
		{WQE_BIND_MW, IBV_WC_BIND_MW},
		{WQE_FAST_REG, IBV_WC_REG_MR},
		{WQE_LOCAL_INV, IBV_WC_LOCAL_INV},
		{WQE_NOP, IBV_WC_NOP},
	};
	const uint32_t op = cqe_get_opcode(cqe);

	for (unsigned i = 0; i < ARRAY_SIZE(map); i++)
		if ((uint32_t)map[i].op == op)
			wc->opcode = map[i].wc;
	if (op == WQE_RDMA_READ)
		wc->byte_len = cqe_get_byte_cnt(cqe);
	else if (op >= WQE_ATOMIC_CS && op <= WQE_MASKED_ATOMIC_FA)
		wc->byte_len = 8;
	if (op == WQE_RDMA_WRITE_IMM || op == WQE_SEND_IMM)
		wc->wc_flags |= IBV_WC_WITH_IMM;
}

static void parse_recv(const struct cqe *cqe, struct drv_wc *wc)
{
	wc->byte_len = cqe_get_byte_cnt(cqe);
	wc->opcode = IBV_WC_RECV;
	switch (cqe_get_opcode(cqe)) {
	case CQE_RECV_WRITE_IMM:
		wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = cqe_get_imm(cqe);
		break;
	case CQE_RECV_SEND_IMM:
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = cqe_get_imm(cqe);
		break;
	case CQE_RECV_SEND_INV:
		wc->wc_flags |= IBV_WC_WITH_INV;
		wc->invalidated_rkey = cqe_get_imm(cqe);
		break;
	default:
		wc->pkey_index = cqe_get_pkey_index(cqe);
	}
	if (cqe_get_grh(cqe))
		wc->wc_flags |= IBV_WC_GRH;
	wc->src_qp = cqe_get_rqpn(cqe);
	wc->dlid_path_bits = cqe_get_path_bits(cqe);
	wc->sl = cqe_get_sl(cqe);
	wc->slid = cqe_get_slid(cqe);
}

/* On an Ethernet port a datagram's CQE has MAC and VLAN in the place of SLID and SL. */
static void parse_ethernet(const struct cqe *cqe, struct drv_wc *wc)
{
	wc->slid = wc->dlid_path_bits = 0;
	mac_store(wc->smac, (uint64_t)cqe_get_smac_hi(cqe) << 32 | cqe_get_smac_lo(cqe));
	wc->sl = cqe_get_vlan(cqe) ? cqe_get_priority(cqe) : 0;
	wc->vlan = cqe_get_vlan(cqe) ? (uint16_t)cqe_get_vid(cqe) : VLAN_NONE;
}

/* The timestamp is at the place where a receive has its SLID and SL. */
static void parse_stamp(const struct cqe *cqe, struct drv_wc *wc)
{
	wc->slid = wc->sl = 0;
	if (wc->status == IBV_WC_SUCCESS)
		wc->timestamp = (uint64_t)cqe_get_ts_high(cqe) << 16 | cqe_get_ts_mid(cqe) << 8 |
				cqe_get_ts_low(cqe);
}

void drv_cqe_parse(const struct cqe *cqe, struct drv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->qp_num = cqe_get_my_qpn(cqe);
	wc->is_send = cqe_get_is_send(cqe);
	if (cqe_get_opcode(cqe) == CQE_OP_ERROR) {
		const struct cqe_err *err = cqe_as_err_const(cqe);

		wc->status = syndrome_status(cqe_err_get_syndrome(err));
		wc->vendor_err = cqe_err_get_vendor(err);
		return;
	}
	wc->status = IBV_WC_SUCCESS;
	if (wc->is_send)
		parse_send(cqe, wc);
	else
		parse_recv(cqe, wc);
}

/* --- polling --- */

/* Polling has met the RESIZE entry and continues in the new buffer. */
static void cq_take_new_buf(struct drv_cq *cq)
{
	drv_buf_free(cq->dev, &cq->buf);
	cq->buf = cq->new_buf;
	cq->entries = cq->new_entries;
	cq->new_buf = (struct drv_buf){0};
}

/* Finds the wr_id of a completion, and frees the WQEs that it retires. A send completion retires
 * all WQEs up to its own. */
static void cq_retire(struct drv_device *dev, struct drv_qp *qp, const struct cqe *cqe,
		      struct drv_wc *wc)
{
	const uint32_t index = cqe_get_wqe_index(cqe);
	struct drv_srq *srq = qp->srq;

	if (qp->xrc_target) {
		const uint32_t srqn = cqe_get_rqpn(cqe);

		srq = dev->srq_table[srqn & drv_table_mask(dev, DRV_T_SRQC)];
		wc->srq_num = srqn;
	}
	if (wc->is_send) {
		struct drv_wq *wq = &qp->sq;

		if (!qp->sq_sig_all)
			wq->tail += (uint16_t)(index - (uint16_t)wq->tail);
		wc->wr_id = wq->wr_id[wq->tail & (wq->entries - 1)];
		wq->tail++;
	} else if (srq) {
		wc->wr_id = srq->wr_id[index & (srq->entries - 1)];
		drv_srq_free_slot(srq, index & (srq->entries - 1));
	} else if (qp->has_rq) {
		struct drv_wq *wq = &qp->rq;

		wc->wr_id = wq->wr_id[wq->tail & (wq->entries - 1)];
		wq->tail++;
	}
	if (!wc->is_send && qp->service != QP_ST_XRC && mlx4_port_is_ethernet(dev, qp->port))
		parse_ethernet(cqe, wc);
}

/* 1: *wc is set; 0: there is no completion. */
static int cq_poll_one(struct drv_cq *cq, struct drv_wc *wc)
{
	struct drv_device *dev = cq->dev;
	struct drv_qp *qp;
	struct cqe *slot;
	struct cqe e;

	for (;;) {
		slot = drv_cq_next(cq);
		if (!slot)
			return 0;
		drv_owner_before_entry();
		memcpy(&e, slot, sizeof(e));
		cq->ci++;
		if (cqe_get_opcode(&e) != CQE_OP_RESIZE)
			break;
		if (cq->new_entries && cq->new_buf.pages)
			cq_take_new_buf(cq);
	}
	drv_cqe_parse(&e, wc);
	if (cq->stamped)
		parse_stamp(&e, wc);
	qp = dev->qp_table[wc->qp_num & drv_table_mask(dev, DRV_T_QPC)];
	if (!qp)
		return -EINVAL;
	cq_retire(dev, qp, &e, wc);
	return 1;
}

int mlx4_cq_poll(struct drv_cq *cq, int n, struct drv_wc *wc)
{
	int done = 0, rc = 0;

	if (cq->dev->options.poll_cost_ps)
		cq->dev->p->ops->cpu_ps(cq->dev->p, cq->dev->options.poll_cost_ps);
	while (done < n && (rc = cq_poll_one(cq, &wc[done])) > 0) {
		DRV_CALL(cq->dev, PLATFORM_CALL_POLL, wc[done].qp_num, cq->cqn,
			 "cqn %06x, qpn %06x, status %d", cq->cqn, wc[done].qp_num,
			 wc[done].status);
		DRV_LEAVE(cq->dev, 1);
		done++;
	}
	cq_update_ci(cq);
	return done ? done : rc;
}

int mlx4_cq_wait(struct drv_cq *cq, uint64_t deadline_ps)
{
	struct platform *p = cq->dev->p;

	for (;;) {
		drv_settle(cq->dev);
		if (drv_cq_next(cq))
			return 0;
		if (p->ops->now_ps(p) >= deadline_ps)
			return -ETIMEDOUT;
		p->ops->wait_write(p, cqe_at(&cq->buf, cq->entries, cq->ci), CQE_SIZE, deadline_ps);
	}
}

/* The entry has come, but nobody will poll it. qp NULL: the queue pair has been freed. */
static void cq_discard(struct drv_cq *cq, struct drv_qp *qp, const struct cqe *cqe)
{
	struct drv_device *dev = cq->dev;
	struct drv_wc wc;

	drv_cqe_parse(cqe, &wc);
	if (qp)
		cq_retire(dev, qp, cqe, &wc);
	if (dev->discard_fn)
		dev->discard_fn(dev->discard_arg, cq, &wc);
}

void drv_cq_clean(struct drv_cq *cq, struct drv_qp *qp)
{
	const uint32_t end = cq->ci + mlx4_cq_outstanding(cq);
	uint32_t freed = 0;

	drv_owner_before_entry();
	for (uint32_t i = cq->ci; i != end; i++) {
		const struct cqe *e = cqe_at(&cq->buf, cq->entries, i);

		if (cqe_get_my_qpn(e) == qp->qpn && cqe_get_opcode(e) != CQE_OP_RESIZE)
			cq_discard(cq, qp, e);
	}
	/* Goes backwards: entries of other queue pairs move up over those of this one. Each slot
	 * keeps its owner bit. */
	for (uint32_t i = end; i-- != cq->ci;) {
		struct cqe *e = cqe_at(&cq->buf, cq->entries, i);
		struct cqe *to = cqe_at(&cq->buf, cq->entries, i + freed);

		if (cqe_get_my_qpn(e) == qp->qpn && cqe_get_opcode(e) != CQE_OP_RESIZE) {
			freed++;
		} else if (freed) {
			const uint32_t owner = cqe_get_owner(to);

			memcpy(to, e, sizeof(*to));
			cqe_set_owner(to, owner);
		}
	}
	cq->ci += freed;
	if (freed)
		cq_update_ci(cq);
}

void mlx4_discard_register(struct drv_device *dev,
			   void (*fn)(void *arg, struct drv_cq *cq, const struct drv_wc *wc),
			   void *arg)
{
	dev->discard_fn = fn;
	dev->discard_arg = arg;
}

/* --- queries that need no device --- */

unsigned mlx4_cq_outstanding(const struct drv_cq *cq)
{
	unsigned n = 0;

	while (n < cq->entries && cqe_get_owner(cqe_at(&cq->buf, cq->entries, cq->ci + n)) ==
					  !!((cq->ci + n) & cq->entries))
		n++;
	return n;
}

void mlx4_cq_set_owner(struct drv_cq *cq, void *owner)
{
	cq->owner = owner;
}

void *mlx4_cq_owner(const struct drv_cq *cq)
{
	return cq->owner;
}

uint32_t mlx4_cq_num(const struct drv_cq *cq)
{
	return cq->cqn;
}

unsigned mlx4_cq_entries(const struct drv_cq *cq)
{
	return cq->entries - 1;
}

/* --- creation --- */

static int cq_size(const struct drv_device *dev, unsigned entries, uint32_t *size)
{
	if (!entries || entries > (UINT32_C(1) << dev_cap_get_log_max_cqes(&dev->cap)) - 1)
		return -EINVAL;
	*size = UINT32_C(1) << drv_log2_up((uint64_t)entries + 1);
	if (*size < CQ_ENTRIES_MIN)
		*size = CQ_ENTRIES_MIN;
	return 0;
}

static int cq_to_hw(struct drv_cq *cq)
{
	struct drv_device *dev = cq->dev;
	const unsigned eq = 1 + (cq->vector == DRV_CQ_POLLED ? 0 : (unsigned)cq->vector);
	struct cqc ctx = {0};

	cqc_set_log_size(&ctx, drv_log2_up(cq->entries));
	cqc_set_usr_page(&ctx, cq->uar->page);
	cqc_set_comp_eqn(&ctx, dev->eqs[eq].eqn);
	cqc_set_mtt_addr(&ctx, drv_mtt_addr(&cq->buf.mtt));
	cqc_set_db_rec_addr(&ctx, cq->db.bus);
	cqc_set_timestamp(&ctx, cq->stamped);
	return drv_cmd_in(dev, HCR_SW2HW_CQ, cq->cqn, 0, &ctx, sizeof(ctx));
}

static int cq_number(struct drv_cq *cq)
{
	struct drv_device *dev = cq->dev;
	int rc = drv_bitmap_alloc(&dev->cqs, &cq->cqn);

	if (rc)
		return rc;
	rc = drv_table_get(&dev->tables[DRV_T_CQC], cq->cqn);
	if (rc)
		goto free_number;
	rc = drv_table_get(&dev->tables[DRV_T_CMPT_CQ], cq->cqn);
	if (rc)
		goto put_cqc;
	return 0;

put_cqc:
	drv_table_put(&dev->tables[DRV_T_CQC], cq->cqn);
free_number:
	drv_bitmap_free(&dev->cqs, cq->cqn);
	return rc;
}

static void cq_number_free(struct drv_cq *cq)
{
	drv_table_put(&cq->dev->tables[DRV_T_CMPT_CQ], cq->cqn);
	drv_table_put(&cq->dev->tables[DRV_T_CQC], cq->cqn);
	drv_bitmap_free(&cq->dev->cqs, cq->cqn);
}

static int cq_create(struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
		     bool stamped, struct drv_cq **out)
{
	struct drv_cq *cq;
	uint32_t size;
	int rc = cq_size(dev, entries, &size);

	if (rc)
		return rc;
	if (vector != DRV_CQ_POLLED && (vector < 0 || (unsigned)vector + 1 >= dev->n_eqs))
		return -EINVAL;
	cq = drv_calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	*cq = (struct drv_cq){.dev = dev,
			      .uar = uar ? uar : &dev->verbs,
			      .vector = vector,
			      .entries = size,
			      .arm_sn = 1,
			      .stamped = stamped};
	rc = -ENOMEM;
	cq->waitq = dev->p->ops->waitq_create(dev->p);
	if (!cq->waitq)
		goto free_cq;
	rc = drv_db_alloc(dev, &cq->db);
	if (rc)
		goto free_waitq;
	rc = drv_buf_alloc(dev, (size_t)size * CQE_SIZE, &cq->buf);
	if (rc)
		goto free_db;
	rc = cq_number(cq);
	if (rc)
		goto free_buf;
	rc = cq_to_hw(cq);
	if (rc)
		goto free_number;
	dev->cq_table[cq->cqn & drv_table_mask(dev, DRV_T_CQC)] = cq;
	drv_list_add(&dev->cq_list, &cq->link);
	cq->uar->users++;
	*out = cq;
	return 0;

free_number:
	cq_number_free(cq);
free_buf:
	drv_buf_free(dev, &cq->buf);
free_db:
	drv_db_free(dev, &cq->db);
free_waitq:
	dev->p->ops->waitq_destroy(dev->p, cq->waitq);
free_cq:
	free(cq);
	return rc;
}

int mlx4_cq_create(struct drv_device *dev, unsigned entries, int vector, struct drv_cq **cq)
{
	DRV_ENTER(dev, "%u entries, vector %d", entries, vector);
	return DRV_LEAVE(dev, cq_create(dev, NULL, entries, vector, false, cq));
}

int mlx4_cq_create_on(struct drv_device *dev, struct drv_uar *uar, unsigned entries, int vector,
		      struct drv_cq **cq)
{
	DRV_ENTER(dev, "%u entries, vector %d", entries, vector);
	return DRV_LEAVE(dev, cq_create(dev, uar, entries, vector, false, cq));
}

int mlx4_cq_create_stamped(struct drv_device *dev, struct drv_uar *uar, unsigned entries,
			   int vector, struct drv_cq **cq)
{
	DRV_ENTER(dev, "%u entries, vector %d", entries, vector);
	return DRV_LEAVE(dev, cq_create(dev, uar, entries, vector, true, cq));
}

int mlx4_cq_destroy(struct drv_cq *cq)
{
	struct drv_device *dev = cq->dev;
	int rc;

	if (cq->users)
		return -EBUSY;
	DRV_ENTER(dev, "cqn %06x", cq->cqn);
	rc = drv_cmd_plain(dev, HCR_HW2SW_CQ, cq->cqn, HCR_OM_NO_OUTBOX);
	for (const struct cqe *e; (e = drv_cq_next(cq)); cq->ci++) {
		drv_owner_before_entry();
		if (cqe_get_opcode(e) != CQE_OP_RESIZE)
			cq_discard(cq, NULL, e);
	}
	dev->cq_table[cq->cqn & drv_table_mask(dev, DRV_T_CQC)] = NULL;
	cq_number_free(cq);
	drv_buf_free(dev, &cq->buf);
	drv_buf_free(dev, &cq->new_buf);
	drv_db_free(dev, &cq->db);
	dev->p->ops->waitq_destroy(dev->p, cq->waitq);
	drv_list_del(&cq->link);
	cq->uar->users--;
	free(cq);
	return DRV_LEAVE(dev, rc);
}

/* --- modification --- */

/* Copies the entries that have not been polled to the new buffer, one place further, because the
 * RESIZE entry takes an index. */
static void cq_copy_to_new(struct drv_cq *cq)
{
	struct cqe *e;

	while ((e = drv_cq_next(cq)) && cqe_get_opcode(e) != CQE_OP_RESIZE) {
		struct cqe *to = cqe_at(&cq->new_buf, cq->new_entries, cq->ci + 1);

		drv_owner_before_entry();
		memcpy(to, e, sizeof(*to));
		cqe_set_owner(to, !!((cq->ci + 1) & cq->new_entries));
		cq->ci++;
	}
}

/* Number of completions that have not been polled. */
static uint32_t cq_outstanding(const struct drv_cq *cq)
{
	uint32_t n = 0;

	while (n < cq->entries && cq_entry(cq, cq->ci + n))
		n++;
	return n;
}

static int cq_resize(struct drv_cq *cq, unsigned entries)
{
	struct drv_device *dev = cq->dev;
	struct cqc ctx = {0};
	uint32_t size, first;
	int rc = cq_size(dev, entries, &size);

	if (rc)
		return rc;
	if (cq->new_buf.pages)
		return -EBUSY;
	if (size == cq->entries)
		return 0;
	/* More completions may come before the device has changed buffers. If they do not fit, the
	 * device refuses the command with -ENOMEM. */
	if (size < cq_outstanding(cq) + 1)
		return -EINVAL;
	rc = drv_buf_alloc(dev, (size_t)size * CQE_SIZE, &cq->new_buf);
	if (rc)
		return rc;
	cq->new_entries = size;
	cqc_set_log_size(&ctx, drv_log2_up(size));
	cqc_set_mtt_addr(&ctx, drv_mtt_addr(&cq->new_buf.mtt));
	rc = drv_cmd_in(dev, HCR_MODIFY_CQ, cq->cqn, HCR_OM_CQ_RESIZE, &ctx, sizeof(ctx));
	if (rc) {
		drv_buf_free(dev, &cq->new_buf);
		return rc;
	}
	/* a poller has met the RESIZE entry meanwhile and has already changed buffers */
	if (!cq->new_buf.pages)
		return 0;
	first = cq->ci;
	cq_copy_to_new(cq);
	/* The entries now begin one index later, because the RESIZE entry has taken one. */
	cq->ci = first + 1;
	cq_take_new_buf(cq);
	cq_update_ci(cq);
	return 0;
}

int mlx4_cq_resize(struct drv_cq *cq, unsigned entries)
{
	DRV_ENTER(cq->dev, "cqn %06x, %u entries", cq->cqn, entries);
	return DRV_LEAVE(cq->dev, cq_resize(cq, entries));
}

int mlx4_cq_moderate(struct drv_cq *cq, unsigned max_count, unsigned period_us)
{
	struct cqc ctx = {0};

	DRV_ENTER(cq->dev, "cqn %06x, count %u, period %u us", cq->cqn, max_count, period_us);
	cqc_set_max_count(&ctx, max_count);
	cqc_set_period(&ctx, period_us);
	return DRV_LEAVE(cq->dev, drv_cmd_in(cq->dev, HCR_MODIFY_CQ, cq->cqn, HCR_OM_CQ_MODERATE,
					     &ctx, sizeof(ctx)));
}

int drv_cqs_init(struct drv_device *dev)
{
	const uint32_t cqs = dev->tables[DRV_T_CQC].entries;
	int rc = drv_bitmap_init(&dev->cqs, cqs, cqs - 1, 1u << dev_cap_get_log_rsvd_cqs(&dev->cap),
				 0);

	if (rc)
		return rc;
	dev->cq_table = drv_calloc(cqs, sizeof(*dev->cq_table));
	if (!dev->cq_table) {
		drv_bitmap_cleanup(&dev->cqs);
		return -ENOMEM;
	}
	return 0;
}

void drv_cqs_cleanup(struct drv_device *dev)
{
	free(dev->cq_table);
	dev->cq_table = NULL;
	drv_bitmap_cleanup(&dev->cqs);
}
