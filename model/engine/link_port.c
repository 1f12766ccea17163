/* See link_port.h. */
#include "model/engine/link_port.h"

#include "model/engine/crc.h"
#include "model/engine/engine.h"
#include "model/engine/packet.h"
#include "model/engine/processor.h"
#include "model/interface/wire.h"
#include "model/sim/fault.h"

#include <stdlib.h>
#include <string.h>

enum {
	VLS = 16,
	CREDIT_BYTES = 64, /* unit of link-level credits, IBA 7.9.4 */
	RETURN_SLOTS = 64,
	LINK_DELIMITERS = 2, /* SDP or SLP and EGP symbols around a packet, IBA 5.3 */
};

enum port_phys { PHYS_POLLING = 2, PHYS_DISABLED = 3, PHYS_TRAINING = 4, PHYS_LINK_UP = 5 };
enum port_logical { LOGICAL_DOWN = 1, LOGICAL_INIT = 2, LOGICAL_ARMED = 3, LOGICAL_ACTIVE = 4 };

struct credit_return {
	uint64_t at_ps;
	uint32_t blocks;
};

/* The sending side of one virtual lane. */
struct lane {
	struct packet *first, *last; /* packets that wait for credits, in order */
	uint32_t credits;	     /* blocks the peer's buffer has room for, as far as known */
	uint32_t queued_bytes;
	uint64_t stalled_since_ps;
	struct credit_return returns[RETURN_SLOTS]; /* on their way back */
	unsigned returns_first, returns_count;
	struct event wake; /* the next return, while something waits; or head of queue life */
};

struct link_port {
	struct hca *hca;
	unsigned port;
	struct link_port *peer;
	struct fault_plan *plan;
	bool plugged, enabled;
	struct event trained;
	uint64_t fs_per_byte; /* femtoseconds */
	uint64_t busy_until_ps;
	unsigned speed, width; /* active */
	unsigned management_in_use; /* VL15 packets in the receive buffer */
	unsigned flying; /* packets on their way here */
	struct event_lane arrivals;
	struct packet *held; /* taken out of order by the fault plan */
	struct lane lanes[VLS];
	struct port_config config;
};

static uint64_t serialise_ps(const struct link_port *lp, unsigned len)
{
	return ((len + LINK_DELIMITERS) * lp->fs_per_byte + 999) / 1000;
}

/* Data rate of one lane in Mbit/s after coding: 8b/10b up to QDR, 64b/66b above (IBA 5.1; FDR10 64b/66b at 10.3125 Gbit/s). */
static uint64_t lane_mbps(unsigned speed)
{
	static const uint64_t mbps[] = {
		[CFG_SPEED_SDR] = 2000,	  [CFG_SPEED_DDR] = 4000,  [CFG_SPEED_QDR] = 8000,   [CFG_SPEED_FDR10] = 10000,
		[CFG_SPEED_FDR] = 13636,  [CFG_SPEED_EDR] = 25000, [CFG_SPEED_HDR] = 50000, [CFG_SPEED_NDR] = 100000,
	};

	return mbps[speed];
}

static struct port_config *config_of(struct hca *hca, unsigned port)
{
	return &hca->ports[port - 1]->config;
}

struct port_config *link_port_config(struct hca *hca, unsigned port)
{
	return config_of(hca, port);
}

/* --- physical layer --- */

static void tables_default(struct link_port *lp)
{
	struct port_config *c = &lp->config;

	memset(c, 0, sizeof(*c));
	c->logical = LOGICAL_DOWN;
	c->phys = PHYS_DISABLED;
	c->mtu = 1;
	c->oper_vls = 1;
	c->gid_prefix = 0xfe80000000000000;
	c->guids[0] = hca_node_guid(lp->hca) + lp->port;
	c->pkeys[0] = 0xffff;
}

