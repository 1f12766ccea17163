/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interrupt brings from one event to more than two hundred: as many as the driver takes between two
 * writes of its consumer index, one fewer, one more. After each batch the event queue is armed again, so
 * that the next event interrupts.
 */
/* behaviours: EQ-batches */
#include "testbench/harm.h"

enum { VECTOR = 1, CQS = 260, CQ = 3, SETTLE_US = 200, PATIENCE = 50 };

struct source {
	struct drv_cq *cq;
	struct drv_qp *qp, *peer;
	unsigned events;
};

/* In interrupt context. */
static void event(void *arg, struct drv_cq *cq)
{
	struct source *s = arg;

	(void)cq;
	s->events++;
}

static bool source_open(struct tb *tb, struct tb_end *a, struct tb_end *b, struct source *s)
{
	s->cq = new_cq(a, CQ, VECTOR - 1);
	s->qp = new_qp(a, .send_cq = s->cq, .cap = {.max_send_wr = 4, .max_recv_wr = 1});
	s->peer = new_qp(b, .cap = {.max_send_wr = 4, .max_recv_wr = 1});
	connect_two(s->qp, s->peer);
	if (!still_right())
		return false;
	drv_cq_set_callback(s->cq, event, s);
	return true;
}

static unsigned came(const struct source *sources, unsigned n)
{
	unsigned events = 0;

	for (unsigned i = 0; i < n; i++)
		events += sources[i].events;
	return events;
}

/* n events are there when the vector is unmasked. */
static void batch(struct tb *tb, struct tb_end *a, struct source *sources, unsigned n)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};
	struct drv_wc wc;

	name_row("a batch of %u", n);
	mask_vector(a, VECTOR, true);
	for (unsigned i = 0; i < n; i++) {
		sources[i].events = 0;
		drv_cq_arm(sources[i].cq, false);
		must(drv_post_send(sources[i].qp, &wr, NULL));
	}
	pass_time(CFG_US(SETTLE_US));
	mask_vector(a, VECTOR, false);
	for (unsigned i = 0; i < PATIENCE && came(sources, n) < n; i++)
		pass_time(CFG_US(SETTLE_US));
	pass_time(CFG_US(SETTLE_US)); /* none comes twice */
	for (unsigned i = 0; i < n; i++) {
		expect_equal(sources[i].events, 1);
		expect_equal(drv_cq_poll(sources[i].cq, 1, &wc), 1);
		expect_equal(wc.opcode, IBV_WC_NOP);
	}
}

SCENARIO(events_batched, "one interrupt brings many events: each number of them, then the next one",
	 .any_packets = true)
{
	static const unsigned batches[] = {1,  2,  7,   8,   9,   15,  16,  17,  31,  32,  33, 63,
					   64, 65, 100, 127, 128, 129, 192, 255, 256, 257, CQS};
	static struct source sources[CQS];

	memset(sources, 0, sizeof(sources));
	for (unsigned i = 0; i < CQS; i++)
		if (!source_open(tb, a, b, &sources[i]))
			return;
	for (unsigned i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		batch(tb, a, sources, batches[i]);
		batch(tb, a, sources, 1);
	}
	for (unsigned i = 0; i < CQS; i++) {
		destroy_qp(sources[i].qp);
		destroy_qp(sources[i].peer);
		destroy_cq(sources[i].cq);
	}
}
