/* SPDX-License-Identifier: Apache-2.0 */
/* See cqe_write.h. */
#include "model/engine/complete/cqe_write.h"

#include "model/engine/memory/context_cache.h"
#include "model/engine/base/engine.h"
#include "model/engine/complete/cq_impl.h"
#include "model/engine/base/pool.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/host/pcie.h"
#include "model/engine/memory/translate.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/sim/params/hca_cqe_write.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAGE_OFFSET_UNIT = 32, /* unit of the context's page_offset */
	ARMED = 64,            /* CQs whose newest arm doorbell is remembered */
};

struct cqe_write {
	struct hca *hca;
	struct object_lane_table lanes;
	struct pool jobs; /* of struct cq_job */
	struct cq_armed armed[ARMED];
};

static int job_step(struct object_lane *lane, struct object_lane_job *link);

struct cqe_write *cqe_write_create(struct hca *hca)
{
	struct cqe_write *cq = memory_create(1, sizeof(*cq), "completion queues");

	cq->hca = hca;
	cq->lanes = (struct object_lane_table){
		.hca = hca, .lane_size = sizeof(struct cq_lane), .step = job_step};
	pool_init(&cq->jobs, hca, sizeof(struct cq_job), "completions");
	return cq;
}

static void periods_cancel(struct cqe_write *cq)
{
	for (unsigned i = 0; i < LANE_BUCKETS; i++)
		for (struct object_lane *lane = cq->lanes.buckets[i]; lane; lane = lane->hash_next)
			event_cancel(cq->hca->core, &((struct cq_lane *)(void *)lane)->period);
}

static void lost_cancel(struct hca *hca, void *job)
{
	event_cancel(hca->core, &((struct cq_job *)job)->lost);
}

void cqe_write_destroy(struct cqe_write *cq)
{
	if (!cq)
		return;
	periods_cancel(cq);
	lane_table_free(&cq->lanes);
	pool_each(&cq->jobs, lost_cancel);
	pool_free(&cq->jobs);
	free(cq);
}

/* Call it after all DMAs have been dropped: no DMA may still use a job. */
void cqe_write_reset(struct hca *hca)
{
	struct cqe_write *cq = hca->cqe_write;

	periods_cancel(cq);
	lane_table_reset(&cq->lanes);
	pool_each(&cq->jobs, lost_cancel);
	pool_reset(&cq->jobs);
	memset(cq->armed, 0, sizeof(cq->armed));
}

struct cq_armed *cq_armed_newest(struct hca *hca, uint32_t cqn)
{
	struct cq_armed *a = &hca->cqe_write->armed[cqn % ARMED];

	if (a->cqn != cqn)
		*a = (struct cq_armed){.cqn = cqn};
	return a;
}

void cqe_write_trim(struct hca *hca)
{
	pool_trim(&hca->cqe_write->jobs);
}

unsigned cqe_write_pending(const struct hca *hca)
{
	return hca->cqe_write->lanes.count;
}

struct cq_job *cq_job_take(struct hca *hca, enum cq_job_kind kind)
{
	struct cq_job *job = pool_take(&hca->cqe_write->jobs);

	job->kind = kind;
	job->sent = false;
	return job;
}

void cq_job_give(struct hca *hca, struct cq_job *job)
{
	pool_give(&hca->cqe_write->jobs, job);
}

void cq_job_queue(struct hca *hca, uint32_t cqn, struct cq_job *job)
{
	struct object_lane *lane = lane_get(&hca->cqe_write->lanes, cqn);

	job->lane = lane;
	lane_push(lane, &job->link);
	lane_run(lane);
}

/* --- the context --- */

static bool ring_full(const struct cqc *cqc)
{
	return cq_entries_used(cqc) >= cq_size(cqc) && !cqc_get_ignore_overrun(cqc);
}

/* Puts the CQ into an error state, in which it takes no more CQEs, and tells software. */
static void cq_fail(struct object_lane *lane, struct cqc *cqc, unsigned status, unsigned syndrome)
{
	struct hca *hca = lane->hca;
	struct eqe eqe = {{0}};

	cqc_set_status(cqc, status);
	context_changed(hca, CONTEXT_CQ, lane->number);
	eqe_set_type(&eqe, EVENT_CQ_ERROR);
	eqe_cq_set_cqn(eqe_as_cq(&eqe), lane->number);
	eqe_cq_set_syndrome(eqe_as_cq(&eqe), syndrome);
	event_queue_post(hca, &eqe, NULL, NULL);
}

/* --- the doorbell record --- */

static void record_landed(struct dma *dma)
{
	struct cq_lane *cl = container_of(dma, struct cq_lane, record);

	cl->record_pending = false;
	cl->record_read = true;
	lane_landed(&cl->lane);
}