static void phys_change(struct link_port *lp, unsigned phys)
{
	struct hca *hca = lp->hca;
	static const char *const names[] = {[PHYS_POLLING] = "polling", [PHYS_DISABLED] = "disabled", [PHYS_TRAINING] = "training",
					    [PHYS_LINK_UP] = "link up"};

	if (lp->config.phys == phys)
		return;
	if (lp->config.phys == PHYS_LINK_UP)
		lp->config.counters[FW_PC_LINK_DOWNED]++;
	lp->config.phys = (uint8_t)phys;
	lp->config.logical = phys == PHYS_LINK_UP ? LOGICAL_INIT : LOGICAL_DOWN;
	HCA_TRACE(hca, TP_LINK_STATE, .port = (uint8_t)lp->port, .text = names[phys]);
	processor_raise(hca, FW_IRQ_PORT1 << (lp->port - 1));
}

static void lanes_drop(struct link_port *lp)
{
	for (unsigned vl = 0; vl < VLS; vl++) {
		struct lane *lane = &lp->lanes[vl];

		while (lane->first) {
			struct packet *pkt = lane->first;

			lane->first = pkt->next;
			lp->config.counters[FW_PC_XMIT_DISCARDS]++;
			packet_free(pkt);
		}
		lane->last = NULL;
		lane->queued_bytes = 0;
		event_cancel(lp->hca->core, &lane->wake);
	}
}

static void link_lost(struct link_port *lp)
{
	event_cancel(lp->hca->core, &lp->trained);
	lanes_drop(lp);
	if (lp->enabled)
		phys_change(lp, PHYS_POLLING);
	else
		phys_change(lp, PHYS_DISABLED);
}

static void train(struct link_port *lp)
{
	struct link_port *peer = lp->peer;

	if (!peer || !lp->plugged || !peer->plugged || !lp->enabled || !peer->enabled)
		return;
	if (lp->config.phys != PHYS_POLLING || peer->config.phys != PHYS_POLLING)
		return;
	phys_change(lp, PHYS_TRAINING);
	if (peer != lp)
		phys_change(peer, PHYS_TRAINING);
	event_set(lp->hca->core, &lp->trained, hca_now(lp->hca) + lp->hca->params->link_training_time);
}

static void rate_set(struct link_port *lp, unsigned speed, unsigned width, const struct link_port *peer)
{
	uint64_t mbps = lane_mbps(speed) * width;

	lp->speed = speed;
	lp->width = width;
	lp->fs_per_byte = 8000000000 / mbps;
	lp->busy_until_ps = hca_now(lp->hca);
	for (unsigned vl = 0; vl < VLS; vl++) {
		lp->lanes[vl].credits = (uint32_t)(peer->hca->params->link_rx_buffer / CREDIT_BYTES);
		lp->lanes[vl].returns_count = 0;
	}
}

static void training_done(struct event *ev)
{
	struct link_port *lp = (struct link_port *)((char *)ev - offsetof(struct link_port, trained));
	struct link_port *peer = lp->peer;
	const struct hca_params *a = lp->hca->params, *b = peer->hca->params;
	unsigned speed = (unsigned)(a->link_speed < b->link_speed ? a->link_speed : b->link_speed);
	unsigned width = (unsigned)(a->link_width < b->link_width ? a->link_width : b->link_width);

	if (peer->config.phys != PHYS_TRAINING)
		return;
	rate_set(lp, speed, width, peer);
	rate_set(peer, speed, width, lp);
	lp->management_in_use = peer->management_in_use = 0;
	phys_change(lp, PHYS_LINK_UP);
	phys_change(peer, PHYS_LINK_UP);
}

void link_port_command(struct hca *hca, unsigned port, uint32_t command)
{
	struct link_port *lp = hca->ports[port - 1], *peer = lp->peer;

	lp->enabled = command != FW_PORT_DISABLE;
	if (command == FW_PORT_UP && lp->config.phys != PHYS_DISABLED)
		return;
	if (command == FW_PORT_UP) {
		phys_change(lp, PHYS_POLLING);
	} else {
		link_lost(lp);
		if (peer)
			link_lost(peer);
	}
	train(lp);
}

