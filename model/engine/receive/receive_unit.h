/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive unit: packets that have come in, requests and responses of all ports, go through it
 * one after the other, to the queue pair that each is for. from: packet_receive(); to: multicast,
 * requester, responder. Time: [hca.packet] rx_*. Three things hold it longer: a READ request, data
 * that goes where a WQE says, and each further chunk of payload. It stands still while a context is
 * read that a packet needs; later packets wait in their port's buffer.
 */
#ifndef MODEL_ENGINE_RECEIVE_UNIT_H
#define MODEL_ENGINE_RECEIVE_UNIT_H

struct hca;
struct packet;

struct receive_unit *receive_unit_create(struct hca *hca);
void receive_unit_destroy(struct receive_unit *unit);
/* A parsed packet; sets ready_ps and hands it on, now or in its turn. Takes it over. */
void receive_unit_take(struct hca *hca, struct packet *pkt);
/* A context is being read; has been read. Calls of the two come in pairs. */
void receive_unit_stall(struct hca *hca);
void receive_unit_go_on(struct hca *hca);
/* Packets that wait are freed. */
void receive_unit_reset(struct hca *hca);

#endif
