/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each field of an address has a value of its own here, so one that a driver forgets or takes for
 * another is seen: the GRH of a datagram in the receiver's memory, the path and the rights of a
 * connected queue pair in what its query says.
 */
#include "testbench/services.h"

#include <errno.h>

enum {
	QKEY = 0x22222222,
	GRH_AREA = 40,
	LEN = 64,
	HOPS = 9,
	SL = 12,
	CLASS = 0x5a,
	FLOW = 0xabcde,
	PKEY_AT = 3,
	READS = 2,
	READS_HERE = 8,
	PSN = 0x654321
};
enum { GRH_HOP_LIMIT = 7, GRH_VERSION = 6 }; /* byte of a GRH, and what its first bits say */

static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = ah_to(b);

	ah.is_global = true;
	ah.hop_limit = HOPS;
	ah.traffic_class = CLASS;
	ah.flow_label = FLOW;
	must(drv_query_gid(b->dev, 1, 0, ah.dgid));
	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	recv_on(b, y, .wr_id = 1, .len = GRH_AREA + LEN);
	send_on(a, x, .wr_id = 2, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 0);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1, .on = y, .byte_len = GRH_AREA + LEN, .flags = IBV_WC_GRH);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	expect_equal(be32_load(b->dst),
		     (uint32_t)GRH_VERSION << 28 | (uint32_t)CLASS << 20 | (uint32_t)FLOW);
	expect_equal(b->dst[GRH_HOP_LIMIT], HOPS);
	ignore_data(b, .len = GRH_AREA);
	destroy_qp(x);
	destroy_qp(y);
}

/* The rights of a connection, one at a time. */
static void connection(struct tb *tb, struct tb_end *a, unsigned access)
{
	struct drv_qp *x = new_qp(a);
	struct drv_rc_path path = path_to(a->peer, drv_qp_num(a->peer->qp[0]));
	struct drv_qp_attr attr;

	path.access = access;
	path.pkey_index = PKEY_AT;
	path.max_rd_atomic = READS;
	path.max_dest_rd_atomic = READS_HERE;
	path.is_global = true;
	path.sgid_index = 1;
	path.sl = SL;
	path.hop_limit = HOPS;
	path.traffic_class = CLASS;
	path.flow_label = FLOW;
	must(drv_query_gid(a->peer->dev, 1, 0, path.dgid));
	must(drv_qp_connect(x, &path));
	must(drv_qp_query(x, &attr));
	expect_equal(attr.qp_access_flags, access);
	expect_equal(attr.pkey_index, PKEY_AT);
	expect_equal(attr.max_rd_atomic, READS);
	expect_equal(attr.max_dest_rd_atomic, READS_HERE);
	expect_equal(attr.ah_attr.sgid_index, 1);
	expect_equal(attr.ah_attr.sl, SL);
	expect_equal(attr.ah_attr.hop_limit, HOPS);
	expect_equal(attr.ah_attr.traffic_class, CLASS);
	expect_equal(attr.ah_attr.flow_label, FLOW);
	destroy_qp(x);
}

/* What a datagram queue pair is started with; and a step that is refused ends the connection. */
static void starts(struct tb *tb, struct tb_end *a)
{
	struct drv_qp *ud = new_qp(a, .type = IBV_QPT_UD), *rc = new_qp(a);
	struct drv_rc_path path = path_to(a->peer, drv_qp_num(a->peer->qp[0]));
	struct drv_qp_attr attr;

	must(drv_ud_qp_start(ud, 1, PKEY_AT, QKEY, PSN));
	must(drv_qp_query(ud, &attr));
	expect_equal(attr.pkey_index, PKEY_AT);
	expect_equal(attr.qkey, QKEY);
	expect_equal(attr.sq_psn, PSN);
	path.path_mtu = (enum ibv_mtu)(IBV_MTU_4096 + 1);
	must_fail(-EINVAL, drv_qp_connect(rc, &path));
	must(drv_qp_query(rc, &attr));
	expect_equal(attr.qp_state, IBV_QPS_INIT);
	path.path_mtu = IBV_MTU_4096;
	must(drv_qp_to_rtr(rc, &path));
	must(drv_qp_to_rts(rc, &path));
	destroy_qp(rc);
	destroy_qp(ud);
}

SCENARIO(address_fields, "each field of an address, and each right, reaches its own place")
{
	static const unsigned rights[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
					  IBV_ACCESS_REMOTE_ATOMIC};

	datagram(tb, a, b);
	for_each_row(i, rights)
		connection(tb, a, rights[i]);
	starts(tb, a);
}
