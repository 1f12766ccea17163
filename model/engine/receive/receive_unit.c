/* SPDX-License-Identifier: Apache-2.0 */
/* See receive_unit.h. */
#include "model/engine/receive/receive_unit.h"

#include "model/engine/base/engine.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/multicast.h"
#include "model/engine/receive/responder.h"
#include "model/engine/send/requester.h"
#include "model/engine/wire/packet.h"
#include "model/interface/bth_ops.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca_packet.h"

#include <stdlib.h>

struct receive_unit {
	struct hca *hca;
	struct packet_queue waiting; /* in order of arrival */
	struct event ev;             /* the turn of the first of them */
	uint64_t busy_ps;            /* the unit is busy until then */
	uint64_t stalled_ps;         /* since when the unit has been stalled */
	unsigned misses;             /* context reads under way; the unit is stalled unless 0 */
};

/* --- whom a packet is for --- */

/* Maps numbers 0 and 1 on the wire to the special QPs of the port (mlx4 CONF_SPECIAL_QP). */
static uint32_t real_qpn(const struct hca *hca, const struct packet *pkt)
{
	if (pkt->qpn > 1 || !hca->special_qp)
		return pkt->qpn;
	return hca->special_qp + 2 * pkt->qpn + pkt->port - 1;
}

static void __attribute__((noinline)) trace_run(struct hca *hca, const struct packet *pkt)
{
	HCA_TRACE(hca, TP_PACKET_RUN, .port = pkt->port, .qpn = pkt->qpn, .corr = pkt->psn,
		  .text = pkt->op->name, .args = {pkt->ready_ps, pkt->src_qpn, packet_traits(pkt)});
}

static void dispatch(struct hca *hca, struct packet *pkt)
{
	struct qp *qp;

	if (pkt->qpn == QPN_MULTICAST) {
		multicast_receive(hca, pkt);
		return;
	}
	pkt->qpn = real_qpn(hca, pkt);
	if (hca_traces(hca, TP_PACKET_RUN))
		trace_run(hca, pkt);
	qp = qp_make(hca, pkt->qpn);
	if (!qp)
		packet_drop(hca, pkt, "no such qp");
	else if (bth_op_is(pkt->op, BTH_RESPONSE))
		requester_response(qp, pkt);
	else
		responder_request(qp, pkt);
}

/* --- one after the other --- */

/* Whether the packet has data, and a WQE says where they go. */
static bool is_scattered(const struct packet *pkt)
{
	const uint32_t props = pkt->op->props;

	if (props & BTH_FETCH)
		return false;
	return props & BTH_ATOMIC || (props & (BTH_SEND | BTH_READ) && pkt->payload_len);
}

static uint64_t held_ps(const struct hca_params *p, const struct packet *pkt)
{
	const uint32_t props = pkt->op->props;
	uint64_t held = param_packet_rx_gap(p);

	if ((props & (BTH_READ | BTH_REQUEST)) == (BTH_READ | BTH_REQUEST))
		held += param_packet_rx_read_gap(p);
	else if (is_scattered(pkt))
		held += param_packet_rx_scatter_gap(p) + packet_large_ps(p, pkt->payload_len);
	if (pkt->payload_len > param_packet_chunk(p))
		held += (pkt->payload_len - 1) / param_packet_chunk(p) *
			param_packet_rx_chunk_gap(p);
	return held;
}

/* The unit takes the next packet. Parsing it overlaps with the unit's work on the packets before
 * it, so rx_latency does not add to busy_ps. */
static void receive_unit_begin(struct hca *hca, struct packet *pkt)
{
	struct receive_unit *unit = hca->receive_unit;
	const uint64_t now = hca_now(hca);

	pkt->ready_ps = now + param_packet_rx_latency(hca->params) +
			pkt->len * param_packet_store(hca->params);
	unit->busy_ps = (unit->busy_ps > now ? unit->busy_ps : now) + held_ps(hca->params, pkt);
	dispatch(hca, pkt);
}

static void turns(struct hca *hca)
{
	struct receive_unit *unit = hca->receive_unit;

	while (unit->waiting.first && !unit->misses && unit->busy_ps <= hca_now(hca))
		receive_unit_begin(hca, packet_queue_pop(&unit->waiting));
	if (unit->waiting.first && !unit->misses)
		event_set(hca->core, &unit->ev, unit->busy_ps);
}

static void turn_due(struct event *ev)
{
	struct receive_unit *unit = container_of(ev, struct receive_unit, ev);

	turns(unit->hca);
}

void receive_unit_take(struct hca *hca, struct packet *pkt)
{
	struct receive_unit *unit = hca->receive_unit;

	if (!unit->waiting.first && !unit->misses && unit->busy_ps <= hca_now(hca)) {
		receive_unit_begin(hca, pkt);
		return;
	}
	hca->stats.packet_rx_waits++;
	packet_queue_push(&unit->waiting, pkt);
	if (unit->waiting.first == pkt && !unit->misses)
		event_set(hca->core, &unit->ev, unit->busy_ps);
}

void receive_unit_stall(struct hca *hca)
{
	struct receive_unit *unit = hca->receive_unit;

	if (unit->misses++)
		return;
	unit->stalled_ps = hca_now(hca);
	event_cancel(hca->core, &unit->ev);
}

void receive_unit_go_on(struct hca *hca)
{
	struct receive_unit *unit = hca->receive_unit;

	if (--unit->misses)
		return;
	hca->stats.packet_rx_stall_ps += hca_now(hca) - unit->stalled_ps;
	if (unit->waiting.first)
		event_set(hca->core, &unit->ev, unit->busy_ps);
}

void receive_unit_reset(struct hca *hca)
{
	struct receive_unit *unit = hca->receive_unit;

	event_cancel(hca->core, &unit->ev);
	packet_queue_free(&unit->waiting);
	unit->busy_ps = unit->stalled_ps = 0;
	unit->misses = 0;
}

struct receive_unit *receive_unit_create(struct hca *hca)
{
	struct receive_unit *unit = memory_create(1, sizeof(*unit), "a receive unit");

	unit->hca = hca;
	unit->ev.job = turn_due;
	return unit;
}

void receive_unit_destroy(struct receive_unit *unit)
{
	free(unit);
}
