/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware refuses each command, in turn, with which an address of a VLAN comes to a port: the port
 * has neither its GIDs nor its VLAN then, and the address can be added the next time. The same address
 * without the VLAN is another one, also where the tagged one stands before it in the table of GIDs.
 * So it is when the driver finds no memory. An address whose removal is refused stays with its VLAN, and
 * can be removed the next time. Nothing is left of an interface that cannot be opened for lack of memory or
 * because a command is refused.
 */
/* behaviours: FAULT-command-status FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5, OTHER_NET = 7, TIMES_MAX = 16, OPEN_MAX = 100, GIDS = 2 /* RoCE v1 and v2 */ };

/* The port is as it was without the address. */
static void expect_absent(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	expect_that(drv_eth_vlan_index(end->dev, 1, VLAN), <, 0);
	for (unsigned version = 1; version <= 2; version++)
		expect_that(gid_index(end, ip, version), <, 0);
}

static void add_refused(struct tb *tb, struct tb_end *end, const struct net_address *ip,
			bool memory)
{
	for (unsigned nth = 1; still_right(); nth++) {
		bool came;
		int rc;

		name_row("%s %u", memory ? "memory" : "command", nth);
		if (memory)
			lack_memory(nth);
		else
			refuse_command(end, nth, HCR_STATUS_BAD_PARAM);
		rc = net_address_add(end->net, ip);
		came = memory ? lack_memory(0) : refuse_command(end, 0, 0);
		if (!came) {
			expect_equal(rc, 0);
			return;
		}
		expect_equal(rc, memory ? -ENOMEM : -EINVAL);
		expect_absent(tb, end, ip);
		expect_that(nth, <, TIMES_MAX);
	}
}

static void remove_refused(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	bool came = true;

	/* one command for each GID, and one for the VLAN, whose refusal has no effect on the port */
	for (unsigned nth = 1; came && still_right(); nth++) {
		int rc;

		name_row("removal, command %u", nth);
		must(net_address_add(end->net, ip));
		refuse_command(end, nth, HCR_STATUS_BAD_PARAM);
		rc = net_address_remove(end->net, ip->ip, ip->vlan);
		came = refuse_command(end, 0, 0);
		expect_equal(rc, nth <= GIDS ? -EINVAL : 0);
		if (rc) {
			expect_that(drv_eth_vlan_index(end->dev, 1, VLAN), >=, 0);
			expect_that(gid_index(end, ip, 1) + gid_index(end, ip, 2), >=, 0);
			must_fail(-EEXIST, net_address_add(end->net, ip));
			must(net_address_remove(end->net, ip->ip, ip->vlan));
		}
		expect_absent(tb, end, ip);
		expect_that(nth, <, TIMES_MAX);
	}
}

/* `end` has no interface. */
static void open_refused(struct tb *tb, struct tb_end *end, bool memory)
{
	bool came = true;

	for (unsigned nth = 1; came && still_right(); nth++) {
		int rc;

		name_row("opened, %s %u", memory ? "memory" : "command", nth);
		if (memory)
			lack_memory(nth);
		else
			refuse_command(end, nth, HCR_STATUS_EXCEED_LIM);
		rc = net_open(end->dev, 1, &end->net);
		came = memory ? lack_memory(0) : refuse_command(end, 0, 0);
		expect_equal(rc, came ? -ENOMEM : 0);
		expect_equal(!end->net, came);
		expect_that(nth, <, OPEN_MAX);
	}
}

static void opens(struct tb *tb, struct tb_end *end)
{
	struct ib_device *device = ib_device_of(end);
	struct net_address own = ipv4_of(end);
	struct net_way way = {0};

	if (!still_right())
		return;
	for (unsigned i = 0; i < 2; i++) {
		ib_device_set_netdev(device, NULL, 1);
		net_close(end->net);
		end->net = NULL;
		open_refused(tb, end, !i);
		if (!still_right())
			return;
		ib_device_set_netdev(device, end->net, 1);
		must(net_address_add(end->net, &own));
		must(net_resolve(end->net, end->gid_index, end->peer->gid, CFG_S(1), &way));
		expect_equal(mac_load(way.dmac), mac_load(end->peer->mac));
	}
}

SCENARIO(net_refused, "each command that brings an address of a VLAN is refused: nothing is left",
	 .qps = 0, .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct net_address tagged = ipv4_of(a), plain;

	ignore_events(a);
	tagged.ip[14] = OTHER_NET;
	plain = tagged;
	tagged.vlan = VLAN;
	add_refused(tb, a, &tagged, true);
	must(net_address_remove(a->net, tagged.ip, tagged.vlan));
	add_refused(tb, a, &tagged, false);
	name_row("%s", "");
	must(net_address_add(a->net, &plain));
	expect_that(gid_index(a, &plain, 2), >, gid_index(a, &tagged, 2));
	must(net_address_remove(a->net, tagged.ip, tagged.vlan));
	expect_absent(tb, a, &tagged);
	expect_that(gid_index(a, &plain, 2), >=, 0);
	must(net_address_remove(a->net, plain.ip, plain.vlan));
	expect_that(gid_index(a, &plain, 2), <, 0);
	remove_refused(tb, a, &tagged);
	opens(tb, a);
}
