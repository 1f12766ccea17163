/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody has the address. ib_modify_qp gives up after exactly a second, and the queue pair stays in
 * INIT. The driver goes on to ask: three questions in all, then the neighbour has failed. The next
 * lookup asks again. This time the answer comes, but too late for who asked: the lookup after it finds
 * the MAC without a question.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { QUESTIONS = 3 };

static void wait_in_vain(struct tb *tb, struct tb_end *a, struct kv *x, struct kv *y)
{
	const struct rdma_ah_attr to_b = kv_ah_to(y->end);
	const uint64_t began = tb_now(tb);

	kv_start_by(x, y, &to_b, -ETIMEDOUT);
	/* two commands more, for the step to INIT before it */
	expect_that(tb_now(tb) - began, >=, CFG_S(1));
	expect_that(tb_now(tb) - began, <, CFG_S(1) + CFG_US(100));
	expect_equal(drv_qp_state(x->qp->drv), IBV_QPS_INIT);
	expect_equal(neighbour_of(a, y->end), NEIGH_INCOMPLETE);
	move_qp(x->qp->drv, IBV_QPS_RESET);
}

SCENARIO(net_no_answer,
	 "no answer to ARP: -ETIMEDOUT after a second; a late answer serves the next", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address ipv4 = ipv4_of(b);
	struct kv x, y;
	uint64_t sent;

	if (!kv_open(a, &x) || !kv_open(b, &y))
		return;
	must(net_address_remove(b->net, ipv4.ip, VLAN_NONE));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	sent = tb_stat(a, "port1", "tx_frames");
	wait_in_vain(tb, a, &x, &y);
	pass_time(CFG_S(3));
	expect_equal(neighbour_of(a, b), NEIGH_FAILED);
	expect_stat(a, port1, tx_frames, sent + QUESTIONS);

	wait_in_vain(tb, a, &x, &y);
	inject_note(tb, a, b->gid, b->mac, true);
	pass_time(CFG_US(100));
	expect_equal(neighbour_of(a, b), NEIGH_REACHABLE);
	sent = tb_stat(a, "port1", "tx_frames");
	kv_start(&x, &y);
	expect_stat(a, port1, tx_frames, sent);

	must(net_address_add(b->net, &ipv4));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	kv_start(&y, &x);
	pass_one(tb, &x, &y, 1);
	expect_pkt(a_to_b, RC_SEND_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_close(&y);
	kv_close(&x);
}
