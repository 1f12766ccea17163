/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbour discovery. A global IPv6 address is a GID of its own; its neighbour is asked through the
 * group of its last 24 bits. The link-local GID of RoCE v2 needs a question, too. That of RoCE v1 has
 * the MAC in it: no frame is sent, and the caller's hop limit stays.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { HOPS = 9 };

/* Its second half follows from the MAC, as that of the link-local address does (RFC 4862). */
static struct net_address ipv6_of(const struct tb_end *end)
{
	static const uint8_t prefix[DRV_GID_BYTES / 2] = {0x20, 1, 0xd, 0xb8};
	struct net_address ipv6 = {.prefix = 64, .vlan = VLAN_NONE};

	gid_from_mac(end->mac, VLAN_NONE, ipv6.ip);
	memcpy(ipv6.ip, prefix, sizeof(prefix));
	return ipv6;
}

static void take(struct tb *tb, struct tb_end *end)
{
	const struct net_address ipv6 = ipv6_of(end);

	must(net_address_add(end->net, &ipv6));
	expect_event(end, IBV_EVENT_GID_CHANGE);
	expect_event(end, IBV_EVENT_GID_CHANGE);
	must_fail(-EEXIST, net_address_add(end->net, &ipv6));
}

/* Connects over this entry of the table, passes a message, and says how many notes that took. */
static uint64_t notes_of(struct tb *tb, struct tb_end *a, struct tb_end *b, const uint8_t *to_b,
			 const uint8_t *to_a, unsigned index, unsigned hops)
{
	struct rdma_ah_attr there = ah_between((int)index, to_b);
	struct rdma_ah_attr back = ah_between((int)index, to_a);
	const uint64_t sent = tb_stat(a, "port1", "tx_frames");
	struct kv x, y;
	uint64_t notes;

	there.grh.hop_limit = back.grh.hop_limit = HOPS;
	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_start_by(&x, &y, &there, 0) ||
	    !kv_start_by(&y, &x, &back, 0))
		return 0;
	notes = tb_stat(a, "port1", "tx_frames") - sent;
	pass_one(tb, &x, &y, 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .hop_limit = hops, .dgid = to_b,
		   .dmac = (int64_t)mac_load(b->mac));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .hop_limit = hops, .sgid = to_b);
	kv_close(&y);
	kv_close(&x);
	return notes;
}

SCENARIO(net_ipv6, "neighbour discovery; a link-local GID of RoCE v1 needs none", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv6")})
{
	const struct net_address at_a = ipv6_of(a), at_b = ipv6_of(b);
	unsigned index;

	/* entry 0: link-local, v1; entry 1: the same, v2 */
	expect_equal(notes_of(tb, a, b, b->gid, a->gid, 0, HOPS), 0);
	expect_equal(neighbour_of(a, b), NEIGH_NONE);
	expect_equal(notes_of(tb, a, b, b->gid, a->gid, 1, NET_HOPS), 1);
	expect_equal(neighbour_of(a, b), NEIGH_REACHABLE);
	take(tb, a);
	take(tb, b);
	index = (unsigned)gid_index(a, &at_a, 2);
	expect_equal(index, gid_index(b, &at_b, 2));
	if (still_right())
		expect_equal(notes_of(tb, a, b, at_b.ip, at_a.ip, index, NET_HOPS), 1);
	expect_equal(net_neighbour(a->net, at_b.ip, VLAN_NONE), NEIGH_REACHABLE);
}
