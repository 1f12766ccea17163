/*
 * The PCI function: configuration space (PCIe, MSI-X, power management), BAR decoding, BAR0's registers (HCR, ownership, reset, error buffer, clear interrupt).
 * from: host (pcie); to: doorbell (BAR2), processor (HCR), interrupt (MSI-X table).
 */
#ifndef MODEL_ENGINE_PCI_FUNCTION_H
#define MODEL_ENGINE_PCI_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct pci_function *pci_function_create(struct hca *hca);
void pci_function_destroy(struct pci_function *pci);
/* full: power-on values; else only what software reset clears (BAR0 registers). */
void pci_function_reset(struct hca *hca, bool full);

/* An access has arrived at the device. Bytes in memory order. Unknown registers read as 0 and are guest errors. */
void pci_function_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes, unsigned size);
void pci_function_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size);
bool pci_bus_master(const struct hca *hca);

/* For the processor: the latched command (7 dwords, host order), and its end: stores out_param and status and clears GO last. */
void hcr_latched(const struct hca *hca, uint32_t hcr[7]);
void hcr_done(struct hca *hca, uint64_t out_param, uint8_t status);
/* Fills the error buffer: dword 0 = code. */
void error_buffer_set(struct hca *hca, uint32_t code, uint32_t detail, uint32_t pc);

#endif
