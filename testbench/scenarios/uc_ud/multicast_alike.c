/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a group at both hosts whose queue pairs have the same number, as those of hosts have that
 * are booted alike. All are attached with loopback blocked. That keeps from each what it has sent
 * itself, and nothing else: it gets what the member of its number at the other host sends, and what
 * another queue pair of its own host sends. A datagram of another group comes to none of them.
 */
/* behaviours: IBA-10.5.2-multicast */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, PORT = 1, MLID = 0xc001, LEN = 50, TRIES = 64 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 7};

struct host_members {
	struct drv_qp *one, *two;
};

/* A queue pair of that number, if the host gives it out soon; if not, another one. */
static struct drv_qp *numbered(struct tb *tb, struct tb_end *end, uint32_t qpn)
{
	struct drv_qp *tried[TRIES], *found = NULL;
	unsigned n = 0;

	while (n < TRIES && !found && still_right()) {
		tried[n] = new_qp(end, .type = IBV_QPT_UD);
		if (tried[n] && drv_qp_num(tried[n]) == qpn)
			found = tried[n];
		else
			n++;
	}
	while (n--)
		destroy_qp(tried[n]);
	return found ? found : new_qp(end, .type = IBV_QPT_UD);
}

static void holds(struct tb *tb, struct tb_end *end, unsigned id, struct tb_end *from)
{
	expect_data(end, .dst = id * 1000 + GRH_AREA, .len = LEN, .from = from);
	ignore_data(end, .dst = id * 1000, .len = GRH_AREA);
}

#define COPY(at, id)                                                                               \
	CQE(.wr_id = id, .on = at, .byte_len = GRH_AREA + LEN, .flags = IBV_WC_GRH,                \
	    .src_qp = drv_qp_num(sender), .slid = from->lid)

/* One member of the host gets its copy. */
static void take(struct tb *tb, struct tb_end *end, struct drv_qp *at, unsigned id,
		 struct tb_end *from, const struct drv_qp *sender)
{
	expect_cqes_of(end, COPY(at, id));
	holds(tb, end, id, from);
}

static void take_both(struct tb *tb, struct tb_end *end, const struct host_members *at,
		      unsigned one, unsigned two, struct tb_end *from, const struct drv_qp *sender)
{
	expect_cqes_of(end, COPY(at->one, one), COPY(at->two, two));
	holds(tb, end, one, from);
	holds(tb, end, two, from);
}

static void send(struct tb *tb, struct tb_end *from, struct drv_qp *qp, uint32_t mlid)
{
	struct drv_ah_attr ah = {.dlid = mlid, .port_num = PORT, .is_global = true};

	memcpy(ah.dgid, group, sizeof(group));
	if (mlid != MLID)
		ah.dgid[14] = 1;
	send_on(from, qp, .wr_id = 90, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_cqe(from, .wr_id = 90, .on = qp);
}

static void each_sends(struct tb *tb, struct tb_end *a, struct tb_end *b,
		       const struct host_members *at_a, const struct host_members *at_b)
{
	send(tb, a, at_a->one, MLID);
	take(tb, a, at_a->two, 2, a, at_a->one);
	take_both(tb, b, at_b, 1, 2, a, at_a->one);
	send(tb, b, at_b->one, MLID);
	take(tb, b, at_b->two, 4, b, at_b->one);
	take_both(tb, a, at_a, 1, 4, b, at_b->one);
	send(tb, a, at_a->two, MLID);
	take(tb, a, at_a->one, 3, a, at_a->two);
	take_both(tb, b, at_b, 3, 6, a, at_a->two);
	send(tb, a, at_a->one, MLID + 1);
	expect_no_more(CFG_US(20));
}

static void attach(struct tb *tb, struct tb_end *end, struct drv_qp *qp, unsigned first)
{
	start_ud(qp, QKEY, 1);
	must(drv_mcast_attach(qp, group, true));
	for (unsigned i = 0; i < 3; i++)
		recv_on(end, qp, .wr_id = first + 2 * i, .dst = (first + 2 * i) * 1000, .len = 200);
}

SCENARIO(multicast_alike, "multicast between queue pairs of the same number, loopback blocked",
	 .any_packets = true, .memory = 16 << 10)
{
	struct host_members at_a, at_b;

	at_a.one = new_qp(a, .type = IBV_QPT_UD);
	at_a.two = new_qp(a, .type = IBV_QPT_UD);
	at_b.one = still_right() ? numbered(tb, b, drv_qp_num(at_a.one)) : NULL;
	at_b.two = new_qp(b, .type = IBV_QPT_UD);
	if (!still_right())
		return;
	attach(tb, a, at_a.one, 1);
	attach(tb, a, at_a.two, 2);
	attach(tb, b, at_b.one, 1);
	attach(tb, b, at_b.two, 2);
	each_sends(tb, a, b, &at_a, &at_b);
	must(drv_mcast_detach(at_a.one, group));
	must(drv_mcast_detach(at_a.two, group));
	must(drv_mcast_detach(at_b.one, group));
	must(drv_mcast_detach(at_b.two, group));
	expect_discarded(a, 0);
	destroy_qp(at_b.two);
	destroy_qp(at_b.one);
	destroy_qp(at_a.two);
	destroy_qp(at_a.one);
}