void hca_link_set(struct hca *hca, unsigned port, bool plugged)
{
	struct link_port *lp = hca->ports[port - 1], *peer = lp->peer;

	if (lp->plugged == plugged)
		return;
	lp->plugged = plugged;
	if (!plugged) {
		link_lost(lp);
		if (peer)
			link_lost(peer);
	}
	train(lp);
}

void hca_link(struct hca *a, unsigned a_port, struct hca *b, unsigned b_port, struct fault_plan *plan)
{
	struct link_port *x = a->ports[a_port - 1], *y = b->ports[b_port - 1];

	x->peer = y;
	y->peer = x;
	x->plan = y->plan = plan;
	x->plugged = y->plugged = true;
	train(x);
}

uint32_t link_port_width(struct hca *hca, unsigned port)
{
	static const uint8_t codes[] = {[1] = 1, [4] = 2, [8] = 4, [12] = 8};
	const struct link_port *lp = hca->ports[port - 1];
	uint32_t supported = 0;

	for (unsigned w = 1; w <= hca->params->link_width; w++)
		supported |= w < sizeof(codes) ? codes[w] : 0u;
	return codes[lp->width ? lp->width : hca->params->link_width] | supported << 8;
}

/* IBA 14.2.5.6: LinkSpeed bits SDR 1, DDR 2, QDR 4; extended FDR 1, EDR 2, HDR 4, NDR 8. */
uint32_t link_port_speed(struct hca *hca, unsigned port)
{
	static const uint8_t base[] = {[CFG_SPEED_SDR] = 1, [CFG_SPEED_DDR] = 2, [CFG_SPEED_QDR] = 4,	[CFG_SPEED_FDR10] = 4,
				       [CFG_SPEED_FDR] = 4, [CFG_SPEED_EDR] = 4, [CFG_SPEED_HDR] = 4, [CFG_SPEED_NDR] = 4};
	static const uint8_t extended[] = {[CFG_SPEED_FDR] = 1, [CFG_SPEED_EDR] = 2, [CFG_SPEED_HDR] = 4, [CFG_SPEED_NDR] = 8};
	const struct link_port *lp = hca->ports[port - 1];
	unsigned active = lp->width ? lp->speed : (unsigned)hca->params->link_speed;
	uint32_t supported = 0, extended_supported = 0;

	for (unsigned s = CFG_SPEED_SDR; s <= hca->params->link_speed; s++) {
		supported |= base[s];
		extended_supported |= s < sizeof(extended) ? extended[s] : 0u;
	}
	return base[active] | (uint32_t)extended[active] << 4 | supported << 8 | extended_supported << 12;
}

/* --- sending --- */

static bool may_send(const struct link_port *lp, const struct packet *pkt)
{
	return lp->config.logical >= (pkt->vl == VL_MANAGEMENT ? LOGICAL_INIT : LOGICAL_ACTIVE);
}

bool link_port_is_own_lid(struct hca *hca, unsigned port, uint16_t lid)
{
	const struct port_config *c = config_of(hca, port);

	return c->lid && lid >> c->lmc == c->lid >> c->lmc;
}

static void __attribute__((noinline))
emit_packet(struct hca *hca, enum trace_point point, struct packet *pkt, unsigned port, uint64_t time_ps, const char *text)
{
	packet_need_crcs(pkt);
	trace_advance(hca->trace, hca_now(hca));
	trace_emit(hca->trace, &(struct trace_record){
				       .time_ps = time_ps,
				       .point = point,
				       .hca = (uint8_t)hca->index,
				       .port = (uint8_t)port,
				       .qpn = pkt->src_qpn,
				       .corr = pkt->psn,
				       .args = {TRACE_PACKET_WQE, 0, pkt->corr, pkt->resent ? 2 : 1},
				       .bytes = pkt->wire,
				       .len = pkt->len,
				       .bytes_stay = pkt->flies,
				       .text = text,
			       });
}

