/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The physical layer of a link port: polling, training, the rate that both ends agree on, plugging
 * the cable, and what these change in the port. Time: [hca.link] training_time.
 */
#include "model/engine/base/engine.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/link_impl.h"
#include "model/engine/wire/static_rate.h"
#include "model/interface/macros.h"
#include "model/sim/fault.h"
#include "model/sim/params/hca_ethernet.h"
#include "model/sim/params/hca_link.h"
#include "model/sim/params/hca_port1.h"
#include "model/sim/params/hca_port2.h"
#include "model/sim/units.h"

#include <stdlib.h>
#include <string.h>

static void tables_default(struct link_port *lp)
{
	struct port_config *c = &lp->config;
	struct eth_port *eth = c->eth;

	memset(c, 0, sizeof(*c));
	c->logical = LOGICAL_DOWN;
	c->phys = PHYS_DISABLED;
	c->mtu = 1;
	c->oper_vls = 1;
	c->gid_prefix = 0xfe80000000000000;
	c->guids[0] = hca_node_guid(lp->hca) + lp->port;
	c->pkeys[0] = 0xffff;
	c->eth = eth;
	if (eth)
		eth_port_reset(eth, lp);
}

static void phys_change(struct link_port *lp, unsigned phys)
{
	struct hca *hca = lp->hca;
	static const char *const names[] = {[PHYS_POLLING] = "polling",
					    [PHYS_DISABLED] = "disabled",
					    [PHYS_TRAINING] = "training",
					    [PHYS_LINK_UP] = "link up"};

	if (lp->config.phys == phys)
		return;
	if (lp->config.phys == PHYS_LINK_UP)
		lp->config.counters[FW_PC_LINK_DOWNED]++;
	lp->config.phys = (uint8_t)phys;
	lp->config.logical = phys != PHYS_LINK_UP ? LOGICAL_DOWN
			     : lp->config.eth     ? LOGICAL_ACTIVE
						  : LOGICAL_INIT;
	HCA_TRACE(hca, TP_LINK_STATE, .port = (uint8_t)lp->port, .text = names[phys]);
	hca->calls->port_changed(hca, lp->port);
}

static void link_lost(struct link_port *lp)
{
	event_cancel(lp->hca->core, &lp->trained);
	link_lanes_drop(lp);
	if (lp->enabled)
		phys_change(lp, PHYS_POLLING);
	else
		phys_change(lp, PHYS_DISABLED);
}

static void train(struct link_port *lp)
{
	struct link_port *peer = lp->peer;

	if (!peer || !lp->plugged || !peer->plugged || !lp->enabled || !peer->enabled ||
	    !lp->config.eth != !peer->config.eth)
		return;
	if (lp->config.phys != PHYS_POLLING || peer->config.phys != PHYS_POLLING)
		return;
	phys_change(lp, PHYS_TRAINING);
	if (peer != lp)
		phys_change(peer, PHYS_TRAINING);
	event_set(lp->hca->core, &lp->trained,
		  hca_now(lp->hca) + param_link_training_time(lp->hca->params));
}

static void rate_set(struct link_port *lp, unsigned speed, unsigned width,
		     const struct link_port *peer)
{
	uint64_t mbps = cfg_link_speed_mbps(speed) * width;

	lp->speed = speed;
	lp->width = width;
	lp->fs_per_byte = 8000000000 / mbps;
	lp->busy_until_ps = hca_now(lp->hca);
	for (unsigned vl = 0; vl < VLS; vl++)
		link_lane_open(&lp->lanes[vl], param_link_rx_buffer(peer->hca->params));
}

