/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration space of the function: header, power management, PCI Express endpoint, MSI-X. It is
 * a part of pci_function, which is its only user. Source: PCI Local Bus 3.0 chapter 6, PCI Express
 * Base 3.0 7.5 to 7.8, PCI Power Management 1.2.
 */
#ifndef MODEL_ENGINE_PCI_CONFIG_H
#define MODEL_ENGINE_PCI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum { PCI_CONFIG_SIZE = 256 };

struct pci_config {
	uint8_t value[PCI_CONFIG_SIZE];
	uint8_t writable[PCI_CONFIG_SIZE]; /* bits that software may write */
	uint8_t clears[PCI_CONFIG_SIZE];   /* bits that software clears by writing 1 */
};

/* Sets the power-on values, and tells interrupt and pcie. */
void pci_config_reset(struct pci_config *config, struct hca *hca);
/* Offsets beyond 256 bytes, and accesses that are not aligned, read as 0. */
uint32_t pci_config_read(const struct pci_config *config, const struct hca *hca, unsigned offset,
			 unsigned size);
void pci_config_write(struct pci_config *config, struct hca *hca, unsigned offset, unsigned size,
		      uint32_t value);
bool pci_config_memory(const struct pci_config *config);

#endif
