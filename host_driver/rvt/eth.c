// SPDX-License-Identifier: Apache-2.0
/* Ports of this transport are InfiniBand ports: what Ethernet ports have, they lack. */
#include "host_driver/rvt/rvt_impl.h"

#include <errno.h>

bool rvt_port_is_ethernet(const struct drv_device *dev, unsigned port)
{
	return false;
}

bool rvt_has_roce_v2(const struct drv_device *dev)
{
	return false;
}

bool rvt_has_port_events(const struct drv_device *dev)
{
	return false;
}

void rvt_eth_mac(const struct drv_device *dev, unsigned port, uint8_t mac[MAC_BYTES])
{
	memset(mac, 0, MAC_BYTES);
}

int rvt_eth_mac_set(struct drv_device *dev, unsigned port, const uint8_t mac[MAC_BYTES])
{
	return rvt_refuse(dev, "eth_mac_set");
}

int rvt_eth_receive(struct drv_device *dev, unsigned port, const struct drv_qp *qp)
{
	return rvt_refuse(dev, "eth_receive");
}

int rvt_eth_open(struct drv_device *dev, unsigned port, bool open)
{
	return rvt_refuse(dev, "eth_open");
}

int rvt_eth_set(struct drv_device *dev, unsigned port, const struct drv_eth_config *config)
{
	return rvt_refuse(dev, "eth_set");
}

void rvt_eth_get(const struct drv_device *dev, unsigned port, struct drv_eth_config *config)
{
	*config = (struct drv_eth_config){0};
}

int rvt_eth_gid_set(struct drv_device *dev, unsigned port, unsigned index,
		    const struct drv_gid *gid)
{
	return rvt_refuse(dev, "eth_gid_set");
}

int rvt_eth_gid_get(const struct drv_device *dev, unsigned port, unsigned index,
		    struct drv_gid *gid)
{
	return -ENOENT;
}

int rvt_eth_vlan_get(struct drv_device *dev, unsigned port, unsigned vid, unsigned *index)
{
	return rvt_refuse(dev, "eth_vlan_get");
}

void rvt_eth_vlan_put(struct drv_device *dev, unsigned port, unsigned index)
{
}

int rvt_eth_vlan_index(const struct drv_device *dev, unsigned port, unsigned vid)
{
	return -ENOENT;
}
