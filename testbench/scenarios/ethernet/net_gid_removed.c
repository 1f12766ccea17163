/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address is taken from a port while a queue pair uses its GID. The device's table loses the entry
 * at once, so the queue pair sends from an empty GID and its peer drops that (assumption: what silicon
 * sends then is not public). The entry's place is not given to another address until the queue pair has
 * gone.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

static struct net_address second_of(const struct tb_end *end)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[15] = (uint8_t)(ip.ip[15] + 100);
	return ip;
}

static int index_of_new(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	int index;

	must(net_address_add(end->net, ip));
	expect_event(end, IBV_EVENT_GID_CHANGE);
	expect_event(end, IBV_EVENT_GID_CHANGE);
	index = gid_index(end, ip, 2);
	return index;
}

static void drop_address(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	must(net_address_remove(end->net, ip->ip, ip->vlan));
	expect_event(end, IBV_EVENT_GID_CHANGE);
	expect_event(end, IBV_EVENT_GID_CHANGE);
}

SCENARIO(net_gid_removed,
	 "a GID is removed under a queue pair: its place stays empty until that ends", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address first = ipv4_of(a), second = second_of(a);
	const unsigned index = a->gid_index;
	struct kv x, y;

	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_connect(&x, &y))
		return;
	drop_address(tb, a, &first);
	must_fail(-EADDRNOTAVAIL, net_address_remove(a->net, first.ip, VLAN_NONE));
	post_pair(tb, &x, &y, 1);
	kv_wait(&x, 1, IB_WC_RETRY_EXC_ERR);
	for (unsigned i = 1; i <= 8; i++)
		expect_pkt(a_to_b, RC_SEND_ONLY, .transmission = i);
	expect_that(index_of_new(tb, a, &second), !=, index);
	drop_address(tb, a, &second);
	kv_close(&y);
	kv_close(&x);
	expect_equal(index_of_new(tb, a, &second), index);
	drop_address(tb, a, &second);
}
