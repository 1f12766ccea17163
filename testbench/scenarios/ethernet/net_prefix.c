/* SPDX-License-Identifier: Apache-2.0 */
/* Whom an address has for neighbours: those with the same first bits, also where the prefix ends within a
 * byte. Others cannot be reached, and nobody is asked for them. Who is asked hears it from the address of
 * his own net, whichever others the host has. */
/* behaviours: NET-prefix */
#include "model/interface/macros.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { HOST_BITS = 6, OWN = 0x45, NEIGHBOUR = 0x7e };

/* 10.9.0.`last`, with a prefix of 26 bits. */
static struct net_address address(unsigned last)
{
	return (struct net_address){.ip = {[10] = 0xff, 0xff, 10, 9, 0, (uint8_t)last},
				    .prefix = 128 - HOST_BITS,
				    .vlan = VLAN_NONE};
}

/* b has heard the question from that address of a, and from no other one. */
static void asked_from(struct tb *tb, struct tb_end *a, struct tb_end *b,
		       const struct net_address *own)
{
	const struct net_address first = ipv4_of(a);

	expect_equal(net_neighbour(b->net, own->ip, VLAN_NONE), NEIGH_STALE);
	expect_equal(net_neighbour(b->net, first.ip, VLAN_NONE), NEIGH_NONE);
}

SCENARIO(net_prefix, "neighbours of an address whose prefix ends within a byte", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	static const struct {
		unsigned last;
		int result;
	} rows[] = {{NEIGHBOUR, 0},
		    {OWN ^ 1 << HOST_BITS, -ENETUNREACH},
		    {OWN ^ 1 << 7, -ENETUNREACH},
		    {(OWN ^ 1) | 1 << 7, -ENETUNREACH}};
	const struct net_address own = address(OWN), neighbour = address(NEIGHBOUR);
	struct net_way way;
	uint64_t sent;

	must(net_address_add(a->net, &own));
	must(net_address_add(b->net, &neighbour));
	pass_time(CFG_US(100));
	ignore_events(a); /* of their tables of GIDs */
	ignore_events(b);
	for_each_row(i, rows) {
		const struct net_address to = address(rows[i].last);

		sent = tb_stat(a, "port1", "tx_frames");
		if (rows[i].result) {
			must_fail(rows[i].result,
				  net_resolve(a->net, (unsigned)gid_index(a, &own, 2), to.ip,
					      CFG_S(1), &way));
			expect_stat(a, port1, tx_frames, sent);
		} else {
			must(net_resolve(a->net, (unsigned)gid_index(a, &own, 2), to.ip, CFG_S(1),
					 &way));
			expect_true(!memcmp(way.dmac, b->mac, sizeof(way.dmac)));
			asked_from(tb, a, b, &own);
		}
	}
}
