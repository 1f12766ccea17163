/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of an Ethernet port to their last entry: VLANs that share a word of the filter, that have more than
 * one user, or that come when others have gone; GIDs; the smallest and the largest MTU. It is the second port, and
 * the first one keeps what it has. What is refused changes nothing.
 */
/* behaviours: ROCE-tables */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/macros.h"
#include "testbench/harm.h"

enum {
	PORT = 2,
	OTHER = 1,
	FIRST = 100,
	MTU_MIN = 68,
	MTU_MAX = 9600,
};

static unsigned join(struct tb *tb, struct tb_end *a, unsigned vid)
{
	unsigned index = DRV_ETH_TABLE;

	must(drv_eth_vlan_get(a->dev, PORT, vid, &index));
	expect_equal(drv_eth_vlan_index(a->dev, PORT, vid), (int)index);
	return index;
}

/* Those of one word of the filter, at both ends of it, and the largest and the smallest one. */
static void few_vlans(struct tb *tb, struct tb_end *a)
{
	static const unsigned vids[] = {33, 40, 63, 64, 4094, 1};
	unsigned at[ARRAY_SIZE(vids)];

	for_each_row(i, vids) {
		name_row("VLAN %u", vids[i]);
		at[i] = join(tb, a, vids[i]);
		expect_equal(join(tb, a, vids[i]), at[i]); /* another user */
		expect_equal(drv_eth_vlan_index(a->dev, OTHER, vids[i]), -ENOENT);
	}
	drv_eth_vlan_put(a->dev, PORT, at[1]);
	expect_equal(drv_eth_vlan_index(a->dev, PORT, vids[1]), (int)at[1]);
	drv_eth_vlan_put(a->dev, PORT, at[1]);
	expect_equal(drv_eth_vlan_index(a->dev, PORT, vids[1]), -ENOENT);
	expect_equal(join(tb, a, 41), at[1]); /* the place that is free */
	drv_eth_vlan_put(a->dev, PORT, at[1]);
	for_each_row(i, vids)
		for (unsigned user = 0; user < 2 && i != 1; user++)
			drv_eth_vlan_put(a->dev, PORT, at[i]);
}

static void all_vlans(struct tb *tb, struct tb_end *a)
{
	unsigned index;

	for (unsigned i = 0; i < DRV_ETH_TABLE && still_right(); i++)
		expect_equal(join(tb, a, FIRST + i), i);
	must_fail(-ENOSPC, drv_eth_vlan_get(a->dev, PORT, FIRST + DRV_ETH_TABLE, &index));
	drv_eth_vlan_put(a->dev, PORT, 77);
	expect_equal(join(tb, a, FIRST + DRV_ETH_TABLE), 77);
	for (unsigned i = 0; i < DRV_ETH_TABLE; i++)
		drv_eth_vlan_put(a->dev, PORT, i);
}

/* The newest event's port. */
static struct {
	void (*fn)(void *arg, const struct drv_event *event);
	void *arg;
	unsigned port;
} heard;

static void hears(void *arg, const struct drv_event *event)
{
	heard.port = event->port;
	heard.fn(heard.arg, event);
}

static void gids(struct tb *tb, struct tb_end *a)
{
	static const uint8_t mac[MAC_BYTES] = {2, 4, 6, 8, 10, 12};
	struct drv_gid gid = {.version = 1, .vlan = 0x123}, is;
	const unsigned last = DRV_ETH_TABLE - 1;

	heard.fn = a->dev->event_fn;
	heard.arg = a->dev->event_arg;
	a->dev->event_fn = hears;
	gid_from_mac(mac, 0x123, gid.raw);
	must(drv_eth_gid_set(a->dev, PORT, last, &gid));
	expect_event(a, IBV_EVENT_GID_CHANGE);
	expect_equal(heard.port, PORT);
	must(drv_eth_gid_get(a->dev, PORT, last, &is));
	expect_true(!memcmp(is.raw, gid.raw, sizeof(is.raw)) && is.version == 1 &&
		    is.vlan == 0x123);
	expect_equal(drv_eth_gid_find(a->dev, PORT, gid.raw, 1, 0x123), (int)last);
	expect_equal(drv_eth_gid_find(a->dev, PORT, gid.raw, 2, 0x123), -ENOENT);
	expect_equal(drv_eth_gid_find(a->dev, PORT, gid.raw, 1, 0x124), -ENOENT);
	expect_equal(drv_eth_gid_find(a->dev, OTHER, gid.raw, 1, 0x123), -ENOENT);
	must_fail(-ENOENT, drv_eth_gid_get(a->dev, OTHER, last, &is));
	must_fail(-ENOENT, drv_eth_gid_get(a->dev, PORT, DRV_ETH_TABLE, &is));
	must_fail(-EINVAL, drv_eth_gid_set(a->dev, PORT, DRV_ETH_TABLE, &gid));
	must_fail(-EINVAL, drv_eth_gid_set(a->dev, PORT + 1, last, &gid));
	gid.vlan = 0x124; /* the same address on another VLAN */
	must(drv_eth_gid_set(a->dev, PORT, last, &gid));
	expect_event(a, IBV_EVENT_GID_CHANGE);
	must(drv_eth_gid_get(a->dev, PORT, last, &is));
	expect_equal(is.vlan, 0x124);
	gid.version = 2; /* this device has no RoCE v2 */
	must_fail(-EINVAL, drv_eth_gid_set(a->dev, PORT, last, &gid));
	must(drv_eth_gid_set(a->dev, PORT, last, NULL));
	expect_event(a, IBV_EVENT_GID_CHANGE);
	expect_equal(heard.port, PORT);
	must_fail(-ENOENT, drv_eth_gid_get(a->dev, PORT, last, &is));
	a->dev->event_fn = heard.fn;
}

