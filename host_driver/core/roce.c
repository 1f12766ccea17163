// SPDX-License-Identifier: Apache-2.0
/* Addresses on Ethernet ports: the MAC behind a GID, and who uses which entry of the GID table. */
#include "host_driver/core/core.h"
#include "host_driver/net/net.h"

#include <errno.h>

/* Linux: 1000 ms in rdma_addr_find_l2_eth_by_grh(). */
#define RESOLVE_PS UINT64_C(1000000000000)

bool rdma_protocol_roce(const struct ib_device *device, unsigned port)
{
	return port && port <= device->phys_port_cnt && drv_port_is_ethernet(device->drv, port);
}

int ib_find_roce_gid(const struct ib_device *device, unsigned port, const union ib_gid *gid,
		     unsigned version)
{
	struct drv_gid entry;

	for (unsigned i = 0; i < DRV_ETH_TABLE; i++)
		if (!drv_eth_gid_get(device->drv, port, i, &entry) && entry.version == version &&
		    !memcmp(entry.raw, gid->raw, sizeof(gid->raw)))
			return (int)i;
	return -ENOENT;
}

void ib_device_set_netdev(struct ib_device *device, struct net_port *netdev, unsigned port)
{
	device->netdev[port] = netdev;
}

int ib_resolve_eth_dmac_within(const struct ib_device *device, struct drv_ah_attr *ah,
			       uint64_t within_ps)
{
	struct net_way way = {.hop_limit = ah->hop_limit};
	int rc;

	if (!rdma_protocol_roce(device, ah->port_num))
		return 0;
	if (!ah->is_global)
		return -EINVAL;
	if (!device->netdev[ah->port_num])
		return -ENODEV;
	rc = net_resolve(device->netdev[ah->port_num], ah->sgid_index, ah->dgid, within_ps, &way);
	if (rc)
		return rc;
	ah->hop_limit = way.hop_limit;
	memcpy(ah->dmac, way.dmac, sizeof(ah->dmac));
	return 0;
}

int ib_resolve_eth_dmac(const struct ib_device *device, struct drv_ah_attr *ah)
{
	return ib_resolve_eth_dmac_within(device, ah, RESOLVE_PS);
}

void core_gid_hold(const struct ib_device *device, struct ib_gid_hold *hold,
		   const struct drv_ah_attr *ah)
{
	if (hold->netdev)
		net_gid_put(hold->netdev, hold->index);
	*hold = (struct ib_gid_hold){0};
	if (!ah || !device->netdev[ah->port_num])
		return;
	*hold = (struct ib_gid_hold){device->netdev[ah->port_num], ah->sgid_index};
	net_gid_hold(hold->netdev, hold->index);
}
