/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each object of kernel verbs uses: its PD, CQs, SRQ or XRC domain. Each of them counts its users,
 * cannot be destroyed while it has one, and is as it was after that has been refused. An object that
 * cannot be made uses nothing, and one that has gone neither; one that is going still does. A queue pair that is in a multicast group
 * stays, too, and so does one whose last detach was refused.
 */
#include "testbench/kernel_verbs.h"

enum { TOO_MANY = 1 << 30, ALL = 32, PAGE = 4096, STEPS = 10000, STEP_PS = 500000 };

enum used { PD, SEND_CQ, RECV_CQ, SRQ_CQ, SRQ, XRCD, USED };

static const char *const names[USED] = {
	"PD", "CQ of sends", "CQ of receives", "CQ of an XRC SRQ", "the SRQ", "XRC domain"};

struct base {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *send, *recv, *of_srq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct ib_qp *target;
	unsigned too_many; /* what is made is too large, or of a wrong kind */
};

/* --- what is made --- */

static void *mr_make(struct base *b)
{
	return ib_get_dma_mr(b->pd, b->too_many ? IB_ACCESS_REMOTE_WRITE : 0u);
}

static void *fast_make(struct base *b)
{
	return ib_alloc_mr(b->pd, IB_MR_TYPE_MEM_REG, 1 + b->too_many);
}

static int mr_end(void *mr)
{
	return ib_dereg_mr(mr);
}

static void *mw_make(struct base *b)
{
	return ib_alloc_mw(b->pd, b->too_many ? (enum ib_mw_type)ALL : IB_MW_TYPE_1);
}

static int mw_end(void *mw)
{
	return ib_dealloc_mw(mw);
}

static void *ah_make(struct base *b)
{
	const struct rdma_ah_attr ah = {.port_num = 1,
					.dlid = 1,
					.sl = b->too_many ? 16 : 0,
					.ah_flags = IB_AH_GRH,
					.grh.dgid.raw = {0xff, 0x0e, [15] = 1}};

	return rdma_create_ah(b->pd, &ah, 0);
}

static int ah_end(void *ah)
{
	return rdma_destroy_ah(ah, 0);
}

static void *srq_make(struct base *b)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 1 + b->too_many, .max_sge = 1},
					/* only those of XRC have one */
					.ext = {.cq = b->of_srq}};

	return ib_create_srq(b->pd, &init);
}

static void *xsrq_make(struct base *b)
{
	struct ib_srq_init_attr init = {.srq_type = IB_SRQT_XRC,
					.attr = {.max_wr = 1 + b->too_many, .max_sge = 1},
					.ext = {.cq = b->of_srq, .xrc = {b->xrcd}}};

	return ib_create_srq(b->pd, &init);
}

static int srq_end(void *srq)
{
	return ib_destroy_srq(srq);
}

