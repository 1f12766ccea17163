/* SPDX-License-Identifier: Apache-2.0 */
/* See event_queue.h. */
#include "model/engine/complete/event_queue.h"

#include "model/engine/memory/context_cache.h"
#include "model/engine/base/engine.h"
#include "model/engine/base/pool.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/complete/object_lane.h"
#include "model/engine/host/pcie.h"
#include "model/engine/memory/translate.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca_event_queue.h"

#include <stdlib.h>
#include <string.h>

enum {
	EVENT_ROUTES = 256,
	PAGE_OFFSET_UNIT = 32, /* unit of the context's page_offset */
};

/* An event to be written, or an EQ doorbell. */
struct eq_job {
	struct object_lane_job link;
	struct dma dma; /* writes the EQE */
	struct object_lane *lane;
	bool is_doorbell;
	uint64_t asked_ps;
	struct eqe eqe;
	uint32_t index;
	void (*done)(void *arg);
	void *arg;
	uint32_t consumer_index;
	bool arm;
};

struct event_queue {
	struct hca *hca;
	struct object_lane_table lanes;
	struct pool jobs; /* of struct eq_job */
	struct {
		bool valid;
		uint32_t eqn;
	} routes[EVENT_ROUTES];
};

static int job_step(struct object_lane *lane, struct object_lane_job *link);

struct event_queue *event_queue_create(struct hca *hca)
{
	struct event_queue *eq = memory_create(1, sizeof(*eq), "event queues");

	eq->hca = hca;
	eq->lanes = (struct object_lane_table){
		.hca = hca, .lane_size = sizeof(struct object_lane), .step = job_step};
	pool_init(&eq->jobs, hca, sizeof(struct eq_job), "events");
	return eq;
}

void event_queue_destroy(struct event_queue *eq)
{
	if (!eq)
		return;
	lane_table_free(&eq->lanes);
	pool_free(&eq->jobs);
	free(eq);
}

/* Call it after all DMAs have been dropped: no DMA may still use a job. */
void event_queue_reset(struct hca *hca)
{
	struct event_queue *eq = hca->event_queue;

	lane_table_reset(&eq->lanes);
	pool_reset(&eq->jobs);
	memset(eq->routes, 0, sizeof(eq->routes));
}

void event_queue_trim(struct hca *hca)
{
	pool_trim(&hca->event_queue->jobs);
}

unsigned event_queue_pending(const struct hca *hca)
{
	return hca->event_queue->lanes.count;
}

static struct eq_job *job_take(struct hca *hca)
{
	struct eq_job *job = pool_take(&hca->event_queue->jobs);

	job->asked_ps = hca_now(hca);
	job->done = NULL;
	return job;
}

/* Ends a job whose event has been written or dropped. */
static void job_end(struct hca *hca, struct eq_job *job)
{
	void (*done)(void *arg) = job->done;
	void *arg = job->arg;

	pool_give(&hca->event_queue->jobs, job);
	if (done)
		done(arg);
}

static void job_queue(struct hca *hca, uint32_t eqn, struct eq_job *job)
{
	struct object_lane *lane = lane_get(&hca->event_queue->lanes, eqn);

	job->lane = lane;
	lane_push(lane, &job->link);
	lane_run(lane);
}

/* --- writing an event --- */

/* The context of the lane's EQ: as context_get(); an EQ that is not valid is a guest error. */
static int eq_context(struct object_lane *lane, struct eqc **eqc, const char *why)
{
	struct hca *hca = lane->hca;
	void *bytes;
	int rc = -ENOENT;

	if (lane->number < UINT32_C(1) << (hca->tables[FW_TABLE_EQC].log_num & 31))
		rc = context_get(hca, CONTEXT_EQ, lane->number, &lane->waiter, &bytes, why);
	if (rc == -ENOENT)
		guest_error(hca, RULE_object_dead, guest_object(GUEST_EQ, lane->number),
			    "%s for eqn %x, which is not valid", why, lane->number);
	if (!rc)
		*eqc = bytes;
	return rc;
}

static uint32_t entries_used(const struct eqc *eqc)
{
	return (eqc_get_producer_index(eqc) - eqc_get_consumer_index(eqc)) & QUEUE_INDEX_MASK;
}

