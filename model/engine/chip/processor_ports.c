/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of each port that firmware sees, at FW_PORT_BASE. The subnet and performance
 * management agents read and set them. */
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/port_note.h"
#include "model/engine/chip/processor_impl.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_ethernet.h"

#include <string.h>

static uint32_t sl2vl_word(const struct port_config *c, unsigned first)
{
	uint32_t word = 0;

	for (unsigned i = 0; i < 8; i++)
		word = word << 4 | (c->sl2vl[first + i] & 0xf);
	return word;
}

static void sl2vl_set(struct port_config *c, unsigned first, uint32_t word)
{
	for (unsigned i = 0; i < 8; i++)
		c->sl2vl[first + i] = word >> (28 - 4 * i) & 0xf;
}

/* --- VL arbitration --- */

static bool is_vlarb(uint32_t reg)
{
	return reg >= FW_PORT_VLARB_LOW_0 && reg <= FW_PORT_VLARB_HIGH_3;
}

static enum vl_table_index vlarb_table(uint32_t reg)
{
	return reg < FW_PORT_VLARB_HIGH_0 ? VL_TABLE_LOW : VL_TABLE_HIGH;
}

/* The first of the two entries that the register holds. */
static unsigned vlarb_first(uint32_t reg)
{
	return (reg - FW_PORT_VLARB_LOW_0) / 4 * 2 % VL_TABLE_ENTRIES;
}

static bool vlarb_load(const struct port_config *c, uint32_t reg, uint32_t *value)
{
	if (reg == FW_PORT_VL_HIGH_LIMIT)
		*value = c->arbiter.high_limit;
	else if (is_vlarb(reg))
		*value = vl_arbiter_read(&c->arbiter, vlarb_table(reg), vlarb_first(reg));
	else
		return false;
	return true;
}

static bool vlarb_store(struct port_config *c, uint32_t reg, uint32_t value)
{
	if (reg == FW_PORT_VL_HIGH_LIMIT)
		vl_arbiter_limit(&c->arbiter, (uint8_t)value);
	else if (is_vlarb(reg))
		vl_arbiter_write(&c->arbiter, vlarb_table(reg), vlarb_first(reg), value);
	else
		return false;
	return true;
}

/* --- tables --- */

static int port_table_load(struct fw_port *port, struct port_config *c, uint32_t reg,
			   uint32_t *value)
{
	switch (reg) {
	case FW_PORT_GID_INDEX:
		*value = port->gid_index;
		break;
	case FW_PORT_GID_GUID_HI:
		*value = (uint32_t)(c->guids[port->gid_index] >> 32);
		break;
	case FW_PORT_GID_GUID_LO:
		*value = (uint32_t)c->guids[port->gid_index];
		break;
	case FW_PORT_PKEY_INDEX:
		*value = port->pkey_index;
		break;
	case FW_PORT_PKEY:
		*value = c->pkeys[port->pkey_index];
		break;
	case FW_PORT_COUNTER_INDEX:
		*value = port->counter_index;
		break;
	case FW_PORT_COUNTER_LO:
		*value = (uint32_t)c->counters[port->counter_index];
		port->counter_hi = (uint32_t)(c->counters[port->counter_index] >> 32);
		break;
	case FW_PORT_COUNTER_HI:
		*value = port->counter_hi;
		break;
	default:
		return RV_BUS_FAULT;
	}
	return RV_BUS_OK;
}

/* --- Ethernet --- */

static uint32_t type_load(const struct processor *p, unsigned number)
{
	const uint32_t now = link_port_config(p->hca, number)->eth ? FW_TYPE_ETH : FW_TYPE_IB;

	return link_port_types(p->hca, number) | now << FW_TYPE_NOW_SHIFT |
	       link_port_peer_type(p->hca, number) << FW_TYPE_PEER_SHIFT;
}