static struct ib_qp_init_attr init_of(struct base *b, enum ib_qp_type type)
{
	return (struct ib_qp_init_attr){.qp_type = type,
					.send_cq = b->send,
					.recv_cq = b->recv,
					.cap = {.max_send_wr = 1 + b->too_many,
						.max_recv_wr = 1,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
}

/* In INIT, so that its end takes a command. */
static void *rc_make(struct base *b)
{
	const struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = 1};
	struct ib_qp_init_attr init = init_of(b, IB_QPT_RC);
	struct ib_qp *qp = ib_create_qp(b->pd, &init);
	const int rc = IS_ERR(qp) ? 0
				  : ib_modify_qp(qp, &attr,
						 IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
							 IB_QP_ACCESS_FLAGS);

	if (!rc)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(rc);
}

static void *contexts_make(struct base *b)
{
	struct ib_qp_init_attr init = init_of(b, IB_QPT_RC);

	init.cap.max_rdma_ctxs = 1;
	init.cap.max_send_sge += b->too_many;
	return ib_create_qp(b->pd, &init);
}

static void *one_cq_make(struct base *b)
{
	struct ib_qp_init_attr init = init_of(b, IB_QPT_UC);

	init.recv_cq = init.send_cq;
	return ib_create_qp(b->pd, &init);
}

static void *ud_srq_make(struct base *b)
{
	struct ib_qp_init_attr init = init_of(b, IB_QPT_UD);

	init.srq = b->srq;
	return ib_create_qp(b->pd, &init);
}

static void *initiator_make(struct base *b)
{
	struct ib_qp_init_attr init = init_of(b, IB_QPT_XRC_INI);

	return ib_create_qp(b->pd, &init);
}

static void *target_make(struct base *b)
{
	struct ib_qp_init_attr init = init_of(b, IB_QPT_XRC_TGT);

	init.xrcd = b->too_many ? NULL : b->xrcd;
	return ib_create_qp(b->pd, &init);
}

static void *handle_make(struct base *b)
{
	return ib_open_qp(b->xrcd, b->target->qp_num + b->too_many, NULL, NULL);
}

static int qp_end(void *qp)
{
	return ib_destroy_qp(qp);
}

static int handle_end(void *qp)
{
	return ib_close_qp(qp);
}

static const struct kind {
	const char *name;
	void *(*make)(struct base *b);
	int (*end)(void *object);
	unsigned uses[USED], objects;
	bool xrc;
} kinds[] = {
	{"a region of all memory", mr_make, mr_end, {[PD] = 1}, 1, false},
	{"a fast region", fast_make, mr_end, {[PD] = 1}, 1, false},
	{"a window", mw_make, mw_end, {[PD] = 1}, 1, false},
	{"an address handle", ah_make, ah_end, {[PD] = 1}, 1, false},
	{"an SRQ", srq_make, srq_end, {[PD] = 1}, 1, false},
	{"an XRC SRQ", xsrq_make, srq_end, {[PD] = 1, [SRQ_CQ] = 1, [XRCD] = 1}, 1, true},
	{"an RC queue pair", rc_make, qp_end, {[PD] = 1, [SEND_CQ] = 1, [RECV_CQ] = 1}, 1, false},
	{"one with a context",
	 contexts_make,
	 qp_end,
	 {[PD] = 1, [SEND_CQ] = 1, [RECV_CQ] = 1},
	 1,
	 false},
	{"a queue pair with one CQ", one_cq_make, qp_end, {[PD] = 1, [SEND_CQ] = 2}, 1, false},
	{"a queue pair with an SRQ",
	 ud_srq_make,
	 qp_end,
	 {[PD] = 1, [SEND_CQ] = 1, [RECV_CQ] = 1, [SRQ] = 1},
	 1,
	 false},
	{"an XRC initiator", initiator_make, qp_end, {[PD] = 1, [SEND_CQ] = 1}, 1, true},
	{"an XRC target", target_make, qp_end, {[XRCD] = 1}, 1, true},
	{"a handle of an XRC target", handle_make, handle_end, {[XRCD] = 1}, 0, true},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* --- counts --- */

static unsigned count_of(const struct base *b, enum used u)
{
	const unsigned counts[USED] = {b->pd->usecnt,   b->send->usecnt,
				       b->recv->usecnt, b->of_srq->usecnt,
				       b->srq->usecnt,  b->xrcd ? b->xrcd->usecnt : 0};

	return counts[u];
}

static void users_are(struct tb *tb, const struct base *b, const char *name,
		      const unsigned want[USED])
{
	for (unsigned u = 0; u < USED; u++) {
		name_row("%s, users of %s", name, names[u]);
		expect_equal(count_of(b, u), want[u]);
	}
}

static void counts_are(struct tb *tb, const struct base *b, const char *name,
		       const unsigned want[USED], unsigned objects)
{
	users_are(tb, b, name, want);
	name_row("%s", name);
	expect_equal(ib_device_objects(b->device), objects);
}

static void refused(struct tb *tb, struct base *b, const char *name, const unsigned counts[USED])
{
	name_row("%s, what it uses is destroyed", name);
	if (counts[PD])
		must_fail(-EBUSY, ib_dealloc_pd(b->pd));
	if (counts[SEND_CQ])
		must_fail(-EBUSY, ib_destroy_cq(b->send));
	if (counts[RECV_CQ])
		must_fail(-EBUSY, ib_destroy_cq(b->recv));
	if (counts[SRQ_CQ])
		must_fail(-EBUSY, ib_destroy_cq(b->of_srq));
	if (counts[SRQ])
		must_fail(-EBUSY, ib_destroy_srq(b->srq));
	if (counts[XRCD])
		must_fail(-EBUSY, ib_dealloc_xrcd(b->xrcd));
}

/* A thread that ends an object. */
static struct ending {
	const struct kind *k;
	void *object;
	int rc;
	bool done;
} ending;

static void end_thread(void *arg)
{
	struct ending *e = arg;

	e->rc = e->k->end(e->object);
	e->done = true;
}

/* What it uses is used until it has ended. */
static void end_slowly(struct tb *tb, struct tb_end *a, struct base *b, const struct kind *k,
		       void *object, const unsigned now[USED])
{
	ending = (struct ending){.k = k, .object = object};
	a->platform->ops->thread_start(a->platform, "ends", end_thread, &ending);
	for (unsigned i = 0; i < STEPS && !ending.done && still_right(); i++) {
		users_are(tb, b, k->name, now);
		pass_time(STEP_PS);
	}
	expect_true(ending.done);
	expect_equal(ending.rc, 0);
}

static void one(struct tb *tb, struct tb_end *a, struct base *b, const struct kind *k,
		unsigned want[USED], unsigned objects)
{
	unsigned now[USED];
	void *object;

	for (unsigned u = 0; u < USED; u++)
		now[u] = want[u] + k->uses[u];
	name_row("%s", k->name);
	b->too_many = TOO_MANY;
	object = k->make(b);
	b->too_many = 0;
	if (!IS_ERR(object))
		expect_that(PTR_ERR(object), <, 0);
	counts_are(tb, b, k->name, want, objects);
	object = still_right() ? kv_made(k->make(b)) : NULL;
	if (!object)
		return;
	counts_are(tb, b, k->name, now, objects + k->objects);
	refused(tb, b, k->name, now);
	end_slowly(tb, a, b, k, object, now);
	counts_are(tb, b, k->name, want, objects);
}

/* All at once. They go in the order in which they came. */
static void all(struct tb *tb, struct base *b, unsigned want[USED], unsigned objects)
{
	void *object[KINDS] = {NULL};

	for (unsigned i = 0; i < KINDS && still_right(); i++) {
		if (kinds[i].xrc && !b->xrcd)
			continue;
		object[i] = kv_made(kinds[i].make(b));
		for (unsigned u = 0; u < USED; u++)
			want[u] += kinds[i].uses[u];
		objects += kinds[i].objects;
		counts_are(tb, b, "all", want, objects);
	}
	for (unsigned i = 0; i < KINDS && still_right(); i++) {
		if (!object[i])
			continue;
		refused(tb, b, "all", want);
		must(kinds[i].end(object[i]));
		for (unsigned u = 0; u < USED; u++)
			want[u] -= kinds[i].uses[u];
		objects -= kinds[i].objects;
		counts_are(tb, b, "all", want, objects);
	}
}

static void groups(struct tb *tb, struct base *b)
{
	const union ib_gid first = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 1}},
			   second = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 2}},
			   single = {.raw = {0xfe, 0x80, [15] = 1}};
	struct ib_qp *qp = kv_made(ud_srq_make(b)), *rc = kv_made(rc_make(b));

	name_row("%s", "groups");
	if (!qp || !rc)
		return;
	must_fail(-EINVAL, ib_attach_mcast(rc, &first, 0));
	must_fail(-EINVAL, ib_attach_mcast(qp, &single, 0));
	expect_equal(qp->usecnt + rc->usecnt, 0);
	must(ib_attach_mcast(qp, &first, 0));
	must(ib_attach_mcast(qp, &second, 0));
	expect_equal(qp->usecnt, 2);
	must_fail(-EBUSY, ib_destroy_qp(qp));
	must(ib_detach_mcast(qp, &second, 0));
	must_fail(-EINVAL, ib_detach_mcast(qp, &second, 0));
	must_fail(-EINVAL, ib_detach_mcast(qp, &single, 0));
	must_fail(-EINVAL, ib_detach_mcast(rc, &first, 0));
	expect_equal(qp->usecnt, 1);
	expect_equal(rc->usecnt, 0);
	must_fail(-EBUSY, ib_destroy_qp(qp));
	must(ib_detach_mcast(qp, &first, 0));
	must(ib_destroy_qp(qp));
	must(ib_destroy_qp(rc));
}

