/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See retry.h. QPs with a timer stand in a binary heap. A QP keeps its place there when its
 * deadline moves later or its timer stops, so an ACK costs one store. When the old deadline comes,
 * the QP moves to the place of its new deadline, or leaves the heap.
 */
#include "model/engine/send/retry.h"

#include "model/engine/wire/psn.h"
#include "model/engine/qp/qp_send_states.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/requester.h"
#include "model/engine/send/scheduler.h"
#include "model/interface/macros.h"
#include "model/interface/syndromes.h"
#include "model/sim/params/hca_retry.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 32 };

struct retry_timer {
	uint64_t key_ps; /* not later than the QP's deadline */
	struct qp *qp;
};

struct retry {
	struct hca *hca;
	struct event ev;
	struct retry_timer *heap;
	uint32_t count, room;
};

/* --- heap --- */

static void retry_heap_place(struct retry *retry, uint32_t i, struct retry_timer t)
{
	retry->heap[i] = t;
	t.qp->send.heap_slot = i + 1;
}

static void retry_heap_sift_up(struct retry *retry, uint32_t i, struct retry_timer t)
{
	while (i && t.key_ps < retry->heap[(i - 1) / 2].key_ps) {
		retry_heap_place(retry, i, retry->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	retry_heap_place(retry, i, t);
}

static void retry_heap_sift_down(struct retry *retry, uint32_t i, struct retry_timer t)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= retry->count)
			break;
		if (child + 1 < retry->count &&
		    retry->heap[child + 1].key_ps < retry->heap[child].key_ps)
			child++;
		if (t.key_ps <= retry->heap[child].key_ps)
			break;
		retry_heap_place(retry, i, retry->heap[child]);
		i = child;
	}
	retry_heap_place(retry, i, t);
}

static void retry_heap_insert(struct retry *retry, struct retry_timer t)
{
	if (retry->count == retry->room) {
		uint32_t room = retry->room ? retry->room * 2 : FIRST_ROOM;
		struct retry_timer *heap = memory_take(retry->hca, room * sizeof(*heap), "timers");

		if (retry->count)
			memcpy(heap, retry->heap, retry->count * sizeof(*heap));
		memory_give(retry->hca, retry->heap, retry->room * sizeof(*heap));
		retry->heap = heap;
		retry->room = room;
	}
	retry_heap_sift_up(retry, retry->count++, t);
}

static void retry_heap_remove(struct retry *retry, uint32_t i)
{
	struct retry_timer last = retry->heap[--retry->count];

	retry->heap[i].qp->send.heap_slot = 0;
	if (i == retry->count)
		return;
	if (i && last.key_ps < retry->heap[(i - 1) / 2].key_ps)
		retry_heap_sift_up(retry, i, last);
	else
		retry_heap_sift_down(retry, i, last);
}

static void retry_event_set(struct retry *retry)
{
	if (!retry->count)
		event_cancel(retry->hca->core, &retry->ev);
	else if (!event_is_set(&retry->ev) || retry->ev.at_ps != retry->heap[0].key_ps)
		event_set(retry->hca->core, &retry->ev, retry->heap[0].key_ps);
}

static void retry_expire(struct event *ev)
{
	struct retry *retry = container_of(ev, struct retry, ev);
	uint64_t now = hca_now(retry->hca);

	while (retry->count && retry->heap[0].key_ps <= now) {
		struct retry_timer t = retry->heap[0];

		if (t.qp->send.deadline_ps > now && t.qp->send.deadline_ps != EVENT_NEVER) {
			t.key_ps = t.qp->send.deadline_ps;
			retry_heap_sift_down(retry, 0, t);
			continue;
		}
		retry_heap_remove(retry, 0);
		if (t.qp->send.deadline_ps == EVENT_NEVER)
			continue;
		t.qp->send.deadline_ps = EVENT_NEVER;
		HCA_TRACE(retry->hca, TP_TIMER_EXPIRE, .qpn = t.qp->qpn,
			  .text = send_mode_is_rnr(&t.qp->send) ? "rnr" : "ack");
		requester_timeout(t.qp);
	}
	retry_event_set(retry);
}