static inline void trace_packet(struct hca *hca, enum trace_point point, struct packet *pkt,
				unsigned port, uint64_t time_ps, const char *text)
{
	if (trace_on(hca->trace, point))
		emit_packet(hca, point, pkt, port, time_ps, text);
}

static void count(struct port_config *c, const struct packet *pkt, enum fw_port_counter data, enum fw_port_counter packets,
		  enum fw_port_counter unicast, enum fw_port_counter multicast)
{
	uint16_t dlid = be16_load(pkt->wire + 2);

	c->counters[data] += (unsigned)(pkt->len - CRC_VCRC_BYTES) / 4;
	c->counters[packets]++;
	c->counters[dlid >= LID_MCAST_FIRST && dlid != LID_PERMISSIVE ? multicast : unicast]++;
}

static void arrive(struct event *ev);

static void deliver(struct link_port *to, struct packet *pkt, uint64_t at_ps)
{
	pkt->hca = to->hca;
	pkt->port = (uint8_t)to->port;
	pkt->ev.job = arrive;
	to->flying++;
	event_lane_set(to->hca->core, &to->arrivals, &pkt->ev, at_ps);
}

static void send_copy(struct link_port *lp, const struct packet *pkt, uint64_t at_ps)
{
	struct packet *copy = packet_alloc(lp->hca);

	packet_copy(copy, pkt);
	copy->uncredited = true;
	deliver(lp->peer, copy, at_ps);
}

/* --- credits --- */

static uint32_t blocks_of(const struct packet *pkt)
{
	return (pkt->len + CREDIT_BYTES - 1u) / CREDIT_BYTES;
}

static void credits_collect(struct lane *lane, uint64_t now)
{
	while (lane->returns_count && lane->returns[lane->returns_first].at_ps <= now) {
		lane->credits += lane->returns[lane->returns_first].blocks;
		lane->returns_first = (lane->returns_first + 1) % RETURN_SLOTS;
		lane->returns_count--;
	}
}

/* Buffer blocks of the peer are free again: the sender knows it one cable length later. Later returns join the last slot when all are taken. */
static void credits_return(struct link_port *sender, unsigned vl, uint32_t blocks)
{
	struct lane *lane = &sender->lanes[vl];
	uint64_t now = hca_now(sender->hca), at = now + sender->hca->params->link_delay + sender->hca->params->link_rx_latency;
	struct credit_return *slot;

	credits_collect(lane, now);
	if (lane->returns_count == RETURN_SLOTS) {
		slot = &lane->returns[(lane->returns_first + RETURN_SLOTS - 1) % RETURN_SLOTS];
	} else {
		slot = &lane->returns[(lane->returns_first + lane->returns_count++) % RETURN_SLOTS];
		slot->blocks = 0;
	}
	slot->at_ps = at;
	slot->blocks += blocks;
	if (lane->first)
		event_set(sender->hca->core, &lane->wake, lane->returns[lane->returns_first].at_ps);
}

void link_port_return_credits(struct hca *hca, struct packet *pkt)
{
	struct link_port *lp = hca->ports[pkt->port - 1];

	if (!pkt->rx_buffered)
		return;
	pkt->rx_buffered = false;
	if (pkt->vl == VL_MANAGEMENT) {
		if (lp->management_in_use)
			lp->management_in_use--;
	} else if (lp->peer && lp->config.phys == PHYS_LINK_UP) {
		credits_return(lp->peer, pkt->vl, blocks_of(pkt));
	}
}

/* --- the wire --- */

/* A packet goes by: those that were to stay behind so many follow it. */
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
	const struct fault_key key = {.hca = hca->index, .port = lp->port, .wire = pkt->wire, .len = pkt->len};

	packet_need_crcs(pkt);
	if (fault_plan_apply(lp->plan, &key, fault) <= 0)
		return;
	pkt->fault = fault->text;
	pkt->crcs_unknown = fault->corrupted;
	HCA_TRACE(hca, TP_FAULT, .port = (uint8_t)lp->port, .qpn = pkt->src_qpn, .corr = pkt->psn, .text = pkt->fault);
}