static uint32_t pause_load(const struct eth_port *eth)
{
	return (eth->pause_tx ? FW_ETH_PAUSE_TX : 0u) | (eth->pause_rx ? FW_ETH_PAUSE_RX : 0u) |
	       (uint32_t)eth->pfc_tx << FW_ETH_PFC_TX_SHIFT |
	       (uint32_t)eth->pfc_rx << FW_ETH_PFC_RX_SHIFT;
}

static void pause_store(struct eth_port *eth, uint32_t value)
{
	eth->pause_tx = value & FW_ETH_PAUSE_TX;
	eth->pause_rx = value & FW_ETH_PAUSE_RX;
	eth->pfc_tx = (uint8_t)(value >> FW_ETH_PFC_TX_SHIFT);
	eth->pfc_rx = (uint8_t)(value >> FW_ETH_PFC_RX_SHIFT);
}

static bool eth_load(struct processor *p, unsigned number, uint32_t reg, uint32_t *value)
{
	struct fw_port *port = &p->ports[number - 1];
	const struct eth_port *eth = link_port_config(p->hca, number)->eth;
	uint64_t counter;

	*value = 0;
	if (reg == FW_PORT_TYPE) {
		*value = type_load(p, number);
		return true;
	}
	if (reg < FW_PORT_ETH_INDEX || reg > FW_PORT_ETH_COUNTER_CMD)
		return false;
	if (!eth)
		return true;
	switch (reg) {
	case FW_PORT_ETH_INDEX:
		*value = port->eth_index;
		break;
	case FW_PORT_ETH_MTU:
		*value = eth->mtu;
		break;
	case FW_PORT_ETH_PAUSE:
		*value = pause_load(eth);
		break;
	case FW_PORT_ETH_UDP_PORT:
		*value = eth->udp_port;
		break;
	case FW_PORT_ETH_COUNTER_LO:
		counter = eth->counters[port->eth_counter] - eth->counted_from[port->eth_counter];
		*value = (uint32_t)counter;
		port->eth_counter_hi = (uint32_t)(counter >> 32);
		break;
	case FW_PORT_ETH_COUNTER_HI:
		*value = port->eth_counter_hi;
		break;
	case FW_PORT_ETH_RATE_MBPS:
		*value = (uint32_t)(param_ethernet_rate(p->hca->params) / 1000000);
		break;
	case FW_PORT_ETH_MULTICAST:
		*value = eth->multicast;
		break;
	default:
		break;
	}
	return true;
}

static void eth_table_store(struct fw_port *port, struct eth_port *eth, uint32_t reg,
			    uint32_t value)
{
	struct eth_gid *gid = &eth->gids[port->eth_index];

	switch (reg) {
	case FW_PORT_ETH_MAC_HI:
		port->mac_hi = value;
		break;
	case FW_PORT_ETH_MAC_LO:
		eth->macs[port->eth_index] = (uint64_t)port->mac_hi << 32 | value;
		break;
	case FW_PORT_ETH_VLAN:
		eth->vlans[port->eth_index] = value;
		break;
	case FW_PORT_ETH_GID_0:
	case FW_PORT_ETH_GID_1:
	case FW_PORT_ETH_GID_2:
	case FW_PORT_ETH_GID_3:
		be32_store(port->gid + (reg - FW_PORT_ETH_GID_0), value);
		break;
	case FW_PORT_ETH_GID_VERSION:
		memcpy(gid->gid, port->gid, sizeof(gid->gid));
		gid->version = (uint8_t)value;
		break;
	case FW_PORT_ETH_VLAN_FILTER:
		eth->vlan_filter[port->eth_index] = value;
		break;
	default:
		break;
	}
}

