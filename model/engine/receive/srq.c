/* SPDX-License-Identifier: Apache-2.0 */
/* See srq.h. */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/base/keep.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_srq.h"

enum {
	RECORD_BYTES = 4,
	RECORD_MASK = 0xffff,
	PAGE_OFFSET_UNIT = 64, /* unit of page_offset in QPC and SRQC */
};

/* --- doorbell records of a QP's receives --- */

/* A doorbell record and the DMA that reads it. */
struct record_dma {
	struct dma dma;
	uint8_t bytes[RECORD_BYTES];
};

/* A read of a doorbell record for a QP: its own record, or that of its SRQ. */
struct record_read {
	struct record_dma record;
	struct qp *qp;
};

static uint16_t record_posted(const struct record_dma *record)
{
	return (uint16_t)(be32_load(record->bytes) & RECORD_MASK);
}

static void record_ask(struct hca *hca, struct record_dma *record, uint64_t bus, uint32_t qpn,
		       void (*done)(struct dma *dma))
{
	record->dma = (struct dma){.buf = record->bytes,
				   .len = RECORD_BYTES,
				   .one = {.bus = bus, .len = RECORD_BYTES},
				   .frags = &record->dma.one,
				   .n_frags = 1,
				   .done = done,
				   .at_ready = true,
				   .what = "doorbell record",
				   .qpn = qpn};
	pcie_read(hca, &record->dma, 0);
	HCA_TRACE(hca, TP_RECORD_RUN, .qpn = qpn, .text = record->dma.what,
		  .args = {record->dma.ready_ps});
}

void record_pool_init(struct pool *pool, struct hca *hca)
{
	pool_init(pool, hca, sizeof(struct record_read), "doorbell records");
}

void record_forget(struct qp *qp)
{
	if (qp->receive.record)
		pool_give(&qp->hca->responder->records, qp->receive.record);
	qp->receive.record = NULL;
}

static void record_arrived(struct dma *dma)
{
	struct record_read *read = container_of(dma, struct record_read, record.dma);
	struct qp *qp = read->qp;
	struct qp_receive *r = &qp->receive;

	r->record_fresh = dma->status == 0;
	r->record_failed = dma->status != 0;
	r->record_value = record_posted(&read->record);
	HCA_TRACE(qp->hca, TP_DOORBELL_RECORD, .qpn = qp->qpn,
		  .args = {r->record_srqn == RECORD_OF_RQ ? qp->qpn : r->record_srqn,
			   r->record_value});
	record_forget(qp);
	responder_kick(qp);
}

void record_read(struct qp *qp, uint64_t bus, uint32_t srqn, bool asked)
{
	struct qp_receive *r = &qp->receive;

	if (r->record)
		return;
	r->record = pool_take(&qp->hca->responder->records);
	r->record->qp = qp;
	r->record_srqn = srqn;
	r->record_asked = asked;
	r->record_fresh = r->record_failed = false;
	record_ask(qp->hca, &r->record->record, bus, qp->qpn, record_arrived);
}

static bool record_is_fresh(const struct qp *qp, uint32_t srqn)
{
	return qp->receive.record_fresh && qp->receive.record_srqn == srqn;
}

bool record_is_asked(const struct qp *qp, uint32_t srqn)
{
	return record_is_fresh(qp, srqn) && qp->receive.record_asked;
}

/* Whether the read of that record has failed. Clears the failure, so that the next request reads
 * again. */
static bool record_take_failure(struct qp *qp, uint32_t srqn)
{
	struct qp_receive *r = &qp->receive;

	if (!r->record_failed || r->record_srqn != srqn)
		return false;
	r->record_failed = false;
	return true;
}

