/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device refuses to give back what an object of kernel verbs has. A region with bound windows stays, and
 * so does a member of a multicast group: the call fails, what the object uses is still in use, and the
 * same call succeeds the next time. After any other refusal the device is reset, and the object has gone as
 * if nothing had happened: what it used has no user more, and can go, too.
 */
/* behaviours: FAULT-command-status */
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

struct world {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
};

static void *mr_make(struct world *w)
{
	return ib_get_dma_mr(w->pd, IB_ACCESS_LOCAL_WRITE);
}

static void *fast_make(struct world *w)
{
	return ib_alloc_mr(w->pd, IB_MR_TYPE_MEM_REG, 3);
}

static int mr_end(void *mr)
{
	return ib_dereg_mr(mr);
}

static void *mw_make(struct world *w)
{
	return ib_alloc_mw(w->pd, IB_MW_TYPE_2);
}

static int mw_end(void *mw)
{
	return ib_dealloc_mw(mw);
}

/* It has a region of its own. */
static void *global_make(struct world *w)
{
	return ib_alloc_pd(w->device, IB_PD_UNSAFE_GLOBAL_RKEY);
}

static int pd_end(void *pd)
{
	return ib_dealloc_pd(pd);
}

static void *cq_make(struct world *w)
{
	return ib_create_cq(w->device, NULL, NULL, NULL, &(struct ib_cq_init_attr){.cqe = 4});
}

static int cq_end(void *cq)
{
	return ib_destroy_cq(cq);
}

static void *polled_make(struct world *w)
{
	return ib_alloc_cq(w->device, NULL, 4, 0, IB_POLL_WORKQUEUE);
}

static void *softirq_make(struct world *w)
{
	return ib_alloc_cq(w->device, NULL, 4, 0, IB_POLL_SOFTIRQ);
}

static int polled_end(void *cq)
{
	ib_free_cq(cq);
	return 0;
}

static void *srq_make(struct world *w)
{
	return ib_create_srq(w->pd,
			     &(struct ib_srq_init_attr){.attr = {.max_wr = 4, .max_sge = 1}});
}

static void *xsrq_make(struct world *w)
{
	struct ib_srq_init_attr init = {.srq_type = IB_SRQT_XRC,
					.attr = {.max_wr = 4, .max_sge = 1},
					.ext = {.cq = w->cq, .xrc = {w->xrcd}}};

	return ib_create_srq(w->pd, &init);
}

static int srq_end(void *srq)
{
	return ib_destroy_srq(srq);
}

static void *in_init(struct ib_qp *qp, unsigned mask)
{
	const struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = 1, .qkey = KV_QKEY};
	const int rc = IS_ERR(qp)
			       ? 0
			       : ib_modify_qp(qp, &attr,
					      IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | mask);

	return rc ? ERR_PTR(rc) : qp;
}

static void *ud_make(struct world *w)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_UD,
				       .send_cq = w->cq,
				       .recv_cq = w->cq,
				       .srq = w->srq,
				       .cap = {.max_send_wr = 1, .max_send_sge = 1}};

	return in_init(ib_create_qp(w->pd, &init), IB_QP_QKEY);
}

static void *contexts_make(struct world *w)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_RC,
				       .send_cq = w->cq,
				       .recv_cq = w->cq,
				       .cap = {.max_send_wr = 1,
					       .max_recv_wr = 1,
					       .max_send_sge = 1,
					       .max_recv_sge = 1,
					       .max_rdma_ctxs = 2}};

	return in_init(ib_create_qp(w->pd, &init), IB_QP_ACCESS_FLAGS);
}

static void *target_make(struct world *w)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT, .xrcd = w->xrcd};

	return in_init(ib_create_qp(NULL, &init), IB_QP_ACCESS_FLAGS);
}

static int qp_end(void *qp)
{
	return ib_destroy_qp(qp);
}

static void *xrcd_make(struct world *w)
{
	return ib_alloc_xrcd(w->device);
}

static int xrcd_end(void *xrcd)
{
	return ib_dealloc_xrcd(xrcd);
}

static const struct row {
	const char *name;
	void *(*make)(struct world *w);
	int (*end)(void *object);
	uint32_t opcode;
} rows[] = {
	{"a region", mr_make, mr_end, HCR_HW2SW_MPT},
	{"a fast region", fast_make, mr_end, HCR_HW2SW_MPT},
	{"a window", mw_make, mw_end, HCR_HW2SW_MPT},
	{"a PD with a region", global_make, pd_end, HCR_HW2SW_MPT},
	{"a CQ", cq_make, cq_end, HCR_HW2SW_CQ},
	{"a CQ with a thread", polled_make, polled_end, HCR_HW2SW_CQ},
	{"a CQ polled by interrupts", softirq_make, polled_end, HCR_HW2SW_CQ},
	{"an SRQ", srq_make, srq_end, HCR_HW2SW_SRQ},
	{"an XRC SRQ", xsrq_make, srq_end, HCR_HW2SW_SRQ},
	{"a queue pair with an SRQ", ud_make, qp_end, HCR_2RST_QP},
	{"a queue pair with contexts", contexts_make, qp_end, HCR_2RST_QP},
	{"an XRC target", target_make, qp_end, HCR_2RST_QP},
	{"an XRC domain", xrcd_make, xrcd_end, HCR_HW2SW_CQ},
};

