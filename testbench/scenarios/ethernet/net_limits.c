/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network interface at its limits. An address too many is refused, and its VLAN is not joined for it; that
 * of the MAC is not removed. A resolution that fails changes nothing of the way. The own address of a VLAN is
 * known. Who asks from another net is answered, and is no neighbour for that. Another MAC is told to the
 * VLANs, too, and for as many addresses as there may be. Who waits for a neighbour gets ENODEV when the interface is closed.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5, MOST = 64, HOPS = 0x77, NOBODY = 9, FAR_NET = 99, TOLD = 13 };

static const uint8_t other_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};

static struct net_address numbered(const struct tb_end *end, unsigned last, uint16_t vlan)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[14] = vlan == VLAN_NONE ? 7 : 8;
	ip.ip[15] = (uint8_t)last;
	ip.vlan = vlan;
	return ip;
}

static void table_full(struct tb *tb, struct tb_end *a)
{
	const struct net_address tagged = numbered(a, 1, VLAN);
	struct net_address mac = {.vlan = VLAN_NONE}, ip;
	unsigned n = 0;
	int rc = 0;

	gid_from_mac(a->mac, VLAN_NONE, mac.ip);
	must_fail(-EADDRNOTAVAIL, net_address_remove(a->net, mac.ip, mac.vlan));
	expect_that(gid_index(a, &mac, 1), >=, 0);
	while (!rc && n < MOST && still_right()) {
		ip = numbered(a, 100 + n, VLAN_NONE);
		rc = net_address_add(a->net, &ip);
		n += !rc;
	}
	expect_equal(rc, -ENOSPC);
	must_fail(-ENOSPC, net_address_add(a->net, &tagged));
	expect_that(drv_eth_vlan_index(a->dev, 1, VLAN), <, 0);
	while (n--) {
		ip = numbered(a, 100 + n, VLAN_NONE);
		must(net_address_remove(a->net, ip.ip, ip.vlan));
	}
}

static void way_stays(struct tb *tb, struct tb_end *a, unsigned index)
{
	const struct net_address nobody = numbered(a, NOBODY, VLAN);
	struct net_address far = nobody;
	struct net_way way;

	far.ip[13] = FAR_NET;
	memset(&way, HOPS, sizeof(way));
	for (unsigned i = 0; i < 2; i++) {
		const struct net_way was = way;

		must_fail(i ? -ETIMEDOUT : -ENETUNREACH,
			  net_resolve(a->net, index, i ? nobody.ip : far.ip, CFG_S(1), &way));
		expect_true(!memcmp(&way, &was, sizeof(way)));
	}
}

/* A question about `whom`, from an address of another net. */
static void stranger_asks(struct tb *tb, struct tb_end *a, const struct net_address *whom)
{
	struct net_address from = *whom;
	struct note n = {.question = true};
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES] = {0};
	const uint64_t sent = tb_stat(a, "port1", "tx_frames");
	size_t len;

	from.ip[13] = FAR_NET;
	memcpy(n.about, from.ip, DRV_GID_BYTES);
	memcpy(n.other, whom->ip, DRV_GID_BYTES);
	memcpy(n.mac, other_mac, MAC_BYTES);
	len = note_write(&n, a->mac, whom->vlan, frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	inject_bytes(a, frame, len + FCS_BYTES);
	pass_time(CFG_US(100));
	expect_stat(a, port1, tx_frames, sent + 1);
	expect_equal(net_neighbour(a->net, from.ip, from.vlan), NEIGH_NONE);
}

static void in_vlan(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct net_address at_a = numbered(a, 1, VLAN), at_b = numbered(b, 2, VLAN);
	struct net_way way = {.hop_limit = HOPS};
	unsigned from_a, from_b;

	must(net_address_add(a->net, &at_a));
	must(net_address_add(b->net, &at_b));
	from_a = (unsigned)gid_index(a, &at_a, 2);
	from_b = (unsigned)gid_index(b, &at_b, 2);
	must(net_resolve(a->net, from_a, at_a.ip, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(a->mac));
	expect_equal(way.hop_limit, NET_HOPS);
	stranger_asks(tb, a, &at_a);
	way_stays(tb, a, from_a);
	must(net_resolve(b->net, from_b, at_a.ip, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(a->mac));
	must(net_mac_set(a->net, other_mac));
	pass_time(CFG_US(100));
	must(net_resolve(b->net, from_b, at_a.ip, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(other_mac));
	must(net_mac_set(a->net, a->mac));
}

/* Each of so many addresses that the ring is full is told with the other MAC, in a frame of its own. */
static void all_told(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct net_address at_b = numbered(b, 2, VLAN_NONE);
	struct net_address ip[TOLD];
	struct net_way way = {0};
	unsigned from;

	must(net_address_add(b->net, &at_b));
	from = (unsigned)gid_index(b, &at_b, 2);
	for (unsigned i = 0; i < TOLD; i++) {
		ip[i] = numbered(a, 100 + i, VLAN_NONE);
		must(net_address_add(a->net, &ip[i]));
		must(net_resolve(b->net, from, ip[i].ip, CFG_S(1), &way));
		expect_equal(mac_load(way.dmac), mac_load(a->mac));
	}
	for (unsigned other = 0; other < 2; other++) {
		const uint8_t *mac = other ? a->mac : other_mac;

		must(net_mac_set(a->net, mac));
		pass_time(CFG_US(100));
		for (unsigned i = 0; i < TOLD; i++) {
			name_row("address %u", i);
			must(net_resolve(b->net, from, ip[i].ip, 0, &way));
			expect_equal(mac_load(way.dmac), mac_load(mac));
		}
	}
	name_row("%s", "");
	for (unsigned i = 0; i < TOLD; i++)
		must(net_address_remove(a->net, ip[i].ip, ip[i].vlan));
	must(net_address_remove(b->net, at_b.ip, at_b.vlan));
}

static struct waiter {
	struct tb_end *end;
	unsigned index, done;
	struct net_address whom;
	int rc;
} waiter;

static void wait_for_nobody(void *arg)
{
	struct net_way way;

	waiter.rc = net_resolve(waiter.end->net, waiter.index, waiter.whom.ip, CFG_S(20), &way);
	waiter.done++;
}

static void closed(struct tb *tb, struct tb_end *a)
{
	const struct net_address own = numbered(a, 1, VLAN);
	uint64_t began;

	waiter = (struct waiter){.end = a,
				 .index = (unsigned)gid_index(a, &own, 2),
				 .whom = numbered(a, NOBODY + 1, VLAN)};
	a->platform->ops->thread_start(a->platform, "waits", wait_for_nobody, NULL);
	pass_time(CFG_S(10));
	expect_equal(waiter.done, 0);
	ib_device_set_netdev(ib_device_of(a), NULL, 1);
	began = tb_now(tb);
	net_close(a->net);
	/* long before it would have given up by itself */
	expect_that(tb_now(tb), <, began + CFG_MS(20));
	expect_equal(waiter.done, 1);
	expect_equal(waiter.rc, -ENODEV);
	must(net_open(a->dev, 1, &a->net));
	ib_device_set_netdev(ib_device_of(a), a->net, 1);
}

SCENARIO(net_limits, "a network interface: full tables, failed resolutions, strangers, its end",
	 .qps = 0, .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	ignore_events(a); /* of their tables of GIDs */
	ignore_events(b);
	phase("full");
	table_full(tb, a);
	phase("in a VLAN");
	in_vlan(tb, a, b);
	phase("told");
	all_told(tb, a, b);
	phase("closed");
	closed(tb, a);
}
