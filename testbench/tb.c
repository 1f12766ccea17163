// SPDX-License-Identifier: Apache-2.0
/* A run of a scenario: its thread, waiting, failing. */
#include "testbench/tb.h"

#include "testbench/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { IGNORED_DRAIN_US = 50, QUIET_TRIES = 64, POLL_NS = 100 };

static const struct tb_setup setup_defaults = {
	.type = IBV_QPT_RC,
	.sges = 1,
	.recv_sges = 1,
	.qps = 1,
	.memory = 64 << 10,
	.queue = 128,
	.mtu = IBV_MTU_4096,
	.a_psn = 0xfffffe,
	.b_psn = 0xfffffd,
	.timeout = 14,
	.retry_cnt = 7,
	.rnr_retry = 7,
	.min_rnr_timer = 12,
	.max_rd_atomic = 4,
	.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC,
};

static struct tb_setup tb_setup_complete(const struct tb_setup *setup)
{
	struct tb_setup s = *setup;

#define DEFAULT(member) s.member = s.member ? s.member : setup_defaults.member
	DEFAULT(type);
	DEFAULT(sges);
	DEFAULT(recv_sges);
	DEFAULT(qps);
	DEFAULT(memory);
	DEFAULT(queue);
	DEFAULT(mtu);
	DEFAULT(a_psn);
	DEFAULT(b_psn);
	DEFAULT(timeout);
	DEFAULT(retry_cnt);
	DEFAULT(rnr_retry);
	DEFAULT(min_rnr_timer);
	DEFAULT(max_rd_atomic);
	DEFAULT(mr_access);
#undef DEFAULT
	return s;
}

static void deadline_due(struct event *ev)
{
	struct tb *tb = (struct tb *)((char *)ev - offsetof(struct tb, deadline));

	kernel_thread_wake(tb->thread);
}

int tb_create(struct tb *tb, const struct scenario *scenario, struct machine *machine,
	      struct trace *trace, const struct config *config)
{
	memset(tb, 0, sizeof(*tb));
	tb->scenario = scenario;
	tb->setup = tb_setup_complete(&scenario->setup);
	tb->machine = machine;
	tb->trace = trace;
	tb->config = config;
	tb->here = "set-up";
	tb->report = stderr;
	tb->account = stdout;
	tb->deadline.job = deadline_due;
	tb_ignore_mads(tb, true);
	drv_list_init(&tb->processes);
	drv_list_init(&tb->oob_names);
	for (unsigned i = 0; i < TB_ENDS; i++) {
		struct tb_end *end = &tb->ends[i];

		end->tb = tb;
		end->index = i;
		end->name = i ? "b" : "a";
		end->host_index = tb->setup.loopback ? 0 : i;
		end->host = machine->hosts[end->host_index];
		end->platform = host_platform(end->host);
		end->peer = &tb->ends[!i];
		end->events = &tb->events[end->host_index];
		tb->events[i].tb = tb;
		tb->discards[i].tb = tb;
	}
	return trace && !tb->setup.unobserved ? tb_observe(tb) : 0;
}

void tb_destroy(struct tb *tb)
{
	for (unsigned i = 0; i < TB_DIRECTIONS; i++)
		seen_queue_free(&tb->directions[i]);
	for (unsigned i = 0; i < TB_ENDS; i++)
		free(tb->ends[i].expected);
	for (unsigned i = 0; i < TB_ENDS; i++)
		free(tb->events[i].ring);
	free(tb->phases);
	while (tb->allowed) {
		struct tb_allowed *next = tb->allowed->next;

		free(tb->allowed);
		tb->allowed = next;
	}
	free(tb->stats_at_body);
	free(tb->ladder);
}

struct machine *tb_machine(struct tb *tb)
{
	return tb->machine;
}

/* --- failing --- */

bool tb_right(const struct tb *tb)
{
	return !tb->failed;
}

bool tb_go(struct tb *tb, const char *here)
{
	if (tb->failed)
		return false;
	tb->here = here;
	return true;
}

void tb_fail(struct tb *tb, const char *here, const char *expected, const char *got)
{
	uint64_t now = tb->machine->core.now_ps;

	if (tb->failed)
		return;
	tb->failed = true;
	snprintf(tb->failure, sizeof(tb->failure), "%s: expected %s%s%s", here, expected,
		 got ? ", got " : "", got ? got : "");
	tb_progress_clear(tb);
	fprintf(tb->report, "%s: %s failed at %" PRIu64 ".%06" PRIu64 " us\n", here,
		tb->scenario->name, now / 1000000, now % 1000000);
	fprintf(tb->report, "  expected: %s\n", expected);
	if (got)
		fprintf(tb->report, "  got:      %s\n", got);
	if (tb->trace) {
		/* that of bring-up is always the same */
		const bool in_body = !tb->setup.bare && tb->phases_count > 1;

		fprintf(tb->report, "  the ladder so far:\n");
		trace_ladder_print(tb->trace, in_body ? tb->phases[1].begin.time_ps : 0,
				   tb->report);
	}
	if (tb->on_failure)
		tb->on_failure(tb);
}

