/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/port.h"

#define PORT_CAPS_DEFAULT                                                                          \
	(1u << PORT_CAP_AUTO_MIGR | 1u << PORT_CAP_SL_MAP | 1u << PORT_CAP_SYS_GUID |              \
	 1u << PORT_CAP_TRAP | 1u << PORT_CAP_CM | 1u << PORT_CAP_CLIENT_REREG)

#define GID_PREFIX_DEFAULT UINT64_C(0xfe80000000000000)

enum {
	VL_CAP_CODE = 4, /* FW_VLS data VLs */
	SUBNET_TIMEOUT_DEFAULT = 18,
	ERROR_THRESHOLDS_DEFAULT = 0x88,
	VLARB_WEIGHT_DEFAULT = 64,
};

#define NS_PER_S UINT64_C(1000000000)

uint64_t port_guid_read(uint32_t port, uint32_t index)
{
	fw_write(FW_PORT(port, GID_INDEX), index);
	return (uint64_t)fw_read(FW_PORT(port, GID_GUID_HI)) << 32 |
	       fw_read(FW_PORT(port, GID_GUID_LO));
}

void port_guid_write(uint32_t port, uint32_t index, uint64_t guid)
{
	fw_write(FW_PORT(port, GID_INDEX), index);
	fw_write(FW_PORT(port, GID_GUID_HI), (uint32_t)(guid >> 32));
	fw_write(FW_PORT(port, GID_GUID_LO), (uint32_t)guid);
}

uint32_t port_pkey_read(uint32_t port, uint32_t index)
{
	fw_write(FW_PORT(port, PKEY_INDEX), index);
	return fw_read(FW_PORT(port, PKEY)) & 0xffff;
}

void port_pkey_write(uint32_t port, uint32_t index, uint32_t pkey)
{
	fw_write(FW_PORT(port, PKEY_INDEX), index);
	fw_write(FW_PORT(port, PKEY), pkey);
}

static void tables_default(uint32_t port)
{
	for (uint32_t i = 1; i < port_gids(); i++)
		port_guid_write(port, i, 0);
	port_guid_write(port, 0, port_guid(port));
	for (uint32_t i = 0; i < port_pkeys(); i++)
		port_pkey_write(port, i, i ? 0 : PKEY_DEFAULT);
}

/* Maps each SL to VL (SL modulo the number of VLs). */
static void sl2vl_default(uint32_t port)
{
	uint32_t mask = port_vls(port_of(port)->vl_cap) - 1, half[2] = {0};

	for (uint32_t sl = 0; sl < 16; sl++)
		half[sl / 8] |= (sl & mask) << (28 - 4 * (sl % 8));
	fw_write(FW_PORT(port, SL2VL_HI), half[0]);
	fw_write(FW_PORT(port, SL2VL_LO), half[1]);
}

/* All lanes have the same weight in the low priority table, and none in the high one (assumption:
 * IBA 7.6.9 leaves the tables to the subnet manager; each lane works before it has written them). */
static void vlarb_default(uint32_t port)
{
	for (uint32_t i = 0; i < FW_VLARB_ENTRIES; i += 2) {
		const uint32_t vls = i << 24 | (i + 1) << 8;

		fw_write(FW_PORT(port, VLARB_LOW_0) + 2 * i,
			 vls | VLARB_WEIGHT_DEFAULT << 16 | VLARB_WEIGHT_DEFAULT);
		fw_write(FW_PORT(port, VLARB_HIGH_0) + 2 * i, vls);
	}
	fw_write(FW_PORT(port, VL_HIGH_LIMIT), 0);
}

/* Attributes that a subnet manager sets. */
static void managed_default(uint32_t port)
{
	struct fw_port *p = port_of(port);

	fw_write(FW_PORT(port, LID), 0);
	fw_write(FW_PORT(port, SMLID), 0);
	fw_write(FW_PORT(port, MTU), p->mtu_cap);
	fw_write(FW_PORT(port, VLS), p->vl_cap);
	fw_write(FW_PORT(port, GID_PREFIX_HI), (uint32_t)(GID_PREFIX_DEFAULT >> 32));
	fw_write(FW_PORT(port, GID_PREFIX_LO), (uint32_t)GID_PREFIX_DEFAULT);
	tables_default(port);
	sl2vl_default(port);
	vlarb_default(port);
	p->width_enabled = fw_read(FW_PORT(port, WIDTH)) >> 8 & 0xff;
	p->speed_enabled = fw_read(FW_PORT(port, SPEED)) >> 8 & 0xf;
	p->ext_speed_enabled = fw_read(FW_PORT(port, SPEED)) >> 12 & 0xf;
	p->down_default = PORT_PHYS_POLLING;
	p->subnet_timeout = SUBNET_TIMEOUT_DEFAULT;
	p->error_thresholds = ERROR_THRESHOLDS_DEFAULT;
	p->mkey = 0;
	p->mkey_protect = 0;
	p->mkey_lease = p->mkey_violations = 0;
	p->lease_end_ns = p->trap_ns = UINT64_MAX;
}