static void put_on_wire(struct link_port *lp, struct packet *pkt, uint64_t arrives)
{
	struct fault_verdict fault = {0};

	if (lp->plan && lp->plan->count)
		apply_plan(lp, pkt, &fault);
	pkt->flies = !fault.drop;
	trace_packet(lp->hca, TP_PKT_OUT, pkt, lp->port, pkt->sent_ps, pkt->fault);
	for (unsigned i = 0; i < fault.duplicates; i++)
		send_copy(lp, pkt, arrives + (i + 1) * fault.duplicate_gap_ps);
	if (fault.drop) {
		if (pkt->vl != VL_MANAGEMENT)
			credits_return(lp, pkt->vl, blocks_of(pkt));
		packet_free(pkt);
	} else if (fault.hold) {
		pkt->hold = fault.hold + 1; /* it is counted as passing itself */
		pkt->next = lp->held;
		lp->held = pkt;
	} else {
		deliver(lp->peer, pkt, arrives + fault.delay_ps);
	}
	if (lp->held)
		held_release(lp, arrives);
}

/* Its credits are taken already. */
static uint64_t transmit(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	const struct hca_params *p = hca->params;
	uint64_t start = hca_now(hca), sent;

	if (pkt->ready_ps > start)
		start = pkt->ready_ps;
	if (lp->busy_until_ps > start)
		start = lp->busy_until_ps;
	lp->busy_until_ps = start + serialise_ps(lp, pkt->len);
	sent = pkt->sent_ps = lp->busy_until_ps + p->link_tx_latency;
	hca->stats.link_port_tx_packets++;
	count(&lp->config, pkt, FW_PC_XMIT_DATA, FW_PC_XMIT_PKTS, FW_PC_UNICAST_XMIT, FW_PC_MULTICAST_XMIT);
	put_on_wire(lp, pkt, sent + p->link_delay + lp->peer->hca->params->link_rx_latency);
	return sent;
}

static bool take_credits(struct lane *lane, const struct packet *pkt)
{
	uint32_t blocks = blocks_of(pkt);

	if (pkt->vl == VL_MANAGEMENT)
		return true;
	if (lane->credits < blocks)
		return false;
	lane->credits -= blocks;
	return true;
}

/* Credits came back, or the head of the queue has waited its life. */
static void lane_wake(struct event *ev)
{
	struct lane *lane = (struct lane *)((char *)ev - offsetof(struct lane, wake));
	struct link_port *lp = lane->first->hca->ports[lane->first->port - 1];
	struct hca *hca = lp->hca;
	uint64_t now = hca_now(hca), life = hca->params->link_hoq_life;

	credits_collect(lane, now);
	while (lane->first) {
		struct packet *pkt = lane->first;
		bool expired = life && now >= lane->stalled_since_ps + life;

		if (!expired && !take_credits(lane, pkt))
			break;
		lane->first = pkt->next;
		lane->queued_bytes -= pkt->len;
		lp->config.counters[FW_PC_XMIT_WAIT] += (now - lane->stalled_since_ps) * 1000 / (lp->fs_per_byte * 4);
		lane->stalled_since_ps = now;
		if (expired) {
			lp->config.counters[FW_PC_XMIT_DISCARDS]++;
			trace_packet(hca, TP_PKT_DISCARD, pkt, lp->port, now, "head of queue life");
			packet_free(pkt);
		} else {
			transmit(lp, pkt);
		}
	}
	if (!lane->first)
		lane->last = NULL;
	else if (lane->returns_count)
		event_set(hca->core, &lane->wake, lane->returns[lane->returns_first].at_ps);
	else if (life)
		event_set(hca->core, &lane->wake, lane->stalled_since_ps + life);
}