void tb_failf(struct tb *tb, const char *here, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tb_fail(tb, here, text, NULL);
}

/* --- waiting --- */

void tb_poke(struct tb *tb)
{
	if (tb->waiting)
		kernel_thread_wake(tb->thread);
}

bool tb_wait(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg,
	     uint64_t deadline_ps)
{
	struct kernel *kernel = tb->machine->kernel;

	while (!ready(tb, arg)) {
		if (tb->machine->core.now_ps >= deadline_ps)
			return false;
		if (deadline_ps != EVENT_NEVER)
			event_set(&tb->machine->core, &tb->deadline, deadline_ps);
		tb->waiting = true;
		kernel_thread_wait(kernel);
		tb->waiting = false;
		event_cancel(&tb->machine->core, &tb->deadline);
	}
	return true;
}

static bool never(struct tb *tb, void *arg)
{
	return false;
}

bool tb_wait_polling(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg, uint64_t ps)
{
	uint64_t limit = tb->machine->core.now_ps + ps;

	while (!ready(tb, arg)) {
		if (tb->machine->core.now_ps >= limit)
			return false;
		tb_wait(tb, never, NULL, tb->machine->core.now_ps + CFG_NS(POLL_NS));
	}
	return true;
}

void tb_pass_time(struct tb *tb, const char *here, uint64_t ps)
{
	if (tb_go(tb, here))
		tb_wait(tb, never, NULL, tb->machine->core.now_ps + ps);
}

uint64_t tb_now(struct tb *tb)
{
	return tb->machine->core.now_ps;
}

/* --- the thread --- */

static bool all_quiet(struct tb *tb)
{
	for (unsigned i = 0; i < MACHINE_HOSTS; i++)
		if (!hca_is_quiet(host_hca(tb->machine->hosts[i])))
			return false;
	return true;
}

/* Nothing is to be in flight any more: ACKs, timers, DMA. */
static void judge_quiet(struct tb *tb, const char *when)
{
	for (unsigned i = 0; i < QUIET_TRIES && tb_right(tb) && !all_quiet(tb); i++)
		tb_wait(tb, never, NULL,
			tb->machine->core.now_ps + CFG_US(IGNORED_DRAIN_US) * (i + 1));
	if (tb_right(tb) && !all_quiet(tb))
		tb_failf(tb, when, "nothing in flight in either device");
}

static void note_stats(struct tb *tb)
{
	size_t n = 0;

	for (unsigned i = 0; i < MACHINE_HOSTS; i++) {
		struct stat_value *values;
		size_t count = counters_read(host_hca(tb->machine->hosts[i]), &values);
		uint64_t *grown = realloc(tb->stats_at_body, (n + count + 1) * sizeof(*grown));

		if (!grown) {
			tb_failf(tb, tb->here, "memory for %zu counters", n + count);
			free(values);
			return;
		}
		tb->stats_at_body = grown;
		for (size_t k = 0; k < count; k++)
			grown[n + k] = values[k].value;
		n += count;
		free(values);
	}
}

static void set_up(struct tb *tb)
{
	tb_phase(tb, "set-up", "bring-up");
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_bring_up(tb, "set-up", &tb->ends[i]);
	tb_activate_ports(tb, "set-up");
	if (tb->setup.no_qps)
		return;
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_make_objects(tb, "set-up", &tb->ends[i]);
	tb_connect(tb, "set-up");
}

static void body(struct tb *tb)
{
	const struct scenario *s = tb->scenario;

	note_stats(tb);
	tb_ignore_packets(tb, tb->setup.any_packets);
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb->events[i].count = 0;
	if (tb_right(tb)) {
		tb_phase(tb, "body", s->name);
		s->body(tb, &tb->ends[0], &tb->ends[1]);
	}
	judge_quiet(tb, "end of body");
	tb_judge_leftovers(tb);
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_memory_judge(&tb->ends[i]);
}

void tb_run(void *arg)
{
	struct tb *tb = arg;

	tb->thread = kernel_thread_self(tb->machine->kernel);
	if (!tb->setup.bare)
		set_up(tb);
	body(tb);
	if (!tb->setup.bare && !tb->setup.stays_up) {
		tb_phase(tb, "tear-down", "tear-down");
		for (unsigned i = TB_ENDS; i-- > 0;)
			tb_take_down(tb, "tear-down", &tb->ends[i]);
		tb_judge_leftovers(tb);
		judge_quiet(tb, "tear-down");
	}
	if (tb->failed)
		tb_give_up(tb);
	tb_phase_end(tb);
	tb->done = true;
	machine_stop(tb->machine);
}