void record_merge(struct qp *qp, struct qpc *qpc)
{
	struct qp_receive *r = &qp->receive;
	uint32_t size = 1u << qpc_get_log_rq_size(qpc);
	uint16_t counter = (uint16_t)qpc_get_rq_wqe_counter(qpc), posted = r->record_value;

	if (!record_is_fresh(qp, RECORD_OF_RQ))
		return;
	r->record_fresh = false;
	if ((uint16_t)(posted - counter) > size) {
		guest_error(qp->hca, RULE_rq_overposted, guest_object(GUEST_QP, qp->qpn),
			    "qpn %06x: %u receives posted, queue of %u", qp->qpn,
			    (unsigned)(uint16_t)(posted - counter), size);
		posted = (uint16_t)(counter + size);
	}
	qpc_set_rx_rq_posted(qpc, posted);
	qpc_set_rx_record_read(qpc, 1);
	context_changed(qp->hca, CONTEXT_RESPONDER, qp->qpn);
}

/* --- a QP's own receive queue --- */

static unsigned rq_known(const struct qpc *qpc)
{
	return (uint16_t)(qpc_get_rx_rq_posted(qpc) - qpc_get_rq_wqe_counter(qpc));
}

static void rq_refresh(struct qp *qp, const struct qpc *qpc)
{
	uint64_t share = (uint64_t)rq_known(qpc) * 100;

	if (share < (param_srq_refresh(qp->hca->params) << qpc_get_log_rq_size(qpc)))
		record_read(qp, qpc_get_db_rec_addr(qpc), RECORD_OF_RQ, false);
}

static int rq_get(struct qp *qp, struct qpc *qpc, bool again, struct waiter *w,
		  struct receive_wqe *wqe)
{
	struct wqe_geometry rq;
	uint16_t index = (uint16_t)(again ? qpc_get_rx_receive(qpc) : qpc_get_rq_wqe_counter(qpc));
	int err;

	if (!again && rq_known(qpc) == 0) {
		bool asked = record_is_asked(qp, RECORD_OF_RQ);

		if (record_take_failure(qp, RECORD_OF_RQ))
			return -EFAULT;
		record_merge(qp, qpc);
		if (rq_known(qpc) == 0) {
			if (asked)
				return -ENOENT;
			record_read(qp, qpc_get_db_rec_addr(qpc), RECORD_OF_RQ, true);
			return -EAGAIN;
		}
	}
	wqe_geometry_receive(qpc, &rq);
	err = wqe_fetch_receive(
		qp->hca,
		&(struct receive_slot){.mtt_addr = qpc_get_mtt_addr(qpc),
				       .offset = rq.offset +
						 (uint64_t)(index & (rq.count - 1)) * rq.stride,
				       .qpn = qp->qpn,
				       .log_page_size = qpc_get_log_page_size(qpc),
				       .stride = rq.stride,
				       .posted = again ? 1 : rq_known(qpc)},
		again, w, &wqe->segments);
	if (err)
		return err;
	wqe->n_bytes = rq.stride < WQE_MAX_BYTES ? rq.stride : WQE_MAX_BYTES;
	wqe->index = index;
	wqe->pd = qpc_get_pd(qpc);
	wqe->cqn = qpc_get_cqn_recv(qpc);
	if (again)
		return 0;
	qpc_set_rq_wqe_counter(qpc, index + 1u);
	qpc_set_rx_receive(qpc, index);
	qpc_set_rx_has_receive(qpc, 1);
	context_changed(qp->hca, CONTEXT_RESPONDER, qp->qpn);
	record_merge(qp, qpc);
	rq_refresh(qp, qpc);
	return 0;
}

/* --- shared receive queues --- */

static int srq_context(struct hca *hca, uint32_t srqn, struct waiter *w, struct srqc **srqc)
{
	void *bytes;
	int err = context_get(hca, CONTEXT_SRQ, srqn, w, &bytes, "receive");

	if (!err)
		*srqc = bytes;
	return err;
}

int srq_get_xrc(struct qp *qp, uint32_t xrcd, uint32_t srqn, struct waiter *w, uint32_t *pd,
		uint32_t *cqn)
{
	struct srqc *srqc;
	int err = srq_context(qp->hca, srqn, w, &srqc);

	if (err)
		return err == -ENOENT ? -ENXIO : err;
	if (srqc_get_xrcd(srqc) != xrcd || srqc_get_srqn(srqc) != srqn)
		return -ENXIO;
	*pd = srqc_get_pd(srqc);
	*cqn = srqc_get_cqn(srqc);
	return 0;
}

