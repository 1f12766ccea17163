/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of a VLAN. Question, answer and packets carry its tag. The same address without the VLAN is
 * another neighbour; a peer that has not joined the VLAN does not hear the question.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5 };

static struct net_address tagged(const struct tb_end *end)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[14] = 5;
	ip.vlan = VLAN;
	return ip;
}

static void join(struct tb *tb, struct tb_end *end)
{
	const struct net_address ip = tagged(end);

	must(net_address_add(end->net, &ip));
	expect_event(end, IBV_EVENT_GID_CHANGE);
	expect_event(end, IBV_EVENT_GID_CHANGE);
}

SCENARIO(net_vlan, "addresses of a VLAN: ARP and packets are tagged", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address at_a = tagged(a), at_b = tagged(b);
	struct rdma_ah_attr there, back;
	struct kv x, y;

	if (!kv_open(a, &x) || !kv_open(b, &y))
		return;
	join(tb, a);
	there = ah_between(gid_index(a, &at_a, 2), at_b.ip);
	kv_start_by(&x, &y, &there, -ETIMEDOUT);
	expect_that(tb_stat(b, "port1", "rx_filtered"), >, 0);
	/* from an address without a VLAN there is no way there */
	there.grh.sgid_index = (uint8_t)a->gid_index;
	move_qp(x.qp->drv, IBV_QPS_RESET);
	kv_start_by(&x, &y, &there, -ENETUNREACH);

	join(tb, b);
	there = ah_between(gid_index(a, &at_a, 2), at_b.ip);
	back = ah_between(gid_index(b, &at_b, 2), at_a.ip);
	move_qp(x.qp->drv, IBV_QPS_RESET);
	kv_start_by(&x, &y, &there, 0);
	kv_start_by(&y, &x, &back, 0);
	expect_equal(net_neighbour(a->net, at_b.ip, VLAN_NONE), NEIGH_NONE);
	pass_one(tb, &x, &y, 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .vlan = VLAN, .dgid = at_b.ip);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .vlan = VLAN, .sgid = at_b.ip);
	kv_close(&y);
	kv_close(&x);
}
