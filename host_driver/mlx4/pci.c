// SPDX-License-Identifier: Apache-2.0
/* See pci.h. */
#include "host_driver/mlx4/pci.h"
#include "host_driver/drv/pci_regs.h"

#include <errno.h>

#define MS_PS        UINT64_C(1000000000)
#define RESET_PS     (1000 * MS_PS) /* for this long the driver does not touch the device */
#define RESET_MAX_PS (2000 * MS_PS) /* the device must answer within this time */
#define SEMAPHORE_PS (10000 * MS_PS)
#define DISOWN_PS    (1000 * MS_PS)

enum pci_config {
	EXP_DEVCTL = 8,
	EXP_LNKCTL = 16,
	CONFIG_WORDS = 64,
	CONFIG_HEADER_WORDS = 16,
	VECTORS_MIN = 2,
};

static uint32_t cfg_read(struct drv_device *dev, unsigned offset, unsigned size)
{
	return dev->p->ops->config_read(dev->p, offset, size);
}

static void cfg_write(struct drv_device *dev, unsigned offset, unsigned size, uint32_t value)
{
	dev->p->ops->config_write(dev->p, offset, size, value);
}

static unsigned cap_find(struct drv_device *dev, uint32_t id)
{
	unsigned at;

	if (!(cfg_read(dev, PCI_STATUS, 2) & PCI_STATUS_CAPS))
		return 0;
	at = cfg_read(dev, PCI_CAP_POINTER, 1) & 0xfc;
	for (unsigned n = 0; at && n < PCI_CAPS_MAX; n++) {
		const uint32_t head = cfg_read(dev, at, 2);

		if ((head & 0xff) == id)
			return at;
		at = head >> 8 & 0xfc;
	}
	return 0;
}

