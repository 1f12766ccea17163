/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A neighbour gets another MAC and tells everybody. A queue pair that is connected keeps the old one,
 * and its packets are lost; one that is connected later has the new one.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

static const uint8_t other[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};

SCENARIO(net_moves, "a neighbour that moves: queue pairs keep the MAC that they were given",
	 .qps = 0, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct kv x, y, v, w;

	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_open(a, &v) || !kv_open(b, &w) ||
	    !kv_connect(&x, &y))
		return;
	pass_one(tb, &x, &y, 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .dmac = (int64_t)mac_load(b->mac));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	must(net_mac_set(b->net, other));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	pass_time(CFG_US(100));
	expect_equal(neighbour_of(a, b), NEIGH_STALE);
	post_pair(tb, &x, &y, 2);
	kv_wait(&x, 2, IB_WC_RETRY_EXC_ERR);
	for (unsigned i = 1; i <= 8; i++)
		expect_pkt(a_to_b, RC_SEND_ONLY, .dmac = (int64_t)mac_load(b->mac),
			   .transmission = i);
	kv_connect(&v, &w);
	pass_one(tb, &v, &w, 3);
	expect_pkt(a_to_b, RC_SEND_ONLY, .dmac = (int64_t)mac_load(other));
	allow_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_close(&w);
	kv_close(&v);
	kv_close(&y);
	kv_close(&x);
}
