/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payload read from memory: of requests by pointer, of READ responses. One unit asks for it, packet
 * after packet, and is held by each. from: requester_packet.c, atomic_read.c; to: pcie. Time:
 * [hca.packet] gather_gap, small, large_gap.
 */
#ifndef MODEL_ENGINE_GATHER_H
#define MODEL_ENGINE_GATHER_H

#include <stdint.h>

struct dma;
struct hca;

/* As pcie_read(), in its turn. */
void gather_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps);

#endif
