// SPDX-License-Identifier: Apache-2.0
/* See plan.h. */
#include "testbench/explore/plan.h"

#include "model/sim/rng.h"
#include "model/sim/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINE = 64,
	ROUND = 4,   /* kinds of schedules, in turn */
	AT_ONCE = 6, /* points of a place that a guided schedule holds */
	TURNS_MAX = 3,
	INTERRUPTS_MAX = 4, /* that a thread is held for */
	LOG_WRITES = 6, /* a hold lasts for 1, 2, 4 ... 2^(LOG_WRITES - 1) writes of the device */
	MARGIN_PS = 1000,
	SHORTEST_PS = 50000, /* of a random hold; the longest is 2^DOUBLINGS times that */
	DOUBLINGS = 12,
};
/* Nothing in a driver depends on a longer hold: it is longer than most of a scenario's waits. */
#define LONGEST_PS CFG_US(400)
/* What a bus may take under load: an assumption. It must be short enough that no transport of the
 * device times out meanwhile, and that no link that went down is up again. */
#define DEVICE_LONGEST_PS CFG_US(20)
/* An interrupt is handled soon after a point if it is handled in this time. */
#define SOON_PS CFG_US(100)

/* Points that the same code of the driver makes; or the interrupts of a vector. */
struct place {
	uint32_t first, count; /* in by_place[] */
	bool conflicts;        /* the device comes by one of its cache lines later */
	bool follows;          /* a write of the device has landed shortly before */
	bool yields;           /* others of the host, such as an interrupt, may go first */
};

struct plan {
	const struct notes *notes;
	uint64_t seed;
	uint32_t *by_place; /* indices of notes, sorted by place */
	/* by index of note, all of them indices of notes; 0: none */
	uint32_t *next_on_line; /* the device's next access that conflicts with this point */
	uint32_t *lands;        /* where the write of this point lands */
	uint32_t *write;        /* the point of the write that lands here */
	uint32_t *before;       /* the point of the device's write that is before this point */
	uint32_t *handled;      /* where the host's next interrupt has been handled */
	uint32_t *overslept;    /* where the thread's next sleep has ended; else as handled */
	size_t n_points;
	struct place *places;
	uint32_t *followers; /* indices of places that follow a write */
	uint32_t *yielders;  /* and of those that yield */
	size_t n_places, n_conflicts, n_followers, n_yielders;
};

/* --- places --- */

static const struct notes *sorted_notes; /* of the qsort() that runs */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const struct noted *a, const struct noted *b)
{
	int order = compare(a->kind, b->kind);

	if (!order)
		order = compare(a->host, b->host);
	if (!order)
		order = compare(a->place, b->place);
	return order;
}

static int by_place_and_time(const void *a, const void *b)
{
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const int order = by_place(&sorted_notes->noted[i], &sorted_notes->noted[k]);

	return order ? order : compare(i, k);
}

/* So that few schedules, too, come by all parts of the driver. */
static void shuffle(struct plan *p)
{
	struct rng rng;

	rng_init(&rng, p->seed, "places");
	for (size_t i = p->n_places; i > 1; i--) {
		const size_t k = rng_below(&rng, i);
		const struct place place = p->places[i - 1];

		p->places[i - 1] = p->places[k];
		p->places[k] = place;
	}
}

static void find_places(struct plan *p)
{
	const struct noted *noted = p->notes->noted;

	for (size_t i = 0; i < p->notes->n; i++)
		if (noted[i].kind != NOTED_DEVICE)
			p->by_place[p->n_points++] = (uint32_t)i;
	sorted_notes = p->notes;
	qsort(p->by_place, p->n_points, sizeof(*p->by_place), by_place_and_time);
	for (size_t i = 0; i < p->n_points; i++) {
		if (!i || by_place(&noted[p->by_place[i - 1]], &noted[p->by_place[i]]))
			p->places[p->n_places++] = (struct place){.first = (uint32_t)i};
		p->places[p->n_places - 1].count++;
		if (p->next_on_line[p->by_place[i]])
			p->places[p->n_places - 1].conflicts = true;
		if (p->before[p->by_place[i]])
			p->places[p->n_places - 1].follows = true;
		if (p->overslept[p->by_place[i]])
			p->places[p->n_places - 1].yields = true;
	}
	for (size_t i = 0; i < p->n_places; i++)
		p->n_conflicts += p->places[i].conflicts;
	shuffle(p);
	for (size_t i = 0; i < p->n_places; i++) {
		if (p->places[i].follows)
			p->followers[p->n_followers++] = (uint32_t)i;
		if (p->places[i].yields)
			p->yielders[p->n_yielders++] = (uint32_t)i;
	}
}

