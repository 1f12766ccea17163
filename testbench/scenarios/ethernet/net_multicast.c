/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MAC of a group follows from its GID, without a question: 33:33 and the last 32 bits, or
 * 01:00:5e and the last 23 bits of an IPv4 group. A member of the group gets the datagram.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { GRH = 40, AT = 4096, LINK_LOCAL_V2 = 1 /* entry of the GID table */ };

static void to_group(struct tb *tb, struct kv *x, struct kv *y, unsigned index,
		     const uint8_t *group, uint64_t mac)
{
	struct rdma_ah_attr ah = ah_between((int)index, group);
	const uint64_t sent = tb_stat(x->end, "port1", "tx_frames");
	struct ib_sge sge = kv_sge(x, 0, NET_LEN), into = kv_sge(y, AT, GRH + NET_LEN);
	const struct ib_recv_wr recv = {.wr_id = 1, .sg_list = &into, .num_sge = 1};
	struct ib_ud_wr wr = {.wr = {.wr_id = 2,
				     .sg_list = &sge,
				     .num_sge = 1,
				     .opcode = IB_WR_SEND,
				     .send_flags = IB_SEND_SIGNALED},
			      .remote_qpn = 0xffffff,
			      .remote_qkey = KV_QKEY};

	ah.grh.hop_limit = 1;
	must(drv_mcast_attach(y->qp->drv, group, false));
	wr.ah = kv_made(rdma_create_ah(x->pd, &ah, 0));
	if (!wr.ah)
		return;
	expect_stat(x->end, port1, tx_frames, sent);
	must(ib_post_recv(y->qp, &recv, NULL));
	must(ib_post_send(x->qp, &wr.wr, NULL));
	expect_pkt(a_to_b, UD_SEND_ONLY, .dmac = (int64_t)mac, .dgid = group, .hop_limit = 1);
	kv_wait(x, 2, IB_WC_SUCCESS);
	kv_wait(y, 1, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + AT + GRH, NET_LEN);
	must(rdma_destroy_ah(wr.ah, 0));
	must(drv_mcast_detach(y->qp->drv, group));
}

SCENARIO(net_multicast, "groups over Ethernet: the MAC follows from the GID", .qps = 0,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	static const uint8_t v4[DRV_GID_BYTES] = {[10] = 0xff, 0xff, 239, 129, 2, 3};
	static const uint8_t v6[DRV_GID_BYTES] = {0xff, 0x0e, [12] = 0x12, 0x34, 0x56, 0x78};
	struct kv x, y;

	if (!kv_open(a, &x, .type = IB_QPT_UD) || !kv_open(b, &y, .type = IB_QPT_UD) ||
	    !kv_connect(&x, &y))
		return;
	to_group(tb, &x, &y, a->gid_index, v4, UINT64_C(0x01005e010203));
	to_group(tb, &x, &y, LINK_LOCAL_V2, v6, UINT64_C(0x333312345678));
	kv_close(&y);
	kv_close(&x);
}
