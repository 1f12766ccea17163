/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of a link port: link_port.c sends packets, link_receive.c receives them,
 * static_rate.c delays those of a slower path, link_train.c is the physical layer. */
#ifndef MODEL_ENGINE_LINK_IMPL_H
#define MODEL_ENGINE_LINK_IMPL_H

#include "model/engine/base/engine.h"
#include "model/engine/base/event_core.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet_queue.h"
#include "model/interface/wire.h"
#include <stdbool.h>
#include <stdint.h>

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
struct link_lane {
	struct link_port *lp;
	struct packet_queue queue; /* packets that wait for credits */
	uint32_t credits; /* blocks that the peer's buffer has room for from credits_ps on */
	uint32_t queued_bytes;
	uint64_t credits_ps;
	uint64_t credits_due_ps;   /* when the credits arrive that it last waited for */
	uint64_t stalled_since_ps; /* since when the first packet has waited */
	struct event due; /* when the credits for the first packet arrive; they are on their way */
	bool draining;
	struct credit_return returns[RETURN_SLOTS]; /* credits on their way back, in order */
	unsigned returns_first, returns_count;
	struct event life; /* head of queue lifetime; has no meaning when the queue is empty */
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
	unsigned max_lane_mbps, max_width; /* beside the parameters; 0: no limit */
	unsigned speed, width;             /* active */
	unsigned management_in_use;        /* VL15 packets in the receive buffer */
	unsigned flying;                   /* packets on their way to this port */
	struct event_lane arrivals;
	struct packet *held; /* packets that the fault plan holds back for reordering */
	struct link_lane lanes[VLS];
	struct link_lane turns[VLS]; /* for loopback: packets that this port sends to itself */
	struct rate_table *rates; /* static_rate.c's, created at the first packet that needs it */
	unsigned rate_held;       /* packets that wait there */
	struct port_config config;
	struct eth_port eth; /* in use while config.eth points to it */
};

/* Gives the lane the credits for an empty receive buffer of `buffer` bytes. */
void link_lane_open(struct link_lane *lane, uint64_t buffer);
/* Discards all packets that wait to be sent. */
void link_lanes_drop(struct link_port *lp);
/* A frame of an Ethernet port is on the cable, and arrives then if no fault plan has other ideas. */
void link_put_on_wire(struct link_port *lp, struct packet *pkt, uint64_t arrives);
/* A packet that stays in the device comes to its own port at pkt->sent_ps. */
void link_turn_around(struct link_port *lp, struct packet *pkt);
/* Event job: the packet that contains ev reaches its port. */
void link_receive_arrived(struct event *ev);

/* Writes a trace record of the packet with its bytes. Computes its CRCs if that was not done. */
void link_packet_emit(struct hca *hca, enum trace_point point, struct packet *pkt, uint64_t time_ps,
		      const char *text);

static inline void link_packet_trace(struct hca *hca, enum trace_point point, struct packet *pkt,
				     uint64_t time_ps, const char *text)
{
	if (hca_traces(hca, point))
		link_packet_emit(hca, point, pkt, time_ps, text);
}

static inline bool link_packet_is_multicast(const struct packet *pkt)
{
	uint16_t dlid = be16_load(pkt->wire + 2);

	return dlid >= LID_MCAST_FIRST && dlid != LID_PERMISSIVE;
}

/* Adds the packet to the given port counters: 4-byte words, packets, and unicast or multicast
 * packets. */
static inline void link_packet_count(struct port_config *c, const struct packet *pkt,
				     enum fw_port_counter data, enum fw_port_counter packets,
				     enum fw_port_counter unicast, enum fw_port_counter multicast)
{
	c->counters[data] += (unsigned)(pkt->len - VCRC_BYTES) / 4;
	c->counters[packets]++;
	c->counters[link_packet_is_multicast(pkt) ? multicast : unicast]++;
}

#endif
