/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of Ethernet ports: tables of addresses, MTU and pause, filters. */
#include "fw/cmds.h"
#include "fw/port.h"
#include "model/interface/macros.h"

enum {
	GID_SIZE = 16,
	VLANS_OF_WORD = 32,
	/* Linux's driver counts two VLAN tags, too (mlx4_en.h MLX4_EN_EFF_MTU) */
	LONGEST = ETHERNET_MAX + 2 * sizeof(struct vlan_tag),
};

static bool is_ethernet(uint32_t port)
{
	return port_exists(port) && port_of(port)->ethernet;
}

/* --- SET_PORT --- */

static enum hcr_status general_set(uint32_t port)
{
	const struct eth_general *g = (const struct eth_general *)fw.in;
	uint32_t pause = fw_read(FW_PORT(port, ETH_PAUSE)), mtu = eth_general_get_mtu(g);

	if (eth_general_get_mtu_valid(g)) {
		if (mtu < ETHERNET_MIN || mtu > LONGEST)
			return HCR_STATUS_BAD_PARAM;
		fw_write(FW_PORT(port, ETH_MTU), mtu);
	}
	if (eth_general_get_pptx_valid(g)) {
		pause &= ~(uint32_t)(FW_ETH_PAUSE_TX | 0xff << FW_ETH_PFC_TX_SHIFT);
		pause |= (eth_general_get_pptx(g) ? FW_ETH_PAUSE_TX : 0) |
			 eth_general_get_pfctx(g) << FW_ETH_PFC_TX_SHIFT;
	}
	if (eth_general_get_pprx_valid(g)) {
		pause &= ~(uint32_t)(FW_ETH_PAUSE_RX | 0xff << FW_ETH_PFC_RX_SHIFT);
		pause |= (eth_general_get_pprx(g) ? FW_ETH_PAUSE_RX : 0) |
			 eth_general_get_pfcrx(g) << FW_ETH_PFC_RX_SHIFT;
	}
	fw_write(FW_PORT(port, ETH_PAUSE), pause);
	return HCR_STATUS_OK;
}

static enum hcr_status rqp_set(uint32_t port)
{
	const struct eth_rqp *r = (const struct eth_rqp *)fw.in;

	fw_write(FW_PORT(port, ETH_RX_QPN), eth_rqp_get_base_qpn(r));
	fw_write(FW_PORT(port, ETH_PROMISC),
		 eth_rqp_get_promisc_on(r) ? FW_ETH_PROMISC_ON | eth_rqp_get_promisc(r) : 0);
	fw_write(FW_PORT(port, ETH_MULTICAST),
		 eth_rqp_get_mcast_mode(r) << FW_ETH_MCAST_SHIFT | eth_rqp_get_mcast(r));
	return HCR_STATUS_OK;
}

static const struct eth_mac *mac_at(uint32_t i)
{
	return (const struct eth_mac *)(const void *)(fw.in + i * sizeof(struct eth_mac));
}

/* A MAC may stand in the table once (Linux mlx4 port.c searches for the only one). */
static bool mac_is_twice(uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (eth_mac_get_valid(mac_at(k)) &&
		    eth_mac_get_mac(mac_at(k)) == eth_mac_get_mac(mac_at(i)))
			return true;
	return false;
}

static enum hcr_status macs_set(uint32_t port)
{
	for (uint32_t i = 0; i < ETH_TABLE_SIZE; i++)
		if (eth_mac_get_valid(mac_at(i)) && mac_is_twice(i))
			return HCR_STATUS_BAD_PARAM;
	for (uint32_t i = 0; i < ETH_TABLE_SIZE; i++) {
		const struct eth_mac *m = mac_at(i);

		fw_write(FW_PORT(port, ETH_INDEX), i);
		fw_write(FW_PORT(port, ETH_MAC_HI),
			 eth_mac_get_valid(m) << 31 | (uint32_t)(eth_mac_get_mac(m) >> 32));
		fw_write(FW_PORT(port, ETH_MAC_LO), (uint32_t)eth_mac_get_mac(m));
	}
	return HCR_STATUS_OK;
}

static enum hcr_status vlans_set(uint32_t port)
{
	for (uint32_t i = 0; i < ETH_TABLE_SIZE; i++) {
		const struct eth_vlan *v =
			(const struct eth_vlan *)(const void *)(fw.in + i * sizeof(*v));

		fw_write(FW_PORT(port, ETH_INDEX), i);
		fw_write(FW_PORT(port, ETH_VLAN),
			 eth_vlan_get_valid(v) << 31 | eth_vlan_get_vid(v));
	}
	return HCR_STATUS_OK;
}

static void gid_set(uint32_t port, uint32_t index, const uint8_t *gid, uint32_t version)
{
	fw_write(FW_PORT(port, ETH_INDEX), index);
	fw_write(FW_PORT(port, ETH_GID_0), be32_load(gid));
	fw_write(FW_PORT(port, ETH_GID_1), be32_load(gid + 4));
	fw_write(FW_PORT(port, ETH_GID_2), be32_load(gid + 8));
	fw_write(FW_PORT(port, ETH_GID_3), be32_load(gid + 12));
	fw_write(FW_PORT(port, ETH_GID_VERSION), version);
}

