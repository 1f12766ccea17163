/* SPDX-License-Identifier: Apache-2.0 */
/* Consumer index, arming, moderation and completion events of a CQ: see cqe_write.h. Calls
 * event_queue. */
#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cq_impl.h"
#include "model/engine/complete/event_queue.h"
#include "model/interface/macros.h"

enum { PERIOD_UNIT_PS = 1000000 }; /* the unit of the context's period: 1 us */

int cq_context(struct object_lane *lane, struct cqc **cqc, const char *why)
{
	struct hca *hca = lane->hca;
	void *bytes;
	int rc = -ENOENT;

	if (lane->number < UINT32_C(1) << (hca->tables[FW_TABLE_CQC].log_num & 31))
		rc = context_get(hca, CONTEXT_CQ, lane->number, &lane->waiter, &bytes, why);
	if (!rc)
		*cqc = bytes;
	return rc;
}

static uint32_t entries_to(const struct cqc *cqc, uint32_t index)
{
	return (index - cqc_get_consumer_index(cqc)) & QUEUE_INDEX_MASK;
}

/* Stores a consumer index that software gives, unless it is beyond the producer index. */
bool cq_consumer_index_take(struct object_lane *lane, struct cqc *cqc, uint32_t ci,
			    const char *from)
{
	const uint32_t pi = cqc_get_producer_index(cqc);

	if (((pi - ci) & QUEUE_INDEX_MASK) > cq_size(cqc) && !cqc_get_ignore_overrun(cqc)) {
		guest_error(lane->hca, RULE_cq_consumer_index, guest_object(GUEST_CQ, lane->number),
			    "cqn %x: consumer index %u in the %s, producer index %u", lane->number,
			    ci, from, pi);
		return false;
	}
	cqc_set_consumer_index(cqc, ci);
	/* These two indices must stay between consumer and producer index. One that fell behind the
	 * consumer index would seem to be ahead of it when the indices wrap. */
	if (entries_to(cqc, cqc_get_solicit_pi(cqc)) > cq_entries_used(cqc))
		cqc_set_solicit_pi(cqc, ci);
	if (entries_to(cqc, cqc_get_last_notified(cqc)) > cq_entries_used(cqc))
		cqc_set_last_notified(cqc, ci);
	context_changed(lane->hca, CONTEXT_CQ, lane->number);
	return true;
}

/* --- completion events --- */

static void period_stop(struct cq_lane *cl)
{
	cl->moderated = 0;
	if (!event_is_set(&cl->period))
		return;
	event_cancel(cl->lane.hca->core, &cl->period);
	cl->lane.holds--;
}

static void fire(struct object_lane *lane, struct cqc *cqc)
{
	struct hca *hca = lane->hca;

	period_stop((struct cq_lane *)(void *)lane);
	cqc_set_state(cqc, CQ_STATE_FIRED);
	cqc_set_last_notified(cqc, cqc_get_producer_index(cqc));
	context_changed(hca, CONTEXT_CQ, lane->number);
	event_queue_completion(hca, cqc_get_comp_eqn(cqc), lane->number);
}

static void period_over(struct event *ev)
{
	struct cq_lane *cl = container_of(ev, struct cq_lane, period);
	struct hca *hca = cl->lane.hca;

	cl->lane.holds--;
	cq_job_queue(hca, cl->lane.number, cq_job_take(hca, JOB_EVENT));
}

bool cq_is_armed(const struct cqc *cqc, bool solicited)
{
	const unsigned state = cqc_get_state(cqc);

	return state == CQ_STATE_ARMED || (state == CQ_STATE_ARMED_SOLICITED && solicited);
}

/* A CQE that the CQ is armed for has been sent. Makes an event now, or with moderation when there
 * are enough CQEs. */
void cq_moderate(struct object_lane *lane, struct cqc *cqc)
{
	struct cq_lane *cl = (struct cq_lane *)(void *)lane;
	const uint32_t period = cqc_get_period(cqc), count = cqc_get_max_count(cqc);

	cl->moderated++;
	if (!period || (count && cl->moderated >= count)) {
		fire(lane, cqc);
		return;
	}
	if (event_is_set(&cl->period))
		return;
	lane->holds++;
	cl->period.job = period_over;
	event_set(lane->hca->core, &cl->period,
		  hca_now(lane->hca) + (uint64_t)period * PERIOD_UNIT_PS);
}

int cq_event_step(struct object_lane *lane, struct cq_job *job)
{
	struct cqc *cqc;
	int rc = cq_context(lane, &cqc, "moderation");

	if (rc == -EAGAIN)
		return rc;
	/* The counted CQEs satisfied the arm request when they came. Later CQEs, solicited or not,
	 * do not change that. */
	if (!rc && ((struct cq_lane *)(void *)lane)->moderated && cq_is_armed(cqc, true))
		fire(lane, cqc);
	cq_job_give(lane->hca, job);
	return 0;
}

/* --- arming --- */

/*
 * Whether a CQE of the wanted kind has come since the last event and has not been polled. A CQE
 * that an event has already announced does not make a second event. Some software arms before it
 * polls (ib_send_lat -e of perftest), and expects that each event announces something new.
 *
 * Sources: IBA 11.4.2.2 (CQEs that exist at the request make no event); ibv_req_notify_cq(3); the
 * context's field last_notified_index, which can have no other use. Linux's mlx4 expects an event
 * for a CQE that came between the last event and the request: its ib_req_notify_cq() never reports
 * missed events.
 */
static bool completion_waits(const struct cqc *cqc, unsigned cmd)
{
	const uint32_t end =
		cmd == CQ_ARM_SOLICITED ? cqc_get_solicit_pi(cqc) : cqc_get_producer_index(cqc);

	return entries_to(cqc, end) > entries_to(cqc, cqc_get_last_notified(cqc));
}

