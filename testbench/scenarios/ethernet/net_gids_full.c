/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of GIDs is full but for a few places. An address needs a place for each version of RoCE that
 * the device has. If there are fewer nothing is entered, its VLAN is not joined, and so it is when it is
 * added again; otherwise it gets the first of them, also the last places of the table. A place that is still
 * held is not free, as often as it is held. An address that somebody has entered in one version alone
 * is there already, and stays.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5, LAST = DRV_ETH_TABLE - 1, PLACES = 3, FIRST_FREE = 10, OTHERS_NET = 200 };

/* What stands in the place of a table that is full. */
static struct drv_gid somebody(unsigned place)
{
	return (struct drv_gid){.raw = {[10] = 0xff, 0xff, 11, 0, OTHERS_NET, (uint8_t)place},
				.version = 1,
				.vlan = VLAN_NONE};
}

static bool is_free(const struct tb_end *a, unsigned place)
{
	struct drv_gid gid;

	return drv_eth_gid_get(a->dev, 1, place, &gid);
}

static void fill(struct tb *tb, struct tb_end *a)
{
	for (unsigned i = FIRST_FREE; i <= LAST; i++) {
		const struct drv_gid gid = somebody(i);

		must(drv_eth_gid_set(a->dev, 1, i, &gid));
	}
	for (unsigned i = 0; i < FIRST_FREE; i++) {
		const struct drv_gid gid = somebody(i);

		if (is_free(a, i))
			must(drv_eth_gid_set(a->dev, 1, i, &gid));
	}
}

static const struct row {
	const char *name;
	unsigned n, free[PLACES], held;
} rows[] = {
	{"no place", 0, {0}, 0},
	{"one place", 1, {LAST}, 0},
	{"the last two places", 2, {LAST - 1, LAST}, 0},
	{"two places, and one is held", 2, {FIRST_FREE, LAST}, FIRST_FREE},
	{"three places, and one is held", 3, {FIRST_FREE, FIRST_FREE + 7, LAST}, FIRST_FREE + 7},
	{"one place, which is held", 1, {LAST}, LAST}};

static void refused(struct tb *tb, struct tb_end *a, const struct row *r,
		    const struct net_address *ip)
{
	for (unsigned again = 0; again < 2; again++) {
		must_fail(-ENOSPC, net_address_add(a->net, ip));
		expect_that(gid_index(a, ip, 1), <, 0);
		expect_that(gid_index(a, ip, 2), <, 0);
		expect_that(drv_eth_vlan_index(a->dev, 1, VLAN), <, 0);
		must_fail(-EADDRNOTAVAIL, net_address_remove(a->net, ip->ip, ip->vlan));
		for (unsigned i = 0; i < r->n; i++)
			expect_true(is_free(a, r->free[i]));
	}
}

static void entered(struct tb *tb, struct tb_end *a, const struct row *r,
		    const struct net_address *ip, unsigned versions)
{
	unsigned version = 1;

	must(net_address_add(a->net, ip));
	must_fail(-EEXIST, net_address_add(a->net, ip));
	for (unsigned i = 0; i < r->n && version <= versions; i++)
		if (r->free[i] != r->held)
			expect_equal((unsigned)gid_index(a, ip, version++), r->free[i]);
	must(net_address_remove(a->net, ip->ip, ip->vlan));
	for (unsigned i = 0; i < r->n; i++)
		expect_true(is_free(a, r->free[i]));
}

static void places(struct tb *tb, struct tb_end *a, unsigned versions)
{
	struct net_address ip = ipv4_of(a);

	ip.ip[14] = VLAN;
	ip.vlan = VLAN;
	for_each_row(i, rows) {
		const struct row *r = &rows[i];

		name_row("%s", r->name);
		for (unsigned k = 0; k < r->n; k++)
			must(drv_eth_gid_set(a->dev, 1, r->free[k], NULL));
		for (unsigned k = 0; k < 2 && r->held; k++)
			net_gid_hold(a->net, r->held);
		if (r->held)
			net_gid_put(a->net, r->held);
		if (r->n - !!r->held < versions)
			refused(tb, a, r, &ip);
		else
			entered(tb, a, r, &ip, versions);
		if (r->held)
			net_gid_put(a->net, r->held);
		fill(tb, a);
	}
	name_row("%s", "");
}

static void entered_by_others(struct tb *tb, struct tb_end *a, unsigned versions)
{
	struct net_address ip = ipv4_of(a);

	ip.ip[14] = VLAN;
	for (unsigned i = 1; i <= PLACES; i++)
		must(drv_eth_gid_set(a->dev, 1, LAST - i, NULL));
	for (unsigned v = 1; v <= versions; v++) {
		struct drv_gid gid = {.version = v, .vlan = VLAN_NONE};

		name_row("version %u", v);
		memcpy(gid.raw, ip.ip, DRV_GID_BYTES);
		must(drv_eth_gid_set(a->dev, 1, LAST, &gid));
		must_fail(-EEXIST, net_address_add(a->net, &ip));
		for (unsigned other = 1; other <= versions; other++)
			expect_equal(gid_index(a, &ip, other), other == v ? LAST : -ENOENT);
	}
	must(drv_eth_gid_set(a->dev, 1, LAST, NULL));
	must(net_address_add(a->net, &ip));
	must(net_address_remove(a->net, ip.ip, ip.vlan));
}

static void full(struct tb *tb, struct tb_end *a, unsigned versions)
{
	ignore_events(a);
	expect_equal(drv_has_roce_v2(a->dev) ? 2 : 1, versions);
	fill(tb, a);
	phase("places");
	places(tb, a, versions);
	phase("others");
	entered_by_others(tb, a, versions);
}

SCENARIO(net_gids_full, "a table of GIDs that is full but for a few places", .no_qps = true,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	full(tb, a, 2);
}

SCENARIO(net_gids_full_v1, "the same of a device that has one version of RoCE", .no_qps = true,
	 .any_packets = true, .settings = {"hca.port1.type=eth"})
{
	full(tb, a, 1);
}