/* --- conflicts: the device's last access to each line, going back in time, then forward --- */

struct line {
	uintptr_t line;
	uint32_t read, write; /* indices of notes; 0: none */
};

struct lines {
	struct line *slots;
	size_t mask;
};

static struct line *line_of(const struct lines *lines, uintptr_t line)
{
	size_t i = (line * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (;; i++) {
		struct line *l = &lines->slots[i & lines->mask];

		if (l->line == line || !l->line) {
			l->line = line;
			return l;
		}
	}
}

static size_t lines_touched(const struct notes *notes)
{
	size_t n = 0;

	for (size_t i = 0; i < notes->n; i++)
		n += notes->noted[i].bytes / LINE + 2; /* a point is on one of them */
	return n;
}

static uint32_t sooner(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void lines_access(const struct lines *lines, const struct noted *n, uint32_t i)
{
	for (uintptr_t at = n->at / LINE; at <= (n->at + n->bytes) / LINE; at++) {
		struct line *l = line_of(lines, at);

		if (n->store)
			l->write = i;
		else
			l->read = i;
	}
}

/* What comes next. Note 0 is never found by index: nothing is before it that could wait for it. */
static void look_ahead(struct plan *p, const struct lines *lines)
{
	const struct noted *noted = p->notes->noted;

	for (size_t i = p->notes->n; i-- > 1;) {
		const struct noted *n = &noted[i];
		const struct line *l;

		if (n->kind == NOTED_DEVICE) {
			lines_access(lines, n, (uint32_t)i);
			continue;
		}
		if (n->kind != TURN_ACCESS && n->kind != TURN_WRITE)
			continue;
		l = line_of(lines, n->at / LINE);
		if (n->kind == TURN_ACCESS) {
			p->next_on_line[i] = n->store ? sooner(l->read, l->write) : l->write;
		} else if (l->write && noted[l->write].at == n->at) {
			p->lands[i] = l->write;
			p->write[l->write] = (uint32_t)i;
		}
	}
}

/* Other threads of the host may go on here. */
static bool lets_others_run(const struct noted *n)
{
	return n->kind == TURN_REGISTER || n->kind == TURN_AFTER || n->kind == TURN_WAKE;
}

static uint64_t since(const struct plan *p, uint32_t from, size_t to)
{
	return p->notes->noted[to].now_ps - p->notes->noted[from].now_ps;
}

/* What came before: to the same line; of a register or a wait, to the host's memory. */
static void look_back(struct plan *p, const struct lines *lines)
{
	const struct noted *noted = p->notes->noted;
	uint32_t landed[EXPLORER_PARTIES] = {0}, last;

	for (size_t i = 1; i < p->notes->n; i++) {
		const struct noted *n = &noted[i];

		if (n->kind == NOTED_DEVICE) {
			if (n->store) {
				lines_access(lines, n, (uint32_t)i);
				landed[n->host] = (uint32_t)i;
			}
			continue;
		}
		if (n->kind == TURN_ACCESS)
			last = line_of(lines, n->at / LINE)->write;
		else if (lets_others_run(n))
			last = landed[n->host];
		else
			continue;
		if (last && since(p, last, i) + MARGIN_PS < DEVICE_LONGEST_PS)
			p->before[i] = p->write[last];
	}
}

/*
 * Around a register access, and after a wait, other threads of the host may go on. The interrupt that
 * comes next has been handled when another thread of that host comes by a register: the handler gives
 * its entries back. What wakes the thread from its next sleep may come first, too: then the thread is
 * not asleep yet, and must see that it has come.
 */
static void look_for_wakers(struct plan *p)
{
	const struct noted *noted = p->notes->noted;
	uint32_t came[EXPLORER_PARTIES] = {0}, reg[EXPLORER_PARTIES] = {0},
		 done[EXPLORER_PARTIES] = {0}, woken[EXPLORER_PARTIES] = {0};

	for (size_t i = p->notes->n; i-- > 1;) {
		const struct noted *n = &noted[i];

		if (n->kind == TURN_INTERRUPT) {
			came[n->host] = (uint32_t)i;
			done[n->host] = reg[n->host];
		} else if (lets_others_run(n)) {
			const uint32_t by = done[n->host], wake = woken[n->party];

			if (came[n->host] && by && noted[by].party != n->party &&
			    since(p, (uint32_t)i, by) < SOON_PS)
				p->handled[i] = by;
			p->overslept[i] = wake && since(p, (uint32_t)i, wake) < LONGEST_PS
						  ? wake
						  : p->handled[i];
			if (n->kind == TURN_REGISTER)
				reg[n->host] = (uint32_t)i;
			if (n->woken)
				woken[n->party] = (uint32_t)i;
		}
	}
}

static int find_conflicts(struct plan *p)
{
	struct lines lines = {.mask = 1};

	while (lines.mask < 2 * lines_touched(p->notes))
		lines.mask *= 2;
	lines.slots = calloc(lines.mask, sizeof(*lines.slots));
	if (!lines.slots)
		return -1;
	lines.mask--;
	look_ahead(p, &lines);
	memset(lines.slots, 0, (lines.mask + 1) * sizeof(*lines.slots));
	look_back(p, &lines);
	look_for_wakers(p);
	free(lines.slots);
	return 0;
}

/* --- turns --- */

/* Time until just after note `until`. */
static uint64_t hold_until(const struct plan *p, uint32_t point, uint32_t until)
{
	const struct noted *noted = p->notes->noted;
	const uint64_t ps = noted[until].now_ps - noted[point].now_ps + MARGIN_PS;

	return ps < LONGEST_PS ? ps : LONGEST_PS;
}

/* The nth write of that host's device after the point; 0: there are not so many. */
static uint32_t nth_write(const struct plan *p, uint32_t point, unsigned nth)
{
	const struct noted *noted = p->notes->noted;

	for (size_t i = point + 1; i < p->notes->n; i++)
		if (noted[i].kind == NOTED_DEVICE && noted[i].store &&
		    noted[i].host == noted[point].host && !nth--)
			return (uint32_t)i;
	return 0;
}

static uint64_t random_time(struct rng *rng)
{
	const uint64_t ps = (uint64_t)SHORTEST_PS << rng_below(rng, DOUBLINGS + 1);

	return ps + rng_below(rng, ps);
}

static unsigned some_writes(struct rng *rng)
{
	return (1u << rng_below(rng, LOG_WRITES)) - 1;
}

static struct turn turn_of(const struct plan *p, uint32_t point, uint64_t ps)
{
	const struct noted *n = &p->notes->noted[point];

	if ((n->kind == TURN_READ || n->kind == TURN_WRITE) && ps > DEVICE_LONGEST_PS)
		ps = DEVICE_LONGEST_PS;
	return (struct turn){
		.kind = (enum turn_kind)n->kind, .party = n->party, .nth = n->nth, .ps = ps};
}

static struct turn random_turn(const struct plan *p, struct rng *rng)
{
	const uint32_t point = p->by_place[rng_below(rng, p->n_points)];
	const uint32_t until = nth_write(p, point, some_writes(rng));

	return turn_of(p, point,
		       until && rng_below(rng, 2) ? hold_until(p, point, until) : random_time(rng));
}

/* The point of a place whose wanted[] is the farthest, but not too far for a hold: what happens there
 * is rare among the place's points, such as a wake-up by an error and not by an answer. */
static uint32_t farthest(const struct plan *p, const struct place *place, const uint32_t *wanted)
{
	uint64_t most = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < place->count; i++) {
		const uint32_t point = p->by_place[place->first + i];
		const uint64_t ps = wanted[point] > point ? since(p, point, wanted[point]) : 0;

		if (ps <= most || ps >= LONGEST_PS)
			continue;
		most = ps;
		found = i;
	}
	return found;
}

/*
 * Which points of a place a schedule holds: at most AT_ONCE, of those for which wanted[] is not 0 (or
 * of all), the last one, the first one, the farthest one and others at random. Shrinking tells which
 * of them matter.
 */
static unsigned choose_points(const struct plan *p, const struct place *place,
			      const uint32_t *wanted, struct rng *rng, uint32_t points[AT_ONCE])
{
	unsigned n = 0;

	for (unsigned tries = 0; tries < 2 * AT_ONCE && n < AT_ONCE; tries++) {
		uint32_t i = tries == 0             ? place->count - 1
			     : tries == 1           ? 0
			     : tries == 2 && wanted ? farthest(p, place, wanted)
						    : (uint32_t)rng_below(rng, place->count);
		bool twice = false;

		for (uint32_t left = place->count;
		     wanted && left && !wanted[p->by_place[place->first + i]]; left--)
			i = (i + place->count - 1) % place->count;
		for (unsigned k = 0; k < n; k++)
			twice |= points[k] == p->by_place[place->first + i];
		if (!twice)
			points[n++] = p->by_place[place->first + i];
	}
	return n;
}

/* Holds the driver until the device has come by the same line, or has written something. */
static struct turn until_device(const struct plan *p, uint32_t point, unsigned round,
				struct rng *rng)
{
	uint32_t until = round % 2 ? 0 : p->next_on_line[point];