uint32_t port_caps_default(uint32_t port)
{
	bool ext_speeds = fw_read(FW_PORT(port, SPEED)) >> 12 & 0xf;

	return PORT_CAPS_DEFAULT | (uint32_t)ext_speeds << PORT_CAP_EXT_SPEEDS;
}

void port_boot(uint32_t port)
{
	struct fw_port *p = port_of(port);

	p->ethernet = fw_read(FW_PORT(port, TYPE)) >> FW_TYPE_NOW_SHIFT & FW_TYPE_ETH;
	p->cap_mask = port_caps_default(port);
	p->mtu_cap = IB_MTU_4096;
	p->vl_cap = VL_CAP_CODE;
	p->logical = PORT_STATE_DOWN;
	managed_default(port);
	fw_write(FW_PORT(port, LOGICAL), PORT_STATE_DOWN);
	fw_write(FW_PORT(port, CMD), FW_PORT_DISABLE);
}

void port_open(uint32_t port)
{
	struct fw_port *p = port_of(port);

	if (p->open)
		return;
	p->open = true;
	managed_default(port);
	fw_write(FW_PORT(port, CMD), FW_PORT_UP);
}

void port_close(uint32_t port)
{
	port_of(port)->open = false;
	port_link_command(port, FW_PORT_DISABLE);
}

static void change_post(uint32_t port, enum port_change_subtype subtype)
{
	struct eqe eqe = {0};

	eqe_set_type(&eqe, EVENT_PORT_CHANGE);
	eqe_set_subtype(&eqe, subtype);
	eqe_port_set_port(eqe_as_port(&eqe), port);
	fw_event_post(&eqe);
}

static void state_note(uint32_t port, uint32_t state)
{
	struct fw_port *p = port_of(port);
	uint32_t was = p->logical;

	p->logical = (uint8_t)state;
	if (state == PORT_STATE_ACTIVE && was != PORT_STATE_ACTIVE)
		change_post(port, PORT_CHANGE_ACTIVE);
	if (state != PORT_STATE_ACTIVE && was == PORT_STATE_ACTIVE)
		change_post(port, PORT_CHANGE_DOWN);
}

void port_state_set(uint32_t port, enum port_state state)
{
	fw_write(FW_PORT(port, LOGICAL), state);
	state_note(port, state);
}

/* Write the state first: the link may come up again before the next write. */
void port_link_command(uint32_t port, uint32_t command)
{
	port_state_set(port, PORT_STATE_DOWN);
	fw_write(FW_PORT(port, CMD), command);
}

void port_changed(uint32_t port)
{
	trap_key(port);
	state_note(port, fw_read(FW_PORT(port, LOGICAL)));
}

void port_timer_set(void)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t n = 1; n <= fw.num_ports; n++) {
		if (port_of(n)->lease_end_ns < first)
			first = port_of(n)->lease_end_ns;
		if (port_of(n)->trap_ns < first)
			first = port_of(n)->trap_ns;
	}
	fw_write(FW_TIMER_LO, (uint32_t)first);
	fw_write(FW_TIMER_HI, (uint32_t)(first >> 32));
}

void port_mkey_violation(uint32_t port)
{
	struct fw_port *p = port_of(port);

	if (p->mkey_violations != UINT16_MAX)
		p->mkey_violations++;
	if (!p->mkey_lease || p->lease_end_ns != UINT64_MAX)
		return;
	p->lease_end_ns = fw_now_ns() + p->mkey_lease * NS_PER_S;
	port_timer_set();
}

void port_mkey_matched(uint32_t port)
{
	struct fw_port *p = port_of(port);

	if (p->lease_end_ns == UINT64_MAX)
		return;
	p->lease_end_ns = UINT64_MAX;
	port_timer_set();
}

void port_timer(void)
{
	uint64_t now = fw_now_ns();

	for (uint32_t n = 1; n <= fw.num_ports; n++) {
		struct fw_port *p = port_of(n);

		trap_timer(n, now);
		if (p->lease_end_ns > now)
			continue;
		p->lease_end_ns = UINT64_MAX;
		p->mkey_protect = 0;
	}
	port_timer_set();
}
