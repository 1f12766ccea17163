/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of neighbours with time and numbers. One that has answered is believed for 30
 * seconds, and then used without a question. As long as every place of the table is waited for
 * there is none for another neighbour; when they have failed there is. Nobody is asked from an
 * address that has been removed. A port has room for some addresses, each once, and its own address
 * has its own MAC. An address of one family reaches none of the other.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { FIRST = 100, TRIES_S = 4, ADDRESSES_MAX = 32, VERSION = 2, FREE_GID = 100, VLAN = 5 };

static int resolve(struct tb_end *a, const uint8_t *whom, uint64_t within_ps, struct net_way *way)
{
	const struct net_address own = ipv4_of(a);

	return net_resolve(a->net, (unsigned)gid_index(a, &own, VERSION), whom, within_ps, way);
}

static void state_is(struct tb *tb, struct tb_end *a, const uint8_t *whom, enum neigh_state state)
{
	const enum neigh_state is = net_neighbour(a->net, whom, VLAN_NONE);

	name_row("%s, not %s", neigh_state_name(is), neigh_state_name(state));
	expect_equal(is, state);
	name_row("%s", "");
}

static void ages(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct net_way way = {.hop_limit = 1};
	uint64_t sent;

	phase("time");
	must(resolve(a, b->gid, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
	expect_equal(way.hop_limit, NET_HOPS);
	state_is(tb, a, b->gid, NEIGH_REACHABLE);
	sent = tb_stat(a, "port1", "tx_frames");
	pass_time(CFG_S(29));
	state_is(tb, a, b->gid, NEIGH_REACHABLE);
	pass_time(CFG_S(2));
	state_is(tb, a, b->gid, NEIGH_STALE);
	pass_time(CFG_S(60));
	state_is(tb, a, b->gid, NEIGH_STALE);
	must(resolve(a, b->gid, 0, &way));
	state_is(tb, a, b->gid, NEIGH_DELAY);
	expect_stat(a, port1, tx_frames, sent);
}

static void fills(struct tb *tb, struct tb_end *a)
{
	struct net_address nobody = ipv4_of(a);
	struct net_way way = {0};

	phase("numbers");
	for (unsigned i = 0; i < NEIGH_MAX && still_right(); i++) {
		nobody.ip[15] = (uint8_t)(FIRST + i);
		must_fail(-ETIMEDOUT, resolve(a, nobody.ip, 0, &way));
		state_is(tb, a, nobody.ip, NEIGH_INCOMPLETE);
	}
	nobody.ip[15] = FIRST + NEIGH_MAX;
	must_fail(-ENOBUFS, resolve(a, nobody.ip, 0, &way));
	state_is(tb, a, nobody.ip, NEIGH_NONE);
	pass_time(CFG_S(TRIES_S));
	must_fail(-ETIMEDOUT, resolve(a, nobody.ip, 0, &way));
	state_is(tb, a, nobody.ip, NEIGH_INCOMPLETE);
	nobody.ip[15] = FIRST; /* it was used before all others */
	state_is(tb, a, nobody.ip, NEIGH_NONE);
	nobody.ip[15] = FIRST + 1;
	state_is(tb, a, nobody.ip, NEIGH_FAILED);
	pass_time(CFG_S(TRIES_S));
}

/* Whoever has more time than the questions take asks again. */
static void patient(struct tb *tb, struct tb_end *a)
{
	struct net_address nobody = ipv4_of(a);
	struct net_way way = {0};
	uint64_t sent;

	phase("patience");
	nobody.ip[15] = FIRST - 2;
	sent = tb_stat(a, "port1", "tx_frames");
	must_fail(-ETIMEDOUT, resolve(a, nobody.ip, CFG_S(3 * TRIES_S), &way));
	expect_that(tb_stat(a, "port1", "tx_frames"), >, sent + 2 * TRIES_S);
	pass_time(CFG_S(TRIES_S));
}

static void without_address(struct tb *tb, struct tb_end *a)
{
	struct net_address own = ipv4_of(a), nobody = own;
	struct net_way way = {0};
	uint64_t sent;

	phase("an address that is removed");
	nobody.ip[15] = FIRST - 1;
	must_fail(-ETIMEDOUT, resolve(a, nobody.ip, 0, &way));
	must(net_address_remove(a->net, own.ip, VLAN_NONE));
	sent = tb_stat(a, "port1", "tx_frames");
	pass_time(CFG_S(TRIES_S));
	expect_stat(a, port1, tx_frames, sent);
	state_is(tb, a, nobody.ip, NEIGH_FAILED);
	must(net_address_add(a->net, &own));
}

static void addresses(struct tb *tb, struct tb_end *a)
{
	static const uint8_t group[MAC_BYTES] = {1, 2, 3, 4, 5, 6};
	struct net_address own = ipv4_of(a), other = own;
	struct drv_gid gid = {.version = VERSION, .vlan = VLAN_NONE};
	struct net_way way = {0};
	unsigned n = 0;
	int rc = 0;

	phase("addresses");
	must(resolve(a, own.ip, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(a->mac));
	must_fail(-EEXIST, net_address_add(a->net, &own));
	must_fail(-EINVAL, net_mac_set(a->net, group));
	other.ip[15] = FIRST;
	memcpy(gid.raw, other.ip, sizeof(gid.raw));
	must(drv_eth_gid_set(a->dev, 1, FREE_GID, &gid)); /* somebody else's */
	must_fail(-EEXIST, net_address_add(a->net, &other));
	must(drv_eth_gid_set(a->dev, 1, FREE_GID, NULL));
	while (!rc && n < ADDRESSES_MAX) {
		other.ip[15] = (uint8_t)(FIRST + n);
		rc = net_address_add(a->net, &other);
		n += !rc;
	}
	expect_equal(rc, -ENOSPC);
	expect_that(n, >, 1);
	expect_that(gid_index(a, &other, VERSION), <, 0);
	for (unsigned i = 0; i < n; i++) {
		other.ip[15] = (uint8_t)(FIRST + i);
		expect_that(gid_index(a, &other, VERSION), >=, 0);
		must(net_address_remove(a->net, other.ip, VLAN_NONE));
	}
	must_fail(-EADDRNOTAVAIL, net_address_remove(a->net, other.ip, VLAN_NONE));
}

/* Kernel verbs resolve the address of a neighbour, and only such an address. */
static void verbs(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_device *device = ib_device_of(a);
	struct drv_ah_attr ah = {.port_num = 1, .is_global = true};
	const struct net_address own = ipv4_of(a);
	union ib_gid gid;

	phase("kernel verbs");
	memcpy(gid.raw, b->gid, sizeof(gid.raw));
	expect_equal(ib_find_roce_gid(device, 1, &gid, VERSION), -ENOENT);
	memcpy(gid.raw, own.ip, sizeof(gid.raw));
	expect_equal(ib_find_roce_gid(device, 1, &gid, VERSION), gid_index(a, &own, VERSION));
	ah.sgid_index = (unsigned)gid_index(a, &own, VERSION);
	memcpy(ah.dgid, b->gid, sizeof(ah.dgid));
	must(ib_resolve_eth_dmac(device, &ah));
	expect_equal(mac_load(ah.dmac), mac_load(b->mac));
	ah.is_global = false;
	must_fail(-EINVAL, ib_resolve_eth_dmac(device, &ah));
	ah.is_global = true;
	ib_device_set_netdev(device, NULL, 1);
	must_fail(-ENODEV, ib_resolve_eth_dmac(device, &ah));
	ib_device_set_netdev(device, a->net, 1);
}

/* The family of the own GID is that of the other one, and RoCE v1 needs no answer for a MAC's own GID. */
static void families(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x0e, [12] = 0x12, 0x34, 0x56, 0x78},
			     group_mac[MAC_BYTES] = {0x33, 0x33, 0x12, 0x34, 0x56, 0x78};
	const struct net_address ipv4 = ipv4_of(a);
	struct net_address local = {.vlan = VLAN_NONE};
	uint8_t theirs[DRV_GID_BYTES];
	struct net_way way = {.hop_limit = 1};
	uint64_t sent;
	unsigned v2;

	phase("families");
	gid_from_mac(a->mac, VLAN_NONE, local.ip);
	gid_from_mac(b->mac, VLAN_NONE, theirs);
	v2 = (unsigned)gid_index(a, &local, VERSION);
	sent = tb_stat(a, "port1", "tx_frames");
	must_fail(-ENETUNREACH, resolve(a, theirs, CFG_S(1), &way));
	must_fail(-ENETUNREACH, net_resolve(a->net, v2, b->gid, CFG_S(1), &way));
	must_fail(-EINVAL, net_resolve(a->net, FREE_GID, b->gid, CFG_S(1), &way));
	expect_equal(way.hop_limit, 1);
	must(net_resolve(a->net, (unsigned)gid_index(a, &local, 1), theirs, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
	expect_equal(way.hop_limit, 1);
	must(net_resolve(a->net, (unsigned)gid_index(a, &ipv4, VERSION), group, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(group_mac));
	expect_equal(way.hop_limit, 1);
	expect_stat(a, port1, tx_frames, sent);
	must(net_resolve(a->net, v2, theirs, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
	expect_equal(way.hop_limit, NET_HOPS);
	expect_stat(a, port1, tx_frames, sent + 1);
}

/* So it is on a VLAN, whose number then stands in the GID. */
static void on_vlan(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct net_address local = {.prefix = 64, .vlan = VLAN};
	uint8_t theirs[DRV_GID_BYTES];
	struct net_way way = {.hop_limit = 1};
	uint64_t sent;

	gid_from_mac(a->mac, VLAN, local.ip);
	gid_from_mac(b->mac, VLAN, theirs);
	must(net_address_add(a->net, &local));
	sent = tb_stat(a, "port1", "tx_frames");
	must(net_resolve(a->net, (unsigned)gid_index(a, &local, 1), theirs, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
	expect_equal(way.hop_limit, 1);
	expect_stat(a, port1, tx_frames, sent);
	must(net_address_remove(a->net, local.ip, local.vlan));
}

SCENARIO(net_neighbours, "neighbours in time and in number", .qps = 0, .any_packets = true,
	 .settings = {NET_SETTINGS("v2_ipv4"), "sim.time_limit=300s"})
{
	ignore_events(a);
	ages(tb, a, b);
	fills(tb, a);
	patient(tb, a);
	without_address(tb, a);
	addresses(tb, a);
	verbs(tb, a, b);
	families(tb, a, b);
	on_vlan(tb, a, b);
}
