/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the objects of kernel verbs. The owner of an object is told each kind of event with its object
 * and the owner's context, and nobody else is: not the owner of a second object of that kind, not the
 * handlers of the device. An object that is not of kernel verbs tells who had the events before. Of the
 * handles of an XRC target one closes itself when it is told. While an object is being destroyed its owner
 * is told nothing, neither an event nor a completion.
 */
/* behaviours: EQ-gone */
#include "host_driver/mlx4/mad.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { TWO = 2, HANDLES = 4, CLOSES = 1, WAIT_US = 60, VECTOR = 1 };

struct told {
	unsigned n, completions;
	struct ib_event last;
	struct ib_qp *close; /* the handle that is closed when it is told */
};

static void event_told(struct ib_event *event, void *context)
{
	struct told *t = context;

	t->n++;
	t->last = *event;
	if (t->close)
		ib_close_qp(t->close);
}

static void completion_told(struct ib_cq *cq, void *context)
{
	struct told *t = context;

	(void)cq;
	t->completions++;
}

/* --- objects that stay --- */

static struct told qp_told[TWO], cq_told[TWO], srq_told[TWO], device_told;

struct set {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq[TWO];
	struct ib_srq *srq[TWO];
	struct ib_qp *qp[TWO];
};

static void handler_told(struct ib_event_handler *handler, struct ib_event *event)
{
	(void)handler;
	device_told.n++;
	device_told.last = *event;
}

static bool set_make(struct tb *tb, struct tb_end *a, struct set *s)
{
	const struct ib_cq_init_attr cq = {.cqe = 4};

	*s = (struct set){.device = ib_device_of(a)};
	s->pd = s->device ? kv_made(ib_alloc_pd(s->device, 0)) : NULL;
	for (unsigned i = 0; i < TWO && s->pd && still_right(); i++) {
		struct ib_srq_init_attr srq = {.event_handler = event_told,
					       .srq_context = &srq_told[i],
					       .attr = {.max_wr = 4, .max_sge = 1}};
		struct ib_qp_init_attr qp = {.event_handler = event_told,
					     .qp_context = &qp_told[i],
					     .qp_type = IB_QPT_RC,
					     .cap = {.max_send_wr = 1, .max_send_sge = 1}};

		qp_told[i] = cq_told[i] = srq_told[i] = (struct told){0};
		s->cq[i] = kv_made(
			ib_create_cq(s->device, completion_told, event_told, &cq_told[i], &cq));
		s->srq[i] = kv_made(ib_create_srq(s->pd, &srq));
		qp.send_cq = qp.recv_cq = s->cq[i];
		qp.srq = s->srq[i];
		s->qp[i] = still_right() ? kv_made(ib_create_qp(s->pd, &qp)) : NULL;
	}
	return still_right();
}

static void set_end(struct tb *tb, struct set *s)
{
	for (unsigned i = 0; i < TWO; i++) {
		if (s->qp[i])
			must(ib_destroy_qp(s->qp[i]));
		if (s->srq[i])
			must(ib_destroy_srq(s->srq[i]));
		if (s->cq[i])
			must(ib_destroy_cq(s->cq[i]));
	}
	must(ib_dealloc_pd(s->pd));
}

static unsigned all_told(void)
{
	unsigned n = device_told.n;

	for (unsigned i = 0; i < TWO; i++)
		n += qp_told[i].n + cq_told[i].n + srq_told[i].n;
	return n;
}

static void is_told(struct tb *tb, struct tb_end *a, const struct told *t,
		    const struct drv_event *event, const void *element)
{
	const unsigned all = all_told(), before = t->n;

	name_row("%s", ib_event_msg((enum ib_event_type)event->type));
	drv_notify(a->dev, event);
	expect_equal(t->n, before + 1);
	expect_equal(all_told(), all + 1);
	expect_equal(t->last.event, (unsigned)event->type);
	expect_true(t->last.element.qp == element);
	expect_true(t->last.device == ib_device_of(a));
}