static void srq_merge(struct hca *hca, uint32_t srqn, struct srqc *srqc, uint16_t posted)
{
	uint32_t size = 1u << srqc_get_log_size(srqc);
	uint16_t known = (uint16_t)(posted - srqc_get_wqe_counter(srqc));

	if (known > size) {
		guest_error(hca, RULE_rq_overposted, guest_object(GUEST_SRQ, srqn),
			    "srqn %06x: %u receives posted, queue of %u", srqn, (unsigned)known,
			    size);
		known = (uint16_t)size;
	}
	srqc_set_wqe_cnt(srqc, known);
	context_changed(hca, CONTEXT_SRQ, srqn);
}

/* Whether a receive can be taken. 0: yes; -ENOENT: none is posted; -EAGAIN: the doorbell record is
 * being read; -EFAULT: it cannot be read. */
static int srq_available(struct qp *qp, uint32_t srqn, struct srqc *srqc)
{
	bool asked = record_is_asked(qp, srqn);

	if (record_take_failure(qp, srqn))
		return -EFAULT;
	if (record_is_fresh(qp, srqn)) {
		qp->receive.record_fresh = false;
		srq_merge(qp->hca, srqn, srqc, qp->receive.record_value);
	}
	if (srqc_get_wqe_cnt(srqc))
		return 0;
	if (asked)
		return -ENOENT;
	record_read(qp, srqc_get_db_rec_addr(srqc), srqn, true);
	return -EAGAIN;
}

static int srq_fetch(struct qp *qp, struct srqc *srqc, uint16_t slot, bool again, struct waiter *w,
		     struct receive_wqe *wqe, const struct srq_next **next)
{
	unsigned stride = (unsigned)WQE_UNIT << srqc_get_log_stride(srqc);
	uint64_t offset = (uint64_t)srqc_get_page_offset(srqc) * PAGE_OFFSET_UNIT;
	const uint8_t *bytes;
	int err;

	/* posted = 1 means no prefetch: the next slot in memory is not the next one of the SRQ's
	 * list. */
	err = wqe_fetch_receive(
		qp->hca,
		&(struct receive_slot){.mtt_addr = srqc_get_mtt_addr(srqc),
				       .offset = offset + (uint64_t)slot * stride,
				       .qpn = qp->qpn,
				       .log_page_size = srqc_get_log_page_size(srqc),
				       .stride = stride,
				       .posted = 1,
				       .shared = true},
		again, w, &bytes);
	if (err)
		return err;
	if (stride > WQE_MAX_BYTES)
		stride = WQE_MAX_BYTES;
	*next = (const void *)bytes;
	wqe->segments = bytes + sizeof(struct srq_next);
	wqe->n_bytes = stride - (unsigned)sizeof(struct srq_next);
	wqe->index = slot;
	wqe->pd = srqc_get_pd(srqc);
	wqe->cqn = srqc_get_cqn(srqc);
	return 0;
}

/* Notes in the contexts of the QP and the SRQ that the slot has been taken. */
static void srq_record_take(struct qp *qp, struct qpc *qpc, uint32_t srqn, struct srqc *srqc,
			    uint16_t slot, uint16_t next)
{
	struct hca *hca = qp->hca;
	bool low = srqc_get_wqe_cnt(srqc) - 1 < srqc_get_limit(srqc);

	srqc_set_next_wqe(srqc, next & ((1u << srqc_get_log_size(srqc)) - 1));
	srqc_set_wqe_counter(srqc, srqc_get_wqe_counter(srqc) + 1);
	srqc_set_wqe_cnt(srqc, srqc_get_wqe_cnt(srqc) - 1);
	context_changed(hca, CONTEXT_SRQ, srqn);
	qpc_set_rx_receive(qpc, slot);
	qpc_set_rx_srqn(qpc, srqn);
	qpc_set_rx_has_receive(qpc, 1);
	context_changed(hca, CONTEXT_RESPONDER, qp->qpn);
	hca->stats.srq_taken++;
	if (low)
		srq_limit_changed(hca, srqn);
}

