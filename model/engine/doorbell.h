/*
 * BAR2: UAR pages (send, CQ arm, EQ doorbells) and BlueFlame buffers.
 * from: pci_function; to: scheduler, cqe_write, event_queue. Time: [hca.doorbell].
 */
#ifndef MODEL_ENGINE_DOORBELL_H
#define MODEL_ENGINE_DOORBELL_H

#include <stdint.h>

struct hca;

struct doorbell *doorbell_create(struct hca *hca);
void doorbell_destroy(struct doorbell *doorbell);
void doorbell_reset(struct hca *hca);
void doorbell_write(struct hca *hca, uint64_t offset, const void *bytes, unsigned size);

#endif
