/*
 * The receive unit: packets that have come in, requests and responses of all ports, go through it
 * one after the other. from: packet_receive(); to: receive_unit_packet() of packet.c. Time:
 * [hca.packet] rx_*. It is held longer by a READ, of which it makes a job, by data whose place a
 * WQE names (a message without payload has none), and by each further chunk of payload. While a
 * context is read that a packet needs for receiving, it stands still: what came later waits, in its
 * port's buffer.
 */
#ifndef MODEL_ENGINE_RECEIVE_UNIT_H
#define MODEL_ENGINE_RECEIVE_UNIT_H

#include "model/engine/base/event_core.h"
#include <stdint.h>

struct hca;
struct packet;

struct receive_unit {
	struct packet *first, *last; /* those that wait, in order of arrival */
	struct event ev;             /* the first of them has its turn */
	uint64_t busy_ps;            /* held until then */
	uint64_t stalled_ps;         /* stands still since then */
	unsigned misses;             /* contexts being read */
};

/* A parsed packet; sets ready_ps and hands it to receive_unit_packet(), now or in its turn. */
void receive_unit_take(struct hca *hca, struct packet *pkt);
/* A context is being read, has been read. */
void receive_unit_stall(struct hca *hca);
void receive_unit_go_on(struct hca *hca);
/* Packets that wait are freed. */
void receive_unit_reset(struct hca *hca);

/* packet.c: finds its queue pair. */
void receive_unit_packet(struct hca *hca, struct packet *pkt);

#endif
