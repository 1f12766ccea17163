/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three queue pairs with four groups, of which each has another set. A queue pair that leaves a group leaves only
 * that one, and only itself; what it has left it cannot leave again. A group is its whole GID: groups that differ
 * from it in one byte are others. Only datagram queue pairs join. A member that is not to hear itself keeps no
 * copy from those behind it. When queue pairs end, those that stay members go on.
 */
/* behaviours: IBA-10.5.2-multicast */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, MLID = 0xc001, LEN = 16, GROUPS = 4, QPS = 3, ANY = 3 };

struct groups {
	struct drv_qp *x, *y[QPS]; /* of a; of b */
	struct drv_cq *cq[QPS];    /* of y */
	bool member[QPS][GROUPS];
};

static const uint8_t first[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, 1, 2, 3, 4,
					     5,    6,    7,    8,    9, 1, 2, 3};

/* They differ in their first words, in the middle, and in the last byte. */
static void group_of(unsigned n, uint8_t *mgid)
{
	static const unsigned differs[] = {15, 1, 7, 15};

	memcpy(mgid, first, sizeof(first));
	mgid[differs[n]] = (uint8_t)(mgid[differs[n]] + n);
}

static void join(struct tb *tb, struct groups *g, unsigned qp, unsigned n, bool joins)
{
	uint8_t mgid[DRV_GID_BYTES];

	group_of(n, mgid);
	if (joins)
		must(drv_mcast_attach(g->y[qp], mgid, false));
	else
		must(drv_mcast_detach(g->y[qp], mgid));
	g->member[qp][n] = joins;
	if (!joins)
		must_fail(-EINVAL, drv_mcast_detach(g->y[qp], mgid));
}

static void send_to(struct tb *tb, struct tb_end *from, struct drv_qp *qp, const uint8_t *mgid)
{
	struct drv_ah_attr ah = {.dlid = MLID, .port_num = 1, .is_global = true};

	memcpy(ah.dgid, mgid, DRV_GID_BYTES);
	send_on(from, qp, .wr_id = 99, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_cqe(from, .wr_id = 99, .on = qp);
}

static void take(struct tb *tb, struct tb_end *b, const struct groups *g, unsigned i,
		 const struct drv_qp *sender)
{
	expect_cqe(b, .cq = g->cq[i], .wr_id = ANY, .byte_len = GRH_AREA + LEN, .flags = IBV_WC_GRH,
		   .src_qp = drv_qp_num(sender), .on = g->y[i]);
	recv_on(b, g->y[i], .wr_id = ANY, .len = GRH_AREA + LEN);
}

/* Each group's datagram comes to its members. */
static void hear(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct groups *g)
{
	uint8_t mgid[DRV_GID_BYTES];

	for (unsigned n = 0; n < GROUPS && still_right(); n++) {
		group_of(n, mgid);
		send_to(tb, a, g->x, mgid);
		pass_time(CFG_US(10));
		for (unsigned i = 0; i < QPS; i++) {
			name_row("group %u, queue pair %u", n, i);
			if (g->member[i][n])
				take(tb, b, g, i, g->x);
			expect_empty(g->cq[i]);
		}
	}
}

static void others(struct tb *tb, struct tb_end *a, const struct groups *g)
{
	uint8_t mgid[DRV_GID_BYTES];

	for (unsigned i = 1; i < DRV_GID_BYTES && still_right(); i++) {
		name_row("byte %u", i);
		memcpy(mgid, first, sizeof(first));
		mgid[i] ^= 0x40;
		send_to(tb, a, g->x, mgid);
		must_fail(-EINVAL, drv_mcast_detach(g->y[0], mgid));
	}
	pass_time(CFG_US(10));
	expect_empty(g->cq[0]);
}

/* The first member is the sender, which does not hear itself; the others do. */
static void blocked(struct tb *tb, struct tb_end *b, const struct groups *g)
{
	static const uint8_t mgid[DRV_GID_BYTES] = {0xff, 0x12, [9] = 9};

	for (unsigned sender = 0; sender < QPS && still_right(); sender++) {
		name_row("queue pair %u sends", sender);
		for (unsigned i = 0; i < QPS; i++)
			must(drv_mcast_attach(g->y[i], mgid, i == sender));
		send_to(tb, b, g->y[sender], mgid);
		for (unsigned i = 0; i < QPS; i++)
			if (i != sender)
				take(tb, b, g, i, g->y[sender]);
		pass_time(CFG_US(10));
		for (unsigned i = 0; i < QPS; i++) {
			expect_empty(g->cq[i]);
			must(drv_mcast_detach(g->y[i], mgid));
		}
	}
}

SCENARIO(multicast_neighbours,
	 "queue pairs and groups come and go, and leave their neighbours alone",
	 .any_packets = true)
{
	static const struct {
		unsigned qp, group;
		bool joins;
	} steps[] = {{0, 0, true},  {1, 0, true},  {1, 1, true},  {2, 1, true},  {0, 2, true},
		     {0, 3, true},  {2, 3, true},  {1, 0, false}, {0, 3, false}, {1, 0, true},
		     {2, 1, false}, {0, 0, false}, {2, 0, true},  {0, 1, true}};
	struct groups g = {.x = new_qp(a, .type = IBV_QPT_UD)};

	ignore_discarded(b);
	start_ud(g.x, QKEY, 1);
	for (unsigned i = 0; i < QPS && still_right(); i++) {
		g.cq[i] = new_cq(b, 15, 0);
		g.y[i] = new_qp(b, .type = IBV_QPT_UD, .recv_cq = g.cq[i]);
		start_ud(g.y[i], QKEY, 1);
		recv_on(b, g.y[i], .wr_id = ANY, .len = GRH_AREA + LEN);
	}
	must_fail(-EINVAL, drv_mcast_attach(b->qp[0], first, false));
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]) && still_right(); i++) {
		join(tb, &g, steps[i].qp, steps[i].group, steps[i].joins);
		hear(tb, a, b, &g);
	}
	others(tb, a, &g);
	blocked(tb, b, &g);
	for (unsigned i = 0; i < QPS && still_right(); i++) {
		/* transport in software takes them out by itself, however many there are */
		for (unsigned n = 0; n < GROUPS; n++) {
			if (g.member[i][n] && !in_software(b))
				join(tb, &g, i, n, false);
			g.member[i][n] = false;
		}
		destroy_qp(g.y[i]);
		hear(tb, a, b, &g);
	}
	for (unsigned i = 0; i < QPS && still_right(); i++)
		destroy_cq(g.cq[i]);
	ignore_data(b, .len = GRH_AREA + LEN);
	destroy_qp(g.x);
}
