// SPDX-License-Identifier: Apache-2.0
/* Ports as the host sees them: PortInfo, GIDs and P_Keys by MAD_IFC, SET_PORT, bringing up and
 * waiting. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <string.h>

/* Time between two reads of the state, because link training raises no event. */
#define PORT_POLL_PS UINT64_C(1000000000)

/* IPv6, UDP, BTH, XRCETH, AtomicETH, ICRC: what Linux counts with (rdma/ib_addr.h iboe_get_mtu). */
enum { ROCE_HEADERS_MAX = 40 + 8 + 12 + 4 + 28 + 4 };

enum { GUIDS_PER_BLOCK = 8, PKEYS_PER_BLOCK = 32, VLS_NATIVE = 8 };

bool mlx4_has_port_events(const struct drv_device *dev)
{
	return dev_cap_get_flags(&dev->cap) & cap_bit(DEV_CAP_PORT_MNG_CHG);
}

static int port_check(const struct drv_device *dev, unsigned port)
{
	return port && port <= dev->ports ? 0 : -EINVAL;
}

static int query_gid(struct drv_device *dev, unsigned port, unsigned index, uint8_t *gid)
{
	struct guid_info guids;
	struct port_info pi;
	int rc = port_check(dev, port);

	if (!rc && mlx4_port_is_ethernet(dev, port)) {
		if (index >= DRV_ETH_TABLE)
			return -EINVAL;
		memcpy(gid, dev->eth[port].gids[index].raw, DRV_GID_BYTES);
		return 0;
	}
	if (rc || index >= 1u << query_port_get_log_gids(&dev->port_cap[port]))
		return -EINVAL;
	rc = drv_smp_get(dev, port, SMP_ATTR_PORT_INFO, port, &pi);
	if (rc)
		return rc;
	rc = drv_smp_get(dev, port, SMP_ATTR_GUID_INFO, index / GUIDS_PER_BLOCK, &guids);
	if (rc)
		return rc;
	be64_store(gid, port_info_get_gid_prefix(&pi));
	be64_store(gid + 8, guid_info_get(&guids, index % GUIDS_PER_BLOCK));
	return 0;
}

int mlx4_query_gid(struct drv_device *dev, unsigned port, unsigned index,
		   uint8_t gid[DRV_GID_BYTES])
{
	DRV_ENTER(dev, "port %u, index %u", port, index);
	return DRV_LEAVE(dev, query_gid(dev, port, index, gid));
}

static int query_pkey(struct drv_device *dev, unsigned port, unsigned index, uint16_t *pkey)
{
	struct pkey_table table;
	int rc = port_check(dev, port);

	if (rc || index >= 1u << query_port_get_log_pkeys(&dev->port_cap[port]))
		return -EINVAL;
	rc = drv_smp_get(dev, port, SMP_ATTR_PKEY_TABLE, index / PKEYS_PER_BLOCK, &table);
	if (!rc)
		*pkey = (uint16_t)pkey_table_get(&table, index % PKEYS_PER_BLOCK);
	return rc;
}

int mlx4_query_pkey(struct drv_device *dev, unsigned port, unsigned index, uint16_t *pkey)
{
	DRV_ENTER(dev, "port %u, index %u", port, index);
	return DRV_LEAVE(dev, query_pkey(dev, port, index, pkey));
}

static void attr_fill(const struct drv_device *dev, unsigned port, const struct port_info *pi,
		      struct drv_port_attr *attr)
{
	*attr = (struct drv_port_attr){
		.state = (enum ibv_port_state)port_info_get_state(pi),
		.phys_state = port_info_get_phys_state(pi),
		.max_mtu = (enum ibv_mtu)port_info_get_mtu_cap(pi),
		.active_mtu = (enum ibv_mtu)port_info_get_neighbor_mtu(pi),
		.lid = port_info_get_lid(pi),
		.lmc = port_info_get_lmc(pi),
		.sm_lid = port_info_get_sm_lid(pi),
		.sm_sl = port_info_get_sm_sl(pi),
		.active_width = port_info_get_width_active(pi),
		.active_speed = port_info_get_speed_active(pi),
		.active_ext_speed = port_info_get_cap_mask(pi) & 1u << PORT_CAP_EXT_SPEEDS
					    ? port_info_get_ext_speed_active(pi)
					    : 0,
		.vl_cap = port_info_get_vl_cap(pi),
		.oper_vls = port_info_get_oper_vls(pi),
		.gid_count = 1u << query_port_get_log_gids(&dev->port_cap[port]),
		.pkey_count = 1u << query_port_get_log_pkeys(&dev->port_cap[port]),
		.subnet_timeout = port_info_get_subnet_timeout(pi),
		.cap_mask = port_info_get_cap_mask(pi),
		.bad_pkeys = port_info_get_pkey_violations(pi),
		.bad_qkeys = port_info_get_qkey_violations(pi),
	};
}

/* The longest RoCE packet that a frame of this MTU can hold with its headers. */
static enum ibv_mtu mtu_in(unsigned frame_mtu)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && (128u << mtu) + ROCE_HEADERS_MAX > frame_mtu)
		mtu--;
	return mtu;
}

static int query_ethernet(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	const struct query_port *q = &dev->port_cap[port];
	int rc = drv_cmd_out(dev, HCR_QUERY_PORT, port, 0, &dev->port_cap[port], sizeof(*q));

	if (rc)
		return rc;
	*attr = (struct drv_port_attr){
		.state = query_port_get_link_up(q) ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
		.phys_state = query_port_get_link_up(q) ? PORT_PHYS_LINK_UP : PORT_PHYS_DISABLED,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = mtu_in(dev->eth[port].config.mtu),
		.active_width = LINK_WIDTH_4X,
		.active_speed = LINK_SPEED_QDR,
		.vl_cap = 1,
		.oper_vls = 1,
		.gid_count = DRV_ETH_TABLE,
		.pkey_count = 1,
		.cap_mask = 1u << PORT_CAP_CM,
		.ethernet = true,
	};
	memcpy(attr->gid0, dev->eth[port].gids[0].raw, DRV_GID_BYTES);
	return 0;
}