static bool world_make(struct tb *tb, struct tb_end *a, struct world *w)
{
	*w = (struct world){.device = ib_device_of(a)};
	w->pd = w->device ? kv_made(ib_alloc_pd(w->device, 0)) : NULL;
	if (!w->pd)
		return false;
	w->cq = kv_made(cq_make(w));
	w->srq = kv_made(srq_make(w));
	w->xrcd = kv_made(xrcd_make(w));
	return still_right();
}

static void unused(struct tb *tb, const struct world *w, unsigned objects)
{
	expect_equal(w->pd->usecnt, 1); /* the SRQ */
	expect_equal(w->cq->usecnt, 0);
	expect_equal(w->srq->usecnt, 0);
	expect_equal(w->xrcd->usecnt, 0);
	expect_equal(ib_device_objects(w->device), objects);
}

static void world_end(struct tb *tb, struct world *w, unsigned before)
{
	must(ib_dealloc_xrcd(w->xrcd));
	must(ib_destroy_srq(w->srq));
	must(ib_destroy_cq(w->cq));
	must(ib_dealloc_pd(w->pd));
	expect_equal(ib_device_objects(w->device), before);
}

static void one(struct tb *tb, struct tb_end *a, const struct row *row)
{
	const unsigned before = ib_device_objects(ib_device_of(a));
	struct world w;
	unsigned objects;
	void *object;

	if (!world_make(tb, a, &w))
		return;
	objects = ib_device_objects(w.device);
	object = kv_made(row->make(&w));
	if (!object)
		return;
	expect_that(ib_device_objects(w.device), >, objects);
	/* only windows that are bound to a region are a reason to go on */
	fail_command(a, row->opcode,
		     (row - rows) % 2 ? HCR_STATUS_BAD_RES_STATE : HCR_STATUS_RESOURCE_BUSY, 1);
	must(row->end(object));
	unused(tb, &w, objects);
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_true(drv_is_dead(a->dev));
	world_end(tb, &w, before);
	ignore_events(a);
	abandon(a);
	bring_up(a);
	activate_ports();
	check_events(a);
}

/* Twice refused, and then not. */
static void stays(struct tb *tb, struct tb_end *a)
{
	const union ib_gid gid = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 3}};
	struct world w;
	unsigned objects, before = ib_device_objects(ib_device_of(a));
	struct ib_mr *mr;
	struct ib_qp *qp;

	if (!world_make(tb, a, &w))
		return;
	objects = ib_device_objects(w.device);
	mr = kv_made(mr_make(&w));
	qp = kv_made(ud_make(&w));
	if (!mr || !qp)
		return;
	for (unsigned i = 0; i < 2; i++) {
		fail_command(a, HCR_HW2SW_MPT, HCR_STATUS_REG_BOUND, 1);
		must_fail(-EBUSY, ib_dereg_mr(mr));
		expect_equal(w.pd->usecnt, 3);
		expect_equal(ib_device_objects(w.device), objects + 2);
		must_fail(-EBUSY, ib_dealloc_pd(w.pd));
	}
	must(ib_dereg_mr(mr));
	expect_equal(w.pd->usecnt, 2);
	fail_command(a, HCR_READ_MCG, HCR_STATUS_BAD_PARAM, 1);
	must_fail(-EINVAL, ib_attach_mcast(qp, &gid, 0));
	expect_equal(qp->usecnt, 0);
	must(ib_attach_mcast(qp, &gid, 0));
	for (unsigned i = 0; i < 2; i++) {
		fail_command(a, HCR_READ_MCG, i ? HCR_STATUS_EXCEED_LIM : HCR_STATUS_BAD_PARAM, 1);
		must_fail(i ? -ENOMEM : -EINVAL, ib_detach_mcast(qp, &gid, 0));
		expect_equal(qp->usecnt, 1);
		must_fail(-EBUSY, ib_destroy_qp(qp));
	}
	must(ib_detach_mcast(qp, &gid, 0));
	must(ib_destroy_qp(qp));
	unused(tb, &w, objects);
	expect_true(!drv_is_dead(a->dev));
	world_end(tb, &w, before);
}

SCENARIO(kernel_end_refused, "kernel verbs: the device refuses to give back what an object has",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "commands that give an object back")
{
	ignore_events(b);
	phase("stays");
	stays(tb, a);
	phase("goes");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		one(tb, a, &rows[i]);
	}
}