static uint64_t lane_queue(struct link_port *lp, struct lane *lane, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	uint64_t now = hca_now(hca), life = hca->params->link_hoq_life;

	pkt->next = NULL;
	pkt->hca = hca;
	pkt->port = (uint8_t)lp->port;
	if (lane->first) {
		lane->last->next = pkt;
	} else {
		lane->first = pkt;
		lane->stalled_since_ps = now;
		lane->wake.job = lane_wake;
		if (lane->returns_count)
			event_set(hca->core, &lane->wake, lane->returns[lane->returns_first].at_ps);
		else if (life)
			event_set(hca->core, &lane->wake, now + life);
	}
	lane->last = pkt;
	lane->queued_bytes += pkt->len;
	hca->stats.link_port_credit_stalls++;
	HCA_TRACE(hca, TP_LINK_CREDIT, .port = (uint8_t)lp->port, .args = {pkt->vl, lane->credits});
	return now;
}

/* Inside the device, never on a wire: DLID is the port's own, or the work request says so. */
static uint64_t loop_back(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	uint64_t start = pkt->ready_ps > hca_now(hca) ? pkt->ready_ps : hca_now(hca);

	if (lp->busy_until_ps > start)
		start = lp->busy_until_ps;
	lp->busy_until_ps = start + serialise_ps(lp, pkt->len);
	pkt->loopback = pkt->flies = true;
	pkt->sent_ps = lp->busy_until_ps;
	trace_packet(hca, TP_PKT_OUT, pkt, lp->port, pkt->sent_ps, NULL);
	deliver(lp, pkt, pkt->sent_ps);
	return lp->busy_until_ps;
}

uint64_t link_port_send(struct hca *hca, struct packet *pkt)
{
	struct link_port *lp = hca->ports[pkt->port - 1];
	struct lane *lane = &lp->lanes[pkt->vl];

	if (!may_send(lp, pkt)) {
		lp->config.counters[FW_PC_XMIT_DISCARDS]++;
		trace_packet(hca, TP_PKT_DISCARD, pkt, lp->port, hca_now(hca), "port is not active");
		packet_free(pkt);
		return hca_now(hca);
	}
	if (pkt->loopback || link_port_is_own_lid(hca, lp->port, be16_load(pkt->wire + 2)))
		return loop_back(lp, pkt);
	if (pkt->vl == VL_MANAGEMENT)
		return transmit(lp, pkt);
	credits_collect(lane, hca_now(hca));
	if (lane->first || !take_credits(lane, pkt))
		return lane_queue(lp, lane, pkt);
	return transmit(lp, pkt);
}

uint64_t link_port_backlog_ps(struct hca *hca, unsigned port)
{
	const struct link_port *lp = hca->ports[port - 1];
	uint64_t now = hca_now(hca), backlog = lp->busy_until_ps > now ? lp->busy_until_ps - now : 0;

	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++)
		if (lp->lanes[vl].first)
			backlog += lp->lanes[vl].queued_bytes * lp->fs_per_byte / 1000;
	return backlog;
}

/* --- receiving --- */

static void discard(struct link_port *lp, struct packet *pkt, enum fw_port_counter counter, const char *why)
{
	lp->config.counters[counter]++;
	lp->hca->stats.link_port_rx_dropped++;
	trace_packet(lp->hca, TP_PKT_DISCARD, pkt, lp->port, hca_now(lp->hca), why);
	packet_free(pkt);
}

static bool may_receive(const struct link_port *lp, const struct packet *pkt)
{
	if (!pkt->loopback && lp->config.phys != PHYS_LINK_UP)
		return false;
	return lp->config.logical >= (pkt->vl == VL_MANAGEMENT ? LOGICAL_INIT : LOGICAL_ARMED);
}