/* An Ethernet port has no lanes: its rate is one number, that of the slower end. */
static void ethernet_rate_set(struct link_port *lp, const struct link_port *peer)
{
	uint64_t rate = param_ethernet_rate(lp->hca->params);

	if (rate > param_ethernet_rate(peer->hca->params))
		rate = param_ethernet_rate(peer->hca->params);
	lp->fs_per_byte = 8 * UINT64_C(1000000000000000) / rate;
	lp->busy_until_ps = hca_now(lp->hca);
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What the port supports. */
static unsigned port_speed(const struct link_port *lp)
{
	unsigned speed = (unsigned)param_link_speed(lp->hca->params);

	while (lp->max_lane_mbps && speed > CFG_SPEED_SDR &&
	       cfg_link_speed_mbps(speed) > lp->max_lane_mbps)
		speed--;
	return speed;
}

static unsigned port_width(const struct link_port *lp)
{
	const unsigned configured = (unsigned)param_link_width(lp->hca->params);

	return lp->max_width ? smaller(lp->max_width, configured) : configured;
}

static void training_done(struct event *ev)
{
	struct link_port *lp = container_of(ev, struct link_port, trained);
	struct link_port *peer = lp->peer;
	unsigned speed = smaller(port_speed(lp), port_speed(peer));
	unsigned width = smaller(port_width(lp), port_width(peer));

	if (peer->config.phys != PHYS_TRAINING)
		return;
	if (lp->config.eth) {
		ethernet_rate_set(lp, peer);
		ethernet_rate_set(peer, lp);
	} else {
		rate_set(lp, speed, width, peer);
		rate_set(peer, speed, width, lp);
	}
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

void link_port_activate(struct hca *hca, unsigned port)
{
	hca->ports[port - 1]->config.logical = LOGICAL_ACTIVE;
	link_port_logical_changed(hca, port);
	hca->calls->port_changed(hca, port);
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

void hca_link(struct hca *a, unsigned a_port, struct hca *b, unsigned b_port,
	      struct fault_plan *plan)
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

	for (unsigned w = 1; w <= port_width(lp); w++)
		supported |= w < sizeof(codes) ? codes[w] : 0u;
	return codes[lp->width ? lp->width : port_width(lp)] | supported << 8;
}

/* IBA 14.2.5.6: LinkSpeed bits SDR 1, DDR 2, QDR 4; extended FDR 1, EDR 2, HDR 4, NDR 8. */
uint32_t link_port_speed(struct hca *hca, unsigned port)
{
	static const uint8_t base[] = {
		[CFG_SPEED_SDR] = 1,   [CFG_SPEED_DDR] = 2, [CFG_SPEED_QDR] = 4,
		[CFG_SPEED_FDR10] = 4, [CFG_SPEED_FDR] = 4, [CFG_SPEED_EDR] = 4,
		[CFG_SPEED_HDR] = 4,   [CFG_SPEED_NDR] = 4};
	static const uint8_t extended[] = {
		[CFG_SPEED_FDR] = 1, [CFG_SPEED_EDR] = 2, [CFG_SPEED_HDR] = 4, [CFG_SPEED_NDR] = 8};
	const struct link_port *lp = hca->ports[port - 1];
	unsigned active = lp->width ? lp->speed : port_speed(lp);
	uint32_t supported = 0, extended_supported = 0;

	for (unsigned s = CFG_SPEED_SDR; s <= port_speed(lp); s++) {
		supported |= base[s];
		extended_supported |= s < sizeof(extended) ? extended[s] : 0u;
	}
	return base[active] | (uint32_t)extended[active] << 4 | supported << 8 |
	       extended_supported << 12;
}

static uint64_t port_type(const struct hca_params *params, unsigned port)
{
	return port == 1 ? param_port1_type(params) : param_port2_type(params);
}

uint32_t link_port_types(struct hca *hca, unsigned port)
{
	static const uint8_t types[] = {[CFG_PORT_IB] = FW_TYPE_IB,
					[CFG_PORT_ETH] = FW_TYPE_ETH,
					[CFG_PORT_AUTO] = FW_TYPE_IB | FW_TYPE_ETH};

	return types[port_type(hca->params, port)];
}

uint32_t link_port_peer_type(struct hca *hca, unsigned port)
{
	const struct link_port *peer = hca->ports[port - 1]->peer;

	if (!peer)
		return 0;
	return peer->config.eth ? FW_TYPE_ETH : FW_TYPE_IB;
}

bool link_port_is_up(const struct hca *hca, unsigned port)
{
	return link_port_config(hca, port)->phys == PHYS_LINK_UP;
}

struct link_port *link_port_create(struct hca *hca, unsigned port)
{
	struct link_port *lp = memory_create(1, sizeof(*lp), "a port");

	lp->hca = hca;
	lp->port = port;
	lp->trained.job = training_done;
	for (unsigned vl = 0; vl < VLS; vl++)
		link_lane_open(&lp->turns[vl], param_link_rx_buffer(hca->params));
	if (port_type(hca->params, port) == CFG_PORT_ETH)
		lp->config.eth = &lp->eth;
	tables_default(lp);
	hca->port_configs[port - 1] = &lp->config;
	return lp;
}

void link_port_limit(struct hca *hca, unsigned port, unsigned max_lane_mbps, unsigned max_width)
{
	struct link_port *lp = hca->ports[port - 1];

	lp->max_lane_mbps = max_lane_mbps;
	lp->max_width = max_width;
}

void link_port_reset(struct hca *hca, unsigned port)
{
	struct link_port *lp = hca->ports[port - 1], *peer = lp->peer;

	lp->enabled = false;
	event_cancel(hca->core, &lp->trained);
	link_lanes_drop(lp);
	tables_default(lp);
	if (peer && peer->config.phys >= PHYS_TRAINING)
		link_lost(peer);
}

void link_port_destroy(struct link_port *lp)
{
	if (!lp)
		return;
	event_cancel(lp->hca->core, &lp->trained);
	while (lp->arrivals.first) /* packets that the peer has sent */
		event_cancel(lp->hca->core, lp->arrivals.first);
	link_lanes_drop(lp);
	static_rate_destroy(lp);
	if (lp->peer)
		lp->peer->peer = NULL;
	free(lp);
}
