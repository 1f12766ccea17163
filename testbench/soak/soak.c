/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop of the soak: post requests, poll completions, move pairs to ERR and back, wait. */
#include "model/sim/params/sim.h"
#include "model/sim/params/sim_soak.h"
#include "testbench/soak/soak.h"

#include "model/interface/macros.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum {
	SETTLE_US = 2000, /* longer than any packet lives, with delays, copies and RNR waits */
	STARVED_US = 30,  /* how long a receive queue is left short of receives */
	/* Most time between a completion in memory and its event. An EQE waits for its turn at
	 * translation, behind the packets of all QPs: with 256 QPs and one MTT entry more than
	 * 50 us. */
	EVENT_US = 1000,
	STUCK_S = 5,
	DELAY_US = 20,
	MIN_FOR_FAULTS = 1000, /* with so many messages at 1 %, a fault of each kind must happen */
	LINGER = 8,
};

/* --- faults --- */

static void add_faults(struct soak *s)
{
	const struct sim_params *p = s->params;
	const struct fault_rule rules[] = {
		{.action = FAULT_DROP, .chance_ppm = (uint32_t)sim_param_soak_drop_ppm(p)},
		{.action = FAULT_DUPLICATE,
		 .chance_ppm = (uint32_t)sim_param_soak_duplicate_ppm(p) / 2,
		 .copies = 1},
		{.action = FAULT_DUPLICATE,
		 .chance_ppm = (uint32_t)sim_param_soak_duplicate_ppm(p) / 2,
		 .copies = 2,
		 .gap_ps = CFG_US(DELAY_US)},
		{.action = FAULT_REORDER,
		 .chance_ppm = (uint32_t)sim_param_soak_reorder_ppm(p) / 2,
		 .behind = 1},
		{.action = FAULT_REORDER,
		 .chance_ppm = (uint32_t)sim_param_soak_reorder_ppm(p) / 2,
		 .behind = LINGER},
		{.action = FAULT_CORRUPT,
		 .chance_ppm = (uint32_t)sim_param_soak_corrupt_ppm(p) / 2},
		{.action = FAULT_CORRUPT,
		 .chance_ppm = (uint32_t)sim_param_soak_corrupt_ppm(p) / 2,
		 .fix = FAULT_FIX_VCRC},
		{.action = FAULT_DELAY,
		 .chance_ppm = (uint32_t)sim_param_soak_delay_ppm(p),
		 .delay_ps = CFG_US(DELAY_US)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].chance_ppm && fault_plan_add(&s->tb->machine->plan, &rules[i]) < 0)
			tb_failf(s->tb, TB_HERE, "a fault that can do something");
}

/* Checks here that faults of each kind happened. Faults are random, so a short run may have none;
 * the scenario's own check, that every fault happens, would be too strict. */
static void end_faults(struct soak *s)
{
	const struct sim_params *p = s->params;
	struct fault_plan *plan = &s->tb->machine->plan;
	const uint64_t ppm[FAULT_ACTION_COUNT] = {
		[FAULT_DROP] = sim_param_soak_drop_ppm(p),
		[FAULT_DUPLICATE] = sim_param_soak_duplicate_ppm(p),
		[FAULT_REORDER] = sim_param_soak_reorder_ppm(p),
		[FAULT_CORRUPT] = sim_param_soak_corrupt_ppm(p),
		[FAULT_DELAY] = sim_param_soak_delay_ppm(p),
	};

	for (unsigned i = 0; i < FAULT_ACTION_COUNT; i++)
		if (!plan->fired[i] &&
		    ppm[i] * sim_param_soak_messages(p) > MIN_FOR_FAULTS * 10000ull)
			tb_failf(s->tb, TB_HERE, "a fault of kind %s to happen",
				 fault_action_name((enum fault_action)i));
	fault_plan_free(plan);
	fault_plan_init(plan, sim_param_sim_seed(p));
}

/* --- waiting --- */

static bool event_came(struct tb *tb, void *arg)
{
	return ((struct soak *)arg)->came || tb->events[0].count || tb->events[1].count;
}

static void arm(struct soak *s)
{
	struct tb *tb = s->tb;

	s->came = false;
	for (unsigned k = 0; k < TB_ENDS * SOAK_CQS; k++)
		must(drv_cq_arm(s->ends[k / SOAK_CQS].cq[k % SOAK_CQS], false));
	for (unsigned n = 0; n < TB_ENDS; n++)
		must(drv_cq_arm(s->ends[n].loose_cq, false));
}

static uint64_t wake_time(struct soak *s, bool starved)
{
	uint64_t at = s->progress_ps + CFG_S(STUCK_S);

	if (starved)
		at = tb_now(s->tb) + CFG_US(STARVED_US);
	for (unsigned i = 0; i < s->pairs; i++)
		if (s->pair[i].state == SOAK_SETTLING && s->pair[i].settled_ps < at)
			at = s->pair[i].settled_ps;
	return at;
}

