/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PortInfo. Source: InfiniBand specification, volume 1, 14.2.5.6; port states 7.2.7.
 */
#include "fw/mad.h"

enum {
	WIDTH_ALL = 0xff,
	SPEED_ALL = 0xf,
	EXT_SPEED_ALL = 0x1f,
	EXT_SPEED_NONE = 0x1e,
	RESP_TIME = 16,
	ROUND_TRIP_UNKNOWN = 0xffffff,
	LMC_SHIFT = 16,
	SM_SL_SHIFT = 16,
};

static void link_get(uint32_t port, struct port_info *i)
{
	const struct fw_port *p = port_of(port);
	uint32_t width = fw_read(FW_PORT(port, WIDTH)), speed = fw_read(FW_PORT(port, SPEED));

	port_info_set_width_active(i, width & 0xff);
	port_info_set_width_supported(i, width >> 8);
	port_info_set_width_enabled(i, p->width_enabled);
	port_info_set_speed_active(i, speed);
	port_info_set_speed_supported(i, speed >> 8);
	port_info_set_speed_enabled(i, p->speed_enabled);
	port_info_set_ext_speed_active(i, speed >> 4);
	port_info_set_ext_speed_supported(i, speed >> 12);
	port_info_set_ext_speed_enabled(i, p->ext_speed_enabled);
	port_info_set_state(i, fw_read(FW_PORT(port, LOGICAL)));
	port_info_set_phys_state(i, fw_read(FW_PORT(port, PHYS_STATE)));
	port_info_set_down_default(i, p->down_default);
	port_info_set_neighbor_mtu(i, fw_read(FW_PORT(port, MTU)));
	port_info_set_oper_vls(i, fw_read(FW_PORT(port, VLS)));
}

static void address_get(uint32_t port, struct port_info *i)
{
	uint32_t lid = fw_read(FW_PORT(port, LID)), sm = fw_read(FW_PORT(port, SMLID));

	port_info_set_lid(i, lid);
	port_info_set_lmc(i, lid >> LMC_SHIFT);
	port_info_set_sm_lid(i, sm);
	port_info_set_sm_sl(i, sm >> SM_SL_SHIFT);
	port_info_set_gid_prefix(i, (uint64_t)fw_read(FW_PORT(port, GID_PREFIX_HI)) << 32 |
					    fw_read(FW_PORT(port, GID_PREFIX_LO)));
}

void port_info_get(uint32_t port, struct port_info *i)
{
	const struct fw_port *p = port_of(port);

	memset(i, 0, sizeof(*i));
	link_get(port, i);
	address_get(port, i);
	port_info_set_mkey(i, p->mkey);
	port_info_set_cap_mask(i, p->cap_mask);
	port_info_set_mkey_lease(i, p->mkey_lease);
	port_info_set_local_port(i, port);
	port_info_set_mkey_protect(i, p->mkey_protect);
	port_info_set_vl_cap(i, p->vl_cap);
	port_info_set_init_type(i, p->init_type);
	port_info_set_vl_high_limit(i, fw_read(FW_PORT(port, VL_HIGH_LIMIT)));
	port_info_set_vlarb_high_cap(i, FW_VLARB_ENTRIES);
	port_info_set_vlarb_low_cap(i, FW_VLARB_ENTRIES);
	port_info_set_mtu_cap(i, p->mtu_cap);
	port_info_set_mkey_violations(i, p->mkey_violations);
	port_info_set_pkey_violations(i, min_u32(fw_read(FW_PORT(port, BAD_PKEY)), UINT16_MAX));
	port_info_set_qkey_violations(i, min_u32(fw_read(FW_PORT(port, BAD_QKEY)), UINT16_MAX));
	port_info_set_guid_cap(i, port_gids());
	port_info_set_subnet_timeout(i, p->subnet_timeout);
	port_info_set_resp_time(i, RESP_TIME);
	port_info_set_local_phy_errors(i, p->error_thresholds >> 4);
	port_info_set_overrun_errors(i, p->error_thresholds);
	port_info_set_round_trip(i, ROUND_TRIP_UNKNOWN);
}

static bool subset(uint32_t wanted, uint32_t of)
{
	return (wanted & ~of) == 0;
}

/* True if the port supports the value, or has it already. */
static bool lid_legal(uint32_t lid, uint32_t lmc, uint32_t now)
{
	if (lid == now && lmc == 0)
		return true;
	return lid > 0 && lid < LID_MCAST_FIRST && (lid & ((1u << lmc) - 1)) == 0;
}

static bool state_legal(const struct port_info *in, const struct port_info *now)
{
	uint32_t from = port_info_get_state(now);

	switch (port_info_get_state(in)) {
	case PORT_STATE_NOP:
	case PORT_STATE_DOWN:
		return true;
	case PORT_STATE_ARMED:
		return from == PORT_STATE_INIT || from == PORT_STATE_ARMED;
	case PORT_STATE_ACTIVE:
		return from == PORT_STATE_ARMED || from == PORT_STATE_ACTIVE;
	default:
		return false;
	}
}

static bool phys_legal(uint32_t phys, uint32_t down_default)
{
	return (phys == PORT_PHYS_NOP || phys == PORT_PHYS_POLLING || phys == PORT_PHYS_DISABLED) &&
	       (down_default == PORT_PHYS_NOP || down_default == PORT_PHYS_POLLING);
}

