// SPDX-License-Identifier: Apache-2.0
/* See trail.h. */
#include "testbench/dsan/hear/trail.h"

#include "testbench/dsan/checker.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/threads/threads_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	FUNCTIONS_BYTES = 360,
	REFUSED_BYTES = 200, /* those of a call that is refused, to leave room for who made it so */
	NEAR = 128           /* places that a call still comes by behind a refusal that ends it */
};

static unsigned in_calls; /* threads that are in a call; some may have been killed there */

void trail_note(const void *pc)
{
	struct runner *r = runner_now();

	if (r)
		trail_add(r, pc);
}

void trail_begin(void)
{
	struct runner *r = runner_now();

	if (!r || r->depth) /* part of a call of a layer above mlx4 */
		return;
	r->trail_from = r->n_trail;
	entered_call_begins(r);
	r->refused = 0;
	r->n_undone = 0;
}

void trail_asked(bool asked)
{
	struct runner *r = runner_now();
	const struct runner *other;

	if (!r)
		return;
	in_calls += (unsigned)asked - r->asked;
	r->asked = asked;
	if (!asked)
		return;
	r->n_beside = 0;
	for (unsigned i = 0; in_calls > 1 && r->n_beside < BESIDE && (other = runners_from(i, &i));)
		if (other != r && other->c == r->c && other->asked)
			r->beside[r->n_beside++] =
				(struct beside){other, other->trail_from, other->n_trail};
}

void trail_takes(void)
{
	struct runner *r = runner_now();

	if (r)
		r->n_undone = 0;
}

void trail_undoes(void)
{
	struct runner *r = runner_now();

	if (!r || r->n_undone)
		return;
	for (uint32_t at = r->n_trail; at != r->trail_from && r->n_undone < UNDONE; at--)
		r->undone[r->n_undone++] = r->trail[(at - 1) % TRAIL];
}

/* A place that was met before is on the trail more than once. */
static void ran_add(struct ran *ran, uint32_t at)
{
	const void *pc = code_pc(at);

	for (unsigned i = 0; i < ran->n; i++)
		if (ran->pc[i] == pc)
			return;
	ran->pc[ran->n++] = pc;
}

static void ran_take(const struct runner *r, uint32_t from, uint32_t to, struct ran *ran)
{
	for (uint32_t n = to; n != from && r->n_trail - n < TRAIL && ran->n < RAN_MAX; n--)
		ran_add(ran, r->trail[(n - 1) % TRAIL]);
}

/* Of the running call: with the functions that a long call has pushed out. */
static void ran_take_call(const struct runner *r, struct ran *ran)
{
	ran_take(r, r->trail_from, r->n_trail, ran);
	if (ran->n > RAN_MAX - r->n_of_call)
		ran->n = RAN_MAX - r->n_of_call;
	entered_add_first(r, ran, RAN_MAX);
}

/* The first ones first. */
static void ran_take_first(const struct runner *r, uint32_t from, uint32_t to, struct ran *ran)
{
	if (r->n_trail - from > TRAIL && from == r->trail_from)
		for (uint32_t i = 0; i < r->n_of_call; i++)
			ran_add(ran, r->of_call[i]);
	for (uint32_t at = from; at != to && r->n_trail - from <= TRAIL && ran->n < RAN_MAX; at++)
		ran_add(ran, r->trail[at % TRAIL]);
}

void checkers_ran(unsigned host, struct ran *ran)
{
	const struct runner *r = runner_now(), *told = runner_told(host);

	ran->n = 0;
	if (r && r->n_trail != r->trail_from)
		ran_take_call(r, ran);
	else if (told)
		ran_take(told, told->told_from, told->told, ran);
}

static uint64_t errno_bit(int rc)
{
	return UINT64_C(1) << (-rc % 64);
}

void trail_refused(int rc)
{
	struct runner *r = runner_now();

	if (!r)
		return;
	r->refused |= errno_bit(rc);
	r->refused_at = r->n_trail;
}

/* Whether a refusal explains that result: it was the same error, however much was undone since, or
 * the call ended right behind it. A driver may also take a refusal and go on. */
