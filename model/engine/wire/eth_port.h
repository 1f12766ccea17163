/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Ethernet port: its tables, its receive buffer, pause frames. No training, no virtual lanes, no
 * credits: a frame that finds no room in the other end's buffer is lost, unless pause frames keep
 * the sender quiet in time. from: requester, responder (link_port_send); to: the peer's
 * link_receive.c. Time: [hca.ethernet], and the delay and latencies of [hca.link].
 */
#ifndef MODEL_ENGINE_ETH_PORT_H
#define MODEL_ENGINE_ETH_PORT_H

#include "model/engine/base/event_core.h"
#include "model/engine/wire/packet_queue.h"
#include "model/interface/ethernet.h"
#include "model/interface/fwregs.h"

struct hca;
struct link_port;
struct packet;

struct eth_gid {
	uint8_t gid[16];
	uint8_t version; /* of RoCE: 1 or 2; 0: the entry is empty */
};

/* One priority. */
struct eth_lane {
	struct eth_port *eth;
	uint64_t buffered;         /* bytes of its frames in the receive buffer */
	uint64_t asked_until_ps;   /* the other end is not to send such frames until then */
	uint64_t paused_until_ps;  /* the other end has asked this port for it */
	struct packet_queue queue; /* frames that wait for that time */
	uint64_t queued_bytes;
	struct event over;
	struct event ask_again; /* half of what this port has asked for is over */
};

/* What firmware sets, what stages read, and what is under way. */
struct eth_port {
	uint64_t macs[ETH_TABLE_SIZE];  /* ETH_MAC_VALID, MAC */
	uint32_t vlans[ETH_TABLE_SIZE]; /* ETH_VLAN_VALID, VLAN */
	struct eth_gid gids[ETH_TABLE_SIZE];
	uint16_t mtu;      /* longest frame without headers and FCS that may come in */
	uint16_t udp_port; /* of RoCE v2; 0: the device does not have it */
	/* global pause: sends it, obeys it; PFC: bits of the priorities for which it does */
	bool pause_tx, pause_rx;
	uint8_t pfc_tx, pfc_rx;
	/* who gets frames without RoCE: as in the registers of these names */
	uint32_t rx_qpn, promisc, multicast;
	uint32_t vlan_filter[ETH_TABLE_SIZE]; /* bit v % 32 of word v / 32: VLAN v passes */
	uint64_t groups[ETH_TABLE_SIZE];      /* MACs of the groups that software listens to */
	unsigned n_groups;
	uint64_t counters[FW_EC_COUNT + FW_LANE_COUNTER_COUNT];
	uint64_t counted_from[FW_EC_COUNT + FW_LANE_COUNTER_COUNT]; /* as firmware sees them */

	struct link_port *lp;
	uint64_t buffered;       /* bytes in the receive buffer */
	uint64_t turned_ps;      /* frames to the port itself follow one another until then */
	uint64_t asked_until_ps; /* the other end is to be silent until then; 0: it is not */
	struct event ask_again;
	struct eth_lane lanes[ETH_PRIORITIES];
};

void eth_port_reset(struct eth_port *eth, struct link_port *lp);
/* As link_port_send(). */
uint64_t eth_port_send(struct link_port *lp, struct packet *pkt);
/* As link_port_backlog_ps(). */
uint64_t eth_port_backlog_ps(const struct link_port *lp, unsigned priority);
/* The frame has left the port at this moment, whatever else is on the line. */
void eth_port_put(struct link_port *lp, struct packet *pkt);
/* How long it then takes to the other end of the cable. */
uint64_t eth_port_flight_ps(const struct link_port *lp);
/* A frame has come off the cable, or from the port itself. */
void eth_port_receive(struct link_port *lp, struct packet *pkt);
/* A received frame is freed: its room in the buffer is. */
void eth_port_release(struct link_port *lp, struct packet *pkt);
/* The link is lost: discards what waits. */
void eth_port_drop(struct link_port *lp);
bool eth_port_is_quiet(const struct link_port *lp);

/* Adds a group; more than the list has room for are counted, and all groups then pass. */
void eth_port_group_add(struct eth_port *eth, uint64_t mac);
/* The address is in the port's table of MACs. */
bool eth_port_has_mac(const struct eth_port *eth, const uint8_t mac[MAC_BYTES]);
/* The entry of the GID table that has this GID for this version of RoCE; NULL: there is none. */
const struct eth_gid *eth_port_gid(const struct eth_port *eth, const uint8_t gid[16],
				   unsigned version);

#endif