static void record_fetch(struct object_lane *lane, const struct cqc *cqc)
{
	struct cq_lane *cl = (struct cq_lane *)(void *)lane;

	cl->record_pending = true;
	cl->record = (struct dma){.done = record_landed,
				  .buf = cl->dbrec.b,
				  .len = sizeof(cl->dbrec),
				  .frags = &cl->record.one,
				  .n_frags = 1,
				  .one = {cqc_get_db_rec_addr(cqc), sizeof(cl->dbrec)},
				  .at_ready = true,
				  .what = "cq doorbell record"};
	lane->in_flight++;
	pcie_read(lane->hca, &cl->record, 0);
}

/* Whether the queue has room for one more CQE. 0: yes; -EAGAIN: the doorbell record is being read;
 * -ENOSPC: no, and the CQ has failed. */
static int room_find(struct object_lane *lane, struct cqc *cqc)
{
	struct cq_lane *cl = (struct cq_lane *)(void *)lane;
	struct hca *hca = lane->hca;

	if (cl->record_pending)
		return -EAGAIN;
	if (!ring_full(cqc))
		return 0;
	if (!cl->record_read) {
		record_fetch(lane, cqc);
		return -EAGAIN;
	}
	cl->record_read = false;
	if (cl->record.status) {
		cq_fail(lane, cqc, CQ_STATUS_WRITE_FAIL, CQ_ERROR_ACCESS);
		return -ENOSPC;
	}
	HCA_TRACE(hca, TP_DOORBELL_RECORD, .args = {lane->number, cq_dbrec_get_set_ci(&cl->dbrec)});
	cq_consumer_index_take(lane, cqc, cq_dbrec_get_set_ci(&cl->dbrec), "doorbell record");
	if (!ring_full(cqc))
		return 0;
	hca->stats.cqe_write_overruns++;
	cq_fail(lane, cqc, CQ_STATUS_OVERFLOW, CQ_ERROR_OVERRUN);
	return -ENOSPC;
}

/* --- writing a CQE --- */

static void cqe_landed(struct dma *dma)
{
	struct cq_job *job = container_of(dma, struct cq_job, dma);
	struct hca *hca = dma->hca;
	struct object_lane *lane = job->lane;

	if (!dma->status)
		HCA_TRACE(hca, TP_CQE_WRITE, .qpn = cqe_get_my_qpn(&job->cqe),
			  .corr = cqe_get_wqe_index(&job->cqe), .bytes = job->cqe.b,
			  .len = CQE_SIZE, .args = {lane->number, job->index});
	if (dma->status) {
		struct cq_job *failed = cq_job_take(hca, JOB_FAILED);

		lane_push(lane, &failed->link);
	}
	/* A RESIZE job stays at the head of the lane, which gives it back later. */
	if (job->kind == JOB_CQE)
		cq_job_give(hca, job);
	lane_landed(lane);
}

static void timestamp(const struct hca *hca, struct cqe *cqe)
{
	const uint64_t cycles = hca_core_cycles(hca);

	cqe_set_ts_high(cqe, (uint32_t)(cycles >> 16));
	cqe_set_ts_mid(cqe, (uint32_t)(cycles >> 8) & 0xff);
	cqe_set_ts_low(cqe, (uint32_t)cycles & 0xff);
}

static void cqe_send(struct object_lane *lane, struct cq_job *job, struct cqc *cqc, uint64_t bus)
{
	struct hca *hca = lane->hca;
	const uint32_t pi = cqc_get_producer_index(cqc);

	job->index = pi;
	cqe_set_owner(&job->cqe, (pi & cq_size(cqc)) != 0);
	if (cqc_get_timestamp(cqc) && cqe_get_opcode(&job->cqe) != CQE_OP_ERROR)
		timestamp(hca, &job->cqe);
	job->dma = (struct dma){.done = cqe_landed,
				.buf = job->cqe.b,
				.len = CQE_SIZE,
				.frags = &job->dma.one,
				.n_frags = 1,
				.one = {bus, CQE_SIZE},
				.what = "cqe",
				.qpn = cqe_get_my_qpn(&job->cqe)};
	cqc_set_producer_index(cqc, pi + 1);
	if (job->solicited)
		cqc_set_solicit_pi(cqc, pi + 1);
	context_changed(hca, CONTEXT_CQ, lane->number);
	hca->stats.cqe_write_cqes++;
	lane->in_flight++;
	pcie_write(hca, &job->dma, job->earliest_ps);
	HCA_TRACE(
		hca, TP_CQE_RUN, .qpn = job->dma.qpn, .corr = cqe_get_wqe_index(&job->cqe),
		.args = {job->dma.ready_ps, lane->number, job->index, cqe_get_is_send(&job->cqe)});
}

/* Finds the place of the next CQE and sends it. 0; -EAGAIN; any other error: the CQE is lost, and
 * that has been reported. */
