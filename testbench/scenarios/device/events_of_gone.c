/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events stand in the event queues while their interrupts are masked: of a shared receive queue, a queue
 * pair that drains, a CQ and one that is full. The objects are destroyed meanwhile, by commands that need
 * no event. When the interrupts come, nobody is told of what is gone, and the event queues go on.
 */
/* behaviours: EQ-gone */
#include "testbench/harm.h"

enum {
	VECTOR = 1,
	LIMIT = 2,
	SENDS = 7,
	PAUSE_US = 50,
	/* drained, limit, the small CQ is full, its queue pair fails and takes no receive any more */
	EVENTS = 5
};

struct told {
	unsigned events, completions;
	struct drv_event last;
};

static void event_came(void *arg, const struct drv_event *event)
{
	struct told *told = arg;

	told->events++;
	told->last = *event;
}

static void completion_came(void *arg, struct drv_cq *cq)
{
	struct told *told = arg;

	(void)cq;
	told->completions++;
}

struct all {
	struct drv_pd *pd;
	struct drv_cq *cq, *small;
	struct drv_srq *srq;
	struct drv_qp *qp, *fails;
};

static struct drv_qp *sender(struct tb *tb, struct tb_end *a, const struct all *x,
			     struct drv_cq *cq)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = cq,
					 .recv_cq = cq,
					 .srq = x->srq,
					 .cap = {.max_send_wr = SENDS, .max_send_sge = 1}};
	struct drv_rc_path path = drv_rc_path_default(1, 1);
	struct drv_qp *qp;

	if (drv_port_is_ethernet(a->dev, 1)) {
		path.is_global = true;
		must(drv_query_gid(a->dev, 1, 0, path.dgid));
		drv_eth_mac(a->dev, 1, path.dmac);
	}
	must(drv_qp_create(x->pd, &init, &qp));
	if (still_right())
		must(drv_qp_connect(qp, &path));
	return qp;
}

static void make(struct tb *tb, struct tb_end *a, struct all *x, struct told *told)
{
	const struct drv_srq_init init = {.max_wr = 3, .max_sge = 1};

	must(drv_pd_alloc(a->dev, &x->pd));
	must(drv_cq_create(a->dev, SENDS, VECTOR - 1, &x->cq));
	must(drv_cq_create(a->dev, 1, VECTOR - 1, &x->small));
	must(drv_srq_create(x->pd, &init, &x->srq));
	if (!still_right())
		return;
	drv_cq_set_callback(x->cq, completion_came, told);
	x->qp = sender(tb, a, x, x->cq);
	x->fails = sender(tb, a, x, x->small);
}

static void nops(struct tb *tb, struct drv_qp *qp, unsigned n)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};

	for (unsigned i = 0; i < n && still_right(); i++)
		must(drv_post_send(qp, &wr, NULL));
}

/* Each object makes an event. */
static void provoke(struct tb *tb, const struct all *x)
{
	const struct drv_qp_attr sqd = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = true};

	must(drv_cq_arm(x->cq, false));
	nops(tb, x->qp, 1);
	nops(tb, x->fails, SENDS);
	pass_time(CFG_US(PAUSE_US));
	must(drv_qp_modify(x->qp, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	must(drv_srq_arm(x->srq, LIMIT));
	pass_time(CFG_US(PAUSE_US));
}

static void end(struct tb *tb, const struct all *x)
{
	must(drv_qp_destroy(x->qp));
	must(drv_qp_destroy(x->fails));
	must(drv_srq_destroy(x->srq));
	must(drv_cq_destroy(x->cq));
	must(drv_cq_destroy(x->small));
	must(drv_pd_free(x->pd));
}

SCENARIO(events_of_gone,
	 "events that are taken when their objects are gone: nobody is told of them", .bare = true,
	 .of_mlx4 = "event queues")
{
	const struct drv_options options = {.log_eq_size = 8, .poll_commands = true};
	struct told told = {0};

	must(drv_probe(a->platform, &options, &a->dev));
	if (!still_right())
		return;
	drv_event_register(a->dev, event_came, &told);
	for (unsigned gone = 0; gone < 2 && still_right(); gone++) {
		struct all x = {0};

		name_row(gone ? "gone" : "there");
		told = (struct told){0};
		make(tb, a, &x, &told);
		mask_vector(a, 0, gone);
		mask_vector(a, VECTOR, gone);
		if (still_right())
			provoke(tb, &x);
		if (!still_right())
			return;
		if (!gone) {
			expect_equal(told.events, EVENTS);
			expect_equal(told.completions, 1);
		}
		end(tb, &x);
		expect_true(!gone || (vector_pending(a, 0) && vector_pending(a, VECTOR)));
		mask_vector(a, 0, false);
		mask_vector(a, VECTOR, false);
		pass_time(CFG_US(PAUSE_US));
		expect_equal(told.events, gone ? 0 : EVENTS);
		expect_equal(told.completions, !gone);
	}
	drv_event_register(a->dev, NULL, NULL);
	take_down(a);
}
