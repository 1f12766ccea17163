/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rate of a path: packets to a DLID whose path is slower than the port follow each other at
 * the distance Ts = (IPD + 1) * PktLen * 4 bytes at the port's rate, from the moment one is handed
 * to the port to the next (IBA 9.11; MindShare, InfiniBand Network Architecture, ch. 24). The inter
 * packet delay IPD is the least whole number that keeps the path's rate (examples there: 1 of 2.5
 * Gb/s is 2; Linux, mthca_av.c: (X - 1) / Y from rate X to no more than Y). All QPs of a port share
 * the distance to a DLID (MindShare: the same port and DLID); packets without a static rate are not
 * held.
 * from: link_port_send; to: the port. Time: rate of the link, rates of static_rates.h.
 */
#ifndef MODEL_ENGINE_STATIC_RATE_H
#define MODEL_ENGINE_STATIC_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct link_port;
struct packet;

/* Takes over a packet with packet.static_rate: hands it to link_port_send() without when its time
 * has come. Returns when its last bit leaves, as far as known now. */
uint64_t static_rate_send(struct link_port *lp, struct packet *pkt);
/* How long the path is busy with what has been sent already; `code`: of the path or address vector,
 * not 0. */
uint64_t static_rate_backlog_ps(struct hca *hca, unsigned port, uint16_t dlid, unsigned code);
/* Packets that wait are discarded. */
void static_rate_drop(struct link_port *lp);
void static_rate_destroy(struct link_port *lp);

#endif