static void receive(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	unsigned bad = 0;

	if (!may_receive(lp, pkt)) {
		hca->stats.link_port_rx_dropped++;
		trace_packet(hca, TP_PKT_DISCARD, pkt, lp->port, hca_now(hca), "port state does not let it pass");
		packet_free(pkt);
		return;
	}
	if (pkt->vl == VL_MANAGEMENT && !pkt->loopback) {
		if ((lp->management_in_use + 1) * (uint64_t)(PACKET_HEADERS + 256) > hca->params->link_rx_buffer) {
			pkt->rx_buffered = false;
			discard(lp, pkt, FW_PC_VL15_DROPPED, "no buffer for VL15");
			return;
		}
		lp->management_in_use++;
	}
	pkt->rx_buffered = !pkt->loopback && !pkt->uncredited;
	if (hca->params->crc_eager || pkt->crcs_unknown)
		bad = crc_check(pkt->wire, pkt->len);
	if (bad & CRC_BAD_VCRC) {
		lp->config.counters[FW_PC_SYMBOL_ERROR]++;
		discard(lp, pkt, FW_PC_RCV_ERRORS, "vcrc");
		return;
	}
	trace_packet(hca, TP_PKT_IN, pkt, lp->port, hca_now(hca), pkt->fault);
	if (bad) {
		discard(lp, pkt, FW_PC_RCV_ERRORS, "icrc");
		return;
	}
	hca->stats.link_port_rx_packets++;
	if (!pkt->loopback)
		count(&lp->config, pkt, FW_PC_RCV_DATA, FW_PC_RCV_PKTS, FW_PC_UNICAST_RCV, FW_PC_MULTICAST_RCV);
	packet_receive(hca, pkt);
}

static void arrive(struct event *ev)
{
	struct packet *pkt = (struct packet *)((char *)ev - offsetof(struct packet, ev));
	struct link_port *lp = pkt->hca->ports[pkt->port - 1];

	lp->flying--;
	/* the record of its leaving borrows its bytes */
	if (trace_on(pkt->hca->trace, TP_PKT_OUT))
		trace_advance(pkt->hca->trace, hca_now(pkt->hca));
	pkt->flies = false;
	receive(lp, pkt);
}

void hca_inject(struct hca *hca, unsigned port, const void *wire, size_t len)
{
	struct packet *pkt = packet_alloc(hca);

	if (len > sizeof(pkt->buf))
		len = sizeof(pkt->buf);
	memcpy(pkt->buf, wire, len);
	pkt->wire = pkt->buf;
	pkt->len = (uint16_t)len;
	pkt->port = (uint8_t)port;
	pkt->vl = len ? pkt->wire[0] >> 4 : 0;
	pkt->crcs_made = pkt->crcs_unknown = pkt->uncredited = true;
	receive(hca->ports[port - 1], pkt);
}

/* --- life --- */

void link_port_logical_changed(struct hca *hca, unsigned port)
{
	struct link_port *lp = hca->ports[port - 1];
	static const char *const names[] = {"", "down", "initialize", "armed", "active"};

	HCA_TRACE(hca, TP_LINK_STATE, .port = (uint8_t)port, .text = names[lp->config.logical % 5]);
	if (lp->config.logical < LOGICAL_ACTIVE)
		lanes_drop(lp);
}

bool link_port_is_quiet(struct hca *hca, unsigned port)
{
	const struct link_port *lp = hca->ports[port - 1];

	if (lp->flying || lp->held || lp->config.phys == PHYS_TRAINING)
		return false;
	for (unsigned vl = 0; vl < VLS; vl++)
		if (lp->lanes[vl].first)
			return false;
	return true;
}

struct link_port *link_port_create(struct hca *hca, unsigned port)
{
	struct link_port *lp = calloc(1, sizeof(*lp));

	if (!lp)
		return NULL;
	lp->hca = hca;
	lp->port = port;
	lp->trained.job = training_done;
	tables_default(lp);
	return lp;
}

void link_port_reset(struct hca *hca, unsigned port)
{
	struct link_port *lp = hca->ports[port - 1], *peer = lp->peer;

	lp->enabled = false;
	event_cancel(hca->core, &lp->trained);
	lanes_drop(lp);
	tables_default(lp);
	if (peer && peer->config.phys >= PHYS_TRAINING)
		link_lost(peer);
}

void link_port_destroy(struct link_port *lp)
{
	if (!lp)
		return;
	event_cancel(lp->hca->core, &lp->trained);
	lanes_drop(lp);
	if (lp->peer)
		lp->peer->peer = NULL;
	free(lp);
}
