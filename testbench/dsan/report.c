// SPDX-License-Identifier: Apache-2.0
/* Reports of a checker: each pair of places once, with the functions of the driver there. */
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/checker_impl.h"
#include "testbench/os/symbols.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	REPEATS = 1 << 20,
	RULE_BYTES = 64, /* the longest name of a rule, and what stands between */
	TEXT_BYTES = 640,
	PLACE_BYTES = 128,
	INLINED = 8,
	STORERS = 64,
	KNOWN_BITS = 16,
	KNOWN = 1 << KNOWN_BITS,
	KNOWN_SLOTS = 16
};

struct report_seen {
	struct breach breach;
	char *text; /* where there is no pc */
};

extern const char __executable_start;

uint32_t code_offset(const void *pc)
{
	return (uint32_t)((const char *)pc - &__executable_start);
}

const void *code_pc(uint32_t offset)
{
	return &__executable_start + offset;
}

static bool is_new(struct checker *c, const struct breach *b, const char *text)
{
	struct report_seen *grown;

	for (unsigned i = 0; i < c->n_seen; i++) {
		const struct report_seen *s = &c->seen[i];

		if (s->breach.rule == b->rule && s->breach.pc == b->pc &&
		    s->breach.then == b->then && (b->pc || !strcmp(s->text, text)))
			return false;
	}
	grown = realloc(c->seen, (c->n_seen + 1) * sizeof(*grown));
	if (!grown)
		abort();
	c->seen = grown;
	c->seen[c->n_seen++] =
		(struct report_seen){.breach = *b, .text = b->pc ? NULL : strdup(text)};
	return true;
}

/* The numbers of objects begin anew, so the same text may tell of another mistake. */
void report_texts_forget(struct checker *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->n_seen; i++) {
		if (c->seen[i].text)
			free(c->seen[i].text);
		else
			c->seen[kept++] = c->seen[i];
	}
	c->n_seen = kept;
}

void report_place(const void *pc, char *buf, size_t size)
{
	struct symbol s[INLINED];
	const size_t n = symbols_find(pc, s, INLINED);
	size_t i = 0;

	while (i + 1 < n && strstr(s[i].file, "model/interface/"))
		i++;
	if (!n)
		snprintf(buf, size, "a function without a name");
	else if (*s[i].file)
		snprintf(buf, size, "%s (%s:%d)", s[i].name, s[i].file, s[i].line);
	else
		snprintf(buf, size, "%s", s[i].name);
}

bool checker_in_driver(const void *pc)
{
	struct symbol s[INLINED];

	return symbols_find(pc, s, INLINED) && strstr(s[0].file, "host_driver/");
}

/* The parts of the driver that are built with call-outs. */
static const char *const rooms[] = {"mlx4/", "drv/", "core/",  "uverbs/", "cm/",
				    "sm/",   "rvt/", "ipath/", "iwarp/"};
enum { ROOM_MLX4, ROOM_NONE = ARRAY_SIZE(rooms) };

static unsigned room_find(const void *pc)
{
	struct symbol s[INLINED];
	const char *name = symbols_find(pc, s, INLINED) ? strstr(s[0].file, "host_driver/") : NULL;
	unsigned room = 0;

	while (room < ROOM_NONE &&
	       (!name || strncmp(name + strlen("host_driver/"), rooms[room], strlen(rooms[room]))))
		room++;
	return room;
}

/* To look up a place takes long, so each is looked up once: in one of the slots behind its hash. */
static unsigned room_of(const void *pc)
{
	static struct {
		const void *pc;
		unsigned room;
	} known[KNOWN + KNOWN_SLOTS];
	const size_t n = bucket_number((uintptr_t)pc, KNOWN_BITS);
	size_t i = n;

	while (i < n + KNOWN_SLOTS - 1 && known[i].pc && known[i].pc != pc)
		i++;
	if (known[i].pc != pc) {
		known[i].pc = pc;
		known[i].room = room_find(pc);
	}
	return known[i].room;
}

bool checker_hears(const void *pc)
{
	return room_of(pc) != ROOM_NONE;
}

bool checker_in_mlx4(const void *pc)
{
	return room_of(pc) == ROOM_MLX4;
}

/* The functions of the driver at that place, past what is inlined there from the rows of the
 * interface: the innermost first. A function that is inlined is told with the one that it is in. */
void checker_functions_add(const void *pc, char *text, size_t size)
{
	struct symbol s[INLINED];
	const size_t n = symbols_find(pc, s, INLINED);
	size_t i = 0, used = strlen(text);

	while (i + 1 < n && strstr(s[i].file, "model/interface/"))
		i++;
	for (; i < n; i++) {
		if (!strncmp(s[i].name, WRAP, strlen(WRAP)) ||
		    checker_names_have(text, s[i].name) || used + strlen(s[i].name) + 3 > size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					 s[i].name);
	}
}

