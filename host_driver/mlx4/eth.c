// SPDX-License-Identifier: Apache-2.0
/* Ethernet ports: the tables of MACs, VLANs and GIDs, MTU and pause, by SET_PORT. As in Linux the
 * driver keeps a copy of each table and writes a whole one for each change. A change holds eth_lock from
 * the copy to the end of the command: what the firmware refuses is taken back before anybody else
 * writes the table. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <string.h>

enum {
	FRAME_HEADERS = 18, /* Ethernet header and FCS */
	MTU_DEFAULT = 4200, /* RoCE packets of 4096 bytes, and their headers, fit */
	MTU_MIN = 68,
	MCAST_ALL = 2, /* see eth_rqp: frames to all groups */
};

bool mlx4_port_is_ethernet(const struct drv_device *dev, unsigned port)
{
	return port && port <= dev->ports && dev->eth[port].on;
}

static int set_port(struct drv_device *dev, unsigned port, enum set_port_part part, const void *in,
		    size_t len)
{
	return drv_cmd_in(dev, HCR_SET_PORT, (uint32_t)part << SET_PORT_PART_SHIFT | port,
			  HCR_OM_SET_PORT_ETH, in, len);
}

static int macs_write(struct drv_device *dev, unsigned port)
{
	struct eth_mac table[DRV_ETH_TABLE] = {{{0}}};

	eth_mac_set_valid(&table[0], 1);
	eth_mac_set_mac(&table[0], mac_load(dev->eth[port].mac));
	return set_port(dev, port, SET_PORT_MAC_TABLE, table, sizeof(table));
}

static void filter_add(struct vlan_filter *filter, unsigned vid)
{
	const unsigned words = sizeof(*filter) / sizeof(uint32_t);
	uint8_t *word = filter->b + (words - 1 - vid / 32) * sizeof(uint32_t);

	be32_store(word, be32_load(word) | UINT32_C(1) << vid % 32);
}

/* The table of VLANs for queue pairs with RoCE, and the filter for all other frames. */
static int vlans_write(struct drv_device *dev, unsigned port)
{
	struct eth_vlan table[DRV_ETH_TABLE] = {{{0}}};
	struct vlan_filter filter = {{0}};
	int rc;

	for (unsigned i = 0; i < DRV_ETH_TABLE; i++) {
		eth_vlan_set_valid(&table[i], !!dev->eth[port].vlan_users[i]);
		eth_vlan_set_vid(&table[i], dev->eth[port].vlans[i]);
		if (dev->eth[port].vlan_users[i])
			filter_add(&filter, dev->eth[port].vlans[i]);
	}
	rc = set_port(dev, port, SET_PORT_VLAN_TABLE, table, sizeof(table));
	return rc ? rc : drv_cmd_in(dev, HCR_SET_VLAN_FLTR, port, 0, &filter, sizeof(filter));
}

/* A device without RoCE v2 has a table of GIDs only. */
static int gids_write(struct drv_device *dev, unsigned port)
{
	const struct drv_gid *gids = dev->eth[port].gids;
	uint8_t plain[DRV_ETH_TABLE][DRV_GID_BYTES];
	struct eth_roce typed[DRV_ETH_TABLE] = {{{0}}};

	for (unsigned i = 0; i < DRV_ETH_TABLE; i++) {
		memcpy(plain[i], gids[i].raw, DRV_GID_BYTES);
		memcpy(eth_roce_gid_ptr(&typed[i]), gids[i].raw, DRV_GID_BYTES);
		if (gids[i].version != 2)
			continue;
		eth_roce_set_version(&typed[i], 2);
		eth_roce_set_ipv6(&typed[i], !gid_is_ipv4(gids[i].raw));
	}
	if (!mlx4_has_roce_v2(dev))
		return set_port(dev, port, SET_PORT_GID_TABLE, plain, sizeof(plain));
	return set_port(dev, port, SET_PORT_ROCE_TABLE, typed, sizeof(typed));
}

bool mlx4_has_roce_v2(const struct drv_device *dev)
{
	return dev_cap_get_bmme_flags(&dev->cap) & (uint32_t)cap_bit(BMME_ROCE_V1_V2);
}

/* The GIDs that every port has: that of its MAC, for each version of RoCE. */
static void gids_default(struct drv_device *dev, struct drv_eth *eth)
{
	for (unsigned version = 1; version <= (mlx4_has_roce_v2(dev) ? 2u : 1u); version++) {
		struct drv_gid *gid = &eth->gids[version - 1];

		gid_from_mac(eth->mac, VLAN_NONE, gid->raw);
		gid->version = version;
		gid->vlan = VLAN_NONE;
	}
}

