/* SPDX-License-Identifier: Apache-2.0 */
/* See link_port.h. */
#include "model/engine/wire/link_port.h"

#include "model/engine/wire/crc.h"
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/static_rate.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/sim/fault.h"
#include "model/sim/params/hca_link.h"

#include <stdlib.h>
#include <string.h>

/* The kinds of trace points that a packet passes when it crosses the link. */
enum { WATCH_CROSSING = 1 << TRACE_PACKET | 1 << TRACE_SPAN };

static uint64_t serialise_ps(const struct link_port *lp, unsigned len)
{
	return ((len + LINK_DELIMITERS) * lp->fs_per_byte + 999) / 1000;
}

/* --- sending --- */

static bool may_send(const struct link_port *lp, const struct packet *pkt)
{
	return lp->config.logical >= (pkt->vl == VL_MANAGEMENT ? LOGICAL_INIT : LOGICAL_ACTIVE);
}

/* Traces the time a packet takes to pass; its last bit passes at until_ps. */
static void __attribute__((noinline)) emit_flight(struct link_port *lp, enum trace_point point,
						  const struct packet *pkt, uint64_t until_ps)
{
	struct hca *hca = lp->hca;
	uint64_t from = until_ps - serialise_ps(lp, pkt->len);

	HCA_TRACE_AT(hca, point, from > hca_now(hca) ? from : hca_now(hca),
		     .port = (uint8_t)lp->port, .qpn = pkt->src_qpn, .corr = pkt->psn,
		     .text = pkt->op ? pkt->op->name : NULL,
		     .args = {until_ps, pkt->vl, lp->lanes[pkt->vl].credits, pkt->corr, pkt->len,
			      packet_traits(pkt)});
}

/* Traces that the number of bytes that wait on a virtual lane has changed by `change`. */
static void __attribute__((noinline))
emit_queue(const struct link_port *lp, unsigned vl, int64_t change, uint64_t at_ps)
{
	struct hca *hca = lp->hca;

	HCA_TRACE_AT(hca, TP_LINK_QUEUE, at_ps > hca_now(hca) ? at_ps : hca_now(hca),
		     .port = (uint8_t)lp->port, .args = {(uint64_t)change, vl});
}

/*
 * Traces that the packet leaves. The record points to the packet's bytes, which therefore stay
 * unchanged until the packet arrives; a packet that is lost never does, so its bytes are not lent.
 */
static inline void emit_departure(struct link_port *lp, struct packet *pkt, bool lost)
{
	if (hca_traces(lp->hca, TP_LINK_TX))
		emit_flight(lp, TP_LINK_TX, pkt,
			    pkt->loopback ? pkt->sent_ps
					  : pkt->sent_ps - param_link_tx_latency(lp->hca->params));
	pkt->lent = hca_traces(lp->hca, TP_PKT_OUT) && !lost;
	link_packet_trace(lp->hca, TP_PKT_OUT, pkt, pkt->sent_ps, pkt->fault);
}

static inline void trace_departure(struct link_port *lp, struct packet *pkt, bool lost)
{
	if (hca_watched(lp->hca, WATCH_CROSSING))
		emit_departure(lp, pkt, lost);
}

static void hand_over(struct link_port *to, struct packet *pkt, uint64_t at_ps)
{
	pkt->hca = to->hca;
	pkt->port = (uint8_t)to->port;
	pkt->ev.job = link_receive_arrived;
	to->flying++;
	event_lane_set(to->hca->core, &to->arrivals, &pkt->ev, at_ps);
}

static void deliver(struct link_port *to, struct packet *pkt, uint64_t at_ps)
{
	if (hca_traces(to->hca, TP_LINK_RX))
		emit_flight(to, TP_LINK_RX, pkt, at_ps);
	hand_over(to, pkt, at_ps);
}

static void emit_crossing(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	emit_departure(lp, pkt, false);
	if (hca_traces(lp->peer->hca, TP_LINK_RX))
		emit_flight(lp->peer, TP_LINK_RX, pkt, arrives);
}

static void send_copy(struct link_port *lp, const struct packet *pkt, uint64_t at_ps)
{
	struct packet *copy = packet_alloc(lp->hca);

	packet_copy(copy, pkt);
	copy->uncredited = true;
	deliver(lp->peer, copy, at_ps);
}

/* --- credits --- */

static void lane_drop(struct link_port *lp, struct link_lane *lane, unsigned vl)
{
	struct packet *pkt;

	while ((pkt = packet_queue_pop(&lane->queue))) {
		lp->config.counters[FW_PC_XMIT_DISCARDS]++;
		packet_free(pkt);
	}
	if (lane->queued_bytes)
		emit_queue(lp, vl, -(int64_t)lane->queued_bytes, 0);
	lane->queued_bytes = 0;
	lane->credits_due_ps = 0;
	event_cancel(lp->hca->core, &lane->due);
	event_cancel(lp->hca->core, &lane->life);
}

