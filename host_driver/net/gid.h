/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manager of an Ethernet port's GIDs, as Linux's roce_gid_mgmt.c and cache.c do it: each IP address
 * of the port is a GID, once for each version of RoCE that the device has. Those of the port's MAC are
 * the driver's, at the first places of the table.
 */
#ifndef HOST_DRIVER_NET_GID_H
#define HOST_DRIVER_NET_GID_H

#include "host_driver/mlx4/mlx4.h"

struct net_gids {
	struct drv_device *dev;
	unsigned port;
	unsigned holds[DRV_ETH_TABLE]; /* queue pairs and address handles that use the entry */
};

/* Enters the address. -ENOSPC: the table is full; -EEXIST. On failure nothing is entered. */
int net_gids_add(struct net_gids *g, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan);
/* Takes the address out of the device's table at once, also while something holds it. Its place is not
 * given to another address until the last hold has ended. */
int net_gids_remove(struct net_gids *g, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan);

#endif
