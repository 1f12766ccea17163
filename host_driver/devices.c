// SPDX-License-Identifier: Apache-2.0
/* The drivers and the devices that they drive, as the PCI core of an operating system has them. */
#include "host_driver/drv/ops.h"
#include "host_driver/ipath/ipath.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"

#include <errno.h>

static const struct driver {
	unsigned vendor, device;
	int (*probe)(struct platform *p, const struct drv_options *options,
		     struct drv_device **dev);
} drivers[] = {
	{HCA_PCI_VENDOR, HCA_PCI_DEVICE, mlx4_probe},
	{HCA_PCI_VENDOR, HCA_PCI_DEVICE_PRO, mlx4_probe},
	{IPATH_PCI_VENDOR, IPATH_PCI_DEVICE, ipath_probe},
};

int drv_probe(struct platform *p, const struct drv_options *options, struct drv_device **dev)
{
	for (unsigned i = 0; i < ARRAY_SIZE(drivers); i++)
		if (p->pci_id == (drivers[i].device << 16 | drivers[i].vendor))
			return drivers[i].probe(p, options, dev);
	return -ENODEV;
}
