/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The personality outside: the other end of a cable whose frames leave the simulation (struct
 * hca_outside in hca.h). It has no host, only Ethernet ports. from: wire (packet_came) and
 * hca_outside_send(); to: the functions of struct hca_outside, and link_port. Takes no time beside
 * that of its ports.
 *
 * A frame that the outside does not take yet stays in the port's receive buffer. So a slow outside
 * does to the sender what any slow receiver does: pause frames where both ends have agreed on them,
 * else lost frames (rx_no_buffer).
 */
#include "model/engine/base/engine.h"
#include "model/engine/base/personality.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/packet_queue.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"
#include "model/sim/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long after a refusal a frame is offered again, unless hca_outside_go_on() comes first. */
#define ASK_AGAIN_PS CFG_US(100)

struct outside_port {
	struct outside *outside;
	unsigned number;
	struct packet_queue waiting; /* frames that the outside has not taken yet */
	struct event again;
};

struct outside {
	struct hca *hca;
	const struct hca_outside *world; /* NULL: there is nobody, and frames are lost */
	struct outside_port ports[HCA_MAX_PORTS];
};

static unsigned ports_of(const struct hca *hca)
{
	return (unsigned)param_hca_ports(hca->params);
}

/* --- out --- */

static void give(struct outside_port *port)
{
	const struct hca_outside *world = port->outside->world;
	struct hca *hca = port->outside->hca;
	struct packet *pkt;

	while ((pkt = port->waiting.first)) {
		const enum hca_outside_answer answer = world->frame(
			world->ctx, port->number, pkt->wire, pkt->len - (size_t)FCS_BYTES);

		if (answer == OUTSIDE_LATER)
			break;
		if (answer == OUTSIDE_LOST)
			hca->stats.outside_lost++;
		else
			hca->stats.outside_sent++;
		packet_free(packet_queue_pop(&port->waiting));
	}
	if (pkt)
		event_set(hca->core, &port->again, hca_now(hca) + ASK_AGAIN_PS);
}

static void ask_again(struct event *ev)
{
	give(container_of(ev, struct outside_port, again));
}

static void packet_came(struct hca *hca, struct packet *pkt)
{
	struct outside_port *port = &hca->outside->ports[pkt->port - 1];
	const bool others_wait = port->waiting.first;

	if (!hca->outside->world) {
		packet_drop(hca, pkt, "nobody is outside");
		return;
	}
	packet_need_crcs(pkt); /* others check the ICRC of what leaves the simulation */
	packet_queue_push(&port->waiting, pkt);
	if (!others_wait)
		give(port);
}

void hca_outside_go_on(struct hca *hca, unsigned port)
{
	event_cancel(hca->core, &hca->outside->ports[port - 1].again);
	give(&hca->outside->ports[port - 1]);
}

/* --- in --- */

/* NULL: Ethernet has no frames of that length. */
static struct packet *frame_make(struct hca *hca, unsigned port, const void *frame, size_t len)
{
	struct packet *pkt;
	uint16_t vlan;

	if (len < sizeof(struct eth_hdr) ||
	    len + FCS_BYTES > ETHERNET_MAX + sizeof(struct vlan_tag)) {
		hca->stats.outside_refused++;
		return NULL;
	}
	hca->stats.outside_received++;
	pkt = packet_alloc(hca);
	memcpy(pkt->buf, frame, len);
	if (len < ETHERNET_MIN - FCS_BYTES) {
		memset(pkt->buf + len, 0, ETHERNET_MIN - FCS_BYTES - len);
		len = ETHERNET_MIN - FCS_BYTES;
	}
	pkt->wire = pkt->buf;
	pkt->len = (uint16_t)(len + FCS_BYTES);
	frame_fcs_make(pkt->wire, pkt->len);
	vlan = frame_vlan(pkt->wire, pkt->len);
	pkt->port = (uint8_t)port;
	pkt->ethernet = pkt->cable_only = true;
	pkt->vlan = VLAN_NONE;
	pkt->vl = vlan == VLAN_NONE ? 0 : (uint8_t)vlan_priority(vlan);
	/* its FCS is right, but others have made what is in it */
	pkt->crcs_made = pkt->crcs_unknown = true;
	return pkt;
}

int hca_outside_send(struct hca *hca, unsigned port, const void *frame, size_t len)
{
	struct packet *pkt = frame_make(hca, port, frame, len);

	if (pkt)
		link_port_send(hca, pkt);
	return pkt ? 0 : -EMSGSIZE;
}

