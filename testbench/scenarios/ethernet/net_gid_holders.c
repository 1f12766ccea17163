/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who keeps the place of a GID whose address has been removed: an address handle, and a queue pair
 * from the step that gives it its path until it is reset or destroyed or gets another path. An XRC
 * target keeps it, whatever becomes of the handle through which it got its path. Who was refused the
 * path keeps nothing. A queue pair that is being destroyed keeps it until it has gone. So does a receive QP that
 * goes with its domain. An address that is added meanwhile gets other places; afterwards it gets these.
 */
#include "testbench/harm.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum {
	RTR_MASK = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	INIT_MASK = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
	VERSIONS = 2,
	PAUSE_US = 60
};

/* One who holds the GID of that version of RoCE, or 0. */
struct holder {
	struct tb_end *end;
	struct kv kv;
	int index[VERSIONS + 1];
	struct ib_pd *pd;
	struct ib_ah *ah[2];
	struct ib_xrcd *xrcd;
	struct ib_qp *target, *handle;
};

static struct ib_ah *ah_make(struct tb *tb, struct holder *h, unsigned version)
{
	const struct rdma_ah_attr ah = ah_between(h->index[version], h->end->peer->gid);

	return kv_made(rdma_create_ah(h->pd, &ah, 0));
}

/* All that INIT and RTR need. */
static struct ib_qp_attr path_of(const struct holder *h, unsigned version)
{
	return (struct ib_qp_attr){.qp_state = IB_QPS_INIT,
				   .port_num = 1,
				   .path_mtu = IB_MTU_1024,
				   .dest_qp_num = 0x123,
				   .ah_attr = ah_between(h->index[version], h->end->peer->gid)};
}

static void to_rtr(struct tb *tb, struct holder *h, struct ib_qp *qp, unsigned version, int result)
{
	struct ib_qp_attr attr = path_of(h, version);
	const struct ib_gid_hold *held = &qp->real_qp->gid;

	must(ib_modify_qp(qp, &attr, INIT_MASK));
	attr.qp_state = IB_QPS_RTR;
	if (result)
		attr.max_dest_rd_atomic =
			(uint8_t)(ib_device_of(h->end)->attrs.max_dest_rd_atomic + 1);
	must_fail(result, ib_modify_qp(qp, &attr, RTR_MASK));
	expect_true(held->netdev == (result ? NULL : h->end->net));
	expect_equal(held->index, result ? 0 : (unsigned)h->index[version]);
}

static void to_reset(struct tb *tb, struct ib_qp *qp)
{
	must(ib_modify_qp(qp, &(const struct ib_qp_attr){.qp_state = IB_QPS_RESET}, IB_QP_STATE));
	expect_true(!qp->real_qp->gid.netdev);
}

/* --- who holds, and how it ends --- */

static void handle_of_v2(struct tb *tb, struct holder *h)
{
	h->ah[0] = ah_make(tb, h, 2);
}

static void handle_of_v1(struct tb *tb, struct holder *h)
{
	h->ah[0] = ah_make(tb, h, 1);
}

/* The first of two has gone. */
static void two_handles(struct tb *tb, struct holder *h)
{
	struct ib_ah *first = ah_make(tb, h, 2);

	h->ah[0] = ah_make(tb, h, 2);
	if (first)
		must(rdma_destroy_ah(first, 0));
}

static void connected(struct tb *tb, struct holder *h)
{
	if (kv_open(h->end, &h->kv))
		to_rtr(tb, h, h->kv.qp, 2, 0);
}

static void failed(struct tb *tb, struct holder *h)
{
	connected(tb, h);
	must(ib_modify_qp(h->kv.qp, &(const struct ib_qp_attr){.qp_state = IB_QPS_ERR},
			  IB_QP_STATE));
}

static void refused(struct tb *tb, struct holder *h)
{
	if (kv_open(h->end, &h->kv))
		to_rtr(tb, h, h->kv.qp, 2, -EINVAL);
}

static void reset(struct tb *tb, struct holder *h)
{
	connected(tb, h);
	to_reset(tb, h->kv.qp);
}

/* First one path, then another one. */
static void again(struct tb *tb, struct holder *h)
{
	reset(tb, h);
	to_rtr(tb, h, h->kv.qp, 1, 0);
}

/* What is refused leaves the path that was given before. */
static void refused_then(struct tb *tb, struct holder *h)
{
	connected(tb, h);
	must_fail(-EINVAL,
		  ib_modify_qp(h->kv.qp, &(const struct ib_qp_attr){.qp_state = IB_QPS_INIT},
			       INIT_MASK));
}

static bool target_open(struct tb *tb, struct holder *h)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT};

	h->xrcd = init.xrcd = kv_made(ib_alloc_xrcd(ib_device_of(h->end)));
	h->target = h->xrcd ? kv_made(ib_create_qp(NULL, &init)) : NULL;
	h->handle = h->target ? kv_made(ib_open_qp(h->xrcd, h->target->qp_num, NULL, NULL)) : NULL;
	return h->handle;
}

static void by_second_handle(struct tb *tb, struct holder *h)
{
	if (!target_open(tb, h))
		return;
	to_rtr(tb, h, h->handle, 2, 0);
	must(ib_close_qp(h->handle));
	h->handle = NULL;
}

static void by_first_handle(struct tb *tb, struct holder *h)
{
	if (!target_open(tb, h))
		return;
	to_rtr(tb, h, h->target, 2, 0);
	must(ib_destroy_qp(h->target));
	h->target = h->handle;
	h->handle = NULL;
}