/* The queue is full: this event and all later ones are lost. */
static void eq_overflow(struct object_lane *lane, struct eqc *eqc)
{
	struct hca *hca = lane->hca;
	const struct event_queue *eq = hca->event_queue;
	struct eqe eqe = {{0}};

	eqc_set_status(eqc, EQ_STATUS_OVERFLOW);
	context_changed(hca, CONTEXT_EQ, lane->number);
	hca->stats.event_queue_overruns++;
	if (eq->routes[EVENT_EQ_OVERFLOW].valid &&
	    eq->routes[EVENT_EQ_OVERFLOW].eqn != lane->number) {
		eqe_set_type(&eqe, EVENT_EQ_OVERFLOW);
		event_queue_post(hca, &eqe, NULL, NULL);
		return;
	}
	hca_catastrophe(hca, ERR_BUF_EQ_OVERFLOW, lane->number, "eqn %x overflowed", lane->number);
}

static void eqe_landed(struct dma *dma)
{
	struct eq_job *job = container_of(dma, struct eq_job, dma);
	struct hca *hca = dma->hca;
	struct object_lane *lane = job->lane;

	if (!dma->status)
		HCA_TRACE(hca, TP_EQE_WRITE, .bytes = job->eqe.b, .len = EQE_SIZE,
			  .args = {lane->number, job->index});
	job_end(hca, job);
	lane_landed(lane);
}

/* The CQ of a completion event; 0 for other events. */
static uint32_t event_cqn(const struct eqe *eqe)
{
	return eqe_get_type(eqe) == EVENT_COMP ? eqe_cq_get_cqn(eqe_as_cq_const(eqe)) : 0;
}

static void eqe_send(struct object_lane *lane, struct eq_job *job, struct eqc *eqc, uint64_t bus)
{
	struct hca *hca = lane->hca;
	const uint32_t pi = eqc_get_producer_index(eqc), size = 1u << eqc_get_log_size(eqc);
	const unsigned state = eqc_get_state(eqc);

	job->index = pi;
	eqe_set_owner(&job->eqe, (pi & size) != 0);
	job->dma = (struct dma){.done = eqe_landed,
				.buf = job->eqe.b,
				.len = EQE_SIZE,
				.frags = &job->dma.one,
				.n_frags = 1,
				.one = {bus, EQE_SIZE},
				.what = "eqe"};
	eqc_set_producer_index(eqc, pi + 1);
	if (state == EQ_STATE_ARMED)
		eqc_set_state(eqc, EQ_STATE_FIRED);
	context_changed(hca, CONTEXT_EQ, lane->number);
	hca->stats.event_queue_eqes++;
	lane->in_flight++;
	pcie_write(hca, &job->dma, job->asked_ps + param_event_queue_latency(hca->params));
	HCA_TRACE(hca, TP_EQE_RUN,
		  .args = {job->dma.ready_ps, lane->number, job->index, event_cqn(&job->eqe),
			   eqe_get_type(&job->eqe)});
	/* The interrupt must follow the EQE into memory. Software that is interrupted and finds the
	 * queue empty would not look again. */
	if (state == EQ_STATE_ARMED || state == EQ_STATE_ALWAYS_ARMED)
		interrupt_raise(hca, eqc_get_intr(eqc));
}

static int eqe_step(struct object_lane *lane, struct eq_job *job)
{
	struct hca *hca = lane->hca;
	struct eqc *eqc;
	uint64_t bus, slot;
	uint32_t contiguous, size;
	int rc = eq_context(lane, &eqc, "event");

	if (rc == -EAGAIN)
		return rc;
	if (rc || eqc_get_status(eqc) != EQ_STATUS_OK) {
		job_end(hca, job);
		return 0;
	}
	size = 1u << eqc_get_log_size(eqc);
	if (entries_used(eqc) >= size && !eqc_get_ignore_overrun(eqc)) {
		eq_overflow(lane, eqc);
		job_end(hca, job);
		return 0;
	}
	slot = eqc_get_collapsed(eqc) ? 0 : eqc_get_producer_index(eqc) & (size - 1);
	/* `eqc` stays valid here: translate does not use the context cache. */
	rc = translate_queue(hca, eqc_get_mtt_addr(eqc), eqc_get_log_page_size(eqc),
			     eqc_get_page_offset(eqc) * PAGE_OFFSET_UNIT + slot * EQE_SIZE,
			     &lane->waiter, &bus, &contiguous, 0);
	if (rc == -EAGAIN)
		return rc;
	if (rc) {
		eqc_set_status(eqc, EQ_STATUS_WRITE_FAIL);
		context_changed(hca, CONTEXT_EQ, lane->number);
		job_end(hca, job);
		return 0;
	}
	eqe_send(lane, job, eqc, bus);
	return 0;
}