static int cqe_place(struct object_lane *lane, struct cq_job *job, struct cqc *cqc)
{
	struct hca *hca = lane->hca;
	uint32_t contiguous, slot;
	uint64_t bus;
	int rc = room_find(lane, cqc);

	if (rc)
		return rc;
	slot = cqc_get_collapsed(cqc) ? 0 : cqc_get_producer_index(cqc) & (cq_size(cqc) - 1);
	/* `cqc` stays valid here: translate does not use the context cache. */
	rc = translate_queue(hca, cqc_get_mtt_addr(cqc), cqc_get_log_page_size(cqc),
			     cqc_get_page_offset(cqc) * PAGE_OFFSET_UNIT +
				     (uint64_t)slot * CQE_SIZE,
			     &lane->waiter, &bus, &contiguous, cqe_get_my_qpn(&job->cqe));
	if (!rc)
		cqe_send(lane, job, cqc, bus);
	else if (rc != -EAGAIN)
		cq_fail(lane, cqc, CQ_STATUS_WRITE_FAIL, CQ_ERROR_ACCESS);
	return rc;
}

static void completion_is_lost(struct event *ev)
{
	struct cq_job *job = container_of(ev, struct cq_job, lost);
	struct hca *hca = job->lost_by;
	uint32_t qpn = cqe_get_my_qpn(&job->cqe);

	cq_job_give(hca, job);
	hca->calls->completion_lost(hca, qpn);
}

/* Fails the QP by an event and not by a call, because the QP may be the caller that has just
 * posted. */
static void completion_lost(struct hca *hca, struct cq_job *job)
{
	job->lost_by = hca;
	job->lost.job = completion_is_lost;
	event_set(hca->core, &job->lost, hca_now(hca));
}

static int cqe_step(struct object_lane *lane, struct cq_job *job)
{
	struct hca *hca = lane->hca;
	struct cqc *cqc;
	int rc = cq_context(lane, &cqc, "completion");

	if (rc == -ENOENT)
		guest_error(hca, RULE_object_dead, guest_object(GUEST_CQ, lane->number),
			    "completion of qpn %x for cqn %x, which is not valid",
			    cqe_get_my_qpn(&job->cqe), lane->number);
	if (!rc)
		rc = cqc_get_status(cqc) == CQ_STATUS_OK ? cqe_place(lane, job, cqc) : -EIO;
	if (rc == -EAGAIN)
		return rc;
	if (rc == -ENOENT)
		cq_job_give(hca, job);
	else if (rc)
		completion_lost(hca, job);
	else if (cq_is_armed(cqc, job->solicited))
		cq_moderate(lane, cqc);
	return 0;
}

static int failed_step(struct object_lane *lane, struct cq_job *job)
{
	struct cqc *cqc;
	int rc = cq_context(lane, &cqc, "failed completion");

	if (rc == -EAGAIN)
		return rc;
	if (!rc && cqc_get_status(cqc) == CQ_STATUS_OK)
		cq_fail(lane, cqc, CQ_STATUS_WRITE_FAIL, CQ_ERROR_ACCESS);
	cq_job_give(lane->hca, job);
	return 0;
}

/* --- firmware's commands --- */

static void idle_tell(struct object_lane *lane, struct cq_job *job)
{
	void (*idle)(void *arg) = job->idle;
	void *arg = job->arg;

	cq_job_give(lane->hca, job);
	idle(arg);
}

static int drain_step(struct object_lane *lane, struct cq_job *job)
{
	if (lane->in_flight)
		return -EAGAIN;
	idle_tell(lane, job);
	return 0;
}

static int last_wqe_step(struct object_lane *lane, struct cq_job *job)
{
	if (lane->in_flight)
		return -EAGAIN;
	event_queue_qp(lane->hca, EVENT_SRQ_QP_LAST_WQE, cqe_get_my_qpn(&job->cqe));
	cq_job_give(lane->hca, job);
	return 0;
}

static void old_context_gone(void *arg, int status)
{
	struct cq_lane *cl = arg;

	cl->resized = false;
	cl->lane.holds--;
	lane_run(&cl->lane);
}

static int resize_step(struct object_lane *lane, struct cq_job *job)
{
	struct cq_lane *cl = (struct cq_lane *)(void *)lane;
	struct cqc *cqc;
	int rc;

	if (!job->sent) {
		rc = cq_context(lane, &cqc, "resize");
		if (!rc)
			rc = cqc_get_status(cqc) == CQ_STATUS_OK ? cqe_place(lane, job, cqc) : -EIO;
		if (rc == -EAGAIN)
			return rc;
		job->sent = true;
	}
	if (lane->in_flight)
		return -EAGAIN;
	idle_tell(lane, job);
	/* Firmware's command now flushes and drops the context. The jobs behind this one wait until
	 * that is done, because the cached context still names the old buffer. */
	lane->holds++;
	cl->resized = true;
	context_flush(lane->hca, CONTEXT_CQ, lane->number, true, old_context_gone, lane);
	return 0;
}

