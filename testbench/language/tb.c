/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a scenario: its thread, waiting, failing. */
#include "testbench/dsan/checker.h"
#include "testbench/language/software.h"
#include "testbench/machine/holds.h"

#include "model/interface/macros.h"
#include "testbench/language/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { IGNORED_DRAIN_US = 50, QUIET_TRIES = 64, POLL_NS = 100, BUSY_CHARS = 320 };

static void deadline_due(struct event *ev)
{
	struct tb *tb = container_of(ev, struct tb, deadline);

	kernel_thread_wake(tb->thread);
}

static void lacks(void *arg, unsigned host, const char *what);

int tb_create(struct tb *tb, const struct scenario *scenario, struct machine *machine,
	      struct trace *trace, const struct config *config)
{
	memset(tb, 0, sizeof(*tb));
	tb->scenario = scenario;
	tb->setup = scenario->setup;
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
		host_listen_lacks(end->host, lacks, tb);
	}
	for (unsigned i = 0; i < TB_DIRECTIONS; i++) {
		tb->directions[i].acked = TB_ANY;
		tb->directions[i].untold =
			tb_in_software(&tb->ends[i == b_to_a || i == mads_b_to_a]);
	}
	return trace && !tb->setup.unobserved ? tb_observe(tb) : 0;
}

