/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive unit: all received packets, requests and responses of all ports, pass through it one
 * after the other to their queue pairs. from: packet_receive(); to: multicast, requester,
 * responder. Time: [hca.packet] rx_*. It takes longer for a READ request, for data whose
 * destination a WQE gives, and for each further chunk of payload. It stalls while the context that
 * a packet needs is being read; later packets then wait in their port's buffer.
 */
#ifndef MODEL_ENGINE_RECEIVE_UNIT_H
#define MODEL_ENGINE_RECEIVE_UNIT_H

struct hca;
struct packet;

struct receive_unit *receive_unit_create(struct hca *hca);
void receive_unit_destroy(struct receive_unit *unit);
/* Takes over a parsed packet, sets its ready_ps, and passes it on, now or in its turn. */
void receive_unit_take(struct hca *hca, struct packet *pkt);
/* A read of a context begins, and ends. The calls come in pairs. */
void receive_unit_stall(struct hca *hca);
void receive_unit_go_on(struct hca *hca);
/* Frees the packets that wait. */
void receive_unit_reset(struct hca *hca);

#endif
