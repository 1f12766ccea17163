/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A false answer names a MAC that nobody has. The queue pair that is connected by it sends into the
 * void until its retries are used up. The true owner's announcement puts the table right, and the next
 * queue pair gets through.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

static const uint8_t nobody[MAC_BYTES] = {2, 0, 0, 0, 0, 0x66};

SCENARIO(net_wrong_mac, "a false ARP answer: retries exceeded, until the owner says so itself",
	 .qps = 0, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct kv x, y;

	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_connect(&x, &y))
		return;
	inject_note(tb, a, b->gid, nobody, true);
	pass_time(CFG_US(100));
	move_qp(x.qp->drv, IBV_QPS_RESET);
	kv_start(&x, &y);
	post_pair(tb, &x, &y, 1);
	kv_wait(&x, 1, IB_WC_RETRY_EXC_ERR);
	for (unsigned i = 1; i <= 8; i++)
		expect_pkt(a_to_b, RC_SEND_ONLY, .dmac = (int64_t)mac_load(nobody),
			   .transmission = i);
	must(net_mac_set(b->net, b->mac)); /* the same MAC: it only tells everybody */
	expect_event(b, IBV_EVENT_GID_CHANGE);
	pass_time(CFG_US(100));
	move_qp(x.qp->drv, IBV_QPS_RESET);
	move_qp(y.qp->drv, IBV_QPS_RESET);
	kv_connect(&x, &y);
	pass_one(tb, &x, &y, 2);
	expect_pkt(a_to_b, RC_SEND_ONLY, .dmac = (int64_t)mac_load(b->mac));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_close(&y);
	kv_close(&x);
}