static void frames(struct tb *tb, struct tb_end *a)
{
	static const struct {
		unsigned mtu;
		bool taken;
		enum ibv_mtu active;
	} rows[] = {{MTU_MIN, true, IBV_MTU_256},      {MTU_MIN - 1, false, IBV_MTU_256},
		    {256 + 96 - 1, true, IBV_MTU_256}, {512 + 96 - 1, true, IBV_MTU_256},
		    {512 + 96, true, IBV_MTU_512},     {2048 + 95, true, IBV_MTU_1024},
		    {2048 + 96, true, IBV_MTU_2048},   {MTU_MAX, true, IBV_MTU_4096},
		    {9601, false, IBV_MTU_4096}};
	struct drv_eth_config other, was, is;

	drv_eth_get(a->dev, OTHER, &other);
	for_each_row(i, rows) {
		const struct drv_eth_config config = {.mtu = rows[i].mtu,
						      .pause_tx = i % 2 == 0,
						      .pause_rx = i % 2 == 0,
						      .pfc_tx = i % 4 == 2 ? 0x21 : 0,
						      .pfc_rx = i % 4 == 0 ? 0x42 : 0};
		struct drv_port_attr attr;

		name_row("MTU %u", rows[i].mtu);
		drv_eth_get(a->dev, PORT, &was);
		if (rows[i].taken)
			must(drv_eth_set(a->dev, PORT, &config));
		else
			must_fail(-EINVAL, drv_eth_set(a->dev, PORT, &config));
		drv_eth_get(a->dev, PORT, &is);
		expect_true(!memcmp(&is, rows[i].taken ? &config : &was, sizeof(is)));
		must(drv_query_port(a->dev, PORT, &attr));
		expect_equal(attr.active_mtu, rows[i].active);
		expect_equal(attr.pkey_count, 1);
		expect_equal(attr.gid_count, DRV_ETH_TABLE);
		/* Source: Linux eth_link_query_port */
		expect_equal(attr.max_mtu, IBV_MTU_4096);
		expect_equal(attr.active_width, LINK_WIDTH_4X);
		expect_equal(attr.active_speed, LINK_SPEED_QDR);
		expect_equal(attr.cap_mask, 1u << PORT_CAP_CM);
	}
	drv_eth_get(a->dev, OTHER, &is);
	expect_true(!memcmp(&is, &other, sizeof(is)));
}

/* The first GID is made of the MAC. Source: IBA annex A16.5.1, EUI-64 */
static void first_gid_is(struct tb *tb, struct tb_end *a, const uint8_t mac[MAC_BYTES])
{
	const uint8_t should[DRV_GID_BYTES] = {0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2],
					       0xff, 0xfe, mac[3],           mac[4], mac[5]};
	uint8_t gid[DRV_GID_BYTES] = {0};

	must(drv_query_gid(a->dev, PORT, 0, gid));
	expect_true(!memcmp(gid, should, sizeof(gid)));
}

static void macs(struct tb *tb, struct tb_end *a)
{
	static const uint8_t other[MAC_BYTES] = {2, 4, 6, 8, 10, 12};
	static const uint8_t group[MAC_BYTES] = {3, 4, 6, 8, 10, 12};
	static const unsigned no_ports[] = {0, PORT + 1, PORT + 2, PORT + 3, 200};
	uint8_t was[MAC_BYTES], is[MAC_BYTES];

	drv_eth_mac(a->dev, PORT, was);
	must_fail(-EINVAL, drv_eth_mac_set(a->dev, PORT, group));
	must_fail(-EINVAL, drv_eth_mac_set(a->dev, PORT + 1, was));
	drv_eth_mac(a->dev, PORT, is);
	expect_true(!memcmp(is, was, sizeof(is)));
	expect_true(drv_port_is_ethernet(a->dev, PORT));
	for_each_row(i, no_ports)
		expect_true(!drv_port_is_ethernet(a->dev, no_ports[i]));
	first_gid_is(tb, a, was);
	must(drv_eth_mac_set(a->dev, PORT, other));
	expect_event(a, IBV_EVENT_GID_CHANGE);
	drv_eth_mac(a->dev, PORT, is);
	expect_true(!memcmp(is, other, sizeof(is)));
	first_gid_is(tb, a, other);
	must(drv_eth_mac_set(a->dev, PORT, was));
	expect_event(a, IBV_EVENT_GID_CHANGE);
	first_gid_is(tb, a, was);
}

/* A port goes down and comes up again, and the other one stays up. */
static void one_goes(struct tb *tb, struct tb_end *a)
{
	struct drv_port_attr other;

	ignore_events(a);
	must(drv_port_down(a->dev, PORT));
	must(drv_port_wait(a->dev, PORT, IBV_PORT_DOWN, tb_now(tb) + CFG_MS(1)));
	must(drv_query_port(a->dev, OTHER, &other));
	expect_equal(other.state, IBV_PORT_ACTIVE);
	must(drv_port_up(a->dev, PORT));
	must(drv_port_wait(a->dev, PORT, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(5)));
}

SCENARIO(eth_tables,
	 "the tables of an Ethernet port to their last entry, and what is refused beside it",
	 .settings = {"hca.ports=2", "hca.port1.type=eth", "hca.port2.type=eth"},
	 .any_packets = true, .no_qps = true, .of_mlx4 = "Ethernet")
{
	few_vlans(tb, a);
	all_vlans(tb, a);
	gids(tb, a);
	frames(tb, a);
	macs(tb, a);
	ignore_events(b);
	one_goes(tb, a);
}
