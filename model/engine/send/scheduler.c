/* SPDX-License-Identifier: Apache-2.0 */
/* See scheduler.h. */
#include "model/engine/send/scheduler.h"

#include "model/engine/memory/context_cache.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/qp/qp_send_states.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/requester.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"
#include "model/interface/wire.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_requester.h"
#include "model/sim/params/hca_scheduler.h"

#include <stdlib.h>
#include <string.h>

/* The lane of a QP that has not sent yet is not known. */
enum { LANE_UNKNOWN = VL_MANAGEMENT + 1, LANES };

#define DATA_LANES ((1u << VL_MANAGEMENT) - 1)

struct ring {
	struct qp *first, *last;
	/* A set: the known lanes of its QPs, and perhaps lanes that had QPs lately. A lane whose only QP is
	 * at a unit stays until the arbiter looks, because that QP may come back. */
	uint16_t lanes;
	unsigned of_lane[LANES]; /* how many QPs each lane has */
	bool arbitrates;         /* it has had QPs of several data lanes at once */
};

struct unit {
	struct event ev;
	struct scheduler *scheduler;
	struct qp *qp;  /* the QP whose turn it is */
	bool held_back; /* waits for a port or for payload reads */
	bool stalled;   /* waits for the context of its QP, since stalled_ps */
	uint64_t stalled_ps;
	uint8_t next_port;
	unsigned packets; /* at most in this turn */
	/* what the turn sends, if that uses up weight of its lane: &sent, or NULL */
	unsigned *counts;
	unsigned sent;
};

struct scheduler {
	struct hca *hca;
	struct ring rings[HCA_MAX_PORTS];
	unsigned n_units;
	int dmas;
	bool owed[HCA_MAX_PORTS]; /* a READ response has left, so a request may follow it */
	struct unit *units;
	uint16_t *doorbells; /* of each QP since RESET, by QPN modulo their number */
	uint32_t qp_mask;
};

static void unit_job(struct event *ev);

struct scheduler *scheduler_create(struct hca *hca)
{
	struct scheduler *s = memory_create(1, sizeof(*s), "a scheduler");

	s->hca = hca;
	s->n_units = (unsigned)param_requester_units(hca->params);
	s->units = memory_create(s->n_units, sizeof(*s->units), "a scheduler");
	s->qp_mask = (UINT32_C(1) << param_hca_log_max_qp(hca->params)) - 1;
	s->doorbells = memory_create(s->qp_mask + 1, sizeof(*s->doorbells), "a scheduler");
	for (unsigned i = 0; i < s->n_units; i++) {
		s->units[i].scheduler = s;
		s->units[i].ev.job = unit_job;
	}
	return s;
}

void scheduler_destroy(struct scheduler *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n_units; i++)
		event_cancel(s->hca->core, &s->units[i].ev);
	free(s->units);
	free(s->doorbells);
	free(s);
}

void scheduler_reset(struct hca *hca)
{
	struct scheduler *s = hca->scheduler;

	for (unsigned i = 0; i < s->n_units; i++) {
		event_cancel(hca->core, &s->units[i].ev);
		if (s->units[i].qp)
			s->units[i].qp->send.turn = TURN_NONE;
		s->units[i].qp = NULL;
		s->units[i].held_back = s->units[i].stalled = false;
	}
	for (unsigned p = 0; p < HCA_MAX_PORTS; p++) {
		for (struct qp *qp = s->rings[p].first; qp; qp = qp->send.ring_next)
			qp->send.turn = TURN_NONE;
		s->rings[p] = (struct ring){0};
	}
	s->dmas = 0;
	memset(s->owed, 0, sizeof(s->owed));
}

/* --- rings --- */

static bool several(unsigned lanes)
{
	return lanes & (lanes - 1);
}

static struct ring *ring_of(struct scheduler *s, const struct qp *qp)
{
	return &s->rings[qp->send.port ? qp->send.port - 1 : 0];
}

static unsigned lane_of(const struct qp *qp)
{
	return qp->send.lane ? qp->send.lane - 1 : LANE_UNKNOWN;
}

/* How long the lane needs for what it has to send. A QP whose lane is not known waits for no credits,
 * like one of VL 15, which has no flow control: it waits only for what all lanes wait for. */