static void kinds(struct tb *tb, struct tb_end *a, struct set *s)
{
	static const enum ibv_event_type of_qp[] = {
		IBV_EVENT_QP_FATAL,     IBV_EVENT_QP_REQ_ERR,         IBV_EVENT_QP_ACCESS_ERR,
		IBV_EVENT_COMM_EST,     IBV_EVENT_SQ_DRAINED,         IBV_EVENT_PATH_MIG,
		IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_LAST_WQE_REACHED};
	static const enum ibv_event_type of_srq[] = {IBV_EVENT_SRQ_ERR,
						     IBV_EVENT_SRQ_LIMIT_REACHED};

	for (unsigned i = 0; i < TWO; i++) {
		for_each_row(j, of_qp) {
			expect_true(!s->qp[i]->last_wqe);
			is_told(tb, a, &qp_told[i],
				&(struct drv_event){.type = of_qp[j], .qp = s->qp[i]->drv},
				s->qp[i]);
		}
		expect_true(s->qp[i]->last_wqe);
		for_each_row(j, of_srq)
			is_told(tb, a, &srq_told[i],
				&(struct drv_event){.type = of_srq[j], .srq = s->srq[i]->drv},
				s->srq[i]);
		is_told(tb, a, &cq_told[i],
			&(struct drv_event){.type = IBV_EVENT_CQ_ERR, .cq = s->cq[i]->drv},
			s->cq[i]);
	}
}

/* The driver's objects that kernel verbs do not know. */
static void foreign(struct tb *tb, struct tb_end *a, const struct set *s)
{
	const struct drv_srq_init srq_init = {.max_wr = 1, .max_sge = 1};
	const unsigned all = all_told();
	struct drv_qp_init init = {.type = IBV_QPT_UD, .cap = {.max_send_wr = 1}};
	struct drv_srq *srq;
	struct drv_cq *cq;
	struct drv_qp *qp;

	must(drv_cq_create(a->dev, 1, 0, &cq));
	must(drv_srq_create(s->pd->drv, &srq_init, &srq));
	if (!still_right())
		return;
	init.send_cq = init.recv_cq = cq;
	must(drv_qp_create(s->pd->drv, &init, &qp));
	if (!still_right())
		return;
	drv_notify(a->dev, &(struct drv_event){.type = IBV_EVENT_QP_FATAL, .qp = qp});
	expect_event(a, IBV_EVENT_QP_FATAL);
	drv_notify(a->dev, &(struct drv_event){.type = IBV_EVENT_SRQ_ERR, .srq = srq});
	expect_event(a, IBV_EVENT_SRQ_ERR);
	drv_notify(a->dev, &(struct drv_event){.type = IBV_EVENT_CQ_ERR, .cq = cq});
	expect_event(a, IBV_EVENT_CQ_ERR);
	expect_equal(all_told(), all);
	must(drv_qp_destroy(qp));
	must(drv_srq_destroy(srq));
	must(drv_cq_destroy(cq));
}

/* --- handles of an XRC target --- */

static void handles(struct tb *tb, struct tb_end *a)
{
	static struct told told[HANDLES];
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT, .event_handler = event_told};
	struct ib_qp *handle[HANDLES] = {NULL};
	struct drv_event event = {.type = IBV_EVENT_COMM_EST};

	init.xrcd = kv_made(ib_alloc_xrcd(ib_device_of(a)));
	for (unsigned i = 0; i < HANDLES && still_right(); i++) {
		told[i] = (struct told){0};
		init.qp_context = &told[i];
		handle[i] =
			kv_made(i ? ib_open_qp(init.xrcd, handle[0]->qp_num, event_told, &told[i])
				  : ib_create_qp(NULL, &init));
	}
	if (!still_right())
		return;
	told[CLOSES].close = handle[CLOSES];
	event.qp = handle[0]->drv;
	for (unsigned times = 1; times <= 2; times++) {
		drv_notify(a->dev, &event);
		told[CLOSES].close = NULL;
		for (unsigned i = 0; i < HANDLES; i++) {
			name_row("handle %u, event %u", i, times);
			expect_equal(told[i].n, i == CLOSES ? 1 : times);
			expect_true(told[i].last.element.qp == handle[i]);
		}
	}
	expect_equal(init.xrcd->device->xrc_rcv_events, 0); /* of those without a handle */
	for (unsigned i = 0; i < HANDLES; i++)
		if (i != CLOSES)
			must(ib_destroy_qp(handle[i]));
	must(ib_dealloc_xrcd(init.xrcd));
}

