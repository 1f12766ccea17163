/* SPDX-License-Identifier: Apache-2.0 */
/* See eth_port.h. */
#include "model/engine/wire/eth_port.h"

#include "model/engine/base/engine.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_crc.h"
#include "model/sim/params/hca_ethernet.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/units.h"

#include <string.h>

enum {
	FRAME_OVERHEAD = ETH_PREAMBLE + ETH_GAP, /* bytes' time that a frame takes beside itself */
	MTU_AT_RESET = 1522,                     /* 1500, Ethernet and VLAN header, FCS */
	BITS = 8,
};

/* Frames of MAC control go to this address, and no bridge passes them on (IEEE 802.3 31B.1). */
static const uint8_t control_mac[MAC_BYTES] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

/* --- sending --- */

static void count_lane(struct eth_port *eth, const struct packet *pkt, bool out)
{
	static const uint8_t all[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const uint16_t vlan = frame_vlan(pkt->wire, pkt->len);
	uint64_t *counters = &eth->counters[fw_lane_counter_index(
		out ? FW_ETH_TX : FW_ETH_RX,
		vlan == VLAN_NONE ? (unsigned)FW_ETH_UNTAGGED : vlan_priority(vlan), 0)];

	counters[FW_LC_FRAMES]++;
	counters[FW_LC_BYTES] += pkt->len;
	if (!memcmp(pkt->wire, all, sizeof(all)))
		counters[FW_LC_BROADCAST]++;
	else if (mac_is_group(pkt->wire))
		counters[FW_LC_MULTICAST]++;
}

static void count_frame(struct eth_port *eth, const struct packet *pkt, bool out)
{
	count_lane(eth, pkt, out);
	eth->counters[out ? FW_EC_TX_FRAMES : FW_EC_RX_FRAMES]++;
	eth->counters[out ? FW_EC_TX_BYTES : FW_EC_RX_BYTES] += pkt->len;
	if (mac_is_group(pkt->wire))
		eth->counters[out ? FW_EC_TX_MULTICAST : FW_EC_RX_MULTICAST]++;
}

static uint64_t frame_ps(const struct link_port *lp, const struct packet *pkt)
{
	return ((pkt->len + (unsigned)FRAME_OVERHEAD) * lp->fs_per_byte + 999) / 1000;
}

uint64_t eth_port_flight_ps(const struct link_port *lp)
{
	return param_link_delay(lp->hca->params) + param_link_rx_latency(lp->peer->hca->params);
}

/* The last bit leaves at pkt->sent_ps. */
static void leave(struct link_port *lp, struct packet *pkt)
{
	lp->hca->stats.link_port_tx_packets++;
	count_frame(lp->config.eth, pkt, true);
	link_put_on_wire(lp, pkt, pkt->sent_ps + eth_port_flight_ps(lp));
}

/* Puts the frame on the cable as soon as those before it have left. */
static uint64_t transmit(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	uint64_t start = hca_now(hca);

	if (pkt->ready_ps > start)
		start = pkt->ready_ps;
	if (lp->busy_until_ps > start)
		start = lp->busy_until_ps;
	lp->busy_until_ps = start + frame_ps(lp, pkt);
	pkt->sent_ps = lp->busy_until_ps - ETH_GAP * lp->fs_per_byte / 1000 +
		       param_link_tx_latency(hca->params);
	leave(lp, pkt);
	return lp->busy_until_ps;
}

static uint64_t loop_back(struct link_port *lp, struct packet *pkt)
{
	struct eth_port *eth = lp->config.eth;
	const uint64_t now = hca_now(lp->hca);
	uint64_t start = pkt->ready_ps > now ? pkt->ready_ps : now;

	if (eth->turned_ps > start)
		start = eth->turned_ps;
	eth->turned_ps = start + frame_ps(lp, pkt);
	pkt->loopback = true;
	pkt->sent_ps = eth->turned_ps;
	link_turn_around(lp, pkt);
	return pkt->sent_ps;
}

uint64_t eth_port_backlog_ps(const struct link_port *lp, unsigned priority)
{
	const struct eth_port *eth = lp->config.eth;
	const uint64_t now = hca_now(lp->hca);
	uint64_t queued = 0;

	/* frames of other priorities wait for the line too, but for those that are paused */
	for (unsigned i = 0; i < ETH_PRIORITIES; i++)
		if (i == priority || eth->lanes[i].paused_until_ps <= now)
			queued += eth->lanes[i].queued_bytes;
	return (lp->busy_until_ps > now ? lp->busy_until_ps - now : 0) +
	       queued * lp->fs_per_byte / 1000;
}

/* The earliest time at which a frame of this priority may begin. */
static uint64_t lane_free_ps(const struct eth_lane *lane)
{
	const uint64_t line_ps = lane->eth->lp->busy_until_ps;

	return lane->paused_until_ps > line_ps ? lane->paused_until_ps : line_ps;
}

/* A port that obeys pause hands one frame after the other to the line, so that a pause stops those
 * that have not begun. */
static void lane_drain(struct eth_lane *lane)
{
	struct eth_port *eth = lane->eth;
	struct hca *hca = eth->lp->hca;

	while (lane->queue.first && lane_free_ps(lane) <= hca_now(hca)) {
		struct packet *pkt = packet_queue_pop(&lane->queue);

		lane->queued_bytes -= pkt->len;
		transmit(eth->lp, pkt);
	}
	if (lane->queue.first)
		event_set(hca->core, &lane->over, lane_free_ps(lane));
}

static void pause_over(struct event *ev)
{
	lane_drain(container_of(ev, struct eth_lane, over));
}

static uint64_t lane_queue(struct eth_lane *lane, struct packet *pkt)
{
	struct hca *hca = lane->eth->lp->hca;

	pkt->hca = hca;
	lane->queued_bytes += pkt->len;
	if (lane->paused_until_ps > hca_now(hca))
		lane->eth->counters[FW_EC_TX_WAITED]++;
	packet_queue_push(&lane->queue, pkt);
	if (lane->queue.first == pkt)
		event_set(hca->core, &lane->over, lane_free_ps(lane));
	return lane_free_ps(lane);
}

static bool obeys_pause(const struct eth_port *eth)
{
	return eth->pause_rx || eth->pfc_rx;
}

/* False: the port is not active, and the frame is gone. */
static bool may_send(struct link_port *lp, struct packet *pkt)
{
	if (lp->config.logical >= LOGICAL_ACTIVE)
		return true;
	lp->config.counters[FW_PC_XMIT_DISCARDS]++;
	link_packet_trace(lp->hca, TP_PKT_DISCARD, pkt, hca_now(lp->hca), "port is not active");
	packet_free(pkt);
	return false;
}

void eth_port_put(struct link_port *lp, struct packet *pkt)
{
	if (!may_send(lp, pkt))
		return;
	pkt->sent_ps = hca_now(lp->hca);
	leave(lp, pkt);
}

uint64_t eth_port_send(struct link_port *lp, struct packet *pkt)
{
	struct eth_port *eth = lp->config.eth;
	struct eth_lane *lane = &eth->lanes[pkt->vl];

	if (!may_send(lp, pkt))
		return hca_now(lp->hca);
	if (pkt->loopback ||
	    (!pkt->cable_only && !mac_is_group(pkt->wire) && eth_port_has_mac(eth, pkt->wire)))
		return loop_back(lp, pkt);
	if (mac_is_group(pkt->wire) && !pkt->cable_only) {
		struct packet *copy = packet_alloc(lp->hca);

		packet_copy(copy, pkt);
		loop_back(lp, copy);
	}
	if (lane->queue.first || lane->paused_until_ps > hca_now(lp->hca) ||
	    (obeys_pause(eth) && lp->busy_until_ps > hca_now(lp->hca)))
		return lane_queue(lane, pkt);
	return transmit(lp, pkt);
}

/* --- pause --- */

static uint64_t quanta_ps(const struct link_port *lp, unsigned quanta)
{
	return (uint64_t)quanta * (ETH_QUANTUM_BITS / BITS) * lp->fs_per_byte / 1000;
}

/* Sends a MAC control frame: a pause of all traffic, or with `pfc` of the priorities in `which`. */
static void control_send(struct link_port *lp, bool pfc, unsigned which, unsigned quanta)
{
	struct packet *pkt = packet_alloc(lp->hca);
	struct eth_hdr *hdr = (struct eth_hdr *)(void *)pkt->buf;
	struct eth_pause *pause = (struct eth_pause *)(void *)(pkt->buf + sizeof(*hdr));

	memset(pkt->buf, 0, ETHERNET_MIN);
	memcpy(eth_hdr_dmac_ptr(hdr), control_mac, MAC_BYTES);
	mac_store(eth_hdr_smac_ptr(hdr), lp->config.eth->macs[0]);
	eth_hdr_set_type(hdr, ETH_TYPE_CONTROL);
	eth_pause_set_opcode(pause, pfc ? ETH_CONTROL_PFC : ETH_CONTROL_PAUSE);
	if (pfc) {
		eth_pause_set_enabled(pause, which);
		for (unsigned i = 0; i < ETH_PRIORITIES; i++)
			be16_store(eth_pause_times_ptr(pause) + 2 * i,
				   which >> i & 1 ? (uint16_t)quanta : 0);
	} else {
		eth_pause_set_quanta(pause, quanta);
	}
	pkt->ethernet = true;
	pkt->vlan = VLAN_NONE;
	pkt->wire = pkt->buf;
	pkt->len = ETHERNET_MIN;
	pkt->port = (uint8_t)lp->port;
	packet_need_crcs(pkt);
	lp->config.eth->counters[FW_EC_TX_PAUSE]++;
	transmit(lp, pkt); /* a pause does not hold up MAC control */
}

static unsigned priority_of(const struct eth_lane *lane)
{
	return (unsigned)(lane - lane->eth->lanes);
}

/* Asks the other end for silence, and again when half of it is over and the buffer is still full:
 * what the other end sends at the end of a pause would not find room for ever. */
static void pause_all(struct eth_port *eth)
{
	struct link_port *lp = eth->lp;
	const unsigned quanta = (unsigned)param_ethernet_pause_quanta(lp->hca->params);
	const uint64_t lasts = quanta_ps(lp, quanta);

	eth->asked_until_ps = hca_now(lp->hca) + lasts;
	event_set(lp->hca->core, &eth->ask_again, hca_now(lp->hca) + lasts / 2);
	control_send(lp, false, 0, quanta);
}

/* The same for one priority. */
static void pause_lane(struct eth_lane *lane)
{
	struct link_port *lp = lane->eth->lp;
	const unsigned quanta = (unsigned)param_ethernet_pause_quanta(lp->hca->params);
	const uint64_t lasts = quanta_ps(lp, quanta);

	lane->asked_until_ps = hca_now(lp->hca) + lasts;
	event_set(lp->hca->core, &lane->ask_again, hca_now(lp->hca) + lasts / 2);
	control_send(lp, true, 1u << priority_of(lane), quanta);
}

static void ask_all_again(struct event *ev)
{
	struct eth_port *eth = container_of(ev, struct eth_port, ask_again);

	if (eth->buffered > param_ethernet_pause_above(eth->lp->hca->params))
		pause_all(eth);
}

static void ask_lane_again(struct event *ev)
{
	struct eth_lane *lane = container_of(ev, struct eth_lane, ask_again);

	if (lane->buffered > param_ethernet_pause_above(lane->eth->lp->hca->params))
		pause_lane(lane);
}

/* The receive buffer has grown: asks the other end to be silent where that is agreed. */
static void pause_ask(struct link_port *lp, struct eth_lane *lane)
{
	struct eth_port *eth = lp->config.eth;
	const uint64_t above = param_ethernet_pause_above(lp->hca->params);
	const uint64_t now = hca_now(lp->hca);

	if (eth->pause_tx && eth->buffered > above && eth->asked_until_ps <= now)
		pause_all(eth);
	if (eth->pfc_tx >> priority_of(lane) & 1 && lane->buffered > above &&
	    lane->asked_until_ps <= now)
		pause_lane(lane);
}

/* It has shrunk: lets the other end go on. */
static void pause_end(struct link_port *lp, struct eth_lane *lane)
{
	struct eth_port *eth = lp->config.eth;
	const uint64_t below = param_ethernet_pause_below(lp->hca->params);
	const uint64_t now = hca_now(lp->hca);

	if (lp->config.logical < LOGICAL_ACTIVE)
		return;
	if (eth->asked_until_ps > now && eth->buffered <= below) {
		eth->asked_until_ps = 0;
		event_cancel(lp->hca->core, &eth->ask_again);
		control_send(lp, false, 0, 0);
	}
	if (lane->asked_until_ps > now && lane->buffered <= below) {
		lane->asked_until_ps = 0;
		event_cancel(lp->hca->core, &lane->ask_again);
		control_send(lp, true, 1u << priority_of(lane), 0);
	}
}

static void lane_pause(struct eth_lane *lane, unsigned quanta)
{
	struct link_port *lp = lane->eth->lp;

	lane->paused_until_ps = hca_now(lp->hca) + quanta_ps(lp, quanta);
	event_cancel(lp->hca->core, &lane->over);
	lane_drain(lane);
}

/* The other end asks for silence, or ends it. Ignored unless firmware was told to obey. */
static void control_receive(struct eth_port *eth, const struct packet *pkt)
{
	const struct eth_pause *pause =
		(const struct eth_pause *)(const void *)(pkt->wire + sizeof(struct eth_hdr));
	const unsigned opcode = eth_pause_get_opcode(pause);

	eth->counters[FW_EC_RX_PAUSE]++;
	for (unsigned i = 0; i < ETH_PRIORITIES; i++) {
		if (opcode == ETH_CONTROL_PAUSE && eth->pause_rx)
			lane_pause(&eth->lanes[i], eth_pause_get_quanta(pause));
		if (opcode == ETH_CONTROL_PFC &&
		    eth->pfc_rx & eth_pause_get_enabled(pause) & 1u << i)
			lane_pause(&eth->lanes[i], be16_load(eth_pause_times_cptr(pause) + 2 * i));
	}
}

/* --- receiving --- */

static void discard(struct link_port *lp, struct packet *pkt, enum fw_eth_counter counter,
		    const char *why)
{
	lp->config.eth->counters[counter]++;
	lp->hca->stats.link_port_rx_dropped++;
	link_packet_trace(lp->hca, TP_PKT_DISCARD, pkt, hca_now(lp->hca), why);
	packet_free(pkt);
}

static bool is_control(const struct packet *pkt)
{
	return eth_hdr_get_type((const struct eth_hdr *)(const void *)pkt->wire) ==
	       ETH_TYPE_CONTROL;
}

/* Puts the frame into the receive buffer. False: there is no room. */
static bool buffer_take(struct link_port *lp, struct packet *pkt)
{
	struct eth_port *eth = lp->config.eth;
	struct eth_lane *lane = &eth->lanes[pkt->vl];

	if (eth->buffered + pkt->len > param_ethernet_rx_buffer(lp->hca->params))
		return false;
	eth->buffered += pkt->len;
	lane->buffered += pkt->len;
	pkt->rx_buffered = true;
	pause_ask(lp, lane);
	return true;
}

void eth_port_release(struct link_port *lp, struct packet *pkt)
{
	struct eth_port *eth = lp->config.eth;
	struct eth_lane *lane = &eth->lanes[pkt->vl];

	pkt->rx_buffered = false;
	/* a reset has emptied the buffer meanwhile */
	if (eth->buffered < pkt->len || lane->buffered < pkt->len)
		return;
	eth->buffered -= pkt->len;
	lane->buffered -= pkt->len;
	pause_end(lp, lane);
}

static const char *length_wrong(const struct eth_port *eth, const struct packet *pkt)
{
	if (pkt->len < ETHERNET_MIN)
		return "runt";
	/* a VLAN tag does not count */
	return pkt->len > eth->mtu + sizeof(struct vlan_tag) ? "longer than the port's MTU" : NULL;
}

void eth_port_receive(struct link_port *lp, struct packet *pkt)
{
	struct hca *hca = lp->hca;
	struct eth_port *eth = lp->config.eth;

	if (lp->config.logical < LOGICAL_ACTIVE) {
		discard(lp, pkt, FW_EC_RX_FILTERED, "port state does not let it pass");
		return;
	}
	if (pkt->len < sizeof(struct eth_hdr) + sizeof(struct eth_pause) ||
	    length_wrong(eth, pkt)) {
		discard(lp, pkt, FW_EC_RX_BAD_LENGTH, length_wrong(eth, pkt));
		return;
	}
	if ((param_crc_eager(hca->params) || pkt->crcs_unknown) &&
	    !frame_fcs_is_right(pkt->wire, pkt->len)) {
		discard(lp, pkt, FW_EC_RX_BAD_FCS, "fcs");
		return;
	}
	if (!pkt->loopback && !buffer_take(lp, pkt)) {
		discard(lp, pkt, FW_EC_RX_NO_BUFFER, "no room in the receive buffer");
		return;
	}
	link_packet_trace(hca, TP_PKT_IN, pkt, hca_now(hca), pkt->fault);
	hca->stats.link_port_rx_packets++;
	count_frame(eth, pkt, false);
	if (is_control(pkt)) {
		control_receive(eth, pkt);
		packet_free(pkt);
		return;
	}
	hca->calls->packet_came(hca, pkt);
}

/* --- life --- */

void eth_port_drop(struct link_port *lp)
{
	struct eth_port *eth = lp->config.eth;
	struct packet *pkt;

	for (unsigned i = 0; i < ETH_PRIORITIES; i++) {
		struct eth_lane *lane = &eth->lanes[i];

		event_cancel(lp->hca->core, &lane->over);
		event_cancel(lp->hca->core, &lane->ask_again);
		lane->paused_until_ps = lane->asked_until_ps = 0;
		while ((pkt = packet_queue_pop(&lane->queue))) {
			lp->config.counters[FW_PC_XMIT_DISCARDS]++;
			packet_free(pkt);
		}
		lane->queued_bytes = 0;
	}
	event_cancel(lp->hca->core, &eth->ask_again);
	eth->asked_until_ps = 0;
}

bool eth_port_is_quiet(const struct link_port *lp)
{
	for (unsigned i = 0; i < ETH_PRIORITIES; i++)
		if (lp->config.eth->lanes[i].queue.first)
			return false;
	return true;
}

void eth_port_reset(struct eth_port *eth, struct link_port *lp)
{
	memset(eth, 0, sizeof(*eth));
	eth->lp = lp;
	eth->mtu = MTU_AT_RESET;
	eth->ask_again.job = ask_all_again;
	if (param_hca_device(lp->hca->params) == CFG_DEVICE_CX3PRO)
		eth->udp_port = ROCE_UDP_PORT;
	for (unsigned i = 0; i < ETH_PRIORITIES; i++) {
		eth->lanes[i].eth = eth;
		eth->lanes[i].over.job = pause_over;
		eth->lanes[i].ask_again.job = ask_lane_again;
	}
}