static uint64_t backlog_of_lane(const struct scheduler *s, const struct ring *ring, unsigned lane)
{
	return link_port_backlog_ps(s->hca, (unsigned)(ring - s->rings) + 1,
				    lane == LANE_UNKNOWN ? VL_MANAGEMENT : lane);
}

/* A connected QP that has not sent yet gets its lane from its context, if the chip has it. */
static void __attribute__((noinline)) lane_find(struct qp *qp)
{
	const struct qpc *qpc = context_peek(qp->hca, CONTEXT_REQUESTER, qp->qpn);
	const struct qp_path *path;
	const struct port_config *port;
	unsigned service;

	if (!qpc)
		return;
	service = qpc_get_service(qpc);
	if (service == QP_ST_UD || service == QP_ST_MLX)
		return;
	path = qpc_primary_const(qpc);
	port = link_port_config(qp->hca, qp_path_get_port(path) + 1u);
	if (!port->eth)
		qp->send.lane = (uint8_t)(port->sl2vl[qp_path_get_sl(path)] + 1);
}

static struct port_config *port_of_ring(const struct scheduler *s, const struct ring *ring)
{
	return link_port_config(s->hca, (unsigned)(ring - s->rings) + 1);
}

static unsigned ring_length(const struct ring *ring)
{
	unsigned n = 0;

	for (const struct qp *qp = ring->first; qp; qp = qp->send.ring_next)
		n++;
	return n;
}

/* A function of its own: the ring is counted only when the record is wanted. */
static void __attribute__((noinline)) ring_trace(struct scheduler *s, const struct ring *ring)
{
	HCA_TRACE(s->hca, TP_SCHED_QUEUE, .port = (uint8_t)(ring - s->rings + 1),
		  .args = {ring_length(ring)});
}

static void ring_add(struct scheduler *s, struct qp *qp)
{
	struct ring *ring = ring_of(s, qp);
	unsigned lane;

	if (ring->arbitrates && !qp->send.lane)
		lane_find(qp);
	lane = lane_of(qp);
	qp->send.turn = TURN_RING;
	qp->send.ring_next = NULL;
	if (ring->last)
		ring->last->send.ring_next = qp;
	else
		ring->first = qp;
	ring->last = qp;
	ring->lanes |= (uint16_t)(1u << lane);
	ring->of_lane[lane]++;
	if (hca_traces(s->hca, TP_SCHED_QUEUE))
		ring_trace(s, ring);
}

static struct qp *ring_take(struct ring *ring)
{
	struct qp *qp = ring->first;

	ring->first = qp->send.ring_next;
	if (!ring->first)
		ring->last = NULL;
	ring->of_lane[lane_of(qp)]--;
	return qp;
}

static void ring_remove(struct ring *ring, struct qp *qp)
{
	struct qp *before = NULL;

	for (struct qp *at = ring->first; at; before = at, at = at->send.ring_next) {
		if (at != qp)
			continue;
		if (before)
			before->send.ring_next = qp->send.ring_next;
		else
			ring->first = qp->send.ring_next;
		if (ring->last == qp)
			ring->last = before;
		ring->of_lane[lane_of(qp)]--;
		return;
	}
}

/* --- units --- */

/* Lets one unit look at the rings: one that has nothing to do or waits for a port. */
static void unit_wake(struct scheduler *s)
{
	uint64_t at = hca_now(s->hca) + param_scheduler_latency(s->hca->params);

	for (unsigned i = 0; i < s->n_units; i++) {
		struct unit *unit = &s->units[i];

		if (unit->qp || (event_is_set(&unit->ev) && !unit->held_back))
			continue;
		if (event_is_set(&unit->ev) && unit->ev.at_ps <= at)
			continue;
		unit->held_back = false;
		event_set(s->hca->core, &unit->ev, at);
		return;
	}
}

bool scheduler_reads_full(const struct hca *hca)
{
	const struct scheduler *s = hca->scheduler;

	return s->dmas >= (int)(param_requester_inflight(s->hca->params) * s->n_units);
}

/* Lanes of the QPs that units work on, if they are known. Those that wait for a context send nothing now. */
static unsigned lanes_at_units(struct scheduler *s, const struct ring *ring)
{
	unsigned lanes = 0;

	for (unsigned i = 0; i < s->n_units; i++) {
		const struct unit *unit = &s->units[i];

		if (unit->qp && !unit->stalled && ring_of(s, unit->qp) == ring)
			lanes |= 1u << lane_of(unit->qp);
	}
	return lanes & ~(1u << LANE_UNKNOWN);
}

