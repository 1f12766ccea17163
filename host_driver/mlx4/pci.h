/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI function: identity, configuration space, ownership, reset, MSI-X. */
#ifndef HOST_DRIVER_MLX4_PCI_H
#define HOST_DRIVER_MLX4_PCI_H

#include "host_driver/mlx4/mlx4_internal.h"

int drv_pci_enable(struct drv_device *dev);
void drv_pci_disable(struct drv_device *dev);
/* -EBUSY: another driver owns the device. */
int drv_pci_own(struct drv_device *dev);
void drv_pci_disown(struct drv_device *dev);
/* Saves configuration space, resets the device, waits, and restores configuration space. Takes a
 * second. */
int drv_pci_reset(struct drv_device *dev);
/* Takes dev->n_eqs vectors, or fewer if there are not so many (at least 2). Sets dev->n_eqs. */
int drv_msix_enable(struct drv_device *dev);
void drv_msix_disable(struct drv_device *dev);

#endif
