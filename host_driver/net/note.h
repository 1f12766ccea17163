/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes between neighbours about who has which address: ARP for IPv4 (arp.c), neighbour discovery for
 * IPv6 (nd.c). Bytes only; they touch no device. Addresses are GIDs, as in neigh.h.
 */
#ifndef HOST_DRIVER_NET_NOTE_H
#define HOST_DRIVER_NET_NOTE_H

#include "model/interface/ethernet.h"

enum { NOTE_IP_BYTES = 16, NOTE_FRAME_MIN = 60 /* without FCS */, NOTE_FRAME_MAX = 96 };

struct note {
	bool question;                /* else it is an answer, or told unasked */
	bool solicited;               /* it answers a question */
	uint8_t about[NOTE_IP_BYTES]; /* this address ... */
	uint8_t mac[MAC_BYTES];       /* ... has this MAC, that of the sender */
	/* the address asked for, or in an answer that of who asked */
	uint8_t other[NOTE_IP_BYTES];
};

/* Writes the frame that carries the note, and returns its length without FCS. `to`: the MAC that gets
 * it; NULL: all who may have the address asked for. `vlan`: of its tag, or VLAN_NONE. */
size_t note_write(const struct note *n, const uint8_t *to, uint16_t vlan,
		  uint8_t frame[NOTE_FRAME_MAX]);
/* Reads a frame without tag and FCS. false: it is no note, or a malformed one. */
bool note_read(const uint8_t *frame, size_t len, struct note *n);

/* The parts behind the Ethernet header. */
size_t arp_write(const struct note *n, const uint8_t *to, uint8_t *at);
bool arp_read(const uint8_t *at, size_t len, struct note *n);
size_t nd_write(const struct note *n, bool to_group, uint8_t *at);
bool nd_read(const uint8_t *at, size_t len, struct note *n);
/* The group that everybody belongs to who has this IPv6 address (RFC 4291, 2.7.1). */
void nd_group(const uint8_t ip[NOTE_IP_BYTES], uint8_t group[NOTE_IP_BYTES]);

#endif
