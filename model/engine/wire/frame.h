/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ethernet frames that carry no RoCE: what a network interface leaves to its card. Checksums of
 * IPv4, TCP and UDP, VLAN tags, and the hash that spreads flows over receive queues. Pure functions
 * of the frame's bytes. from: requester, responder. Takes no time of its own.
 * Sources: RFC 1071, 791, 8200, 793, 768; IEEE 802.1Q; the hash is Microsoft's (Introduction to
 * Receive Side Scaling, "RSS hashing functions").
 */
#ifndef MODEL_ENGINE_FRAME_H
#define MODEL_ENGINE_FRAME_H

#include "model/engine/wire/packet.h"
#include "model/interface/queues.h"

/* The row of all such frames in place of one of bth_ops. */
extern const struct bth_op frame_op;

/* A frame, and not a packet of InfiniBand's transport. */
static inline bool packet_is_frame(const struct packet *pkt)
{
	return pkt->op == &frame_op;
}

/* Where the parts of a frame stand; offsets from its first byte, 0: there is no such part. */
struct frame_parts {
	unsigned l3, l4;
	uint8_t ip_version; /* 4, 6; 0: another protocol */
	uint8_t protocol;   /* of l4; only TCP and UDP have one */
	bool options;       /* an IPv4 header with options */
	bool fragment;      /* of an IP packet */
	unsigned l4_len;
};

/* `len` without FCS. A header that is cut off or wrong counts as not there. */
void frame_find(const uint8_t *frame, unsigned len, struct frame_parts *parts);

/* What a send WQE asks for, in packet.mark. */
enum frame_offload { FRAME_IP_CHECKSUM = 1 << 0, FRAME_L4_CHECKSUM = 1 << 1 };

/* Writes the checksum of the IPv4 header, of TCP or UDP. A frame that has no such header stays as
 * it is. A UDP checksum of 0 becomes 0xffff. */
void frame_checksums_put(uint8_t *frame, unsigned len, unsigned offloads);

/* What a receive CQE says of the frame: enum cqe_csum. *checksum: 0xffff where that of TCP or UDP is
 * right, otherwise what it adds up to. */
unsigned frame_checksums_look(const uint8_t *frame, unsigned len, uint16_t *checksum);

/* The frame whose payload is at packet_payload(): moves its addresses to make room for a VLAN tag
 * (pkt->vlan, unless VLAN_NONE), makes the checksums of pkt->mark, fills it up to the least length
 * and sets wire and len. */
void frame_finish(struct packet *pkt);
/* Takes the outer VLAN tag out of a received frame: wire and payload_len change; len, by which the
 * frame fills the receive buffer, and vlan stay. */
void frame_vlan_strip(struct packet *pkt);
/* Priority and VLAN of the frame's tag, or VLAN_NONE. */
uint16_t frame_vlan(const uint8_t *frame, unsigned len);

/* The hash over addresses, and over ports where `kinds` (enum rss_kind) has them; 0: the frame is of
 * no kind that is hashed. */
uint32_t frame_hash(const uint8_t *frame, unsigned len, const struct rss_context *rss);

#endif