/*
 * Whether the doorbell's consumer index is so old that more than a whole queue of CQEs has come
 * since. This happens when one processor rings the doorbell while another one polls. There were
 * completions beyond that index, so the request makes an event at once.
 */
static bool arm_is_late(const struct cqc *cqc, uint32_t ci)
{
	const uint32_t behind = (cqc_get_producer_index(cqc) - ci) & QUEUE_INDEX_MASK;

	return behind > cq_size(cqc) && behind <= QUEUE_INDEX_MASK / 2;
}

/*
 * Software may arm while another processor polls and has not stored the new index yet. And a CQE that
 * ends a resize is taken without a store: Linux mlx4_ib_poll_one. So one doorbell whose index is ahead
 * of the record is no error. A record that does not move until the next one is an error.
 */
static void record_moves(struct object_lane *lane, uint32_t ci, uint32_t record_ci)
{
	struct cq_armed *newest = cq_armed_newest(lane->hca, lane->number);
	const uint32_t by = (ci - record_ci) & QUEUE_INDEX_MASK;
	const bool ahead = by > 1 && by <= QUEUE_INDEX_MASK / 2;

	if (ahead && newest->ahead && ci != newest->armed_ci && record_ci == newest->record_ci)
		guest_error(lane->hca, RULE_cq_record_stale, guest_object(GUEST_CQ, lane->number),
			    "cqn %x is armed with index %u; its record has index %u, as at the "
			    "doorbell before",
			    lane->number, ci, record_ci);
	newest->ahead = ahead;
	newest->armed_ci = ci;
	newest->record_ci = record_ci;
}

/*
 * Compares the doorbell with the record in memory, without taking time. The record may be of a later
 * request, whose doorbell is still on its way: then its index is ahead, or its sequence number is
 * another one, or it is for solicited completions only. The doorbell of that request comes then, so
 * two doorbells for all completions in a row with such a record are an error.
 */
static void arm_compare(struct object_lane *lane, const struct cq_job *job, const struct cqc *cqc)
{
	struct hca *hca = lane->hca;
	struct cq_armed *newest = cq_armed_newest(hca, lane->number);
	const bool weaker_before = newest->weaker;
	struct cq_dbrec rec;
	uint32_t ahead;
	bool same;

	if (hca->env.dma_read(hca->env.ctx, cqc_get_db_rec_addr(cqc), rec.b, sizeof(rec)))
		return;
	record_moves(lane, job->consumer_index, cq_dbrec_get_set_ci(&rec));
	ahead = (cq_dbrec_get_arm_ci(&rec) - job->consumer_index) & QUEUE_INDEX_MASK;
	same = !ahead && cq_dbrec_get_arm_sn(&rec) == job->arm_sn;
	newest->weaker = same && job->arm_cmd == CQ_ARM_NEXT &&
			 cq_dbrec_get_arm_cmd(&rec) == CQ_ARM_SOLICITED;
	if (ahead <= QUEUE_INDEX_MASK / 2 && (!same || cq_dbrec_get_arm_cmd(&rec) >= job->arm_cmd ||
					      (newest->weaker && !weaker_before)))
		return;
	guest_error(hca, RULE_arm_record, guest_object(GUEST_CQ, lane->number),
		    "cqn %x: doorbell sequence %u command %u index %u; record sequence %u "
		    "command %u index %u",
		    lane->number, job->arm_sn, job->arm_cmd, job->consumer_index,
		    cq_dbrec_get_arm_sn(&rec), cq_dbrec_get_arm_cmd(&rec),
		    cq_dbrec_get_arm_ci(&rec));
}

static void arm(struct object_lane *lane, struct cq_job *job, struct cqc *cqc)
{
	struct hca *hca = lane->hca;
	const bool late = arm_is_late(cqc, job->consumer_index);

	if (job->uar != cqc_get_usr_page(cqc)) {
		guest_error(hca, RULE_doorbell_wrong_uar, guest_object(GUEST_CQ, lane->number),
			    "cqn %x armed through uar page %u, its own is %u", lane->number,
			    job->uar, cqc_get_usr_page(cqc));
		return;
	}
	arm_compare(lane, job, cqc);
	if (!late && !cq_consumer_index_take(lane, cqc, job->consumer_index, "arm doorbell"))
		return;
	if (job->arm_cmd != CQ_ARM_SOLICITED && job->arm_cmd != CQ_ARM_NEXT)
		return;
	if (late || completion_waits(cqc, job->arm_cmd)) {
		fire(lane, cqc);
		return;
	}
	/* IBA 11.4.2.2: a request for solicited completions does not replace one for any
	 * completion. */
	if (job->arm_cmd == CQ_ARM_NEXT)
		cqc_set_state(cqc, CQ_STATE_ARMED);
	else if (cqc_get_state(cqc) != CQ_STATE_ARMED)
		cqc_set_state(cqc, CQ_STATE_ARMED_SOLICITED);
	context_changed(hca, CONTEXT_CQ, lane->number);
}

int cq_arm_step(struct object_lane *lane, struct cq_job *job)
{
	struct hca *hca = lane->hca;
	struct cqc *cqc;
	int rc = cq_context(lane, &cqc, "arm doorbell");

	if (rc == -EAGAIN)
		return rc;
	if (rc == -ENOENT)
		guest_error(hca, RULE_object_dead, guest_object(GUEST_CQ, lane->number),
			    "arm doorbell for cqn %x, which is not valid", lane->number);
	if (!rc)
		arm(lane, job, cqc);
	cq_job_give(hca, job);
	return 0;
}