/* --- interface --- */

struct retry *retry_create(struct hca *hca)
{
	struct retry *retry = memory_create(1, sizeof(*retry), "timers");

	retry->hca = hca;
	retry->ev.job = retry_expire;
	return retry;
}

void retry_destroy(struct retry *retry)
{
	if (!retry)
		return;
	event_cancel(retry->hca->core, &retry->ev);
	free(retry->heap);
	free(retry);
}

void retry_reset(struct hca *hca)
{
	struct retry *retry = hca->retry;

	event_cancel(hca->core, &retry->ev);
	for (uint32_t i = 0; i < retry->count; i++)
		retry->heap[i].qp->send.heap_slot = 0;
	retry->count = 0;
}

size_t retry_footprint(const struct hca *hca)
{
	return sizeof(*hca->retry) + hca->retry->room * sizeof(*hca->retry->heap);
}

void retry_set_deadline(struct qp *qp, uint64_t deadline_ps)
{
	struct retry *retry = qp->hca->retry;
	uint32_t slot = qp->send.heap_slot;
	struct retry_timer t = {deadline_ps, qp};

	if (qp->send.deadline_ps == EVENT_NEVER && deadline_ps != EVENT_NEVER)
		HCA_TRACE(qp->hca, TP_TIMER_START, .qpn = qp->qpn,
			  .text = send_mode_is_rnr(&qp->send) ? "rnr" : "ack",
			  .args = {deadline_ps});
	qp->send.deadline_ps = deadline_ps;
	if (deadline_ps == EVENT_NEVER || (slot && retry->heap[slot - 1].key_ps <= deadline_ps))
		return;
	if (slot)
		retry_heap_sift_up(retry, slot - 1, t);
	else
		retry_heap_insert(retry, t);
	retry_event_set(retry);
}

void retry_forget(struct qp *qp)
{
	struct retry *retry = qp->hca->retry;

	qp->send.deadline_ps = EVENT_NEVER;
	if (!qp->send.heap_slot)
		return;
	retry_heap_remove(retry, qp->send.heap_slot - 1);
	if (!retry->count)
		event_cancel(qp->hca->core, &retry->ev);
}

uint64_t retry_ack_timeout_ps(const struct hca *hca, const struct qpc *qpc)
{
	uint32_t code = qp_path_get_ack_timeout(qpc_primary_const(qpc));

	if (!code)
		return EVENT_NEVER;
	if (code < param_retry_min_code(hca->params))
		code = (uint32_t)param_retry_min_code(hca->params);
	return ack_timeout_ps(code) * param_retry_ack_timeout_multiplier(hca->params);
}

uint64_t retry_rnr_ps(const struct hca *hca, unsigned code)
{
	const struct hca_params *p = hca->params;
	uint64_t ps = param_retry_rnr_power(p)
			      ? rnr_timer_power_ps(code, (unsigned)param_retry_rnr_power(p))
			      : rnr_timer_ps(code);

	return ps > param_retry_rnr_floor(hca->params) ? ps : param_retry_rnr_floor(hca->params);
}

void retry_rewind(struct qp *qp, uint32_t psn)
{
	struct qp_send *send = &qp->send;

	send->send_psn = psn;
	send->cursor_verdict = 0;
	send->cursor_packet = 0;
	send->cursor = send->next;
	/* psn may also be max_psn; if that lies within a message, sending goes on within it */
	for (uint16_t i = send->oldest; i != send->next; i++) {
		const struct send_wqe *wqe = &send->window[i % SEND_WINDOW];
		uint32_t ahead = psn_ahead(psn, wqe->first_psn);

		if (wqe->flags & SEND_LOCAL ||
		    ahead >= psn_packets(wqe->flags & SEND_ATOMIC ? 0 : wqe->bytes, send->log_mtu))
			continue;
		send->cursor = i;
		send->cursor_packet = ahead;
		return;
	}
}