static void srq_event(struct hca *hca, uint8_t type, uint32_t srqn)
{
	struct eqe eqe = {0};

	eqe_set_type(&eqe, type);
	eqe_srq_set_srqn(eqe_as_srq(&eqe), srqn);
	event_queue_post(hca, &eqe, NULL, NULL);
}

/* The SRQ's doorbell record or its list of receives cannot be read. From now on nobody takes
 * receives from it. */
static int srq_failed(struct hca *hca, uint32_t srqn, struct srqc *srqc)
{
	srqc_set_state(srqc, SRQ_STATE_ERROR);
	context_changed(hca, CONTEXT_SRQ, srqn);
	HCA_TRACE(hca, TP_SRQ_STATE, .args = {srqn}, .text = "error");
	srq_event(hca, EVENT_SRQ_CATAS_ERROR, srqn);
	return -EIO;
}

/*
 * Takes the first receive of the SRQ. Another QP may take it while this one waits for its WQE. The
 * WQE that has come is then out of date, and the SRQ's new first one is fetched.
 */
static int srq_take(struct qp *qp, struct qpc *qpc, uint32_t srqn, struct waiter *w,
		    struct receive_wqe *wqe)
{
	struct qp_receive *r = &qp->receive;
	const struct srq_next *next;
	struct srqc *srqc;
	int err = srq_context(qp->hca, srqn, w, &srqc);

	if (err)
		return err;
	if (srqc_get_state(srqc) == SRQ_STATE_ERROR)
		return -EIO;
	do {
		err = srq_available(qp, srqn, srqc);
		if (err)
			return err == -EFAULT ? srq_failed(qp->hca, srqn, srqc) : err;
		if (!r->fetching || r->fetch_srqn != srqn) {
			r->fetching = true;
			r->fetch_srqn = srqn;
			r->fetch_slot = (uint16_t)srqc_get_next_wqe(srqc);
			r->fetch_count = (uint16_t)srqc_get_wqe_counter(srqc);
		}
		err = srq_fetch(qp, srqc, r->fetch_slot, false, w, wqe, &next);
		if (err == -EAGAIN)
			return err;
		r->fetching = false;
		if (err)
			return srq_failed(qp->hca, srqn, srqc);
	} while (r->fetch_count != srqc_get_wqe_counter(srqc));
	srq_record_take(qp, qpc, srqn, srqc, r->fetch_slot,
			(uint16_t)srq_next_get_next_wqe_index(next));
	return 0;
}

static int srq_get(struct qp *qp, struct qpc *qpc, uint32_t srqn, bool again, struct waiter *w,
		   struct receive_wqe *wqe)
{
	const struct srq_next *next;
	struct srqc *srqc;
	int err;

	if (!again)
		return srq_take(qp, qpc, srqn, w, wqe);
	err = srq_context(qp->hca, srqn, w, &srqc);
	return err ? err
		   : srq_fetch(qp, srqc, (uint16_t)qpc_get_rx_receive(qpc), true, w, wqe, &next);
}

int srq_receive_get(struct qp *qp, struct qpc *qpc, uint32_t srqn, bool again, struct waiter *w,
		    struct receive_wqe *wqe)
{
	uint32_t pd, cqn;
	int err;