void checker_functions(const void *const *pcs, unsigned n, char *text, size_t size)
{
	text[0] = 0;
	for (unsigned i = 0; i < n; i++)
		checker_functions_add(pcs[i], text, size);
}

void checker_recent(const struct checker *c, uint32_t since, char *text, size_t size)
{
	text[0] = 0;
	for (uint32_t n = c->n_recent; n != since && c->n_recent - n < RECENT; n--)
		checker_functions_add(code_pc(c->recent[(n - 1) % RECENT]), text, size);
}

void checker_recent_calls(const struct checker *c, uint32_t since, struct calls *calls)
{
	calls->n = 0;
	for (uint32_t n = c->n_recent;
	     n != since && c->n_recent - n < RECENT && calls->n < CALLS_MAX; n--)
		calls->pc[calls->n++] = code_pc(c->recent[(n - 1) % RECENT]);
}

void checker_storers(const struct checker *c, uintptr_t from, uintptr_t to, uint32_t since,
		     char *text, size_t size)
{
	const void *pcs[STORERS];
	const void *last = NULL;
	unsigned n = 0;

	for (uintptr_t w = from & ~(uintptr_t)(WORD - 1); w < to && n < STORERS; w += WORD) {
		const struct stored *s = checker_stored(c, w);

		if (s->seq <= since || s->pc == last)
			continue;
		pcs[n++] = last = s->pc;
	}
	checker_functions(pcs, n, text, size);
}

/* A driver that takes what is not there for completions may do so for ever. No event of the
 * simulation comes any more, so nobody else can end the run. */
static void end_if_endless(struct checker *c, const struct breach *b, const char *text)
{
	const uint64_t now_ps = hca_now(c->host.hca);
	char place[PLACE_BYTES] = "the device";

	if (c->guest) /* it goes on in its own time */
		return;
	if (now_ps != c->repeats_ps)
		c->repeats = 0;
	c->repeats_ps = now_ps;
	if (++c->repeats < REPEATS)
		return;
	if (b->pc)
		c->place(b->pc, place, sizeof(place));
	if (c->first)
		fprintf(stderr, "host %u: the first breach: %s\n", c->host.platform->host,
			c->first);
	fprintf(stderr,
		"host %u: the driver does this %u times and lets no simulated time pass, so the "
		"run "
		"ends: %s: %s: %s\n",
		c->host.platform->host, c->repeats, guest_rules[b->rule].name, text, place);
	trace_rescue();
	_exit(EXIT_FAILURE);
}

/* Rules about software alone, whatever its device does. */
static bool is_of_software(enum guest_rule rule)
{
	switch (rule) {
	case RULE_device_dead:
	case RULE_freed_in_use:
	case RULE_heap_overrun:
	case RULE_interrupt_sleeps:
	case RULE_local_ended:
	case RULE_lock_missing:
	case RULE_lock_misused:
	case RULE_lock_order:
	case RULE_memory_not_set:
	case RULE_not_given_back:
	case RULE_range_exceeded:
	case RULE_users_differ:
	case RULE_wake_missing:
		return true;
	default:
		return false;
	}
}

void checker_report(struct checker *c, const struct breach *b, const char *format, ...)
{
	char text[TEXT_BYTES], place[PLACE_BYTES], then[PLACE_BYTES];
	va_list ap;

	/* it does nothing any more, so little harm can be done to it */
	if (hca_is_stopped(c->host.hca) && !is_of_software(b->rule))
		return;
	if (c->judges && !c->judges(c, b))
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!is_new(c, b, text)) {
		end_if_endless(c, b, text);
		return;
	}
	if (b->pc)
		c->place(b->pc, place, sizeof(place));
	if (b->then)
		c->place(b->then, then, sizeof(then));
	if (!c->first) {
		char said[TEXT_BYTES + PLACE_BYTES + RULE_BYTES];

		snprintf(said, sizeof(said), "%s: %s%s%s", guest_rules[b->rule].name, text,
			 b->pc ? ": " : "", b->pc ? place : "");
		c->first = strdup(said);
	}
	if (b->then)
		guest_error(c->host.hca, b->rule, b->object, "%s: %s, then %s", text, place, then);
	else if (b->pc)
		guest_error(c->host.hca, b->rule, b->object, "%s: %s", text, place);
	else
		guest_error(c->host.hca, b->rule, b->object, "%s", text);
}

void reports_free(struct checker *c)
{
	for (unsigned i = 0; i < c->n_seen; i++)
		free(c->seen[i].text);
	free(c->seen);
	free(c->first);
}
