/*
 * MSI-X: table and pending bits, masking by vector and function; a vector raised while masked is pending and is delivered at unmask. INTx when MSI-X is off.
 * from: event_queue; to: pcie (message).
 */
#ifndef MODEL_ENGINE_INTERRUPT_H
#define MODEL_ENGINE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct interrupt *interrupt_create(struct hca *hca);
void interrupt_destroy(struct interrupt *interrupt);
void interrupt_reset(struct hca *hca);
void interrupt_raise(struct hca *hca, unsigned vector);
/* Table and PBA as they stand in BAR0; little-endian bytes as PCI has them. */
void interrupt_table_write(struct hca *hca, uint32_t offset, const void *bytes, unsigned size);
void interrupt_table_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size);
void interrupt_pba_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size);
/* MSI-X control of configuration space changed. */
void interrupt_control(struct hca *hca, bool enabled, bool function_masked);
void interrupt_clear_intx(struct hca *hca);

#endif