/* One handle gives the path, and the other one resets the queue pair. */
static void reset_by_other(struct tb *tb, struct holder *h)
{
	if (!target_open(tb, h))
		return;
	to_rtr(tb, h, h->handle, 2, 0);
	to_reset(tb, h->target);
	must(ib_close_qp(h->handle));
	h->handle = NULL;
}

/* It has no handle, and its MAC is found like that of any other path. */
static void by_number(struct tb *tb, struct holder *h)
{
	const struct ib_qp_attr attr = path_of(h, 2);
	struct drv_qp_attr got = {0};
	uint32_t number;

	h->xrcd = kv_made(ib_alloc_xrcd(ib_device_of(h->end)));
	if (!h->xrcd)
		return;
	must(ib_alloc_xrc_rcv_qp(h->xrcd, &attr, (INIT_MASK | RTR_MASK) & ~(unsigned)IB_QP_STATE,
				 &number));
	if (!still_right())
		return;
	must(drv_qp_query(drv_qp_find(h->end->dev, number), &got));
	expect_true(!memcmp(got.ah_attr.dmac, h->end->peer->mac, sizeof(got.ah_attr.dmac)));
}

/* A thread that destroys a queue pair. static: when the scenario fails, it ends after the return */
static struct ending {
	struct ib_qp *qp;
	int rc;
	bool done;
} ending;

static void end_thread(void *arg)
{
	struct ending *e = arg;

	e->rc = ib_destroy_qp(e->qp);
	e->done = true;
}

/* The command that ends the queue pair has no answer as long as the vector is masked. Until then the
 * queue pair holds the GID. */
static void end_slowly(struct tb *tb, struct holder *h, struct ib_qp *qp)
{
	const struct ib_gid_hold *held = &qp->real_qp->gid;

	mask_vector(h->end, 0, true);
	ending = (struct ending){.qp = qp};
	h->end->platform->ops->thread_start(h->end->platform, "ends", end_thread, &ending);
	pass_time(CFG_US(PAUSE_US));
	expect_true(!ending.done);
	if (!ending.done)
		expect_true(held->netdev == h->end->net);
	mask_vector(h->end, 0, false);
	pass_time(CFG_US(PAUSE_US));
	expect_true(ending.done);
	expect_equal(ending.rc, 0);
}

static void end_all(struct tb *tb, struct holder *h)
{
	for (unsigned i = 0; i < 2; i++)
		if (h->ah[i])
			must(rdma_destroy_ah(h->ah[i], 0));
	if (h->target && h->target->real_qp->gid.netdev)
		end_slowly(tb, h, h->target);
	else if (h->target)
		must(ib_destroy_qp(h->target));
	if (h->xrcd)
		must(ib_dealloc_xrcd(h->xrcd));
	if (h->kv.qp)
		kv_close(&h->kv);
}

static const struct {
	const char *name;
	void (*begin)(struct tb *tb, struct holder *h);
	unsigned held; /* the version of RoCE whose GID is held; 0: none */
} rows[] = {
	{"an address handle", handle_of_v2, 2},
	{"an address handle of RoCE v1", handle_of_v1, 1},
	{"the second of two address handles", two_handles, 2},
	{"a queue pair in RTR", connected, 2},
	{"a queue pair in error", failed, 2},
	{"a queue pair that was refused", refused, 0},
	{"a queue pair that was reset", reset, 0},
	{"a queue pair with its second path", again, 1},
	{"a queue pair that was refused its next step", refused_then, 2},
	{"an XRC target by a handle that is closed", by_second_handle, 2},
	{"an XRC target by the handle that made it", by_first_handle, 2},
	{"an XRC target that another handle has reset", reset_by_other, 0},
	{"a receive QP of a domain", by_number, 2},
};

/* --- the places --- */

static void add(struct tb *tb, struct tb_end *end, const struct net_address *ip,
		int index[VERSIONS + 1])
{
	must(net_address_add(end->net, ip));
	for (unsigned v = 1; v <= VERSIONS; v++) {
		expect_event(end, IBV_EVENT_GID_CHANGE);
		index[v] = gid_index(end, ip, v);
	}
}

static void take(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	must(net_address_remove(end->net, ip->ip, ip->vlan));
	for (unsigned v = 1; v <= VERSIONS; v++)
		expect_event(end, IBV_EVENT_GID_CHANGE);
}

static bool is_one_of(int index, const int places[VERSIONS + 1])
{
	return index == places[1] || index == places[2];
}

SCENARIO(net_gid_holders, "who keeps the place of a GID whose address has been removed", .qps = 0,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address first = ipv4_of(a);
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(a), 0));
	struct net_address second = first;
	int index[VERSIONS + 1], places[VERSIONS + 1] = {0};

	second.ip[15] = (uint8_t)(second.ip[15] + 100);
	for_each_row(i, rows) {
		struct holder h = {.end = a, .pd = pd};

		name_row("%s", rows[i].name);
		for (unsigned v = 1; v <= VERSIONS; v++)
			h.index[v] = places[v] = gid_index(a, &first, v);
		rows[i].begin(tb, &h);
		if (!still_right())
			return;
		take(tb, a, &first);
		add(tb, a, &second, index);
		for (unsigned v = 1; v <= VERSIONS; v++)
			expect_true(!rows[i].held || index[v] != places[rows[i].held]);
		/* the places that nobody holds are taken again */
		expect_equal(is_one_of(index[1], places) + is_one_of(index[2], places),
			     VERSIONS - !!rows[i].held);
		take(tb, a, &second);
		end_all(tb, &h);
		add(tb, a, &first, index);
		for (unsigned v = 1; v <= VERSIONS; v++)
			expect_equal(index[v], places[v]);
	}
	must(ib_dealloc_pd(pd));
}
