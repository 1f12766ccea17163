/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function: configuration space (PCIe, MSI-X, power management), BAR decoding, BAR0's
 * registers (HCR, ownership, reset, error buffer, clear interrupt). from: host (pcie); to: doorbell
 * (BAR2), processor (HCR), interrupt (MSI-X table).
 *
 * hca_config_read() and hca_config_write() of hca.h are implemented here. The power-on values of
 * Device Control are the parameters mps and mrrs, as if the host's firmware had set them. Software
 * may set less; a larger value counts as the parameter. In D3, or with memory decoding off, writes
 * to BARs are lost and reads return ones (PCI Power Management 1.2, 5.4.1).
 *
 * Ownership: the first read after a reset returns 0, later reads return 1, until 0 is written (mlx4
 * main.c mlx4_get_ownership, mlx4_free_ownership). That the read itself takes the ownership is an
 * assumption. Source: mlx4 reset.c, catas.c, cmd.c; PCI Local Bus 3.0, PCI Express Base 3.0 chapter
 * 7.
 */
#ifndef MODEL_ENGINE_PCI_FUNCTION_H
#define MODEL_ENGINE_PCI_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct pci_function *pci_function_create(struct hca *hca);
void pci_function_destroy(struct pci_function *pci);
/* full: sets all power-on values. Otherwise resets only what a software reset clears (BAR0
 * registers). */
void pci_function_reset(struct hca *hca, bool full);

/* An access has arrived at the device. Bytes are in memory order. Unknown registers read as 0, and
 * accessing them is a guest error. */
void pci_function_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size);
void pci_function_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size);

/* For the processor: the latched command (7 dwords, host order). hcr_done() ends it: stores
 * out_param and status, and clears GO last. */
void hcr_latched(const struct hca *hca, uint32_t hcr[7]);
void hcr_done(struct hca *hca, uint64_t out_param, uint8_t status);
/* Fills the error buffer (layout err_buf). `code` is an enum err_buf_cause. */
void error_buffer_set(struct hca *hca, uint32_t code, uint32_t detail);

#endif
