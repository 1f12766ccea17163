/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair gets the MAC of its peer by ARP: one question, one answer. The next queue pair finds the
 * neighbour known, and so does the host that was asked. The hop limit is that of the route, whatever
 * the caller says.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

SCENARIO(net_resolved, "ib_modify_qp finds the MAC by ARP, once for all queue pairs", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct rdma_ah_attr to_b = kv_ah_to(b);
	struct kv x, y, z;
	uint64_t sent;

	to_b.grh.hop_limit = 9;
	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_open(a, &z))
		return;
	expect_equal(neighbour_of(a, b), NEIGH_NONE);
	expect_equal(neighbour_of(b, a), NEIGH_NONE);
	sent = tb_stat(a, "port1", "tx_frames");
	if (!kv_start_by(&x, &y, &to_b, 0))
		return;
	expect_stat(a, port1, tx_frames, sent + 1);
	expect_equal(neighbour_of(a, b), NEIGH_REACHABLE);
	expect_equal(neighbour_of(b, a), NEIGH_STALE);
	if (!kv_start(&y, &x) || !kv_start(&z, &y))
		return;
	expect_stat(a, port1, tx_frames, sent + 1);
	expect_equal(neighbour_of(b, a), NEIGH_DELAY);
	pass_one(tb, &x, &y, 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .hop_limit = NET_HOPS, .dgid = b->gid, .sgid = a->gid,
		   .dmac = (int64_t)mac_load(b->mac));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .hop_limit = NET_HOPS,
		   .dmac = (int64_t)mac_load(a->mac));
	kv_close(&z);
	kv_close(&y);
	kv_close(&x);
}
