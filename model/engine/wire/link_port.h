/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link port: virtual lanes, credits, serialisation, training, and the cable to the peer. from:
 * requester, responder, port_note (link_port_send); to: the peer's link_receive.c, and from there
 * packet_receive(). Time: [hca.link]: speed, width, encoding, delay, training, buffers.
 *
 * The port's state decides which packets pass: VL15 packets from Initialize on; other packets are
 * received in Armed and Active, and sent in Active only.
 */
#ifndef MODEL_ENGINE_LINK_PORT_H
#define MODEL_ENGINE_LINK_PORT_H

#include "model/engine/base/engine.h"
#include "model/engine/wire/vl_arbiter.h"
#include "model/interface/fwregs.h"
#include <stdbool.h>
#include <stdint.h>

struct hca;
struct packet;
struct waiter;
struct fault_plan;
struct eth_port;

enum { PORT_MAX_GIDS = 128, PORT_MAX_PKEYS = 128 };

/* Describes the first packet with a wrong key that firmware has not looked at yet; number 0: there
 * is none. */
struct port_note {
	uint32_t number, key, lids, source, dest; /* as in the registers from FW_PORT_NOTE on */
};

/* What firmware's port registers set, and what stages read. */
/* The newest subnet management datagram that asks this port for something. */
struct port_asked {
	uint64_t tid;
	uint16_t attr;
	uint8_t method;
	bool waits; /* no answer has left */
};

struct port_config {
	uint16_t lid;
	uint8_t lmc;
	uint8_t logical; /* 1 down 2 init 3 armed 4 active */
	uint8_t phys;    /* PortPhysicalState */
	uint8_t mtu;     /* active MTU enum */
	uint8_t oper_vls;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint64_t gid_prefix;
	uint64_t guids[PORT_MAX_GIDS];
	uint16_t pkeys[PORT_MAX_PKEYS];
	uint8_t sl2vl[16];
	struct vl_arbiter arbiter;
	uint64_t bad_pkey, bad_qkey;
	struct port_note note;
	struct port_asked asked;
	uint64_t counters[FW_PC_COUNT];
	struct eth_port *eth; /* NULL: the port is an InfiniBand port */
};

struct link_port *link_port_create(struct hca *hca, unsigned port);
void link_port_destroy(struct link_port *lp);
/* The port can do no more than that, whatever the parameters say; 0: no limit. */
void link_port_limit(struct hca *hca, unsigned port, unsigned max_lane_mbps, unsigned max_width);
/* Power-on: down, polling is not started, tables at their defaults (P_Key 0 = 0xffff, GUID 0 = port
 * GUID, prefix fe80::/64). */
void link_port_reset(struct hca *hca, unsigned port);

static inline struct port_config *link_port_config(const struct hca *hca, unsigned port)
{
	return hca->port_configs[port - 1];
}

/* FW_TYPE_* bits: the protocols that the port can have; that of the other end, 0: unknown. */
uint32_t link_port_types(struct hca *hca, unsigned port);
uint32_t link_port_peer_type(struct hca *hca, unsigned port);
/* The cable is plugged, and both ends have trained. */
bool link_port_is_up(const struct hca *hca, unsigned port);
/* FW_PORT_UP, _DOWN, _DISABLE. */
void link_port_command(struct hca *hca, unsigned port, uint32_t command);
/* Firmware has changed port_config.logical. Below Active, packets that wait to be sent are
 * discarded. */
void link_port_logical_changed(struct hca *hca, unsigned port);
/* Makes an Armed port Active and tells firmware. */
void link_port_activate(struct hca *hca, unsigned port);
/* Values of FW_PORT_WIDTH and FW_PORT_SPEED. */
uint32_t link_port_width(struct hca *hca, unsigned port);
uint32_t link_port_speed(struct hca *hca, unsigned port);

/*
 * Takes over a finished packet. Packets of one VL leave in the order of the calls, none before its
 * pkt->ready_ps. Returns when the last bit leaves, as far as is known now. A packet whose DLID is
 * the port's own is looped back.
 */
uint64_t link_port_send(struct hca *hca, struct packet *pkt);
/* How long the port needs, in ps, for the data that waits to be serialised and for the packets of this
 * lane (Ethernet: priority) that wait for credits. Those of other lanes hold up nobody here. Senders
 * stop while it is above the parameter link.tx_window. */
uint64_t link_port_backlog_ps(struct hca *hca, unsigned port, unsigned vl);
/* Frees the buffer space of a received packet and returns its credits to the sender. */
void link_port_return_credits(struct hca *hca, struct packet *pkt);
bool link_port_is_quiet(struct hca *hca, unsigned port);
/* True when lid is one of the port's own LIDs (LMC counted). */
static inline bool link_port_is_own_lid(const struct hca *hca, unsigned port, uint16_t lid)
{
	const struct port_config *c = link_port_config(hca, port);

	return c->lid && lid >> c->lmc == c->lid >> c->lmc;
}

#endif
