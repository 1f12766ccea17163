/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network interface as a whole. With another MAC it has another address of its own: that one is
 * told to the neighbours and answered for, and the one before it no more. What comes from one of its own addresses, on the
 * VLAN of that address, is nobody else's. A tag without a VLAN is none. When it is closed, its addresses leave the tables of the
 * device, and when it is opened again they may come back.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VERSION = 2, VLAN = 5, OTHER_VLAN = 6, ADDRESSES = 3 };

static const uint8_t other[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77},
		     thief[MAC_BYTES] = {2, 0, 0, 0, 0, 9};

static int local_resolve(struct tb_end *a, const uint8_t *mac, struct net_way *way)
{
	struct net_address own = {.vlan = VLAN_NONE};
	uint8_t theirs[DRV_GID_BYTES];

	gid_from_mac(a->mac, VLAN_NONE, own.ip);
	gid_from_mac(mac, VLAN_NONE, theirs);
	return net_resolve(a->net, (unsigned)gid_index(a, &own, VERSION), theirs, CFG_S(1), way);
}

/* Gives b that MAC. Who has asked for its address in vain hears of it. */
static void mac_set(struct tb *tb, struct tb_end *a, struct tb_end *b, const uint8_t *mac)
{
	uint8_t ip[DRV_GID_BYTES];
	struct net_way way;

	gid_from_mac(mac, VLAN_NONE, ip);
	must_fail(-ETIMEDOUT, local_resolve(a, mac, &way));
	must(net_mac_set(b->net, mac));
	pass_time(CFG_US(100));
	expect_equal(net_neighbour(a->net, ip, VLAN_NONE), NEIGH_STALE);
}

static void other_mac(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct net_way way = {0};

	phase("another MAC");
	mac_set(tb, a, b, other);
	must(local_resolve(a, other, &way));
	expect_equal(mac_load(way.dmac), mac_load(other));
	mac_set(tb, a, b, b->mac);
	must(local_resolve(a, b->mac, &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
}

/* Somebody with another MAC asks, as if the address were his. */
static void steal(struct tb *tb, struct tb_end *a, const struct net_address *own, uint16_t vlan,
		  const uint8_t *whom)
{
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES] = {0};
	struct note n = {.question = true};
	size_t len;

	memcpy(n.about, own->ip, DRV_GID_BYTES);
	memcpy(n.other, whom, DRV_GID_BYTES);
	memcpy(n.mac, thief, MAC_BYTES);
	len = note_write(&n, a->mac, vlan, frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	inject_bytes(a, frame, len + FCS_BYTES);
	pass_time(CFG_US(100));
}

static void own_addresses(struct tb *tb, struct tb_end *a)
{
	struct net_address tagged = ipv4_of(a), second = tagged;
	const struct net_address plain = tagged;
	uint64_t sent;

	phase("own addresses");
	tagged.ip[14] = 5;
	tagged.vlan = VLAN;
	second = tagged;
	second.ip[15] = 77;
	must(net_address_add(a->net, &tagged));
	must(net_address_add(a->net, &second));
	steal(tb, a, &tagged, VLAN, second.ip);
	expect_equal(net_neighbour(a->net, tagged.ip, VLAN), NEIGH_NONE);
	steal(tb, a, &plain, VLAN_NONE, plain.ip);
	expect_equal(net_neighbour(a->net, plain.ip, VLAN_NONE), NEIGH_NONE);
	/* the address of a neighbour */
	tagged.ip[15] = 99;
	steal(tb, a, &tagged, VLAN, second.ip);
	expect_equal(net_neighbour(a->net, tagged.ip, VLAN), NEIGH_STALE);
	expect_equal(net_neighbour(a->net, tagged.ip, VLAN_NONE), NEIGH_NONE);
	/* a neighbour without a VLAN, whose question has a tag with a priority alone */
	second = plain;
	second.ip[15] = 98;
	sent = tb_stat(a, "port1", "tx_frames");
	steal(tb, a, &second, 0, plain.ip);
	expect_equal(net_neighbour(a->net, second.ip, VLAN_NONE), NEIGH_STALE);
	expect_stat(a, port1, tx_frames, sent + 1);
	second = tagged;
	second.ip[15] = 77;
	must(net_address_remove(a->net, second.ip, VLAN));
	tagged.ip[15] = (uint8_t)(a->host_index + 1);
	must(net_address_remove(a->net, tagged.ip, VLAN));
	expect_that(drv_eth_vlan_index(a->dev, 1, VLAN), <, 0);
}

static void closed(struct tb *tb, struct tb_end *a)
{
	struct ib_device *device = ib_device_of(a);
	const struct net_address first = ipv4_of(a);
	struct net_address more[ADDRESSES];

	phase("closed");
	for (unsigned i = 0; i < ADDRESSES; i++) {
		more[i] = ipv4_of(a);
		more[i].ip[15] = (uint8_t)(100 + i);
		more[i].vlan = i == 0 ? VLAN : i == 1 ? OTHER_VLAN : VLAN_NONE;
		must(net_address_add(a->net, &more[i]));
		expect_that(gid_index(a, &more[i], VERSION), >=, 0);
	}
	ib_device_set_netdev(device, NULL, 1);
	net_close(a->net);
	a->net = NULL;
	for (unsigned i = 0; i < ADDRESSES; i++) {
		name_row("address %u", i);
		for (unsigned v = 1; v <= VERSION; v++)
			expect_that(gid_index(a, &more[i], v), <, 0);
		if (more[i].vlan != VLAN_NONE)
			expect_that(drv_eth_vlan_index(a->dev, 1, more[i].vlan), <, 0);
	}
	expect_that(gid_index(a, &first, VERSION), <, 0);
	name_row("%s", "");
	must(net_open(a->dev, 1, &a->net));
	ib_device_set_netdev(device, a->net, 1);
	must(net_address_add(a->net, &first));
	expect_equal((unsigned)gid_index(a, &first, VERSION), a->gid_index);
}

SCENARIO(net_interface, "a network interface gets another MAC, hears of itself, closes and opens",
	 .qps = 0, .any_packets = true,
	 .settings = {NET_SETTINGS("v2_ipv4"), "sim.time_limit=300s"})
{
	struct net_way way = {0};

	ignore_events(a);
	ignore_events(b);
	other_mac(tb, a, b);
	own_addresses(tb, a);
	closed(tb, a);
	must(net_resolve(a->net, a->gid_index, b->gid, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
}