int drv_pci_enable(struct drv_device *dev)
{
	const uint32_t id = cfg_read(dev, PCI_ID, 4);

	if (id != (HCA_PCI_DEVICE << 16 | HCA_PCI_VENDOR) &&
	    id != (HCA_PCI_DEVICE_PRO << 16 | HCA_PCI_VENDOR))
		return -ENODEV;
	dev->express_cap = cap_find(dev, PCI_CAP_ID_EXPRESS);
	dev->msix_cap = cap_find(dev, PCI_CAP_ID_MSIX);
	cfg_write(dev, PCI_COMMAND, 2,
		  cfg_read(dev, PCI_COMMAND, 2) | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	return 0;
}

void drv_pci_disable(struct drv_device *dev)
{
	cfg_write(dev, PCI_COMMAND, 2,
		  cfg_read(dev, PCI_COMMAND, 2) & ~(uint32_t)PCI_COMMAND_MASTER);
}

int drv_pci_own(struct drv_device *dev)
{
	return mlx4_raw_mmio_read32(dev, HCA_BAR_REGS, BAR0_OWNERSHIP) ? -EBUSY : 0;
}

static bool answers(struct drv_device *dev)
{
	return (cfg_read(dev, PCI_ID, 2) & 0xffff) != 0xffff;
}

void drv_pci_disown(struct drv_device *dev)
{
	/* one that has not come back from its reset decodes no memory */
	if (!answers(dev))
		return;
	mlx4_raw_mmio_write32(dev, HCA_BAR_REGS, BAR0_OWNERSHIP, 0);
	dev->p->ops->sleep_ps(dev->p, DISOWN_PS);
}

static bool gateway_word(unsigned word)
{
	return word == HCA_PCI_GATEWAY_ADDR / 4 || word == HCA_PCI_GATEWAY_DATA / 4;
}

static int semaphore_wait(struct drv_device *dev)
{
	const uint64_t start = dev->p->ops->now_ps(dev->p);

	while (mlx4_raw_mmio_read32(dev, HCA_BAR_REGS, BAR0_SEMAPHORE)) {
		if (dev->p->ops->now_ps(dev->p) - start > SEMAPHORE_PS)
			return -EAGAIN;
		dev->p->ops->sleep_ps(dev->p, MS_PS);
	}
	return 0;
}

/* Writes COMMAND last: the device must not decode anything before the BARs have been restored. */
static void config_restore(struct drv_device *dev)
{
	const unsigned e = dev->express_cap;

	if (e) {
		cfg_write(dev, e + EXP_DEVCTL, 2, dev->saved_config[(e + EXP_DEVCTL) / 4] & 0xffff);
		cfg_write(dev, e + EXP_LNKCTL, 2, dev->saved_config[(e + EXP_LNKCTL) / 4] & 0xffff);
	}
	for (unsigned i = 0; i < CONFIG_HEADER_WORDS; i++)
		if (i != PCI_COMMAND / 4)
			cfg_write(dev, 4 * i, 4, dev->saved_config[i]);
	cfg_write(dev, PCI_COMMAND, 4, dev->saved_config[PCI_COMMAND / 4]);
}

int drv_pci_reset(struct drv_device *dev)
{
	uint64_t start;
	int rc;

	DRV_ENTER(dev, "%s", "");
	for (unsigned i = 0; i < CONFIG_WORDS; i++)
		if (!gateway_word(i))
			dev->saved_config[i] = cfg_read(dev, 4 * i, 4);
	rc = semaphore_wait(dev);
	if (rc)
		return DRV_LEAVE(dev, rc);
	mlx4_raw_mmio_write32(dev, HCA_BAR_REGS, BAR0_RESET, 1);
	dev->p->ops->sleep_ps(dev->p, RESET_PS);
	start = dev->p->ops->now_ps(dev->p);
	while (!answers(dev)) {
		if (dev->p->ops->now_ps(dev->p) - start > RESET_MAX_PS)
			return DRV_LEAVE(dev, -ENODEV);
		dev->p->ops->sleep_ps(dev->p, MS_PS);
	}
	config_restore(dev);
	return DRV_LEAVE(dev, 0);
}

/* --- MSI-X, whose table is little-endian --- */

static void msix_write(struct drv_device *dev, unsigned vector, unsigned word, uint32_t value)
{
	const uint8_t b[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
			      (uint8_t)(value >> 24)};

	dev->p->ops->mmio_write(dev->p, dev->msix_bar,
				dev->msix_table + vector * HCA_MSIX_ENTRY_SIZE + 4 * word, b,
				sizeof(b));
}

int drv_msix_enable(struct drv_device *dev)
{
	uint32_t control, table;

	if (!dev->msix_cap)
		return -EOPNOTSUPP;
	control = cfg_read(dev, dev->msix_cap + MSIX_CONTROL, 2);
	table = cfg_read(dev, dev->msix_cap + MSIX_TABLE, 4);
	dev->msix_bar = table & MSIX_BIR_MASK;
	dev->msix_table = table & ~(uint32_t)MSIX_BIR_MASK;
	if (dev->n_eqs > (control & MSIX_SIZE_MASK) + 1)
		dev->n_eqs = (control & MSIX_SIZE_MASK) + 1;
	if (dev->n_eqs > dev->p->msix_vectors)
		dev->n_eqs = dev->p->msix_vectors;
	if (dev->n_eqs < VECTORS_MIN)
		return -ENOSPC;
	cfg_write(dev, dev->msix_cap + MSIX_CONTROL, 2, control | MSIX_ENABLE);
	for (unsigned v = 0; v < dev->n_eqs; v++) {
		uint64_t address;
		uint32_t data;

		dev->p->ops->msi_message(dev->p, v, &address, &data);
		msix_write(dev, v, 0, (uint32_t)address);
		msix_write(dev, v, 1, (uint32_t)(address >> 32));
		msix_write(dev, v, 2, data);
		msix_write(dev, v, 3, 0);
	}
	return 0;
}

void drv_msix_disable(struct drv_device *dev)
{
	const uint32_t control = cfg_read(dev, dev->msix_cap + MSIX_CONTROL, 2);

	cfg_write(dev, dev->msix_cap + MSIX_CONTROL, 2, control & ~(uint32_t)MSIX_ENABLE);
}
