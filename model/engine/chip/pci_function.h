/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind the BARs of mlx4: the registers of BAR0 (HCR, ownership, reset, error buffer,
 * clear interrupt), and UAR pages. from: host (pcie); to: doorbell (BAR2), processor (HCR),
 * interrupt (MSI-X table).
 *
 * Ownership: the first read after a reset returns 0, later reads return 1, until 0 is written (mlx4
 * main.c mlx4_get_ownership, mlx4_free_ownership). That the read itself takes the ownership is an
 * assumption. Source: mlx4 reset.c, catas.c, cmd.c.
 */
#ifndef MODEL_ENGINE_PCI_FUNCTION_H
#define MODEL_ENGINE_PCI_FUNCTION_H

#include <stdint.h>

struct hca;
struct hca_command_fault;
struct hca_params;
struct pci_identity;

/* What the device is to PCI: personality.h. */
const struct pci_identity *pci_function_identity(const struct hca_params *params);

struct pci_function *pci_function_create(struct hca *hca);
void pci_function_destroy(struct pci_function *pci);
/* Resets what a software reset clears: the registers of BAR0. */
void pci_function_reset(struct hca *hca);

/* An access has arrived at the device. Bytes are in memory order. Unknown registers read as 0, and
 * accessing them is a guest error. */
void pci_function_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size);
void pci_function_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size);

/* hca_command_fail() of hca.h, and how often it is still to happen. */
void pci_function_command_fail(struct hca *hca, const struct hca_command_fault *fault);
uint32_t pci_function_command_fail_left(const struct hca *hca);

/* For the processor: the latched command (7 dwords, host order). hcr_done() ends it: stores
 * out_param and status, and clears GO last. */
void hcr_latched(const struct hca *hca, uint32_t hcr[7]);
void hcr_done(struct hca *hca, uint64_t out_param, uint8_t status);
/* Fills the error buffer (layout err_buf). `code` is an enum err_buf_cause. */
void error_buffer_set(struct hca *hca, uint32_t code, uint32_t detail);

#endif