void link_lanes_drop(struct link_port *lp)
{
	static_rate_drop(lp);
	for (unsigned vl = 0; vl < VLS; vl++) {
		lane_drop(lp, &lp->lanes[vl], vl);
		lane_drop(lp, &lp->turns[vl], vl);
	}
	if (lp->config.eth)
		eth_port_drop(lp);
}

void link_lane_open(struct link_lane *lane, uint64_t buffer)
{
	lane->credits = (uint32_t)(buffer / CREDIT_BYTES);
	lane->credits_ps = 0;
	lane->returns_count = 0;
}

static uint32_t blocks_of(const struct packet *pkt)
{
	return (pkt->len + CREDIT_BYTES - 1u) / CREDIT_BYTES;
}

static void credits_next(struct link_lane *lane)
{
	const struct credit_return *slot = &lane->returns[lane->returns_first];

	lane->credits += slot->blocks;
	lane->credits_ps = slot->at_ps;
	lane->returns_first = (lane->returns_first + 1) % RETURN_SLOTS;
	lane->returns_count--;
}

/* Adds the credits that have arrived by `now`. */
static void credits_collect(struct link_lane *lane, uint64_t now)
{
	while (lane->returns_count && lane->returns[lane->returns_first].at_ps <= now)
		credits_next(lane);
}

/* Adds credits, including some still on their way, until there are enough for `blocks`; false if
 * there are not. They may not be used before credits_ps. */
static bool credits_gather(struct link_lane *lane, uint32_t blocks)
{
	while (lane->credits < blocks) {
		if (!lane->returns_count)
			return false;
		credits_next(lane);
	}
	return true;
}

static void lane_drain(struct link_lane *lane);

/* Blocks of the peer's buffer are free again. The sender knows it after the delay of the cable.
 * When all slots are in use, the credits are added to the last one. */
static void credits_return(struct link_port *sender, unsigned vl, uint32_t blocks)
{
	const struct hca_params *p = sender->hca->params;
	struct link_lane *lane = &sender->lanes[vl];
	struct credit_return *slot;
	bool full;

	if (lane->returns_count == RETURN_SLOTS)
		credits_collect(lane, hca_now(sender->hca));
	full = lane->returns_count == RETURN_SLOTS;
	lane->returns_count += !full;
	slot = &lane->returns[(lane->returns_first + lane->returns_count - 1) % RETURN_SLOTS];
	slot->at_ps = hca_now(sender->hca) + param_link_delay(p) + param_link_rx_latency(p);
	slot->blocks = full ? slot->blocks + blocks : blocks;
	if (lane->queue.first)
		lane_drain(lane);
}

/* The same for loopback: the credits are back at once. */
static void __attribute__((noinline))
turn_return(struct link_port *lp, unsigned vl, uint32_t blocks)
{
	struct link_lane *lane = &lp->turns[vl];

	lane->credits += blocks;
	if (lane->queue.first)
		lane_drain(lane);
}

void link_port_return_credits(struct hca *hca, struct packet *pkt)
{
	struct link_port *lp = hca->ports[pkt->port - 1];

	if (!pkt->rx_buffered)
		return;
	if (__builtin_expect(pkt->ethernet, 0)) {
		eth_port_release(lp, pkt);
		return;
	}
	pkt->rx_buffered = false;
	if (pkt->vl == VL_MANAGEMENT) {
		if (lp->management_in_use)
			lp->management_in_use--;
	} else if (__builtin_expect(pkt->loopback, 0)) {
		turn_return(lp, pkt->vl, blocks_of(pkt));
	} else if (lp->peer && lp->config.phys == PHYS_LINK_UP) {
		credits_return(lp->peer, pkt->vl, blocks_of(pkt));
	}
}

/* --- the wire --- */

/* A packet has passed the packets that are held back. Delivers those that enough packets have
 * passed. */
static void held_release(struct link_port *lp, uint64_t arrives)
{
	struct packet **at = &lp->held;

	while (*at) {
		struct packet *pkt = *at;

		if (--pkt->hold) {
			at = &pkt->next;
			continue;
		}
		*at = pkt->next;
		deliver(lp->peer, pkt, arrives);
	}
}