	if (!until)
		until = nth_write(p, point, some_writes(rng));
	return turn_of(p, point, until ? hold_until(p, point, until) : random_time(rng));
}

/* The next time after the point that its thread comes by a register; 0: it does not. */
static uint32_t next_register(const struct plan *p, uint32_t point)
{
	const struct noted *noted = p->notes->noted;

	for (size_t i = point + 1; i < p->notes->n; i++)
		if (noted[i].kind == TURN_REGISTER && noted[i].party == noted[point].party)
			return (uint32_t)i;
	return 0;
}

/* Holds the write of the device that was before the point until just after it; or until after the
 * next register access of that thread, such as an arm doorbell. */
static struct turn until_driver(const struct plan *p, uint32_t point, unsigned round)
{
	const uint32_t write = p->before[point];
	const uint32_t until = round % 2 ? next_register(p, point) : 0;

	return turn_of(p, write, since(p, p->lands[write], until ? until : point) + MARGIN_PS);
}

/* Where the nth interrupt of that host after the point has been handled; 0: it is not. */
static uint32_t nth_handled(const struct plan *p, uint32_t point, unsigned nth)
{
	const struct noted *noted = p->notes->noted;
	bool came = false;

	for (size_t i = point + 1; i < p->notes->n && since(p, point, i) < LONGEST_PS; i++) {
		if (noted[i].host != noted[point].host)
			continue;
		if (noted[i].kind == TURN_INTERRUPT)
			came |= !nth--;
		else if (came && noted[i].kind == TURN_REGISTER &&
			 noted[i].party != noted[point].party)
			return (uint32_t)i;
	}
	return 0;
}

/*
 * Holds the thread until its next sleep would be over. In turn, and if it does not sleep in the
 * driver, until the next interrupts have been handled: what it waits for may come with any of them.
 */
static struct turn until_others(const struct plan *p, uint32_t point, unsigned round)
{
	const bool sleeps = p->overslept[point] != p->handled[point];
	uint32_t until = p->overslept[point];