/* Lanes of the ring that have room. *backlog is the least of all its lanes. */
static unsigned lanes_with_room(const struct scheduler *s, const struct ring *ring,
				uint64_t *backlog)
{
	const uint64_t window = param_link_tx_window(s->hca->params);
	unsigned has_room = 0;

	for (unsigned rest = ring->lanes | 1u << LANE_UNKNOWN; rest; rest &= rest - 1) {
		const unsigned lane = (unsigned)__builtin_ctz(rest);
		uint64_t of_lane;

		if (!ring->of_lane[lane])
			continue;
		of_lane = backlog_of_lane(s, ring, lane);
		if (of_lane <= window)
			has_room |= 1u << lane;
		if (*backlog > of_lane)
			*backlog = of_lane;
	}
	return has_room;
}

/* How many packets of the QP fit into so many units; the last one need not. */
static unsigned packets_of_units(const struct qp *qp, unsigned units, unsigned most)
{
	const unsigned packet = vl_units(1u << qp->send.log_mtu);
	const unsigned n = units / packet + (units % packet != 0);

	return !qp->send.loaded ? 1 : n < most ? n : most;
}

/*
 * QPs of several data lanes, or management, want to send: the arbiter of the port chooses the lanes. It
 * may choose one whose only QP is at a unit. The others then wait for the end of that turn, but no
 * longer than the link has something to send; 0 is returned, and *wait_ps is that time.
 */
static unsigned lanes_arbitrate(struct scheduler *s, struct ring *ring, unsigned has_room,
				unsigned at_units, unsigned *units, uint64_t *wait_ps)
{
	unsigned chosen;

	*wait_ps = backlog_of_lane(s, ring, VL_MANAGEMENT);
	*units = 1;
	if (!(has_room >> VL_MANAGEMENT & 1) && has_room >> LANE_UNKNOWN & 1)
		return 1u << LANE_UNKNOWN; /* its first packet tells its lane */
	chosen = vl_arbiter_choose(&port_of_ring(s, ring)->arbiter,
				   has_room | (*wait_ps ? at_units & DATA_LANES : 0), units);
	return chosen & has_room;
}

/* Leaves in the set the lanes that the ring has now, and those of units. */
static void lanes_now(struct ring *ring, unsigned at_units)
{
	for (unsigned rest = ring->lanes & ~at_units; rest; rest &= rest - 1)
		if (!ring->of_lane[__builtin_ctz(rest)])
			ring->lanes &= (uint16_t) ~(1u << __builtin_ctz(rest));
	ring->lanes |= (uint16_t)at_units;
}

/* The ring may have several lanes. Takes the first QP of those that may send now. NULL: none;
 * *backlog is more than the parameter link.tx_window, by the time until the next look. */
static struct qp *__attribute__((noinline))
ring_take_by_lane(struct unit *unit, struct ring *ring, uint64_t *backlog)
{
	struct scheduler *s = unit->scheduler;
	unsigned lanes, units = 0, at_units = 0;
	uint64_t wait_ps;
	bool counted;

	if (several(ring->lanes)) {
		at_units = lanes_at_units(s, ring);
		lanes_now(ring, at_units);
	}
	lanes = lanes_with_room(s, ring, backlog);
	if (!lanes)
		return NULL;
	counted = several(ring->lanes & DATA_LANES) && !port_of_ring(s, ring)->eth;
	ring->arbitrates |= counted;
	if (counted || (lanes >> VL_MANAGEMENT & 1)) {
		lanes = lanes_arbitrate(s, ring, lanes, at_units, &units, &wait_ps);
		*backlog = param_link_tx_window(s->hca->params) + wait_ps;
	}
	for (struct qp *qp = ring->first; lanes && qp; qp = qp->send.ring_next) {
		if (!(lanes >> lane_of(qp) & 1))
			continue;
		ring_remove(ring, qp);
		if (counted) {
			unit->packets = packets_of_units(qp, units, unit->packets);
			unit->counts = &unit->sent;
			unit->sent = 0;
		}
		return qp;
	}
	return NULL;
}

/* Takes the next QP whose port and lane have room; ports take turns. Where the first one of a ring has a
 * lane that is not known, and no room, no other has room. NULL: none; *again_ps is when to look again,
 * EVENT_NEVER: when something happens. */
