/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast on reception: the group of a packet is looked up in the MCG table, and every member QP
 * gets a copy. from: packet_receive; to: responder. Time: the DMA reads of the table's entries.
 *
 * The bucket of the MGID (mcg_hash()) and its chain are read from ICM for each packet, in order of
 * arrival, one packet at a time, so a change by WRITE_MCG takes effect with the next packet. An
 * entry that firmware has not made valid (FW_OBJ_VALIDATE with FW_TABLE_MCG) ends the chain,
 * because nobody initialises the table. Source: IBA 10.5.2; mlx4 MCG entry.
 */
#ifndef MODEL_ENGINE_MULTICAST_H
#define MODEL_ENGINE_MULTICAST_H

struct hca;
struct packet;
struct multicast;

struct multicast *multicast_create(struct hca *hca);
void multicast_destroy(struct multicast *mc);
/* Drops the packets under way. Called after pcie_reset(). */
void multicast_reset(struct hca *hca);

/* Takes over a parsed datagram to a multicast GID. */
void multicast_receive(struct hca *hca, struct packet *pkt);

#endif