static bool explained(const struct runner *r, int rc)
{
	return r->refused & errno_bit(rc) || (r->refused && r->n_trail - r->refused_at < NEAR);
}

unsigned trail_newest(const void **pcs, unsigned max)
{
	const struct runner *r = runner_now();
	unsigned n = 0;

	while (r && n < max && n < r->n_trail && n < TRAIL) {
		pcs[n] = code_pc(r->trail[(r->n_trail - 1 - n) % TRAIL]);
		n++;
	}
	return n;
}

void trail_format(char *text, size_t size)
{
	const struct runner *r = runner_now();
	struct ran ran = {0};

	*text = 0;
	if (!r)
		return;
	ran_take_call(r, &ran);
	ran.n = entered_below_interface(ran.pc, ran.n);
	entered_rank(ran.pc, ran.n, text, size);
}

unsigned trail_first_of(const struct runner *r, const void **pcs, unsigned max)
{
	struct ran ran = {0};
	unsigned n;

	ran_take_first(r, r->trail_from, r->n_trail, &ran);
	for (n = 0; n < ran.n && n < max; n++)
		pcs[n] = ran.pc[n];
	return n;
}

void trail_format_first(char *text, size_t size)
{
	const struct runner *r = runner_now();
	struct ran ran = {0};

	*text = 0;
	if (!r)
		return;
	ran_take_first(r, r->trail_from, r->n_trail, &ran);
	checker_functions(ran.pc, ran.n, text, size);
}

void trail_format_before_undo(char *text, size_t size)
{
	const struct runner *r = runner_now();
	const void *pcs[UNDONE];

	if (!r || !r->n_undone) {
		trail_format(text, size);
		return;
	}
	for (unsigned n = 0; n < r->n_undone; n++)
		pcs[n] = code_pc(r->undone[n]);
	entered_rank(pcs, entered_below_interface(pcs, r->n_undone), text, size);
}

void trail_format_meanwhile(char *text, size_t size)
{
	static const char begin[] = "; another thread was in a call then: ";
	const struct runner *r = runner_now();
	struct ran ran = {0};

	*text = 0;
	for (unsigned i = 0; r && i < r->n_beside; i++)
		ran_take_first(r->beside[i].r, r->beside[i].from, r->beside[i].to, &ran);
	if (!ran.n)
		return;
	snprintf(text, size, "%s", begin);
	checker_functions(ran.pc, ran.n, text + strlen(begin), size - strlen(begin));
}

void checkers_tell_accepted(const char *call, int result)
{
	const struct runner *r = runner_now();
	char names[FUNCTIONS_BYTES], others[FUNCTIONS_BYTES], setters[FUNCTIONS_BYTES];
	struct ran ran = {0};

	if (!r || !r->c)
		return;
	/* the first ones: tests stand at the head */
	ran_take_first(r, r->trail_from, r->n_trail, &ran);
	checker_functions(ran.pc, ran.n, names, sizeof(names));
	if (!*names)
		return;
	trail_format_meanwhile(others, sizeof(others));
	setters_format(r, names, setters, sizeof(setters));
	checker_report(r->c, &(struct breach){RULE_call_accepted, r->subject, NULL, NULL},
		       "%s succeeds, and should give %d (%s)%s; its functions, the first "
		       "ones first: %s%s%s",
		       call, result, strerror(-result), others, names,
		       *setters ? "; what they read was set by " : "", setters);
}

void checkers_tell_refused(const char *call, int rc)
{
	const struct runner *r = runner_now();
	char names[REFUSED_BYTES], setters[FUNCTIONS_BYTES];

	if (!r || !r->c || explained(r, rc) || rc == -EIO || rc == -ETIMEDOUT)
		return;
	trail_format_before_undo(names, sizeof(names));
	if (!*names)
		return;
	setters_format(r, names, setters, sizeof(setters));
	checker_report(r->c, &(struct breach){RULE_call_refused, r->subject, NULL, NULL},
		       "%s gives %d (%s), and nothing was refused to the driver; its "
		       "functions that ran before it gave up: %s%s%s",
		       call, rc, strerror(-rc), names,
		       *setters ? "; what they read was set by " : "", setters);
}
