/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration space of the function: header, power management, PCI Express endpoint, MSI-X, and
 * whether its BARs answer. hca_config_read() and hca_config_write() of hca.h are implemented here.
 *
 * Power-on values of Device Control are the parameters mps and mrrs, as if the host's firmware had
 * set them; software may set less, and a larger value counts as the parameter. In D3 or with memory
 * decoding off, accesses to BARs are lost and reads give ones (PCI Power Management 1.2, 5.4.1).
 * Source: PCI Local Bus 3.0 chapter 6, PCI Express Base 3.0 7.5 to 7.8.
 */
#ifndef MODEL_ENGINE_PCI_CONFIG_H
#define MODEL_ENGINE_PCI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct pci_identity;

/* @identity outlives it. */
struct pci_config *pci_config_create(const struct pci_identity *identity);
void pci_config_destroy(struct pci_config *config);
/* Power-on values; tells interrupt and pcie. */
void pci_config_reset(struct hca *hca);
/* A software reset: the registers have their power-on values, so software must write them again. Source:
 * Linux mlx4_reset, which saves them before and writes them behind a second of waiting. */
void pci_config_soft_reset(struct hca *hca);
/* True from such a reset until software writes the command register. */
bool pci_config_is_lost(const struct hca *hca);
const struct pci_identity *pci_config_identity(const struct hca *hca);
/* Whether an access to a BAR reaches the device; otherwise it is a guest error of `what`. Behind a software
 * reset only the first one is, until software writes the command register. */
bool pci_config_decodes(struct hca *hca, const char *what, unsigned bar, uint64_t offset);

#endif