int hca_outside_put(struct hca *hca, unsigned port, const void *frame, size_t len)
{
	struct packet *pkt = frame_make(hca, port, frame, len);

	if (pkt)
		eth_port_put(hca->ports[port - 1], pkt);
	return pkt ? 0 : -EMSGSIZE;
}

uint64_t hca_outside_flight_ps(const struct hca *hca, unsigned port)
{
	return eth_port_flight_ps(hca->ports[port - 1]);
}

uint64_t hca_outside_backlog_ps(const struct hca *hca, unsigned port)
{
	uint64_t longest = 0;

	for (unsigned priority = 0; priority < ETH_PRIORITIES; priority++) {
		const uint64_t backlog = link_port_backlog_ps((struct hca *)hca, port, priority);

		if (longest < backlog)
			longest = backlog;
	}
	return longest;
}

/* --- life --- */

void hca_outside_set(struct hca *hca, const struct hca_outside *world)
{
	hca->outside->world = world;
	for (unsigned port = 1; port <= ports_of(hca); port++) {
		struct eth_port *eth = link_port_config(hca, port)->eth;

		eth->pause_tx = world->pause;
		eth->pause_rx = world->pause;
		link_port_command(hca, port, FW_PORT_UP);
	}
}

/* Where pause frames come from. No frame that comes in is for the port itself. */
static void mac_set(const struct hca *hca, struct eth_port *eth, unsigned port)
{
	enum { LOCAL = 0x02 }; /* locally administered, IEEE 802 8.2.2 */

	eth->macs[0] = (uint64_t)LOCAL << 40 | hca->index << 8 | port;
}

static void port_reset(struct hca *hca, struct outside_port *port)
{
	event_cancel(hca->core, &port->again);
	packet_queue_free(&port->waiting);
	link_port_reset(hca, port->number);
	link_port_config(hca, port->number)->eth->mtu = ETHERNET_MAX;
	mac_set(hca, link_port_config(hca, port->number)->eth, port->number);
}

static void stop(struct hca *hca)
{
	for (unsigned i = 0; i < ports_of(hca); i++)
		port_reset(hca, &hca->outside->ports[i]);
}

static void soft_reset(struct hca *hca)
{
	stop(hca);
	packet_pool_trim(hca);
	memory_reset(hca);
	hca->stopped = false;
}

static void port_changed(struct hca *hca, unsigned port)
{
	const struct hca_outside *world = hca->outside->world;

	if (world && world->link)
		world->link(world->ctx, port, link_port_is_up(hca, port));
}

static void catastrophe(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			uint32_t detail, const char *text)
{
	stop(hca);
	if (hca->env.catastrophe)
		hca->env.catastrophe(hca->env.ctx, text);
	if (told)
		told(hca);
}

/* A function that no driver knows: all ones, as where no function is. */
static void bar_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
		      unsigned size)
{
}

static void bar_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	memset(bytes, 0xff, size);
}

static int create(struct hca *hca, const char *fw_path, char *err, size_t err_size)
{
	for (unsigned port = 1; port <= ports_of(hca); port++)
		if (!link_port_config(hca, port)->eth) {
			snprintf(err, err_size,
				 "hca%u.port%u.type: expected eth, because hca%u.personality is "
				 "outside",
				 hca->index, port, hca->index);
			return -EINVAL;
		}
	hca->outside = memory_create(1, sizeof(*hca->outside), "the outside");
	hca->outside->hca = hca;
	for (unsigned i = 0; i < HCA_MAX_PORTS; i++)
		hca->outside->ports[i] = (struct outside_port){
			.outside = hca->outside, .number = i + 1, .again.job = ask_again};
	return 0;
}

static void destroy(struct hca *hca)
{
	free(hca->outside);
}

static bool is_quiet(const struct hca *hca)
{
	return true; /* a frame that waits is a packet in use */
}

static void describe(const struct hca *hca, char *text, size_t size)
{
	text[0] = 0;
}

static size_t footprint(const struct hca *hca)
{
	return sizeof(*hca->outside);
}

static const struct pci_identity *identity(const struct hca_params *params)
{
	static const struct pci_identity nobody = {
		.vendor = 0xffff, .device = 0xffff, .vectors_max = 1};

	return &nobody;
}

const struct personality personality_outside = {
	.name = "outside",
	.calls = {.give_back = stop,
		  .bar_write = bar_write,
		  .bar_read = bar_read,
		  .packet_came = packet_came,
		  .port_changed = port_changed,
		  .catastrophe = catastrophe,
		  .stop = stop,
		  .soft_reset = soft_reset},
	.pci = identity,
	.create = create,
	.destroy = destroy,
	.is_quiet = is_quiet,
	.describe = describe,
	.footprint = footprint,
};