static void report_stuck(struct soak *s)
{
	for (unsigned k = 0; k < TB_ENDS * s->pairs; k++) {
		struct soak_qp *q = soak_qp_at(s, k % TB_ENDS, k / TB_ENDS);

		if (q->flow.done < q->flow.posted || q->marker_due) {
			tb_failf(s->tb, TB_HERE,
				 "%s, qp 0x%x, pair %u: request %" PRIu64 " of %" PRIu64
				 " (opcode %d, %u bytes) completes; nothing does for %d s",
				 q->end->end->name, drv_qp_num(q->qp), q->index, q->flow.done,
				 q->flow.posted, q->flow.ring[q->flow.done % SOAK_RING].opcode,
				 q->flow.ring[q->flow.done % SOAK_RING].len, STUCK_S);
			return;
		}
	}
	tb_failf(s->tb, TB_HERE, "anything to happen within %d s", STUCK_S);
}

/* Arms the CQs, polls again, and sleeps until the interrupt. */
static void wait_for_more(struct soak *s, bool starved)
{
	struct tb *tb = s->tb;

	arm(s);
	if (soak_poll(s) || !still_right())
		return;
	if (tb_wait(tb, event_came, s, wake_time(s, starved)))
		return;
	if (tb_now(tb) >= s->progress_ps + CFG_S(STUCK_S))
		report_stuck(s);
	if (soak_poll(s) && !tb_wait(tb, event_came, s, tb_now(tb) + CFG_US(EVENT_US)))
		tb_failf(tb, TB_HERE, "a completion event; there is none, but a completion");
}

/* --- the loop --- */

/* Posts receives, sometimes late on purpose, so that senders get RNR NAKs. True: a queue has been
 * left short of receives. */
static bool refill(struct soak *s, bool all)
{
	bool short_of = false;

	for (unsigned n = 0; n < TB_ENDS; n++) {
		struct soak_end *e = &s->ends[n];

		for (unsigned i = 0; i < s->pairs; i++)
			if (e->qp[i].rq == &e->qp[i].own && !s->pair[i].break_it) {
				soak_refill(s, &e->qp[i].own, all);
				short_of |= e->qp[i].own.posted < e->qp[i].own.slots / 2;
			}
		soak_refill(s, &e->shared, all);
		short_of |= e->shared.posted < e->shared.slots / 2;
		for (unsigned k = 0; k < SOAK_STEERED && e->xrcd; k++) {
			soak_refill(s, &e->steered[k], all);
			short_of |= e->steered[k].posted < e->steered[k].slots / 2;
		}
	}
	return short_of;
}

static bool all_drained(struct soak *s)
{
	for (unsigned i = 0; i < s->pairs; i++)
		if (s->pair[i].state != SOAK_RUNNING || !soak_is_drained(s, i))
			return false;
	return soak_loose_drained(s);
}

static void post_last_everywhere(struct soak *s)
{
	for (unsigned k = 0; k < TB_ENDS * s->pairs && tb_right(s->tb); k++) {
		struct soak_qp *q = soak_qp_at(s, k % TB_ENDS, k / TB_ENDS);

		if (s->pair[q->index].state == SOAK_RUNNING && q->quiet)
			soak_post_last(q);
	}
}

static void load(struct soak *s)
{
	const struct sim_params *p = s->params;
	bool starved = false;

	s->progress_ps = tb_now(s->tb);
	while (tb_right(s->tb)) {
		bool busy = soak_poll(s);

		soak_take_events(s);
		busy |= soak_advance_pairs(s);
		if (sim_param_soak_state_changes(p) && s->posted >= s->next_change)
			soak_begin_change(s);
		if (s->posted < sim_param_soak_messages(p)) {
			busy |= soak_post_some(s);
			busy |= soak_loose_post_some(s);
		} else {
			post_last_everywhere(s);
		}
		if (!busy || rng_below(&s->rng, LINGER) == 0)
			starved = refill(s, starved && !busy);
		if (s->posted == sim_param_soak_messages(p) && all_drained(s))
			return;
		if (!busy)
			wait_for_more(s, starved);
	}
}

/* A packet that the fault plan holds back for reordering is released when others overtake it: sends
 * some. */
static void pass_held(struct soak *s)
{
	for (unsigned i = 0; i <= LINGER && tb_right(s->tb); i++) {
		for (unsigned n = 0; n < TB_ENDS; n++)
			soak_post_last(soak_qp_at(s, n, 0));
		while (tb_right(s->tb) && !soak_is_drained(s, 0))
			if (!soak_poll(s))
				wait_for_more(s, false);
	}
}

static void report_memory(struct tb *tb)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		tb_figure(tb, "soak_rss_kib", (double)usage.ru_maxrss);
}

void soak_run(struct tb *tb)
{
	/* static: a failure ends this function at once, and completion events still come */
	static struct soak s;

	if (soak_create(&s, tb)) {
		add_faults(&s);
		s.next_change = sim_param_soak_state_changes(s.params);
		load(&s);
		if (still_right())
			end_faults(&s);
		pass_held(&s);
		pass_time(CFG_US(SETTLE_US));
		while (soak_poll(&s))
			;
		soak_take_events(&s);
		for (unsigned i = 0; i < s.pairs && still_right(); i++)
			soak_judge_pair(&s, i);
		soak_loose_judge_all(&s);
	}
	report_memory(tb);
	soak_destroy(&s);
}