static bool gid_is_empty(const uint8_t *gid)
{
	return !(be64_load(gid) | be64_load(gid + 8));
}

static enum hcr_status gids_set(uint32_t port)
{
	for (uint32_t i = 0; i < ETH_TABLE_SIZE; i++) {
		const uint8_t *gid = fw.in + i * GID_SIZE;

		gid_set(port, i, gid, gid_is_empty(gid) ? 0 : 1);
	}
	return HCR_STATUS_OK;
}

static enum hcr_status roce_addresses_set(uint32_t port)
{
	if (!fw_read(FW_DEVICE))
		return HCR_STATUS_BAD_PARAM;
	for (uint32_t i = 0; i < ETH_TABLE_SIZE; i++) {
		const struct eth_roce *r =
			(const struct eth_roce *)(const void *)(fw.in + i * sizeof(*r));
		const uint8_t *gid = eth_roce_gid_cptr(r);

		gid_set(port, i, gid, gid_is_empty(gid) ? 0 : eth_roce_get_version(r) == 2 ? 2 : 1);
	}
	return HCR_STATUS_OK;
}

static enum hcr_status prio2tc_set(uint32_t port)
{
	memcpy(port_of(port)->prio2tc, fw.in, FW_PRIO2TC_BYTES);
	return HCR_STATUS_OK;
}

static enum hcr_status scheduler_set(uint32_t port)
{
	memcpy(port_of(port)->scheduler, fw.in, FW_SCHEDULER_BYTES);
	return HCR_STATUS_OK;
}

enum hcr_status set_port_ethernet(struct fw_cmd *c)
{
	static const struct {
		uint8_t part;
		uint16_t size;
		enum hcr_status (*set)(uint32_t port);
	} parts[] = {
		{SET_PORT_GENERAL, sizeof(struct eth_general), general_set},
		{SET_PORT_RQP_CALC, sizeof(struct eth_rqp), rqp_set},
		{SET_PORT_MAC_TABLE, ETH_TABLE_SIZE * sizeof(struct eth_mac), macs_set},
		{SET_PORT_VLAN_TABLE, ETH_TABLE_SIZE * sizeof(struct eth_vlan), vlans_set},
		{SET_PORT_GID_TABLE, ETH_TABLE_SIZE * GID_SIZE, gids_set},
		{SET_PORT_PRIO2TC, FW_PRIO2TC_BYTES, prio2tc_set},
		{SET_PORT_SCHEDULER, FW_SCHEDULER_BYTES, scheduler_set},
		{SET_PORT_ROCE_TABLE, ETH_TABLE_SIZE * sizeof(struct eth_roce), roce_addresses_set},
	};
	const uint32_t port = c->in_mod & SET_PORT_PORT_MASK,
		       part = c->in_mod >> SET_PORT_PART_SHIFT & 0xff;

	if (!is_ethernet(port))
		return HCR_STATUS_BAD_INDEX;
	for (uint32_t i = 0; i < ARRAY_SIZE(parts); i++) {
		enum hcr_status status;

		if (parts[i].part != part)
			continue;
		status = cmd_inbox(c, 0, parts[i].size);
		return status == HCR_STATUS_OK ? parts[i].set(port) : status;
	}
	return HCR_STATUS_BAD_PARAM;
}

/* --- filters --- */

enum hcr_status cmd_set_vlan_fltr(struct fw_cmd *c)
{
	const uint32_t words = sizeof(struct vlan_filter) / 4;

