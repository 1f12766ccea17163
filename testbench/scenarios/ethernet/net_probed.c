/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A neighbour that has not been heard of for long is used again: after five seconds in which
 * nothing is heard of it, it is asked once more, at its MAC alone, although nothing else happens on
 * the port.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VERSION = 2 };

SCENARIO(net_probed, "a stale neighbour that is used is asked again after five seconds", .qps = 0,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4"), "sim.time_limit=300s"})
{
	const struct net_address own = ipv4_of(a);
	struct net_way way = {0};
	const unsigned index = (unsigned)gid_index(a, &own, VERSION);
	uint64_t sent;

	must(net_resolve(a->net, index, b->gid, CFG_S(1), &way));
	pass_time(CFG_S(31));
	expect_equal(neighbour_of(a, b), NEIGH_STALE);
	sent = tb_stat(a, "port1", "tx_frames");
	must(net_resolve(a->net, index, b->gid, 0, &way));
	expect_equal(neighbour_of(a, b), NEIGH_DELAY);
	pass_time(CFG_S(4));
	expect_equal(neighbour_of(a, b), NEIGH_DELAY);
	expect_stat(a, port1, tx_frames, sent);
	pass_time(CFG_S(2));
	expect_equal(neighbour_of(a, b), NEIGH_REACHABLE);
	expect_stat(a, port1, tx_frames, sent + 1);
}