static int query_port(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	uint8_t gid[DRV_GID_BYTES];
	struct port_info pi;
	int rc = port_check(dev, port);

	if (rc)
		return rc;
	if (mlx4_port_is_ethernet(dev, port))
		return query_ethernet(dev, port, attr);
	rc = query_gid(dev, port, 0, gid);
	if (rc)
		return rc;
	rc = drv_smp_get(dev, port, SMP_ATTR_PORT_INFO, port, &pi);
	if (rc)
		return rc;
	attr_fill(dev, port, &pi, attr);
	memcpy(attr->gid0, gid, sizeof(gid));
	return 0;
}

int mlx4_query_port(struct drv_device *dev, unsigned port, struct drv_port_attr *attr)
{
	DRV_ENTER(dev, "port %u", port);
	return DRV_LEAVE(dev, query_port(dev, port, attr));
}

static int state_read(struct drv_device *dev, unsigned port, unsigned *state)
{
	struct drv_port_attr attr;
	struct port_info pi;
	int rc = port_check(dev, port);

	if (!rc && mlx4_port_is_ethernet(dev, port)) {
		rc = query_ethernet(dev, port, &attr);
		*state = attr.state;
		return rc;
	}
	if (!rc)
		rc = drv_smp_get(dev, port, SMP_ATTR_PORT_INFO, port, &pi);
	if (!rc)
		*state = port_info_get_state(&pi);
	return rc;
}

static int port_wait(struct drv_device *dev, unsigned port, enum ibv_port_state state,
		     uint64_t deadline_ps)
{
	struct platform *p = dev->p;

	for (;;) {
		const unsigned events = dev->port_events;
		unsigned is;
		uint64_t now;
		int rc = state_read(dev, port, &is);

		if (rc)
			return rc;
		if (is == (unsigned)state)
			return 0;
		drv_settle(dev);
		now = p->ops->now_ps(p);
		if (now >= deadline_ps)
			return -ETIMEDOUT;
		if (events == dev->port_events)
			p->ops->waitq_wait(p, dev->port_waitq,
					   deadline_ps - now < PORT_POLL_PS ? deadline_ps
									    : now + PORT_POLL_PS);
	}
}

int mlx4_port_wait(struct drv_device *dev, unsigned port, enum ibv_port_state state,
		   uint64_t deadline_ps)
{
	DRV_ENTER(dev, "port %u, state %d", port, state);
	return DRV_LEAVE(dev, port_wait(dev, port, state, deadline_ps));
}

int mlx4_port_up(struct drv_device *dev, unsigned port)
{
	DRV_ENTER(dev, "port %u", port);
	return DRV_LEAVE(dev, drv_agent_start(dev, port));
}

int mlx4_port_down(struct drv_device *dev, unsigned port)
{
	DRV_ENTER(dev, "port %u", port);
	if (!port_check(dev, port))
		drv_agent_stop(dev, port);
	return DRV_LEAVE(dev, port_check(dev, port));
}

/* --- SET_PORT --- */

/* The capability mask is written back unchanged. If the device has no room for that many VLs, fewer
 * are tried. */
static int set_port(struct drv_device *dev, unsigned port, unsigned mtu)
{
	struct port_info pi = {0};
	struct set_port mbox = {0};
	int rc;

	/* as in the Linux driver: if PortInfo cannot be read, the mask is empty */
	if (drv_smp_get(dev, port, SMP_ATTR_PORT_INFO, 0, &pi))
		memset(&pi, 0, sizeof(pi));
	set_port_set_change_mtu(&mbox, 1);
	set_port_set_change_vl(&mbox, 1);
	set_port_set_mtu(&mbox, mtu);
	set_port_set_cap_mask(&mbox, port_info_get_cap_mask(&pi));
	for (unsigned vls = VLS_NATIVE; vls; vls /= 2) {
		set_port_set_vl_cap(&mbox, vls);
		rc = drv_cmd_in(dev, HCR_SET_PORT, port, 0, &mbox, sizeof(mbox));
		if (rc != -ENOMEM)
			return rc;
	}
	return rc;
}

int drv_ports_init(struct drv_device *dev)
{
	struct node_info ni;
	int rc = 0;

	for (unsigned port = 1; port <= dev->ports && !rc; port++)
		rc = drv_eth_suggested(dev, port) ? drv_eth_init(dev, port)
						  : set_port(dev, port, IB_MTU_4096);
	if (!rc)
		rc = drv_eth_roce_port(dev);
	if (!rc)
		rc = drv_smp_get(dev, 1, SMP_ATTR_NODE_INFO, 0, &ni);
	if (rc)
		return rc;
	dev->node = (struct node_info_copy){.node_guid = node_info_get_node_guid(&ni),
					    .sys_guid = node_info_get_sys_guid(&ni),
					    .vendor_id = node_info_get_vendor_id(&ni),
					    .device_id = node_info_get_device_id(&ni),
					    .revision = node_info_get_revision(&ni)};
	return 0;
}

/* The device has the transport, and counts itself. */
int mlx4_counter(const struct drv_device *dev, const char *stage, const char *counter,
		 uint64_t *value)
{
	return -EOPNOTSUPP;
}
