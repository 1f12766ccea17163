/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rate of a path. When the path to a DLID is slower than the port, a packet is handed to the
 * port Ts after the packet before it, where Ts is the time of (IPD + 1) * PktLen * 4 bytes at the
 * port's rate and PktLen is that of the packet before (IBA 9.11; MindShare, InfiniBand Network
 * Architecture, ch. 24). The inter packet delay IPD is the least whole number that keeps to the
 * path's rate (examples there: 1 of 2.5 Gb/s is 2; Linux, mthca_av.c: (X - 1) / Y from rate X to no
 * more than Y). All QPs of a port share the limit for a DLID (MindShare: the same port and DLID).
 * Packets without a static rate are not delayed.
 *
 * from: link_port_send; to: the port. Time: rate of the link, rates of static_rates.h.
 */
#ifndef MODEL_ENGINE_STATIC_RATE_H
#define MODEL_ENGINE_STATIC_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct link_port;
struct packet;

/*
 * Takes over a packet that has packet.static_rate. When its time has come, clears that field and
 * hands the packet to link_port_send(). Returns when the last bit leaves, as far as is known now.
 */
uint64_t static_rate_send(struct link_port *lp, struct packet *pkt);
/* How long the path is still busy with packets already sent. `code`: the static rate of the path or
 * address vector, not 0. */
uint64_t static_rate_backlog_ps(struct hca *hca, unsigned port, uint16_t dlid, unsigned code);
/* Discards the packets that wait. */
void static_rate_drop(struct link_port *lp);
void static_rate_destroy(struct link_port *lp);

#endif