	if (!is_ethernet(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	for (uint32_t i = 0; i < words; i++) {
		fw_write(FW_PORT(c->in_mod, ETH_INDEX), i);
		fw_write(FW_PORT(c->in_mod, ETH_VLAN_FILTER),
			 be32_load(fw.in + 4 * (words - 1 - i)));
	}
	return HCR_STATUS_OK;
}

enum hcr_status cmd_set_mcast_fltr(struct fw_cmd *c)
{
	const uint32_t port = c->in_mod;
	uint32_t mode;

	if (!is_ethernet(port))
		return HCR_STATUS_BAD_INDEX;
	mode = fw_read(FW_PORT(port, ETH_MULTICAST));
	switch (c->op_mod) {
	case HCR_OM_MCAST_CONFIG:
		if (c->in >> 63)
			fw_write(FW_PORT(port, ETH_GROUP_CMD), 1);
		if (c->in << 16) {
			fw_write(FW_PORT(port, ETH_GROUP_HI), (uint32_t)(c->in >> 32) & 0xffff);
			fw_write(FW_PORT(port, ETH_GROUP_LO), (uint32_t)c->in);
		}
		return HCR_STATUS_OK;
	case HCR_OM_MCAST_ENABLE:
		mode = (mode & QPN_MASK) | FW_ETH_MCAST_LIST << FW_ETH_MCAST_SHIFT;
		break;
	default: /* off: the filter lets all groups pass */
		mode = (mode & QPN_MASK) | (uint32_t)FW_ETH_MCAST_ALL << FW_ETH_MCAST_SHIFT;
	}
	fw_write(FW_PORT(port, ETH_MULTICAST), mode);
	return HCR_STATUS_OK;
}

/* --- counters --- */

static uint64_t counter_read(uint32_t port, uint32_t index)
{
	uint32_t low;

	fw_write(FW_PORT(port, ETH_COUNTER_INDEX), index);
	low = fw_read(FW_PORT(port, ETH_COUNTER_LO));
	return (uint64_t)fw_read(FW_PORT(port, ETH_COUNTER_HI)) << 32 | low;
}

/* One counter of all lanes, `stride` bytes apart. */
static void lanes_put(uint32_t port, uint32_t direction, enum fw_lane_counter counter, uint8_t *at,
		      uint32_t stride)
{
	for (uint32_t lane = 0; lane < FW_ETH_LANES; lane++)
		be64_store(at + lane * stride,
			   counter_read(port, fw_lane_counter_index(direction, lane, counter)));
}

static void lost_put(uint32_t port, struct eth_stats *s)
{
	const uint32_t full = (uint32_t)counter_read(port, FW_EC_RX_NO_BUFFER),
		       length = (uint32_t)counter_read(port, FW_EC_RX_BAD_LENGTH);

	eth_stats_set_rx_control(s, counter_read(port, FW_EC_RX_PAUSE));
	eth_stats_set_rx_crc(s, (uint32_t)counter_read(port, FW_EC_RX_BAD_FCS));
	eth_stats_set_rx_overflow(s, full);
	eth_stats_set_rx_bad_length(s, length);
	eth_stats_set_rx_dropped(s, full + length);
	eth_stats_set_rx_good(s, (uint32_t)counter_read(port, FW_EC_RX_FRAMES));
}

enum hcr_status cmd_dump_eth_stats(struct fw_cmd *c)
{
	enum { TOGETHER = 8, IN_THREES = 24, RESET = 1 << 8 };
	const uint32_t port = c->in_mod & 0xff;
	struct eth_stats *s = (struct eth_stats *)fw.out;

	if (!is_ethernet(port))
		return HCR_STATUS_BAD_INDEX;
	if (c->in_mod & ~(uint32_t)(RESET | 0xff))
		return HCR_STATUS_BAD_PARAM;
	if (c->in_mod & RESET)
		fw_write(FW_PORT(port, ETH_COUNTER_CMD), 1);
	lanes_put(port, FW_ETH_RX, FW_LC_BROADCAST, eth_stats_rx_broadcast_ptr(s), TOGETHER);
	lanes_put(port, FW_ETH_RX, FW_LC_MULTICAST, eth_stats_rx_multicast_ptr(s), TOGETHER);
	lanes_put(port, FW_ETH_RX, FW_LC_BYTES, eth_stats_rx_bytes_ptr(s), IN_THREES);
	lanes_put(port, FW_ETH_RX, FW_LC_FRAMES, eth_stats_rx_frames_ptr(s), IN_THREES);
	lanes_put(port, FW_ETH_TX, FW_LC_BROADCAST, eth_stats_tx_broadcast_ptr(s), TOGETHER);
	lanes_put(port, FW_ETH_TX, FW_LC_MULTICAST, eth_stats_tx_multicast_ptr(s), TOGETHER);
	lanes_put(port, FW_ETH_TX, FW_LC_BYTES, eth_stats_tx_bytes_ptr(s), IN_THREES);
	lanes_put(port, FW_ETH_TX, FW_LC_FRAMES, eth_stats_tx_frames_ptr(s), IN_THREES);
	lost_put(port, s);
	return HCR_STATUS_OK;
}

/* --- the device --- */

enum hcr_status cmd_config_dev(struct fw_cmd *c)
{
	const struct config_dev *in = (const struct config_dev *)fw.in;
	enum hcr_status status;

	if (!fw_read(FW_DEVICE))
		return HCR_STATUS_BAD_OP;
	if (c->op_mod == HCR_OM_CONFIG_DEV_GET) {
		config_dev_set_roce_port((struct config_dev *)fw.out,
					 fw_read(FW_PORT(1, ETH_UDP_PORT)));
		return HCR_STATUS_OK;
	}
	c->out_size = 0;
	status = cmd_inbox(c, 0, sizeof(*in));
	if (status != HCR_STATUS_OK || !config_dev_get_update_roce_port(in))
		return status;
	for (uint32_t port = 1; port <= fw.num_ports; port++)
		fw_write(FW_PORT(port, ETH_UDP_PORT), config_dev_get_roce_port(in));
	return HCR_STATUS_OK;
}

enum hcr_status cmd_sense_port(struct fw_cmd *c)
{
	if (!port_exists(c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	c->out = fw_read(FW_PORT(c->in_mod, TYPE)) >> FW_TYPE_PEER_SHIFT &
		 (FW_TYPE_IB | FW_TYPE_ETH);
	return HCR_STATUS_OK;
}