	if (sleeps && round % 2 && p->handled[point])
		until = p->handled[point];
	else if (!sleeps)
		until = nth_handled(p, point, round % INTERRUPTS_MAX);
	return turn_of(p, point, hold_until(p, point, until ? until : p->overslept[point]));
}

enum guide { OF_DRIVER, OF_DEVICE, OF_THREADS, RANDOM };

static void guided(const struct plan *p, enum guide guide, unsigned nth, struct rng *rng,
		   struct schedule *s)
{
	const size_t n = guide == OF_DRIVER   ? p->n_places
			 : guide == OF_DEVICE ? p->n_followers
					      : p->n_yielders;
	const uint32_t at = (uint32_t)(nth % n);
	const struct place *place = &p->places[guide == OF_DRIVER   ? at
					       : guide == OF_DEVICE ? p->followers[at]
								    : p->yielders[at]];
	const uint32_t *wanted = guide == OF_DEVICE    ? p->before
				 : guide == OF_THREADS ? p->overslept
				 : place->conflicts    ? p->next_on_line
						       : NULL;
	const unsigned round = nth / (unsigned)n;
	uint32_t points[AT_ONCE];

	s->n = choose_points(p, place, wanted, rng, points);
	for (unsigned i = 0; i < s->n; i++)
		s->turns[i] = guide == OF_DRIVER   ? until_device(p, points[i], round, rng)
			      : guide == OF_DEVICE ? until_driver(p, points[i], round)
						   : until_others(p, points[i], i + round);
}

static enum guide guide_of(const struct plan *p, unsigned number)
{
	const enum guide guide = (enum guide)((number - 1) % ROUND);

