/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of configuration space that each driver of a PCI function uses (PCI 3.0, 6.1 and 6.8). */
#ifndef HOST_DRIVER_DRV_PCI_REGS_H
#define HOST_DRIVER_DRV_PCI_REGS_H

enum pci_regs {
	PCI_ID = 0x00,
	PCI_COMMAND = 0x04,
	PCI_STATUS = 0x06,
	PCI_CAP_POINTER = 0x34,
	PCI_COMMAND_MEMORY = 1 << 1,
	PCI_COMMAND_MASTER = 1 << 2,
	PCI_STATUS_CAPS = 1 << 4,
	PCI_CAP_ID_EXPRESS = 0x10,
	PCI_CAP_ID_MSIX = 0x11,
	PCI_CAPS_MAX = 48, /* as many capabilities as fit */
	MSIX_CONTROL = 2,  /* in the capability */
	MSIX_TABLE = 4,
	MSIX_ENABLE = 1 << 15,
	MSIX_SIZE_MASK = 0x7ff,
	MSIX_BIR_MASK = 7,
};

#endif