void tb_destroy(struct tb *tb)
{
	for (unsigned i = 0; i < TB_DIRECTIONS; i++)
		seen_queue_free(&tb->directions[i]);
	for (unsigned i = 0; i < TB_ENDS; i++) {
		free(tb->ends[i].expected);
		free(tb->ends[i].loose);
		free(tb->events[i].ring);
	}
	free(tb->phases);
	while (tb->allowed) {
		struct tb_allowed *next = tb->allowed->next;

		free(tb->allowed);
		tb->allowed = next;
	}
	free(tb->stats_at_body);
	free(tb->ladder);
	free(tb->told);
	free(tb->explained);
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

/* Ends the body after a failure, because the rest of it may need objects that were not made. */
static void leave_body(struct tb *tb)
{
	if (tb->in_body && kernel_thread_running() == tb->thread)
		kernel_thread_unwind();
}

bool tb_go(struct tb *tb, const char *here)
{
	if (tb->failed) {
		leave_body(tb);
		return false;
	}
	tb->here = here;
	tb->timed_out = false;
	tb->counters[0] = 0;
	return true;
}

/* For run.json, and so for the page of hcasim report. */
static void keep_told(struct tb *tb)
{
	FILE *out = open_memstream(&tb->told, &tb->told_size);

	if (!out)
		return;
	tb_tell_guest_errors(tb, out);
	tb_tell_waits(tb, out);
	fclose(out);
}

static void fail(struct tb *tb, const char *here, const char *expected, const char *got)
{
	uint64_t now = tb->machine->core.now_ps;

	checkers_tell_waits(tb->timed_out);
	tb->failed = true;
	snprintf(tb->failure, sizeof(tb->failure), "%s: expected %s%s%s%s%s", here, expected,
		 got ? ", got " : "", got ? got : "", tb->row[0] ? ", in row " : "", tb->row);
	tb->machine->failed = true;
	tb_progress_clear(tb);
	if (tb->explain)
		tb->explained = tb->explain(tb);
	tb_tell_guest_errors(tb, tb->report);
	if (!tb_has_guest_errors(tb))
		checkers_tell_calls(tb->report);
	fprintf(tb->report, "%s: %s failed at %" PRIu64 ".%06" PRIu64 " us\n", here,
		tb->scenario->name, now / 1000000, now % 1000000);
	fprintf(tb->report, "  expected: %s\n", expected);
	if (got)
		fprintf(tb->report, "  got:      %s\n", got);
	if (tb->row[0])
		fprintf(tb->report, "  row:      %s\n", tb->row);
	tb_tell_waits(tb, tb->report);
	keep_told(tb);
	if (tb->trace) {
		/* leave out the packets of bring-up, which are always the same */
		const bool in_body = !tb->setup.bare && tb->phases_count > 1;

		fprintf(tb->report, "  the ladder so far:\n");
		trace_ladder_print(tb->trace, in_body ? tb->phases[1].begin.time_ps : 0,
				   tb->report);
	}
	if (tb->on_failure)
		tb->on_failure(tb);
}

void tb_interrupted(struct tb *tb)
{
	if (tb->failed)
		return;
	snprintf(tb->failure, sizeof(tb->failure), "%s: interrupted", tb->here);
	tb->timed_out = true;
	checkers_tell_waits(true);
	tb_progress_clear(tb);
	tb_tell_guest_errors(tb, tb->report);
	tb_tell_waits(tb, tb->report);
	keep_told(tb);
}

void tb_fail(struct tb *tb, const char *here, const char *expected, const char *got)
{
	if (tb->failed)
		return;
	fail(tb, here, expected, got);
	leave_body(tb);
}

/* The driver is at work here: the thread leaves the scenario at the next word that it comes to. */
static void lacks(void *arg, unsigned host, const char *what)
{
	struct tb *tb = arg;
	char text[TB_ROW_CHARS];

	if (tb->failed)
		return;
	tb->refused = true;
	snprintf(text, sizeof(text), "%s to have %s", tb->ends[tb->ends[0].host_index != host].name,
		 what);
	fail(tb, tb->here, text, NULL);
}

/* --- rows of tables --- */

bool tb_row(struct tb *tb, size_t i, size_t n)
{
	const bool goes_on = i < n && tb_right(tb);

	tb->row[0] = 0;
	if (goes_on)
		snprintf(tb->row, sizeof(tb->row), "%zu", i);
	return goes_on;
}

void tb_name_row(struct tb *tb, const char *format, ...)
{
	/* behind the number of the row, if it has one */
	size_t n = tb->row[0] == '(' ? 0 : strcspn(tb->row, " ");
	va_list args;

	if (!tb_right(tb))
		return;
	n += (size_t)snprintf(tb->row + n, sizeof(tb->row) - n, n ? " (" : "(");
	va_start(args, format);
	vsnprintf(tb->row + n, sizeof(tb->row) - n, format, args);
	va_end(args);
	n = strlen(tb->row);
	snprintf(tb->row + n, sizeof(tb->row) - n, ")");
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

static bool never(struct tb *tb, void *arg)
{
	return false;
}

bool tb_wait(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg,
	     uint64_t deadline_ps)
{
	struct kernel *kernel = tb->machine->kernel;

	while (!ready(tb, arg)) {
		if (tb->machine->core.now_ps >= deadline_ps) {
			tb->timed_out = ready != never;
			return false;
		}
		if (deadline_ps != EVENT_NEVER)
			event_set(&tb->machine->core, &tb->deadline, deadline_ps);
		tb->waiting = true;
		kernel_thread_wait(kernel);
		holds_gate(tb->machine->holds);
		tb->waiting = false;
		event_cancel(&tb->machine->core, &tb->deadline);
	}
	return true;
}

bool tb_wait_polling(struct tb *tb, bool (*ready)(struct tb *tb, void *arg), void *arg, uint64_t ps)
{
	uint64_t limit = tb->machine->core.now_ps + ps;

	while (!ready(tb, arg)) {
		tb->timed_out = tb->machine->core.now_ps >= limit;
		if (tb->timed_out)
			return false;
		tb_wait(tb, never, NULL, tb->machine->core.now_ps + CFG_NS(POLL_NS));
	}
	return true;
}

void tb_pass_time(struct tb *tb, const char *here, uint64_t ps)
{
	const struct holds *holds = tb->machine->holds;
	const uint64_t calm = holds_calm_ps(holds), held = holds_held_ps(holds);
	uint64_t from = tb_now(tb), until;

	if (!tb_go(tb, here))
		return;
	/* what a schedule holds back meanwhile, or held before, comes so much later */
	from = from > calm ? from : calm;
	while (tb_now(tb) < (until = from + ps + holds_held_ps(holds) - held))
		tb_wait(tb, never, NULL, until);
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

/* Checks that nothing is in flight any more: no ACK, timer or DMA. */
static void judge_quiet(struct tb *tb, const char *when)
{
	char busy[BUSY_CHARS], got[BUSY_CHARS + 32];

	for (unsigned i = 0; i < QUIET_TRIES && tb_right(tb) && !all_quiet(tb); i++)
		tb_wait(tb, never, NULL,
			tb->machine->core.now_ps + CFG_US(IGNORED_DRAIN_US) * (i + 1));
	for (unsigned i = 0; i < MACHINE_HOSTS && tb_right(tb); i++) {
		hca_busy(host_hca(tb->machine->hosts[i]), busy, sizeof(busy));
		snprintf(got, sizeof(got), "%s of hca%u", busy, i);
		if (busy[0])
			tb_fail(tb, when, "nothing in flight in either device", got);
	}
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

static void run_body(void *arg)
{
	struct tb *tb = arg;

	tb->scenario->body(tb, &tb->ends[0], &tb->ends[1]);
}

static void body(struct tb *tb)
{
	if (tb->on_begin)
		tb->on_begin(tb, true);
	note_stats(tb);
	checkers_forget_calls();
	tb_ignore_packets(tb, tb->setup.any_packets);
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb->events[i].count = 0;
	if (tb_right(tb)) {
		tb_phase(tb, "body", tb->scenario->name);
		tb->in_body = true;
		kernel_thread_protect(run_body, tb);
		tb->in_body = false;
	}
	if (!tb->failed)
		tb->row[0] = 0;
	judge_quiet(tb, "end of body");
	tb_judge_leftovers(tb);
	for (unsigned i = 0; i < TB_ENDS; i++)
		tb_memory_judge(&tb->ends[i]);
}

void tb_run(void *arg)
{
	struct tb *tb = arg;

	tb->thread = kernel_thread_self(tb->machine->kernel);
	if (tb->on_begin)
		tb->on_begin(tb, false);
	if (!tb->setup.bare)
		set_up(tb);
	body(tb);
	if (!tb->setup.bare && !tb->setup.stays_up) {
		tb_phase(tb, "tear-down", "tear-down");
		for (unsigned i = TB_ENDS; i-- > 0;)
			tb_take_down(tb, "tear-down", &tb->ends[i]);
		judge_quiet(tb, "tear-down");
		tb_judge_leftovers(tb);
	} else {
		tb_judge_removed(tb, "end of body");
	}
	tb_iwarp_end(tb);
	if (tb->failed) {
		tb_give_up(tb);
		tb_tell_consequences(tb, tb->report);
	}
	tb_phase_end(tb);
	tb->done = true;
	machine_stop(tb->machine);
}