static int job_step(struct object_lane *lane, struct object_lane_job *link)
{
	static int (*const steps[])(struct object_lane * lane, struct cq_job * job) = {
		[JOB_CQE] = cqe_step,           [JOB_ARM] = cq_arm_step,
		[JOB_RESIZE] = resize_step,     [JOB_DRAIN] = drain_step,
		[JOB_EVENT] = cq_event_step,    [JOB_FAILED] = failed_step,
		[JOB_LAST_WQE] = last_wqe_step,
	};
	struct cq_job *job = (struct cq_job *)(void *)link;

	if (((struct cq_lane *)(void *)lane)->resized)
		return -EAGAIN;
	return steps[job->kind](lane, job);
}

/* --- for the other stages --- */

static void error_count(struct hca_stats *stats, const struct cqe_err *err)
{
	switch (cqe_err_get_syndrome(err) << 1 | cqe_err_get_is_send(err)) {
#define COUNT(x, name, offset, syndrome, send, meaning)                                            \
	case CQE_SYND_##syndrome << 1 | (send):                                                    \
		stats->diag_##name++;                                                              \
		break;
		DIAG_COMPLETIONS(COUNT, )
#undef COUNT
	}
}

void cqe_write_post(struct hca *hca, uint32_t cqn, const struct cqe *cqe, bool solicited,
		    uint64_t earliest_ps)
{
	struct cq_job *job = cq_job_take(hca, JOB_CQE);
	const uint64_t now = hca_now(hca);

	job->cqe = *cqe;
	job->solicited = solicited || cqe_get_opcode(cqe) == CQE_OP_ERROR;
	if (cqe_get_opcode(cqe) == CQE_OP_ERROR)
		error_count(&hca->stats, (const struct cqe_err *)(const void *)cqe);
	job->earliest_ps =
		(earliest_ps > now ? earliest_ps : now) + param_cqe_write_latency(hca->params);
	cq_job_queue(hca, cqn, job);
}

void cqe_write_last_wqe(struct hca *hca, uint32_t cqn, uint32_t qpn)
{
	struct cq_job *job = cq_job_take(hca, JOB_LAST_WQE);

	memset(&job->cqe, 0, sizeof(job->cqe));
	cqe_set_my_qpn(&job->cqe, qpn);
	cq_job_queue(hca, cqn, job);
}

void cqe_write_arm(struct hca *hca, uint32_t cqn, unsigned sn, unsigned cmd,
		   uint32_t consumer_index, uint32_t uar)
{
	struct cq_job *job = cq_job_take(hca, JOB_ARM);

	job->arm_cmd = cmd;
	job->arm_sn = sn;
	job->consumer_index = consumer_index & QUEUE_INDEX_MASK;
	job->uar = uar;
	cq_job_queue(hca, cqn, job);
}

void cqe_write_drain(struct hca *hca, uint32_t cqn, void (*idle)(void *arg), void *arg)
{
	struct cq_job *job = cq_job_take(hca, JOB_DRAIN);

	job->idle = idle;
	job->arg = arg;
	cq_job_queue(hca, cqn, job);
}

void cqe_write_resize(struct hca *hca, uint32_t cqn, void (*idle)(void *arg), void *arg)
{
	struct cq_job *job = cq_job_take(hca, JOB_RESIZE);

	job->idle = idle;
	job->arg = arg;
	memset(&job->cqe, 0, sizeof(job->cqe));
	cqe_set_opcode(&job->cqe, CQE_OP_RESIZE);
	job->solicited = false;
	job->earliest_ps = hca_now(hca) + param_cqe_write_latency(hca->params);
	cq_job_queue(hca, cqn, job);
}

static bool of_qp(const struct object_lane_job *link, uint32_t qpn)
{
	const struct cq_job *job = (const struct cq_job *)(const void *)link;

	return (job->kind == JOB_CQE || job->kind == JOB_LAST_WQE) &&
	       cqe_get_my_qpn(&job->cqe) == qpn;
}

static void job_drop(struct hca *hca, struct object_lane_job *link)
{
	cq_job_give(hca, (struct cq_job *)(void *)link);
}

/* A lane that becomes empty here is freed when the waiter or DMA that it waits for is done. */
void cqe_write_purge_qp(struct hca *hca, uint32_t qpn)
{
	struct object_lane_table *lanes = &hca->cqe_write->lanes;

	for (unsigned i = 0; i < LANE_BUCKETS; i++)
		for (struct object_lane *lane = lanes->buckets[i]; lane; lane = lane->hash_next)
			lane_filter(lane, of_qp, qpn, job_drop);
}