static bool eth_store(struct processor *p, unsigned number, uint32_t reg, uint32_t value)
{
	struct fw_port *port = &p->ports[number - 1];
	struct eth_port *eth = link_port_config(p->hca, number)->eth;

	if (reg < FW_PORT_TYPE || reg > FW_PORT_ETH_COUNTER_CMD)
		return false;
	if (!eth)
		return true;
	switch (reg) {
	case FW_PORT_ETH_INDEX:
		port->eth_index = value % ETH_TABLE_SIZE;
		break;
	case FW_PORT_ETH_MTU:
		eth->mtu = (uint16_t)value;
		break;
	case FW_PORT_ETH_PAUSE:
		pause_store(eth, value);
		break;
	case FW_PORT_ETH_UDP_PORT:
		eth->udp_port = (uint16_t)value;
		break;
	case FW_PORT_ETH_COUNTER_INDEX:
		port->eth_counter = value % ARRAY_SIZE(eth->counters);
		break;
	case FW_PORT_ETH_RX_QPN:
		eth->rx_qpn = value;
		break;
	case FW_PORT_ETH_PROMISC:
		eth->promisc = value;
		break;
	case FW_PORT_ETH_MULTICAST:
		eth->multicast = value;
		break;
	case FW_PORT_ETH_GROUP_HI:
		port->mac_hi = value;
		break;
	case FW_PORT_ETH_GROUP_LO:
		eth_port_group_add(eth, (uint64_t)port->mac_hi << 32 | value);
		break;
	case FW_PORT_ETH_GROUP_CMD:
		eth->n_groups = 0;
		break;
	case FW_PORT_ETH_COUNTER_CMD:
		memcpy(eth->counted_from, eth->counters, sizeof(eth->counters));
		break;
	default:
		eth_table_store(port, eth, reg, value);
	}
	return true;
}

static int port_load(struct processor *p, unsigned number, uint32_t reg, uint32_t *value)
{
	struct port_config *c = link_port_config(p->hca, number);

	switch (reg) {
	case FW_PORT_PHYS_STATE:
		*value = c->phys;
		break;
	case FW_PORT_LOGICAL:
		*value = c->logical;
		break;
	case FW_PORT_LID:
		*value = c->lid | (uint32_t)c->lmc << 16;
		break;
	case FW_PORT_SMLID:
		*value = c->sm_lid | (uint32_t)c->sm_sl << 16;
		break;
	case FW_PORT_MTU:
		*value = c->mtu;
		break;
	case FW_PORT_VLS:
		*value = c->oper_vls;
		break;
	case FW_PORT_WIDTH:
		*value = link_port_width(p->hca, number);
		break;
	case FW_PORT_SPEED:
		*value = link_port_speed(p->hca, number);
		break;
	case FW_PORT_GID_PREFIX_HI:
		*value = (uint32_t)(c->gid_prefix >> 32);
		break;
	case FW_PORT_GID_PREFIX_LO:
		*value = (uint32_t)c->gid_prefix;
		break;
	case FW_PORT_SL2VL_HI:
		*value = sl2vl_word(c, 0);
		break;
	case FW_PORT_SL2VL_LO:
		*value = sl2vl_word(c, 8);
		break;
	case FW_PORT_BAD_PKEY:
		*value = (uint32_t)c->bad_pkey;
		break;
	case FW_PORT_BAD_QKEY:
		*value = (uint32_t)c->bad_qkey;
		break;
	default:
		return port_note_load(c, reg, value) || vlarb_load(c, reg, value) ||
				       eth_load(p, number, reg, value)
			       ? RV_BUS_OK
			       : port_table_load(&p->ports[number - 1], c, reg, value);
	}
	return RV_BUS_OK;
}