static void apply_plan(struct link_port *lp, struct packet *pkt, struct fault_verdict *fault)
{
	struct hca *hca = lp->hca;
	const struct fault_key key = {.hca = hca->index,
				      .port = lp->port,
				      .wire = pkt->wire,
				      .len = pkt->len,
				      .ethernet = pkt->ethernet};

	packet_need_crcs(pkt);
	if (fault_plan_apply(lp->plan, &key, fault) <= 0)
		return;
	pkt->fault = fault->text;
	pkt->crcs_unknown = fault->corrupted;
	HCA_TRACE(hca, TP_FAULT, .port = (uint8_t)lp->port, .qpn = pkt->src_qpn, .corr = pkt->psn,
		  .text = pkt->fault);
}

/* The packet does not occupy the other end's buffer. */
static void credits_keep(struct link_port *lp, const struct packet *pkt)
{
	if (pkt->vl != VL_MANAGEMENT && !pkt->ethernet)
		credits_return(lp, pkt->vl, blocks_of(pkt));
}

static void __attribute__((noinline))
put_through_plan(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	struct fault_verdict fault = {0};

	apply_plan(lp, pkt, &fault);
	trace_departure(lp, pkt, fault.drop);
	for (unsigned i = 0; i < fault.duplicates; i++)
		send_copy(lp, pkt, arrives + (i + 1) * fault.duplicate_gap_ps);
	if (fault.drop) {
		credits_keep(lp, pkt);
		packet_free(pkt);
	} else if (fault.hold) {
		pkt->hold = fault.hold + 1; /* held_release() will count this packet too */
		/* the packets that are to pass it need its credits */
		credits_keep(lp, pkt);
		pkt->uncredited = true;
		pkt->next = lp->held;
		lp->held = pkt;
	} else {
		deliver(lp->peer, pkt, arrives + fault.delay_ps);
	}
}

/* For when packets are traced, or a fault plan may change them. */
static void __attribute__((noinline))
put_on_wire_watched(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	if (lp->plan && lp->plan->count) {
		put_through_plan(lp, pkt, arrives);
	} else {
		if (hca_watched(lp->hca, WATCH_CROSSING))
			emit_crossing(lp, pkt, arrives);
		hand_over(lp->peer, pkt, arrives);
	}
	if (lp->held)
		held_release(lp, arrives);
}

static void put_on_wire(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	if ((lp->plan && lp->plan->count) || lp->held || hca_watched(lp->hca, WATCH_CROSSING))
		put_on_wire_watched(lp, pkt, arrives);
	else
		hand_over(lp->peer, pkt, arrives);
}

void link_put_on_wire(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	put_on_wire(lp, pkt, arrives);
}

void link_turn_around(struct link_port *lp, struct packet *pkt)
{
	if (!mac_is_group(pkt->wire)) /* a copy: the frame itself leaves, too */
		trace_departure(lp, pkt, false);
	deliver(lp, pkt, pkt->sent_ps);
}

static inline __attribute__((always_inline)) uint64_t transmit(struct link_port *lp,
							       struct packet *pkt)
{
	struct hca *hca = lp->hca;
	const struct hca_params *p = hca->params;
	const uint64_t takes = serialise_ps(lp, pkt->len);
	uint64_t start = hca_now(hca), sent;

	if (pkt->ready_ps > start)
		start = pkt->ready_ps;
	if (lp->busy_until_ps > start)
		start = lp->busy_until_ps;
	lp->busy_until_ps = start + takes + (param_link_gap(p) * lp->fs_per_byte) / 1000;
	sent = pkt->sent_ps = start + takes + param_link_tx_latency(p);
	hca->stats.link_port_tx_packets++;
	link_packet_count(&lp->config, pkt, FW_PC_XMIT_DATA, FW_PC_XMIT_PKTS, FW_PC_UNICAST_XMIT,
			  FW_PC_MULTICAST_XMIT);
	put_on_wire(lp, pkt,
		    sent + param_link_delay(p) + param_link_rx_latency(lp->peer->hca->params));
	return sent;
}

/* Loopback inside the device, never on the wire: the DLID is the port's own, or the work request
 * asks for it. */
static uint64_t __attribute__((noinline)) loop_back(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	uint64_t start = pkt->ready_ps > hca_now(hca) ? pkt->ready_ps : hca_now(hca);

	if (link_packet_is_multicast(pkt)) { /* a copy: loops back while the packet itself leaves */
		deliver(lp, pkt, start + serialise_ps(lp, pkt->len));
		return start;
	}
	if (lp->busy_until_ps > start)
		start = lp->busy_until_ps;
	lp->busy_until_ps = start + serialise_ps(lp, pkt->len);
	pkt->sent_ps = lp->busy_until_ps;
	trace_departure(lp, pkt, false);
	deliver(lp, pkt, pkt->sent_ps);
	return lp->busy_until_ps;
}

