/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSI-X: table and pending bits, masking by vector and by function. A vector that is raised while
 * it is masked becomes pending, and is delivered when it is unmasked. INTx is used when MSI-X is
 * off. from: event_queue; to: pcie (message). Time: [hca.interrupt]. Source: PCI Local Bus
 * Specification 3.0, 6.8; clear register: mlx4 QUERY_FW.clr_int.
 */
#ifndef MODEL_ENGINE_INTERRUPT_H
#define MODEL_ENGINE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct interrupt *interrupt_create(struct hca *hca);
void interrupt_destroy(struct interrupt *interrupt);
/* Sets table and pending bits to their power-on values. The enable and function mask bits are in
 * configuration space, and keep their values. */
void interrupt_reset(struct hca *hca);
/* The message follows the DMA writes issued before the call. */
void interrupt_raise(struct hca *hca, unsigned vector);
/* Table and PBA as BAR0 shows them. Bytes are little-endian, as PCI demands. */
void interrupt_table_write(struct hca *hca, uint32_t offset, const void *bytes, unsigned size);
void interrupt_table_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size);
void interrupt_pba_read(struct hca *hca, uint32_t offset, void *bytes, unsigned size);
/* The MSI-X control register in configuration space has changed. */
void interrupt_control(struct hca *hca, bool enabled, bool function_masked);
/* The Interrupt Disable bit of the command register changed. */
void interrupt_intx_control(struct hca *hca, bool disabled);
void interrupt_clear_intx(struct hca *hca);
/* Whether MSI-X vector `vector` is masked, by its entry or with all others, and whether its pending bit is
 * set. */
void interrupt_vector_look(const struct hca *hca, unsigned vector, bool *is_masked,
			   bool *is_pending);
/* For the status register: an INTx interrupt is pending, even if it may not be signalled. */
bool interrupt_intx_pending(const struct hca *hca);
unsigned interrupt_vectors(const struct hca *hca);

#endif
