/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware refuses each command, in turn, with which an address of a VLAN comes to a port: the port
 * has neither its GIDs nor its VLAN then, and the address can be added the next time. The same address
 * without the VLAN is another one, also where the tagged one stands before it in the table of GIDs.
 * So it is when the driver finds no memory. An address whose removal is refused stays with its VLAN, and
 * can be removed the next time.
 */
/* behaviours: FAULT-command-status FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5, OTHER_NET = 7, TIMES_MAX = 16, GIDS = 2 /* RoCE v1 and v2 */ };

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
}
