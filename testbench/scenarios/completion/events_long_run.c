/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of events that is longer than the event queue, in one interrupt: the handler of each event
 * arms its CQ again and posts the work for the next one. The driver gives entries back while it
 * takes them, so the queue of 256 never overflows. No event is lost or taken twice, round after
 * round.
 */
/* behaviours: EQ-long-run */
#include "testbench/harm.h"

enum { LOG_EQ_SIZE = 8, CQS = 100, EVENTS_EACH = 7, VECTOR = 0, HANDLER_NS = 500 };

struct source {
	struct drv_cq *cq;
	struct drv_qp *qp;
	struct platform *platform;
	unsigned events, completions;
};

/* Posts one request, which completes into the CQ. */
static void work(struct source *s)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};

	drv_post_send(s->qp, &wr, NULL);
}

/* In interrupt context. */
static void event(void *arg, struct drv_cq *cq)
{
	struct source *s = arg;
	struct drv_wc wc;

	/* slower than the device, which therefore has the next event before this run is over */
	s->platform->ops->cpu_ps(s->platform, CFG_NS(HANDLER_NS));
	s->events++;
	while (drv_cq_poll(cq, 1, &wc) > 0)
		s->completions++;
	if (s->events == EVENTS_EACH)
		return;
	drv_cq_arm(cq, false);
	work(s);
}

static bool source_open(struct tb *tb, struct tb_end *a, struct tb_end *b, struct source *s,
			struct drv_qp *peer)
{
	s->platform = a->platform;
	s->cq = new_cq(a, 7, VECTOR);
	s->qp = new_qp(a, .send_cq = s->cq, .cap = {.max_send_wr = 4, .max_recv_wr = 1});
	connect_two(s->qp, peer);
	if (!still_right())
		return false;
	drv_cq_set_callback(s->cq, event, s);
	return true;
}

SCENARIO(events_long_run, "more events in one interrupt than the event queue has entries",
	 .bare = true)
{
	const struct drv_options options = {.log_eq_size = LOG_EQ_SIZE};
	struct source sources[CQS] = {{0}};
	struct drv_qp *peers[CQS];

	ignore_packets();
	must(drv_probe(a->platform, &options, &a->dev));
	bring_up(b);
	activate_ports();
	make_objects(a);
	make_objects(b);
	for (unsigned i = 0; i < CQS; i++) {
		peers[i] = new_qp(b, .cap = {.max_send_wr = 4, .max_recv_wr = 1});
		if (!source_open(tb, a, b, &sources[i], peers[i]))
			return;
	}
	mask_vector(a, VECTOR + 1, true);
	for (unsigned i = 0; i < CQS; i++) {
		drv_cq_arm(sources[i].cq, false);
		work(&sources[i]);
	}
	pass_time(CFG_MS(1));
	expect_true(vector_pending(a, VECTOR + 1));
	mask_vector(a, VECTOR + 1, false);
	pass_time(CFG_MS(20));
	for_each_row(i, sources) {
		expect_equal(sources[i].events, EVENTS_EACH);
		expect_equal(sources[i].completions, EVENTS_EACH);
	}
	expect_that(CQS * EVENTS_EACH, >, 2 << LOG_EQ_SIZE);
	for (unsigned i = CQS; i--;) {
		destroy_qp(sources[i].qp);
		destroy_qp(peers[i]);
		destroy_cq(sources[i].cq);
	}
	take_down(a);
	take_down(b);
}