	if (qpc_get_service(qpc) == QP_ST_XRC) {
		err = srq_get_xrc(qp, qpc_get_xrcd(qpc), srqn, w, &pd, &cqn);
		return err ? err : srq_get(qp, qpc, srqn, again, w, wqe);
	}
	if (qpc_get_srq(qpc)) {
		err = srq_get(qp, qpc, srqn, again, w, wqe);
		if (err != -ENOENT || icm_object_valid(qp->hca, FW_TABLE_SRQC, srqn))
			return err;
		guest_error(qp->hca, RULE_object_dead, guest_object(GUEST_SRQ, srqn),
			    "qpn %06x takes receives from srqn %06x", qp->qpn, srqn);
		return -EFAULT;
	}
	return qpc_has_rq(qpc) ? rq_get(qp, qpc, again, w, wqe) : -ENOENT;
}

int srq_receive_count(struct qp *qp, struct qpc *qpc, unsigned *count)
{
	if (!qpc_has_rq(qpc) || qpc_get_ric(qpc))
		return -ENOENT;
	record_merge(qp, qpc);
	if (!qpc_get_rx_record_read(qpc))
		record_read(qp, qpc_get_db_rec_addr(qpc), RECORD_OF_RQ, false);
	*count = rq_known(qpc);
	return 0;
}

/* --- limits --- */

/* Compares an SRQ's limit with the number of receives that its doorbell record announces. */
struct srq_check {
	struct srq_check *next;
	struct waiter waiter;
	struct hca *hca;
	struct record_dma record;
	uint32_t srqn;
	bool have_record;
};

void check_pool_init(struct pool *pool, struct hca *hca)
{
	pool_init(pool, hca, sizeof(struct srq_check), "limits of shared receive queues");
}

static void srq_check_end(struct srq_check *check)
{
	struct responder *responder = check->hca->responder;
	struct srq_check **at = &responder->limit_checks;

	while (*at != check)
		at = &(*at)->next;
	*at = check->next;
	waiter_done(&check->waiter);
	pool_give(&responder->checks, check);
}

void srq_checks_reset(struct hca *hca)
{
	while (hca->responder->limit_checks)
		srq_check_end(hca->responder->limit_checks);
}

static void srq_check_step(struct srq_check *check);

static void srq_check_arrived(struct dma *dma)
{
	struct srq_check *check = container_of(dma, struct srq_check, record.dma);

	check->have_record = true;
	if (dma->status)
		srq_check_end(check);
	else
		srq_check_step(check);
}

static void srq_limit_event(struct hca *hca, uint32_t srqn, struct srqc *srqc)
{
	srqc_set_limit(srqc, 0);
	context_changed(hca, CONTEXT_SRQ, srqn);
	hca->stats.srq_limits++;
	HCA_TRACE(hca, TP_SRQ_STATE, .args = {srqn}, .text = "limit reached");
	srq_event(hca, EVENT_SRQ_LIMIT, srqn);
}

static void srq_check_step(struct srq_check *check)
{
	struct srqc *srqc;
	int err = srq_context(check->hca, check->srqn, &check->waiter, &srqc);

	if (err == -EAGAIN)
		return;
	if (err || !srqc_get_limit(srqc)) {
		srq_check_end(check);
		return;
	}
	if (!check->have_record) {
		record_ask(check->hca, &check->record, srqc_get_db_rec_addr(srqc), 0,
			   srq_check_arrived);
		return;
	}
	srq_merge(check->hca, check->srqn, srqc, record_posted(&check->record));
	if (srqc_get_wqe_cnt(srqc) < srqc_get_limit(srqc))
		srq_limit_event(check->hca, check->srqn, srqc);
	srq_check_end(check);
}

static void srq_check_wake(struct waiter *w)
{
	srq_check_step(container_of(w, struct srq_check, waiter));
}

void srq_limit_changed(struct hca *hca, uint32_t srqn)
{
	struct responder *responder = hca->responder;
	struct srq_check *check;

	for (check = responder->limit_checks; check; check = check->next)
		if (check->srqn == srqn)
			return;
	check = pool_take(&responder->checks);
	*check = (struct srq_check){.next = responder->limit_checks,
				    .waiter.wake = srq_check_wake,
				    .hca = hca,
				    .srqn = srqn};
	responder->limit_checks = check;
	srq_check_step(check);
}
