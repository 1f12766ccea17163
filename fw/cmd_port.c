/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/cmds.h"
#include "fw/port.h"

enum {
	/* For Ethernet, which this family of chips has. The driver complains if they are 0. */
	LOG_MACS = 7,
	LOG_VLANS = 7,
	LOG_ETH_GIDS = 7, /* entries of SET_PORT's table of RoCE addresses */
};

enum hcr_status cmd_init_port(struct fw_cmd *c)
{
	if (!port_exists(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	port_open(c->in_mod);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_close_port(struct fw_cmd *c)
{
	if (!port_exists(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	port_close(c->in_mod);
	return HCR_STATUS_OK;
}

/* Speed codes of QUERY_PORT: 1 is 10 Gb/s, 0x20 56, 0x40 40 (Linux mlx4: MLX4_EN_10G_SPEED_XFI,
 * MLX4_EN_56G_SPEED, MLX4_EN_40G_SPEED). A rate without a code gets the next lower one. */
static uint32_t eth_speed_code(uint32_t mbps)
{
	return mbps >= 56000 ? 0x20 : mbps >= 40000 ? 0x40 : 1;
}

static void query_ethernet(struct query_port *q, uint32_t port)
{
	const uint32_t type = fw_read(FW_PORT(port, TYPE));

	if (port_of(port)->ethernet)
		query_port_set_log_gids(q, LOG_ETH_GIDS);
	query_port_set_suggested_eth(q, type >> FW_TYPE_NOW_SHIFT & FW_TYPE_ETH);
	query_port_set_default_sense(q, (type & (FW_TYPE_IB | FW_TYPE_ETH)) ==
						(FW_TYPE_IB | FW_TYPE_ETH));
	query_port_set_eth_mtu(q, ETHERNET_PAYLOAD);
	query_port_set_eth_speed(q, eth_speed_code(fw_read(FW_PORT(port, ETH_RATE_MBPS))));
	query_port_set_traffic_classes(q, ETH_PRIORITIES);
	query_port_set_mac(q, port_mac(port));
}

enum hcr_status cmd_query_port(struct fw_cmd *c)
{
	struct query_port *q = (struct query_port *)fw.out;
	const struct fw_port *p;
	uint32_t speed;

	if (!port_exists(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	p = port_of(c->in_mod);
	speed = fw_read(FW_PORT(c->in_mod, SPEED));
	query_port_set_link_up(q, fw_read(FW_PORT(c->in_mod, PHYS_STATE)) == PORT_PHYS_LINK_UP);
	query_port_set_types(q, fw_read(FW_PORT(c->in_mod, TYPE)) & (FW_TYPE_IB | FW_TYPE_ETH));
	query_port_set_ib_mtu(q, p->mtu_cap);
	query_port_set_ib_speeds(q, speed >> 8);
	query_port_set_ib_widths(q, fw_read(FW_PORT(c->in_mod, WIDTH)) >> 8);
	query_port_set_log_gids(q, fw_read(FW_LOG_GIDS));
	query_port_set_log_pkeys(q, fw_read(FW_LOG_PKEYS));
	query_port_set_max_vl(q, FW_VLS);
	query_port_set_log_macs(q, LOG_MACS);
	query_port_set_log_vlans(q, LOG_VLANS);
	if (fw_read(FW_PORT(c->in_mod, TYPE)) & FW_TYPE_ETH)
		query_ethernet(q, c->in_mod);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_diag_rprt(struct fw_cmd *c)
{
	struct diag_rprt *d = (struct diag_rprt *)fw.out;

	if (c->in_mod) /* the device does not announce counters per port */
		return HCR_STATUS_BAD_INDEX;
#define D(name, stat)                                                                              \
	fw_write(FW_DIAG_INDEX, FW_DIAG_##name);                                                   \
	diag_rprt_set_##name(d, fw_read(FW_DIAG_COUNT));
	DIAG_COUNTERS(D)
#undef D
	return HCR_STATUS_OK;
}

/* The code of PortInfo for a number of VLs; 0: there is none. */
static uint32_t vl_code(uint32_t vls)
{
	for (uint32_t code = 1; port_vls(code) <= FW_VLS; code++)
		if (port_vls(code) == vls)
			return code;
	return 0;
}

static enum hcr_status set_port_check(const struct set_port *s)
{
	if (set_port_get_change_pkeys(s) || set_port_get_change_gids(s))
		return HCR_STATUS_BAD_PARAM;
	if (set_port_get_change_mtu(s) &&
	    (set_port_get_mtu(s) < IB_MTU_256 || set_port_get_mtu(s) > IB_MTU_4096))
		return HCR_STATUS_BAD_PARAM;
	if (set_port_get_change_vl(s) && !vl_code(set_port_get_vl_cap(s)))
		return set_port_get_vl_cap(s) > FW_VLS ? HCR_STATUS_EXCEED_LIM
						       : HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

static void set_port_guids(uint32_t port, const struct set_port *s)
{
	if (set_port_get_set_sys_guid(s))
		fw.sys_guid = set_port_get_sys_guid(s);
	if (set_port_get_set_node_guid(s))
		fw.node_guid = set_port_get_node_guid(s);
	if (set_port_get_set_guid0(s))
		port_guid_write(port, 0, set_port_get_guid0(s));
}

enum hcr_status cmd_set_port(struct fw_cmd *c)
{
	const struct set_port *s = (const struct set_port *)fw.in;
	struct fw_port *p;
	enum hcr_status status;

	if (c->op_mod == HCR_OM_SET_PORT_ETH)
		return set_port_ethernet(c);
	if (!port_exists(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!reserved_clear_set_port())
		return cmd_reserved("reserved bits are set");
	status = set_port_check(s);
	if (status != HCR_STATUS_OK)
		return status;
	p = port_of(c->in_mod);
	if (set_port_get_change_mtu(s))
		p->mtu_cap = (uint8_t)set_port_get_mtu(s);
	if (set_port_get_change_vl(s))
		p->vl_cap = (uint8_t)vl_code(set_port_get_vl_cap(s));
	if (set_port_get_reset_qkey(s))
		fw_write(FW_PORT(c->in_mod, BAD_QKEY), 0);
	set_port_guids(c->in_mod, s);
	p->cap_mask = set_port_get_reset_cap_mask(s) ? port_caps_default(c->in_mod)
						     : set_port_get_cap_mask(s);
	return HCR_STATUS_OK;
}