static struct qp *unit_pick(struct unit *unit, uint64_t *again_ps)
{
	struct scheduler *s = unit->scheduler;
	uint64_t window = param_link_tx_window(s->hca->params);

	*again_ps = EVENT_NEVER;
	unit->counts = NULL;
	if (scheduler_reads_full(s->hca))
		return NULL;
	for (unsigned n = 0; n < HCA_MAX_PORTS; n++) {
		unsigned p = (unit->next_port + n) % HCA_MAX_PORTS;
		struct ring *ring = &s->rings[p];
		struct qp *qp = NULL;
		uint64_t backlog;

		if (!ring->first)
			continue;
		unit->packets = (unsigned)param_scheduler_burst(s->hca->params);
		backlog = backlog_of_lane(s, ring, lane_of(ring->first));
		if (several(ring->lanes))
			qp = ring_take_by_lane(unit, ring, &backlog);
		else if (backlog <= window)
			qp = ring_take(ring);
		else if (ring->of_lane[LANE_UNKNOWN] && lane_of(ring->first) != LANE_UNKNOWN)
			qp = ring_take_by_lane(unit, ring, &backlog);
		if (!qp && s->owed[p]) {
			qp = ring_take(ring);
			unit->packets = 1;
		}
		if (qp) {
			s->owed[p] = false;
			unit->next_port = (uint8_t)((p + 1) % HCA_MAX_PORTS);
			return qp;
		}
		if (hca_now(s->hca) + backlog - window < *again_ps)
			*again_ps = hca_now(s->hca) + backlog - window;
	}
	return NULL;
}

static bool rings_empty(const struct scheduler *s)
{
	for (unsigned p = 0; p < HCA_MAX_PORTS; p++)
		if (s->rings[p].first)
			return false;
	return true;
}

static void __attribute__((noinline))
unit_trace_turn(const struct unit *unit, const struct qp *qp, uint16_t from, uint64_t busy)
{
	const struct scheduler *s = unit->scheduler;

	HCA_TRACE(s->hca, TP_UNIT_RUN, .qpn = qp->qpn, .corr = from,
		  .args = {hca_now(s->hca) + busy, (uint64_t)(unit - s->units), qp->send.cursor,
			   qp->send.send_psn});
}

static void unit_job(struct event *ev)
{
	struct unit *unit = container_of(ev, struct unit, ev);
	struct scheduler *s = unit->scheduler;
	struct qp *qp = unit->qp;
	uint64_t rings_again_ps, qp_again_ps, busy;
	uint16_t from;

	/* The context is there, but no payload read may be made now: the QP waits in the ring. */
	if (qp && (!unit->stalled || scheduler_reads_full(s->hca))) {
		ring_add(s, qp);
		qp = NULL;
	}
	unit->held_back = unit->stalled = false;
	unit->qp = NULL;
	for (; qp || (qp = unit_pick(unit, &rings_again_ps)); qp = NULL) {
		qp->send.turn = TURN_RUNNING;
		unit->qp = qp;
		if (hca_traces(s->hca, TP_SCHED_QUEUE))
			ring_trace(s, ring_of(s, qp));
		HCA_TRACE(s->hca, TP_SCHED_PICK, .qpn = qp->qpn, .corr = qp->send.cursor,
			  .args = {qp->send.next});
		from = qp->send.cursor;
		busy = requester_run(qp, hca_now(s->hca), unit->packets, unit->counts,
				     &qp_again_ps);
		if (unit->counts && unit->sent)
			vl_arbiter_sent(&port_of_ring(s, ring_of(s, qp))->arbiter, lane_of(qp),
					unit->sent);
		if (busy) {
			if (hca_traces(s->hca, TP_UNIT_RUN))
				unit_trace_turn(unit, qp, from, busy);
			event_set(s->hca->core, &unit->ev, hca_now(s->hca) + busy);
			return;
		}
		if (qp->send.state == SEND_WAIT_CONTEXT) {
			unit->stalled = true;
			unit->stalled_ps = hca_now(s->hca);
			s->hca->stats.scheduler_stalls++;
			return;
		}
		unit->qp = NULL;
		if (qp->send.turn == TURN_AGAIN) {
			ring_add(s, qp);
			continue;
		}
		qp->send.turn = TURN_NONE;
		if (qp_again_ps != EVENT_NEVER)
			scheduler_ready(qp, qp_again_ps);
		qp_settle(qp);
	}
	if (rings_empty(s))
		return;
	unit->held_back = true;
	if (rings_again_ps != EVENT_NEVER)
		event_set(s->hca->core, &unit->ev, rings_again_ps);
}