static bool link_legal(const struct port_info *in, const struct port_info *now)
{
	uint32_t width = port_info_get_width_enabled(in), speed = port_info_get_speed_enabled(in),
		 ext = port_info_get_ext_speed_enabled(in);

	return (width == WIDTH_ALL || subset(width, port_info_get_width_supported(now))) &&
	       (speed == SPEED_ALL || subset(speed, port_info_get_speed_supported(now))) &&
	       (ext == EXT_SPEED_ALL || ext == EXT_SPEED_NONE ||
		subset(ext, port_info_get_ext_speed_supported(now)));
}

static bool set_legal(const struct port_info *in, const struct port_info *now)
{
	return state_legal(in, now) &&
	       phys_legal(port_info_get_phys_state(in), port_info_get_down_default(in)) &&
	       lid_legal(port_info_get_lid(in), port_info_get_lmc(in), port_info_get_lid(now)) &&
	       port_info_get_sm_lid(in) < LID_MCAST_FIRST &&
	       port_info_get_neighbor_mtu(in) >= IB_MTU_256 &&
	       port_info_get_neighbor_mtu(in) <= port_info_get_mtu_cap(now) &&
	       port_info_get_oper_vls(in) <= port_info_get_vl_cap(now) && link_legal(in, now);
}

static void address_set(uint32_t port, const struct port_info *in)
{
	uint64_t prefix = port_info_get_gid_prefix(in);

	fw_write(FW_PORT(port, LID), port_info_get_lid(in) | port_info_get_lmc(in) << LMC_SHIFT);
	fw_write(FW_PORT(port, SMLID), port_info_get_sm_lid(in) | port_info_get_sm_sl(in)
									  << SM_SL_SHIFT);
	fw_write(FW_PORT(port, GID_PREFIX_HI), (uint32_t)(prefix >> 32));
	fw_write(FW_PORT(port, GID_PREFIX_LO), (uint32_t)prefix);
	fw_write(FW_PORT(port, MTU), port_info_get_neighbor_mtu(in));
	if (port_info_get_oper_vls(in))
		fw_write(FW_PORT(port, VLS), port_info_get_oper_vls(in));
}

static uint8_t enabled_set(uint32_t wanted, uint32_t was, uint32_t all, uint32_t supported)
{
	if (!wanted)
		return (uint8_t)was;
	return (uint8_t)(wanted == all ? supported : wanted);
}

static void link_set(uint32_t port, const struct port_info *in, const struct port_info *now)
{
	struct fw_port *p = port_of(port);
	uint32_t ext = port_info_get_ext_speed_enabled(in);

	p->width_enabled = enabled_set(port_info_get_width_enabled(in), p->width_enabled, WIDTH_ALL,
				       port_info_get_width_supported(now));
	p->speed_enabled = enabled_set(port_info_get_speed_enabled(in), p->speed_enabled, SPEED_ALL,
				       port_info_get_speed_supported(now));
	p->ext_speed_enabled = ext == EXT_SPEED_NONE
				       ? EXT_SPEED_NONE
				       : enabled_set(ext, p->ext_speed_enabled, EXT_SPEED_ALL,
						     port_info_get_ext_speed_supported(now));
	if (port_info_get_down_default(in))
		p->down_default = (uint8_t)port_info_get_down_default(in);
}

static void agent_set(uint32_t port, const struct port_info *in)
{
	struct fw_port *p = port_of(port);

	p->mkey = port_info_get_mkey(in);
	p->mkey_protect = (uint8_t)port_info_get_mkey_protect(in);
	p->mkey_lease = (uint16_t)port_info_get_mkey_lease(in);
	p->mkey_violations = (uint16_t)port_info_get_mkey_violations(in);
	p->init_type = (uint8_t)port_info_get_init_type(in);
	p->subnet_timeout = (uint8_t)port_info_get_subnet_timeout(in);
	p->error_thresholds = (uint8_t)(port_info_get_local_phy_errors(in) << 4 |
					port_info_get_overrun_errors(in));
	fw_write(FW_PORT(port, VL_HIGH_LIMIT), port_info_get_vl_high_limit(in));
	fw_write(FW_PORT(port, BAD_PKEY), port_info_get_pkey_violations(in));
	fw_write(FW_PORT(port, BAD_QKEY), port_info_get_qkey_violations(in));
}

/* The requested physical state comes before the port state. */
static void state_set(uint32_t port, const struct port_info *in)
{
	uint32_t phys = port_info_get_phys_state(in), state = port_info_get_state(in);

	if (phys == PORT_PHYS_DISABLED)
		port_link_command(port, FW_PORT_DISABLE);
	else if (phys == PORT_PHYS_POLLING &&
		 fw_read(FW_PORT(port, PHYS_STATE)) == PORT_PHYS_DISABLED)
		fw_write(FW_PORT(port, CMD), FW_PORT_UP);
	else if (phys == PORT_PHYS_POLLING || state == PORT_STATE_DOWN)
		port_link_command(port, FW_PORT_DOWN);
	else if (state != PORT_STATE_NOP)
		port_state_set(port, (enum port_state)state);
}

enum mad_status port_info_set(uint32_t port, struct port_info *info)
{
	struct port_info in = *info, now;

	port_info_get(port, &now);
	if (!set_legal(&in, &now))
		return MAD_STATUS_BAD_VALUE;
	address_set(port, &in);
	link_set(port, &in, &now);
	agent_set(port, &in);
	state_set(port, &in);
	port_info_get(port, info);
	port_info_set_client_rereg(info, port_info_get_client_rereg(&in));
	port_info_tell(port, &now, info);
	return MAD_STATUS_OK;
}