/* --- for the layer above --- */

void mlx4_eth_mac(const struct drv_device *dev, unsigned port, uint8_t mac[MAC_BYTES])
{
	memcpy(mac, dev->eth[port].mac, MAC_BYTES);
}

static int gid_set(struct drv_device *dev, unsigned port, unsigned index, const struct drv_gid *gid)
{
	static const struct drv_gid none;
	struct drv_event event = {.type = IBV_EVENT_GID_CHANGE, .port = port};
	struct drv_gid was;
	int rc;

	if (!mlx4_port_is_ethernet(dev, port) || index >= DRV_ETH_TABLE ||
	    (gid && gid->version == 2 && !mlx4_has_roce_v2(dev)))
		return -EINVAL;
	drv_lock(dev, &dev->eth_lock);
	was = dev->eth[port].gids[index];
	dev->eth[port].gids[index] = gid ? *gid : none;
	rc = gids_write(dev, port);
	if (rc)
		dev->eth[port].gids[index] = was;
	drv_unlock(dev, &dev->eth_lock);
	if (!rc)
		drv_async_event(dev, &event);
	return rc;
}

int mlx4_eth_gid_set(struct drv_device *dev, unsigned port, unsigned index,
		     const struct drv_gid *gid)
{
	DRV_ENTER(dev, "port %u, index %u", port, index);
	return DRV_LEAVE(dev, gid_set(dev, port, index, gid));
}

int mlx4_eth_gid_get(const struct drv_device *dev, unsigned port, unsigned index,
		     struct drv_gid *gid)
{
	if (!mlx4_port_is_ethernet(dev, port) || index >= DRV_ETH_TABLE ||
	    !dev->eth[port].gids[index].version)
		return -ENOENT;
	*gid = dev->eth[port].gids[index];
	return 0;
}

static unsigned vlan_find(const struct drv_eth *eth, unsigned vid)
{
	unsigned i = 0;

	while (i < DRV_ETH_TABLE && !(eth->vlan_users[i] && eth->vlans[i] == vid))
		i++;
	return i;
}

static int vlan_get(struct drv_device *dev, unsigned port, unsigned vid, unsigned *index)
{
	struct drv_eth *eth = &dev->eth[port];
	unsigned at = vlan_find(eth, vid);
	int rc = 0;

	if (at == DRV_ETH_TABLE)
		for (at = 0; at < DRV_ETH_TABLE && eth->vlan_users[at]; at++)
			;
	if (at == DRV_ETH_TABLE)
		return -ENOSPC;
	if (!eth->vlan_users[at]++) {
		eth->vlans[at] = (uint16_t)vid;
		rc = vlans_write(dev, port);
	}
	if (rc)
		eth->vlan_users[at]--;
	else
		*index = at;
	return rc;
}

int mlx4_eth_vlan_get(struct drv_device *dev, unsigned port, unsigned vid, unsigned *index)
{
	int rc;

	drv_lock(dev, &dev->eth_lock);
	rc = vlan_get(dev, port, vid, index);
	drv_unlock(dev, &dev->eth_lock);
	return rc;
}

void mlx4_eth_vlan_put(struct drv_device *dev, unsigned port, unsigned index)
{
	drv_lock(dev, &dev->eth_lock);
	if (!--dev->eth[port].vlan_users[index])
		vlans_write(dev, port);
	drv_unlock(dev, &dev->eth_lock);
}

int mlx4_eth_vlan_index(const struct drv_device *dev, unsigned port, unsigned vid)
{
	const unsigned at = vlan_find(&dev->eth[port], vid);

	return at < DRV_ETH_TABLE ? (int)at : -ENOENT;
}

/* QPs name their source MAC by its place in the table, so they have the new one at once. */
static int mac_set(struct drv_device *dev, unsigned port, const uint8_t mac[MAC_BYTES])
{
	struct drv_eth *eth = &dev->eth[port];
	uint8_t was[MAC_BYTES];
	int rc;

	memcpy(was, eth->mac, MAC_BYTES);
	memcpy(eth->mac, mac, MAC_BYTES);
	rc = macs_write(dev, port);
	if (rc) {
		memcpy(eth->mac, was, MAC_BYTES);
		return rc;
	}
	gids_default(dev, eth);
	rc = gids_write(dev, port);
	if (!rc)
		return 0;
	memcpy(eth->mac, was, MAC_BYTES);
	gids_default(dev, eth);
	macs_write(dev, port);
	return rc;
}

