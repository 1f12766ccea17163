/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoCE: the InfiniBand transport in Ethernet frames. Builds the headers in front of the BTH, and
 * finds the parts of a frame that has come in. from, to: packet.c, packet_receive.c. Takes no time.
 */
#ifndef MODEL_ENGINE_ROCE_H
#define MODEL_ENGINE_ROCE_H

#include "model/engine/wire/packet.h"

struct eth_port;

/* Length of a frame whose last byte before the padding is in front of `end`, with FCS. */
static inline unsigned frame_length(unsigned end)
{
	return end + FCS_BYTES < ETHERNET_MIN ? (unsigned)ETHERNET_MIN : end + FCS_BYTES;
}

/* Bytes of an Ethernet packet's headers in front of the BTH. */
unsigned roce_front_bytes(const struct packet_path *path);
/* Writes them; pkt has its offsets and its length. */
void roce_front_put(struct hca *hca, struct packet *pkt, const struct packet_path *path);
/* Sets the fields of pkt that say where the parts of the frame stand. As roce_find(). */
const char *roce_locate(struct packet *pkt, const struct eth_port *eth);
/* The parts of a packet that was built or located. */
struct roce_places roce_places_of(const struct packet *pkt);
/* Whether the packet is for this port, by MAC and GID. NULL: it is. */
const char *roce_check_address(struct hca *hca, const struct packet *pkt);
/* How a QP of this mode (enum qp_roce_mode) sends from this entry of the GID table. */
enum roce_kind roce_kind_of(const struct eth_port *eth, unsigned sgid_index, unsigned mode);

#endif
