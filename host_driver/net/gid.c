// SPDX-License-Identifier: Apache-2.0
/* See gid.h. */
#include "host_driver/net/gid.h"

#include <errno.h>

static int find_free(const struct net_gids *g)
{
	struct drv_gid gid;

	for (unsigned i = 0; i < DRV_ETH_TABLE; i++)
		if (!g->holds[i] && drv_eth_gid_get(g->dev, g->port, i, &gid))
			return (int)i;
	return -ENOSPC;
}

static int add_one(struct net_gids *g, const uint8_t ip[DRV_GID_BYTES], unsigned version,
		   uint16_t vlan)
{
	struct drv_gid gid = {.version = version, .vlan = vlan};
	int at = find_free(g);

	if (at < 0)
		return at;
	memcpy(gid.raw, ip, DRV_GID_BYTES);
	return drv_eth_gid_set(g->dev, g->port, (unsigned)at, &gid);
}

int net_gids_add(struct net_gids *g, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan)
{
	const unsigned versions = drv_has_roce_v2(g->dev) ? 2 : 1;
	int rc = 0;

	for (unsigned v = 1; v <= versions; v++)
		if (drv_eth_gid_find(g->dev, g->port, ip, v, vlan) >= 0)
			return -EEXIST;
	for (unsigned v = 1; !rc && v <= versions; v++)
		rc = add_one(g, ip, v, vlan);
	if (rc)
		net_gids_remove(g, ip, vlan);
	return rc;
}

int net_gids_remove(struct net_gids *g, const uint8_t ip[DRV_GID_BYTES], uint16_t vlan)
{
	int rc = 0;

	for (unsigned v = 1; v <= 2; v++) {
		const int at = drv_eth_gid_find(g->dev, g->port, ip, v, vlan);
		const int this_rc =
			at < 0 ? 0 : drv_eth_gid_set(g->dev, g->port, (unsigned)at, NULL);

		rc = rc ? rc : this_rc;
	}
	return rc;
}