/* --- the doorbell --- */

static int doorbell_step(struct object_lane *lane, struct eq_job *job)
{
	struct hca *hca = lane->hca;
	struct eqc *eqc;
	uint32_t waiting;
	int rc = eq_context(lane, &eqc, "doorbell");

	if (rc == -EAGAIN)
		return rc;
	if (rc)
		goto end;
	waiting = (eqc_get_producer_index(eqc) - job->consumer_index) & QUEUE_INDEX_MASK;
	if (waiting > entries_used(eqc)) { /* the index goes back, too */
		guest_error(hca, RULE_eq_consumer_index, guest_object(GUEST_EQ, lane->number),
			    "eqn %x: consumer index %u, producer index %u", lane->number,
			    job->consumer_index, eqc_get_producer_index(eqc));
		goto end;
	}
	eqc_set_consumer_index(eqc, job->consumer_index);
	if (job->arm && eqc_get_state(eqc) != EQ_STATE_ALWAYS_ARMED) {
		eqc_set_state(eqc, waiting ? EQ_STATE_FIRED : EQ_STATE_ARMED);
		if (waiting)
			interrupt_raise(hca, eqc_get_intr(eqc));
	}
	context_changed(hca, CONTEXT_EQ, lane->number);
end:
	job_end(hca, job);
	return 0;
}

static int job_step(struct object_lane *lane, struct object_lane_job *link)
{
	struct eq_job *job = (struct eq_job *)(void *)link;

	return job->is_doorbell ? doorbell_step(lane, job) : eqe_step(lane, job);
}

/* --- for the other stages --- */

void event_queue_map(struct hca *hca, uint8_t type, uint32_t eqn, bool valid)
{
	hca->event_queue->routes[type].valid = valid;
	hca->event_queue->routes[type].eqn = eqn;
}

void event_queue_post(struct hca *hca, const struct eqe *eqe, void (*done)(void *arg), void *arg)
{
	struct event_queue *eq = hca->event_queue;
	unsigned type = eqe_get_type(eqe);
	struct eq_job *job;

	if (!eq->routes[type].valid) {
		if (type == EVENT_CMD)
			guest_error(hca, RULE_command_sequence, guest_object(GUEST_NONE, 0),
				    "a command is to be answered by an event, and no EQ takes "
				    "events of commands (MAP_EQ)");
		if (done)
			done(arg);
		return;
	}
	job = job_take(hca);
	job->is_doorbell = false;
	job->eqe = *eqe;
	job->done = done;
	job->arg = arg;
	job_queue(hca, eq->routes[type].eqn, job);
}

void event_queue_completion(struct hca *hca, uint32_t eqn, uint32_t cqn)
{
	struct eq_job *job = job_take(hca);

	job->is_doorbell = false;
	memset(&job->eqe, 0, sizeof(job->eqe));
	eqe_set_type(&job->eqe, EVENT_COMP);
	eqe_cq_set_cqn(eqe_as_cq(&job->eqe), cqn);
	job_queue(hca, eqn, job);
}

void event_queue_qp(struct hca *hca, uint8_t type, uint32_t qpn)
{
	struct eqe eqe = {{0}};

	eqe_set_type(&eqe, type);
	eqe_qp_set_qpn(eqe_as_qp(&eqe), qpn);
	event_queue_post(hca, &eqe, NULL, NULL);
}

void event_queue_doorbell(struct hca *hca, uint32_t eqn, uint32_t consumer_index, bool arm)
{
	struct eq_job *job = job_take(hca);

	job->is_doorbell = true;
	job->consumer_index = consumer_index & QUEUE_INDEX_MASK;
	job->arm = arm;
	job_queue(hca, eqn, job);
}

static bool any_job(const struct object_lane_job *link, uint32_t key)
{
	return true;
}

static void job_drop(struct hca *hca, struct object_lane_job *link)
{
	job_end(hca, (struct eq_job *)(void *)link);
}

void event_queue_forget(struct hca *hca, uint32_t eqn)
{
	struct object_lane *lane = lane_find(&hca->event_queue->lanes, eqn);

	if (!lane)
		return;
	lane_filter(lane, any_job, 0, job_drop);
	lane_run(lane);
}