/* --- interface --- */

static void scheduler_timer_job(struct event *ev)
{
	struct qp_send *send = container_of(ev, struct qp_send, timer);

	send->turn = TURN_NONE;
	scheduler_ready(qp_of_send(send), 0);
}

void scheduler_ready(struct qp *qp, uint64_t earliest_ps)
{
	struct scheduler *s = qp->hca->scheduler;
	struct qp_send *send = &qp->send;

	if (send->turn == TURN_RUNNING)
		send->turn = TURN_AGAIN;
	if (send->turn == TURN_RING || send->turn == TURN_AGAIN)
		return;
	if (earliest_ps > hca_now(qp->hca)) {
		send->timer.job = scheduler_timer_job;
		if (send->turn == TURN_NONE || send->timer.at_ps > earliest_ps)
			event_set(qp->hca->core, &send->timer, earliest_ps);
		send->turn = TURN_TIMED;
		return;
	}
	event_cancel(qp->hca->core, &send->timer);
	ring_add(s, qp);
	unit_wake(s);
}

void scheduler_resume(struct qp *qp)
{
	struct scheduler *s = qp->hca->scheduler;

	for (unsigned i = 0; i < s->n_units; i++) {
		if (s->units[i].qp != qp || !s->units[i].stalled)
			continue;
		qp->hca->stats.scheduler_stall_ps += hca_now(qp->hca) - s->units[i].stalled_ps;
		event_set(qp->hca->core, &s->units[i].ev, hca_now(qp->hca));
		return;
	}
	scheduler_ready(qp, 0);
}

void scheduler_remove(struct qp *qp)
{
	struct scheduler *s = qp->hca->scheduler;

	event_cancel(qp->hca->core, &qp->send.timer);
	if (qp->send.turn == TURN_RING)
		ring_remove(ring_of(s, qp), qp);
	for (unsigned i = 0; i < s->n_units; i++) {
		struct unit *unit = &s->units[i];

		if (unit->qp != qp)
			continue;
		unit->qp = NULL; /* its event stays: the unit is busy until then */
		if (unit->stalled)
			event_set(s->hca->core, &unit->ev, hca_now(s->hca));
		unit->stalled = false;
	}
	qp->send.turn = TURN_NONE;
}

void scheduler_response(struct hca *hca, unsigned port)
{
	struct scheduler *s = hca->scheduler;

	s->owed[port - 1] = true;
	if (s->rings[port - 1].first)
		unit_wake(s);
}

void scheduler_dma(struct hca *hca, int change)
{
	struct scheduler *s = hca->scheduler;
	bool was_full = scheduler_reads_full(hca);

	s->dmas += change;
	if (was_full && !scheduler_reads_full(s->hca) && !rings_empty(s))
		unit_wake(s);
}

/* --- doorbells --- */

static uint16_t *doorbells_of(const struct hca *hca, uint32_t qpn)
{
	return &hca->scheduler->doorbells[qpn & hca->scheduler->qp_mask];
}

/*
 * Doorbells and WQEs are counted modulo 2^16. One doorbell may announce a list of WQEs, so the WQEs run
 * ahead; a doorbell may also arrive when its WQE has long been found. Their lead is cut before it could
 * be taken for a lead of the doorbells.
 */
enum { EXTRA_DOORBELLS = 1 << 12, WQES_AHEAD = 1 << 14 };

static bool too_many_doorbells(uint16_t rung, uint16_t next)
{
	return (uint16_t)(rung - next - 1) < EXTRA_DOORBELLS;
}

static void doorbells_cut(uint16_t *rung, uint16_t next)
{
	if (!too_many_doorbells(*rung, next) && (uint16_t)(next - *rung) > WQES_AHEAD)
		*rung = (uint16_t)(next - WQES_AHEAD);
}

static void doorbell_count(const struct qp *qp)
{
	uint16_t *rung = doorbells_of(qp->hca, qp->qpn);

	++*rung;
	if (qp->send.loaded)
		doorbells_cut(rung, qp->send.next);
}

static struct qp *doorbell_qp(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qpn & QPN_XRC_TARGET ? NULL : qp_make(hca, qpn);

	if (!qp)
		guest_error(hca, RULE_doorbell_dead_qp, guest_object(GUEST_QP, qpn),
			    "send doorbell for qpn %06x, which is not valid or has no send queue",
			    qpn);
	return qp;
}