static bool base_make(struct tb *tb, struct base *b)
{
	const struct ib_cq_init_attr cq = {.cqe = 4};
	struct ib_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ib_qp_init_attr target = {.qp_type = IB_QPT_XRC_TGT};

	b->pd = kv_made(ib_alloc_pd(b->device, 0));
	b->send = kv_made(ib_create_cq(b->device, NULL, NULL, NULL, &cq));
	b->recv = kv_made(ib_create_cq(b->device, NULL, NULL, NULL, &cq));
	b->of_srq = kv_made(ib_create_cq(b->device, NULL, NULL, NULL, &cq));
	b->srq = b->pd ? kv_made(ib_create_srq(b->pd, &srq)) : NULL;
	b->xrcd = target.xrcd = kv_made(ib_alloc_xrcd(b->device));
	b->target = b->xrcd ? kv_made(ib_create_qp(NULL, &target)) : NULL;
	return b->target && still_right();
}

SCENARIO(kernel_uses, "kernel verbs: what each object uses, counts and keeps", .no_qps = true)
{
	struct base base = {.device = ib_device_of(a)};
	unsigned want[USED], objects, before;

	if (!base.device)
		return;
	before = ib_device_objects(base.device);
	if (!base_make(tb, &base))
		return;
	for (unsigned u = 0; u < USED; u++)
		want[u] = count_of(&base, u);
	expect_equal(want[PD], 1);
	expect_equal(want[XRCD], 1);
	expect_equal(want[SEND_CQ] + want[RECV_CQ] + want[SRQ_CQ] + want[SRQ], 0);
	objects = ib_device_objects(base.device);
	expect_that(objects, >=, 7); /* without the reserved key, the PD has a region */
	for (unsigned i = 0; i < KINDS && still_right(); i++)
		one(tb, a, &base, &kinds[i], want, objects);
	all(tb, &base, want, objects);
	groups(tb, &base);
	counts_are(tb, &base, "none", want, objects);
	must(ib_destroy_qp(base.target));
	must(ib_dealloc_xrcd(base.xrcd));
	must(ib_destroy_srq(base.srq));
	must(ib_destroy_cq(base.of_srq));
	must(ib_destroy_cq(base.recv));
	must(ib_destroy_cq(base.send));
	must(ib_dealloc_pd(base.pd));
	expect_equal(ib_device_objects(base.device), before);
}
