/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run whose peer can be played back. Host a acts at fixed times and looks only at what comes to its
 * port: it asks for an address that nobody has yet, asks again when somebody has it, and sends; the
 * ACK is lost, so it sends again. With hca0.port1.wire=replay:PACKETS of such a run there is no host b,
 * and the same happens to host a (testbench/tests/replay.sh).
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { ASKS_S = 6, ASKS_AGAIN_S = 10, SENDS_S = 11 };

static void until(struct tb *tb, unsigned s)
{
	pass_time(CFG_S(s) - tb_now(tb));
}

/* What host b does while host a waits. Returns its side of the connection. */
static void peer_without_address(struct tb *tb, struct tb_end *b, struct kv *y)
{
	const struct net_address ipv4 = ipv4_of(b);

	if (!kv_open(b, y))
		return;
	must(net_address_remove(b->net, ipv4.ip, VLAN_NONE));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
}

static void peer_with_address(struct tb *tb, struct tb_end *b)
{
	const struct net_address ipv4 = ipv4_of(b);

	must(net_address_add(b->net, &ipv4));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
}

static void peer_receives(struct tb *tb, struct kv *x, struct kv *y)
{
	const struct ib_sge into = kv_sge(y, 0, NET_LEN);
	const struct ib_recv_wr recv = {
		.wr_id = 2, .sg_list = (struct ib_sge *)&into, .num_sge = 1};

	kv_start(y, x);
	must(ib_post_recv(y->qp, &recv, NULL));
	drop_next(b_to_a, RC_ACKNOWLEDGE);
}

static void send_one(struct tb *tb, struct kv *x)
{
	struct ib_sge sge = kv_sge(x, 0, NET_LEN);
	const struct ib_send_wr send = {.wr_id = 1,
					.sg_list = &sge,
					.num_sge = 1,
					.opcode = IB_WR_SEND,
					.send_flags = IB_SEND_SIGNALED};

	must(ib_post_send(x->qp, &send, NULL));
	expect_pkt(a_to_b, RC_SEND_ONLY, .transmission = 1);
	expect_pkt(a_to_b, RC_SEND_ONLY, .transmission = 2);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	kv_wait(x, 1, IB_WC_SUCCESS);
}

SCENARIO(net_replayed, "a peer that can be played back: a late answer to ARP, a lost ACK",
	 .no_qps = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address own = ipv4_of(a), other = ipv4_of(b);
	struct kv x, y = {.end = b};
	struct ib_qp recorded = {0};
	struct rdma_ah_attr to_b;

	if (!kv_open(a, &x))
		return;
	to_b = ah_between(gid_index(a, &own, 2), other.ip);
	if (b->dev) {
		peer_without_address(tb, b, &y);
		expect_equal(y.qp->qp_num, x.qp->qp_num);
	} else {
		recorded.qp_num = x.qp->qp_num; /* as it was in the run with host b */
		y.qp = &recorded;
	}
	until(tb, ASKS_S);
	kv_start_by(&x, &y, &to_b, -ETIMEDOUT);
	move_qp(x.qp->drv, IBV_QPS_RESET);
	if (b->dev)
		peer_with_address(tb, b);
	until(tb, ASKS_AGAIN_S);
	kv_start_by(&x, &y, &to_b, 0);
	if (b->dev)
		peer_receives(tb, &x, &y);
	until(tb, SENDS_S);
	send_one(tb, &x);
	if (b->dev) {
		kv_wait(&y, 2, IB_WC_SUCCESS);
		kv_close(&y);
	}
	kv_close(&x);
}