int mlx4_eth_mac_set(struct drv_device *dev, unsigned port, const uint8_t mac[MAC_BYTES])
{
	struct drv_event event = {.type = IBV_EVENT_GID_CHANGE, .port = port};
	int rc;

	if (!mlx4_port_is_ethernet(dev, port) || mac_is_group(mac))
		return -EINVAL;
	drv_lock(dev, &dev->eth_lock);
	rc = mac_set(dev, port, mac);
	drv_unlock(dev, &dev->eth_lock);
	if (!rc)
		drv_async_event(dev, &event);
	return rc;
}

int mlx4_eth_receive(struct drv_device *dev, unsigned port, const struct drv_qp *qp)
{
	struct eth_rqp mbox = {{0}};

	if (!mlx4_port_is_ethernet(dev, port))
		return -EINVAL;
	eth_rqp_set_base_qpn(&mbox, qp ? qp->qpn : 0);
	eth_rqp_set_mcast_mode(&mbox, qp ? MCAST_ALL : 0);
	eth_rqp_set_mcast(&mbox, qp ? qp->qpn : 0);
	return set_port(dev, port, SET_PORT_RQP_CALC, &mbox, sizeof(mbox));
}

int mlx4_eth_set(struct drv_device *dev, unsigned port, const struct drv_eth_config *config)
{
	struct eth_general mbox = {{0}};
	int rc;

	if (!mlx4_port_is_ethernet(dev, port) || config->mtu < MTU_MIN ||
	    config->mtu > query_port_get_eth_mtu(&dev->port_cap[port]))
		return -EINVAL;
	eth_general_set_mtu_valid(&mbox, 1);
	eth_general_set_pptx_valid(&mbox, 1);
	eth_general_set_pprx_valid(&mbox, 1);
	eth_general_set_mtu(&mbox, config->mtu + FRAME_HEADERS);
	/* priorities of their own exclude a pause of all traffic */
	eth_general_set_pptx(&mbox, config->pause_tx && !config->pfc_tx);
	eth_general_set_pprx(&mbox, config->pause_rx && !config->pfc_rx);
	eth_general_set_pfctx(&mbox, config->pfc_tx);
	eth_general_set_pfcrx(&mbox, config->pfc_rx);
	drv_lock(dev, &dev->eth_lock);
	rc = set_port(dev, port, SET_PORT_GENERAL, &mbox, sizeof(mbox));
	if (!rc)
		dev->eth[port].config = *config;
	drv_unlock(dev, &dev->eth_lock);
	return rc;
}

void mlx4_eth_get(const struct drv_device *dev, unsigned port, struct drv_eth_config *config)
{
	*config = dev->eth[port].config;
}

int mlx4_eth_open(struct drv_device *dev, unsigned port, bool open)
{
	return drv_cmd_plain(dev, open ? HCR_INIT_PORT : HCR_CLOSE_PORT, port, 0);
}

/* --- bring-up --- */

int drv_eths_init(struct drv_device *dev)
{
	return drv_mutex_init(dev, &dev->eth_lock);
}

void drv_eths_cleanup(struct drv_device *dev)
{
	drv_mutex_cleanup(dev, &dev->eth_lock);
}

int drv_eth_init(struct drv_device *dev, unsigned port)
{
	const struct drv_eth_config config = {.mtu = MTU_DEFAULT};
	struct drv_eth *eth = &dev->eth[port];
	int rc;

	memset(eth, 0, sizeof(*eth));
	eth->on = true;
	mac_store(eth->mac, query_port_get_mac(&dev->port_cap[port]));
	gids_default(dev, eth);
	rc = mlx4_eth_set(dev, port, &config);
	if (!rc)
		rc = macs_write(dev, port);
	if (!rc)
		rc = gids_write(dev, port);
	return rc;
}

/* Whether the port is an Ethernet port: the driver asks for no other protocol than the device
 * suggests. */
bool drv_eth_suggested(const struct drv_device *dev, unsigned port)
{
	const struct query_port *q = &dev->port_cap[port];

	return query_port_get_types(q) == PORT_TYPE_ETH ||
	       (query_port_get_types(q) != PORT_TYPE_IB && query_port_get_suggested_eth(q));
}

int drv_eth_roce_port(struct drv_device *dev)
{
	struct config_dev mbox = {{0}};

	if (!mlx4_has_roce_v2(dev))
		return 0;
	config_dev_set_update_roce_port(&mbox, 1);
	config_dev_set_roce_port(&mbox, ROCE_UDP_PORT);
	return drv_cmd_in(dev, HCR_CONFIG_DEV, 0, HCR_OM_CONFIG_DEV_SET, &mbox, sizeof(mbox));
}