void scheduler_doorbell(struct hca *hca, uint32_t qpn, uint32_t uar)
{
	struct qp *qp = doorbell_qp(hca, qpn);

	if (!qp)
		return;
	doorbell_count(qp);
	qp->send.uar = uar;
	send_work_ring(&qp->send);
	qp->send.tail = SEND_TAIL_RUNG;
	scheduler_ready(qp, 0);
}

void scheduler_blueflame(struct hca *hca, uint32_t qpn, uint16_t index, const uint8_t *wqe,
			 unsigned len, uint32_t uar)
{
	struct qp *qp = doorbell_qp(hca, qpn);
	struct qp_send *send;
	bool at_rest, empty, hold;

	if (!qp)
		return;
	doorbell_count(qp);
	send = &qp->send;
	hold = wqe_fetch_announce(qp);
	at_rest = send->work == SEND_WORK_NONE;
	empty = at_rest && send->oldest == send->next;
	if (hold && (at_rest ? empty || (send->loaded && index == send->next)
			     : send_tail_is_blueflame(send) && index == send->bf_end)) {
		wqe_fetch_put(qp, index, wqe, len);
		send->tail = SEND_TAIL_BLUEFLAME;
		send->bf_end = (uint16_t)(index + 1);
	} else {
		send->tail = SEND_TAIL_RUNG;
	}
	if (empty) {
		send->work = SEND_WORK_RUNG_BLUEFLAME;
		send->bf_index = index;
	} else {
		send_work_ring(send);
	}
	send->uar = uar;
	scheduler_ready(qp, 0);
}

void scheduler_queue_new(struct hca *hca, uint32_t qpn)
{
	*doorbells_of(hca, qpn) = 0;
}

void scheduler_queue_empty(struct hca *hca, uint32_t qpn, uint16_t next)
{
	uint16_t *rung = doorbells_of(hca, qpn);

	doorbells_cut(rung, next);
	if (!too_many_doorbells(*rung, next))
		return;
	guest_error(hca, RULE_doorbell_without_wqe, guest_object(GUEST_QP, qpn),
		    "qpn %06x: %u doorbells since RESET, %u requests; request %u is not the "
		    "device's by its owner bit",
		    qpn, *rung, next, next);
	*rung = next; /* told once */
}

bool scheduler_doorbell_check(struct qp *qp, const struct qpc *qpc)
{
	struct qp_send *send = &qp->send;
	unsigned state = qpc_get_state(qpc);
	bool blueflame = send->work == SEND_WORK_RUNG_BLUEFLAME;

	send_work_refuse(send);
	if (state == QP_STATE_RST || state == QP_STATE_INIT || state == QP_STATE_RTR) {
		guest_error(qp->hca, RULE_doorbell_dead_qp, guest_object(GUEST_QP, qp->qpn),
			    "send doorbell for qpn %06x in state %u", qp->qpn, state);
		*doorbells_of(qp->hca, qp->qpn) = send->next; /* it does not count */
		return false;
	}
	if (qpc_get_usr_page(qpc) != send->uar) {
		guest_error(qp->hca, RULE_doorbell_wrong_uar, guest_object(GUEST_QP, qp->qpn),
			    "doorbell of qpn %06x through UAR page %u, its own is %u", qp->qpn,
			    send->uar, qpc_get_usr_page(qpc));
		*doorbells_of(qp->hca, qp->qpn) = send->next;
		return false;
	}
	/*
	 * An index behind the queue is right: the WQE was found in memory before its BlueFlame
	 * write came. An index ahead of a queue at rest is an error: it skips WQEs that no doorbell
	 * has announced.
	 */
	if (blueflame && send->oldest == send->next && (int16_t)(send->bf_index - send->next) > 0) {
		wqe_fetch_release(qp);
		send->tail = SEND_TAIL_RUNG;
		--*doorbells_of(qp->hca, qp->qpn);
		guest_error(qp->hca, RULE_blueflame_mismatch, guest_object(GUEST_QP, qp->qpn),
			    "BlueFlame write of qpn %06x has index %u, the queue is at %u", qp->qpn,
			    send->bf_index, send->next);
	}
	send->work = SEND_WORK_BEGUN;
	return true;
}