/* --- objects that go --- */

static struct ending {
	int (*end)(void *object);
	void *object;
	int rc;
	bool done;
} ending;

static void end_thread(void *arg)
{
	struct ending *e = arg;

	e->rc = e->end(e->object);
	e->done = true;
}

static int qp_end(void *qp)
{
	return ib_destroy_qp(qp);
}

static int srq_end(void *srq)
{
	return ib_destroy_srq(srq);
}

static int cq_end(void *cq)
{
	return ib_destroy_cq(cq);
}

/* The command that ends the object has no answer as long as the vector is masked. */
static void end_and_event(struct tb *tb, struct tb_end *a, const char *name,
			  int (*end)(void *object), void *object, const struct drv_event *event,
			  unsigned vector)
{
	unsigned all;

	if (!still_right())
		return;
	name_row("%s", name);
	all = all_told();
	mask_vector(a, 0, true);
	ending = (struct ending){.end = end, .object = object};
	a->platform->ops->thread_start(a->platform, "ends", end_thread, &ending);
	pass_time(CFG_US(WAIT_US));
	expect_true(!ending.done);
	if (still_right())
		drv_notify(a->dev, event);
	if (vector)
		mask_vector(a, vector, false);
	pass_time(CFG_US(WAIT_US));
	mask_vector(a, 0, false);
	pass_time(CFG_US(WAIT_US));
	expect_true(ending.done);
	expect_equal(ending.rc, 0);
	expect_equal(all_told(), all);
}

/* Makes a completion of the CQ, whose event waits until its vector is unmasked: the request is flushed. */
static void flush_one(struct tb *tb, struct tb_end *a, struct ib_qp *qp)
{
	const struct ib_send_wr send = {.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED};
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = 1};

	must(ib_modify_qp(qp, &attr,
			  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS));
	attr.qp_state = IB_QPS_ERR;
	must(ib_modify_qp(qp, &attr, IB_QP_STATE));
	must(ib_req_notify_cq(qp->send_cq, IB_CQ_NEXT_COMP));
	mask_vector(a, VECTOR, true);
	must(ib_post_send(qp, &send, NULL));
	pass_time(CFG_US(WAIT_US));
	expect_equal(drv_cq_outstanding(qp->send_cq->drv), 1);
	expect_true(vector_pending(a, VECTOR));
}

static void ends(struct tb *tb, struct tb_end *a, struct set *s)
{
	struct drv_event event = {.type = IBV_EVENT_QP_ACCESS_ERR, .qp = s->qp[1]->drv};

	ignore_discarded(a);
	flush_one(tb, a, s->qp[1]);
	end_and_event(tb, a, "a queue pair", qp_end, s->qp[1], &event, 0);
	s->qp[1] = NULL;
	event = (struct drv_event){.type = IBV_EVENT_SRQ_LIMIT_REACHED, .srq = s->srq[1]->drv};
	end_and_event(tb, a, "an SRQ", srq_end, s->srq[1], &event, 0);
	s->srq[1] = NULL;
	event = (struct drv_event){.type = IBV_EVENT_CQ_ERR, .cq = s->cq[1]->drv};
	end_and_event(tb, a, "a CQ", cq_end, s->cq[1], &event, VECTOR);
	s->cq[1] = NULL;
	expect_equal(cq_told[1].completions, 0);
}

SCENARIO(kernel_events, "kernel verbs: who is told of an object's events, and what no longer",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "vectors of interrupts")
{
	struct ib_event_handler handler;
	struct set s;

	device_told = (struct told){0};
	if (!set_make(tb, a, &s))
		return;
	INIT_IB_EVENT_HANDLER(&handler, s.device, handler_told);
	must(ib_register_event_handler(&handler));
	phase("kinds");
	kinds(tb, a, &s);
	phase("foreign");
	foreign(tb, a, &s);
	phase("handles");
	if (still_right())
		handles(tb, a);
	phase("ends");
	if (still_right())
		ends(tb, a, &s);
	ib_unregister_event_handler(&handler);
	set_end(tb, &s);
}