/* Sends a packet whose credits have been taken. */
static inline uint64_t leave(struct link_port *lp, struct packet *pkt)
{
	return __builtin_expect(pkt->loopback, 0) ? loop_back(lp, pkt) : transmit(lp, pkt);
}

static void __attribute__((noinline)) expire(struct link_port *lp, struct packet *pkt)
{
	lp->config.counters[FW_PC_XMIT_DISCARDS]++;
	link_packet_trace(lp->hca, TP_PKT_DISCARD, pkt, hca_now(lp->hca), "head of queue life");
	packet_free(pkt);
}

/* Takes the first packet out of the queue at time `at`. The stall of the next one counts from then.
 * */
static struct packet *lane_shift(struct link_lane *lane, uint64_t at)
{
	struct link_port *lp = lane->lp;
	struct packet *pkt = packet_queue_pop(&lane->queue);

	lane->queued_bytes -= pkt->len;
	if (hca_traces(lp->hca, TP_LINK_QUEUE))
		emit_queue(lp, pkt->vl, -(int64_t)pkt->len, at);
	if (!pkt->loopback)
		lp->config.counters[FW_PC_XMIT_WAIT] +=
			(at - lane->stalled_since_ps) * 1000 / (lp->fs_per_byte * 4);
	lane->stalled_since_ps = at;
	return pkt;
}

static void lane_due(struct event *ev)
{
	lane_drain(container_of(ev, struct link_lane, due));
}

/* Sends the packets that have credits. When credits are still on their way, their time is known,
 * but the packet does not reserve the link before they arrive: other lanes may use it. */
static void lane_drain(struct link_lane *lane)
{
	struct link_port *lp = lane->lp;
	const uint64_t now = hca_now(lp->hca);

	if (lane->draining || event_is_set(&lane->due))
		return;
	lane->draining = true;
	while (lane->queue.first && credits_gather(lane, blocks_of(lane->queue.first))) {
		struct packet *pkt;

		if (lane->credits_ps > now) {
			lane->due.job = lane_due;
			event_set(lp->hca->core, &lane->due, lane->credits_ps);
			lane->credits_due_ps = lane->credits_ps;
			break;
		}
		lane->credits -= blocks_of(lane->queue.first);
		pkt = lane_shift(lane, now);
		leave(lp, pkt);
	}
	lane->draining = false;
}

/* Discards the head of the queue if its lifetime is over. */
static void life_over(struct event *ev)
{
	struct link_lane *lane = container_of(ev, struct link_lane, life);
	struct hca *hca = lane->lp->hca;
	uint64_t now = hca_now(hca), life = param_link_hoq_life(hca->params);

	while (lane->queue.first && now >= lane->stalled_since_ps + life) {
		event_cancel(hca->core, &lane->due);
		expire(lane->lp, lane_shift(lane, now));
		lane_drain(lane);
	}
	if (lane->queue.first)
		event_set(hca->core, &lane->life, lane->stalled_since_ps + life);
}

static uint64_t lane_queue(struct link_port *lp, struct link_lane *lane, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	uint64_t now = hca_now(hca), life = param_link_hoq_life(hca->params);

	pkt->hca = hca;
	pkt->port = (uint8_t)lp->port;
	hca->stats.link_port_credit_stalls++;
	if (hca_traces(hca, TP_LINK_QUEUE))
		emit_queue(lp, pkt->vl, pkt->len, 0);
	HCA_TRACE(hca, TP_LINK_CREDIT, .port = (uint8_t)lp->port, .args = {pkt->vl, lane->credits});
	lane->queued_bytes += pkt->len;
	packet_queue_push(&lane->queue, pkt);
	if (lane->queue.first != pkt)
		return now;
	lane->lp = lp;
	lane->stalled_since_ps = now;
	lane_drain(lane);
	if (lane->queue.first && life && !event_is_set(&lane->life)) {
		lane->life.job = life_over;
		event_set(hca->core, &lane->life, lane->stalled_since_ps + life);
	}
	return now;
}

/* A directed route MAD says whether it is on its way back, as its method does. Source: IBA 14.2.1.2;
 * Linux mlx4 ib_process_mad, which sets the bit in an answer. */
