/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads payload from memory: that of requests with pointer segments, and of READ responses. One
 * unit issues these reads, one packet after the other, and each packet occupies it for a time.
 * from: requester_packet.c, atomic_read.c; to: pcie. Time: [hca.packet] gather_gap, small,
 * large_gap.
 */
#ifndef MODEL_ENGINE_GATHER_H
#define MODEL_ENGINE_GATHER_H

#include <stdint.h>

struct dma;
struct hca;

/* As pcie_read(), but in the unit's order. */
void gather_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps);
void gather_reset(struct hca *hca);

#endif
