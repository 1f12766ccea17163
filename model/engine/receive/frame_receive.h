/* SPDX-License-Identifier: Apache-2.0 */
/* Frames without RoCE: which QP gets one, by the port's MACs, groups, VLANs and promiscuous QP.
 * from: packet_receive.c (frame_came of calls.h); to: receive_unit. Takes no time of its own. */
#ifndef MODEL_ENGINE_FRAME_RECEIVE_H
#define MODEL_ENGINE_FRAME_RECEIVE_H

struct hca;
struct packet;

void frame_receive(struct hca *hca, struct packet *pkt);

#endif