static void smp_check(struct link_port *lp, struct packet *pkt)
{
	const struct mad_hdr *mad = (const struct mad_hdr *)packet_payload(pkt);
	bool back;

	if (pkt->payload_len < sizeof(*mad))
		return;
	if (mad_hdr_get_method(mad) & MAD_RESPONSE_BIT &&
	    mad_hdr_get_tid(mad) == lp->config.asked.tid)
		lp->config.asked.waits = false;
	if (mad_hdr_get_mgmt_class(mad) != MAD_CLASS_SUBN_DR)
		return;
	back = mad_hdr_get_method(mad) & MAD_RESPONSE_BIT;
	if (back != (bool)mad_hdr_get_direction(mad))
		guest_error(lp->hca, RULE_mad_differs, guest_object(GUEST_PORT, lp->port),
			    "port %u sends a directed route MAD of method 0x%x and attribute 0x%x, "
			    "whose status 0x%04x has a direction bit of %u",
			    lp->port, (unsigned)mad_hdr_get_method(mad),
			    (unsigned)mad_hdr_get_attr_id(mad), (unsigned)mad_hdr_get_status(mad),
			    !back);
}

/* Returns when the last bit leaves, as far as is known now. */
static inline __attribute__((always_inline)) uint64_t
lane_send(struct link_port *lp, struct link_lane *lane, struct packet *pkt)
{
	if (pkt->vl == VL_MANAGEMENT) {
		smp_check(lp, pkt);
		return leave(lp, pkt);
	}
	if (lane->queue.first || !credits_gather(lane, blocks_of(pkt)) ||
	    lane->credits_ps > hca_now(lp->hca))
		return lane_queue(lp, lane, pkt);
	lane->credits -= blocks_of(pkt);
	return leave(lp, pkt);
}

static uint64_t __attribute__((noinline)) turn_send(struct link_port *lp, struct packet *pkt)
{
	pkt->loopback = true;
	return lane_send(lp, &lp->turns[pkt->vl], pkt);
}

/* A multicast packet also goes to the group's members on this HCA (IBA 10.5.2.2). */
static void loop_copy(struct link_port *lp, const struct packet *pkt)
{
	struct packet *copy = packet_alloc(lp->hca);

	packet_copy(copy, pkt);
	turn_send(lp, copy);
}

uint64_t link_port_send(struct hca *hca, struct packet *pkt)
{
	struct link_port *lp = hca->ports[pkt->port - 1];

	if (__builtin_expect(lp->config.eth != NULL, 0))
		return eth_port_send(lp, pkt);
	if (!may_send(lp, pkt)) {
		lp->config.counters[FW_PC_XMIT_DISCARDS]++;
		link_packet_trace(hca, TP_PKT_DISCARD, pkt, hca_now(hca), "port is not active");
		packet_free(pkt);
		return hca_now(hca);
	}
	if (pkt->loopback || link_port_is_own_lid(hca, lp->port, be16_load(pkt->wire + 2)))
		return turn_send(lp, pkt);
	if (pkt->static_rate)
		return static_rate_send(lp, pkt);
	if (link_packet_is_multicast(pkt) && !pkt->cable_only)
		loop_copy(lp, pkt);
	return lane_send(lp, &lp->lanes[pkt->vl], pkt);
}

uint64_t link_port_backlog_ps(struct hca *hca, unsigned port, unsigned vl)
{
	const struct link_port *lp = hca->ports[port - 1];
	const struct link_lane *lane = &lp->lanes[vl], *turn = &lp->turns[vl];
	uint64_t now = hca_now(hca), until = lp->busy_until_ps;

	if (__builtin_expect(lp->config.eth != NULL, 0))
		return eth_port_backlog_ps(lp, vl);
	if (until < lane->credits_due_ps)
		until = lane->credits_due_ps;
	if (until < turn->credits_due_ps)
		until = turn->credits_due_ps;
	return (until > now ? until - now : 0) +
	       (uint64_t)(lane->queued_bytes + turn->queued_bytes) * lp->fs_per_byte / 1000;
}

/* --- life --- */

void link_port_logical_changed(struct hca *hca, unsigned port)
{
	struct link_port *lp = hca->ports[port - 1];
	static const char *const names[] = {"", "down", "initialize", "armed", "active"};

	HCA_TRACE(hca, TP_LINK_STATE, .port = (uint8_t)port, .text = names[lp->config.logical % 5]);
	if (lp->config.logical < LOGICAL_ACTIVE)
		link_lanes_drop(lp);
}

bool link_port_is_quiet(struct hca *hca, unsigned port)
{
	const struct link_port *lp = hca->ports[port - 1];

	if (lp->config.eth && !eth_port_is_quiet(lp))
		return false;
	if (lp->flying || lp->held || lp->rate_held || lp->config.phys == PHYS_TRAINING)
		return false;
	for (unsigned vl = 0; vl < VLS; vl++)
		if (lp->lanes[vl].queue.first || lp->turns[vl].queue.first)
			return false;
	return true;
}