static int port_table_store(struct fw_port *port, struct port_config *c, uint32_t reg,
			    uint32_t value)
{
	uint64_t *counter = &c->counters[port->counter_index];

	switch (reg) {
	case FW_PORT_GID_INDEX:
		port->gid_index = value % PORT_MAX_GIDS;
		break;
	case FW_PORT_GID_GUID_HI:
		port->guid_hi = value;
		break;
	case FW_PORT_GID_GUID_LO:
		c->guids[port->gid_index] = (uint64_t)port->guid_hi << 32 | value;
		break;
	case FW_PORT_PKEY_INDEX:
		port->pkey_index = value % PORT_MAX_PKEYS;
		break;
	case FW_PORT_PKEY:
		c->pkeys[port->pkey_index] = (uint16_t)value;
		break;
	case FW_PORT_COUNTER_INDEX:
		if (value >= FW_PC_COUNT)
			return RV_BUS_FAULT;
		port->counter_index = value;
		break;
	case FW_PORT_COUNTER_LO:
		*counter = value;
		break;
	case FW_PORT_COUNTER_HI:
		*counter = (uint64_t)value << 32 | (uint32_t)*counter;
		break;
	default:
		return RV_BUS_FAULT;
	}
	return RV_BUS_OK;
}

static int port_store(struct processor *p, unsigned number, uint32_t reg, uint32_t value)
{
	struct port_config *c = link_port_config(p->hca, number);
	const uint8_t *mad;

	switch (reg) {
	case FW_PORT_CMD:
		link_port_command(p->hca, number, value);
		break;
	case FW_PORT_LOGICAL:
		c->logical = (uint8_t)value;
		link_port_logical_changed(p->hca, number);
		break;
	case FW_PORT_LID:
		c->lid = (uint16_t)value;
		c->lmc = value >> 16 & 7;
		break;
	case FW_PORT_SMLID:
		c->sm_lid = (uint16_t)value;
		c->sm_sl = value >> 16 & 0xf;
		break;
	case FW_PORT_MTU:
		c->mtu = (uint8_t)value;
		break;
	case FW_PORT_VLS:
		c->oper_vls = (uint8_t)value;
		break;
	case FW_PORT_GID_PREFIX_HI:
		c->gid_prefix = (uint64_t)value << 32 | (uint32_t)c->gid_prefix;
		break;
	case FW_PORT_GID_PREFIX_LO:
		c->gid_prefix = c->gid_prefix >> 32 << 32 | value;
		break;
	case FW_PORT_SL2VL_HI:
		sl2vl_set(c, 0, value);
		break;
	case FW_PORT_SL2VL_LO:
		sl2vl_set(c, 8, value);
		break;
	case FW_PORT_BAD_PKEY:
		c->bad_pkey = value;
		break;
	case FW_PORT_BAD_QKEY:
		c->bad_qkey = value;
		break;
	case FW_PORT_NOTE:
		c->note.number = 0;
		break;
	case FW_PORT_SELF_MAD:
		mad = processor_ram(p, value, PORT_MAD_BYTES);
		if (!mad)
			return RV_BUS_FAULT;
		port_self_mad(p->hca, number, mad);
		break;
	default:
		return vlarb_store(c, reg, value) || eth_store(p, number, reg, value)
			       ? RV_BUS_OK
			       : port_table_store(&p->ports[number - 1], c, reg, value);
	}
	return RV_BUS_OK;
}

/* Splits an offset at or above FW_PORT_BASE: returns the port number (0: there is no such port),
 * and sets *offset to the register. */
static unsigned port_of(const struct processor *p, uint32_t *offset)
{
	uint32_t n = (*offset - FW_PORT_BASE) / FW_PORT_STRIDE;

	*offset = (*offset - FW_PORT_BASE) % FW_PORT_STRIDE;
	return n < param_hca_ports(p->hca->params) ? n + 1 : 0;
}

int processor_port_load(struct processor *p, uint32_t offset, uint32_t *value)
{
	unsigned port = port_of(p, &offset);

	return port ? port_load(p, port, offset, value) : RV_BUS_FAULT;
}

int processor_port_store(struct processor *p, uint32_t offset, uint32_t value)
{
	unsigned port = port_of(p, &offset);

	return port ? port_store(p, port, offset, value) : RV_BUS_FAULT;
}