	return (guide == OF_DEVICE && !p->n_followers) || (guide == OF_THREADS && !p->n_yielders)
		       ? RANDOM
		       : guide;
}

void plan_schedule(const struct plan *p, unsigned number, struct schedule *s)
{
	enum guide guide;
	struct rng rng;

	s->n = 0;
	if (!p->n_points || !number)
		return;
	rng_init(&rng, p->seed ^ (uint64_t)number << 32, "schedule");
	guide = guide_of(p, number);
	if (guide != RANDOM) {
		guided(p, guide, (number - 1) / ROUND, &rng, s);
		return;
	}
	for (unsigned turns = 1 + (unsigned)rng_below(&rng, TURNS_MAX); turns; turns--)
		s->turns[s->n++] = random_turn(p, &rng);
}

/* --- the plan --- */

struct plan *plan_make(const struct notes *notes, uint64_t seed)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->notes = notes;
	p->seed = seed;
	p->by_place = calloc(notes->n + 1, sizeof(*p->by_place));
	p->next_on_line = calloc(notes->n + 1, sizeof(*p->next_on_line));
	p->lands = calloc(notes->n + 1, sizeof(*p->lands));
	p->write = calloc(notes->n + 1, sizeof(*p->write));
	p->before = calloc(notes->n + 1, sizeof(*p->before));
	p->places = calloc(notes->n + 1, sizeof(*p->places));
	p->handled = calloc(notes->n + 1, sizeof(*p->handled));
	p->overslept = calloc(notes->n + 1, sizeof(*p->overslept));
	p->followers = calloc(notes->n + 1, sizeof(*p->followers));
	p->yielders = calloc(notes->n + 1, sizeof(*p->yielders));
	if (!p->by_place || !p->next_on_line || !p->lands || !p->write || !p->before ||
	    !p->handled || !p->overslept || !p->places || !p->followers || !p->yielders ||
	    find_conflicts(p)) {
		plan_free(p);
		return NULL;
	}
	find_places(p);
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->by_place);
	free(p->next_on_line);
	free(p->lands);
	free(p->write);
	free(p->before);
	free(p->places);
	free(p->followers);
	free(p->handled);
	free(p->overslept);
	free(p->yielders);
	free(p);
}

/* Host threads and two devices. */
static size_t parties_of(const struct plan *p)
{
	bool seen[EXPLORER_PARTIES] = {false};
	size_t n = 2;

	for (size_t i = 0; i < p->n_points; i++) {
		const struct noted *at = &p->notes->noted[p->by_place[i]];

		if (strcmp(turn_kinds[at->kind].party, "thread") || seen[at->party])
			continue;
		seen[at->party] = true;
		n++;
	}
	return n;
}

void plan_measure(const struct plan *p, unsigned number, struct plan_size *size)
{
	const size_t driver = (number + ROUND - 1) / ROUND, device = (number + ROUND - 2) / ROUND,
		     threads = (number + ROUND - 3) / ROUND;

	*size = (struct plan_size){.points = p->n_points,
				   .places = p->n_places,
				   .parties = parties_of(p),
				   .conflicts = p->n_conflicts,
				   .follow = p->n_followers,
				   .preceded = device < p->n_followers ? device : p->n_followers,
				   .yield = p->n_yielders,
				   .yielded = threads < p->n_yielders ? threads : p->n_yielders};
	for (size_t i = 0; i < p->n_places && i < driver; i++)
		size->reversed += p->places[i].conflicts;
	size->depth_2 = (double)size->parties * (double)p->n_points;
	size->depth_3 = size->depth_2 * (double)p->n_points;
}
