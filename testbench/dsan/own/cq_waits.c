// SPDX-License-Identifier: Apache-2.0
/* See cq_waits.h. */
#include "testbench/dsan/own/cq_waits.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/threads/threads.h"

#include "model/interface/queues.h"

#include <stdlib.h>

enum { BUCKETS = 1 << 10, HOSTS = 2, PLACES = 48 };

struct watched {
	struct watched *next;
	struct checker *c;
	const struct drv_cq *cq;
	uint32_t cqn;
	bool armed, empty;            /* empty: it was found so since it was armed */
	unsigned armed_events;        /* its events when it was armed */
	unsigned awake;               /* events for which waits have returned */
	const void *event_by[PLACES]; /* what the handler of its last event came by */
	unsigned n_event_by;
};

static struct watched *cqs[BUCKETS];

/* The completion event that the driver has looked at. */
static struct {
	struct watched *w;
	unsigned before; /* events that the driver has counted */
} looked[HOSTS];

static struct watched **place_of(const struct checker *c, uint32_t cqn)
{
	struct watched **at = &cqs[cqn % BUCKETS];

	while (*at && ((*at)->c != c || (*at)->cqn != cqn))
		at = &(*at)->next;
	return at;
}

static struct watched *watched_of(const struct drv_cq *cq)
{
	struct watched *w = cqs[drv_cq_num(cq) % BUCKETS];

	while (w && w->cq != cq)
		w = w->next;
	return w;
}

static void watched_free(struct watched **at)
{
	struct watched *w = *at;

	for (unsigned i = 0; i < HOSTS; i++)
		if (looked[i].w == w)
			looked[i].w = NULL;
	*at = w->next;
	free(w);
}

void cq_waits_made(struct checker *c, const struct drv_cq *cq)
{
	struct watched *w = calloc(1, sizeof(*w)), **at = place_of(c, drv_cq_num(cq));

	if (!w)
		abort();
	if (*at)
		watched_free(at);
	*w = (struct watched){
		.next = cqs[drv_cq_num(cq) % BUCKETS], .c = c, .cq = cq, .cqn = drv_cq_num(cq)};
	cqs[w->cqn % BUCKETS] = w;
}

void cq_waits_gone(const struct drv_cq *cq, uint32_t cqn)
{
	struct watched **at = &cqs[cqn % BUCKETS];

	while (*at && (*at)->cq != cq)
		at = &(*at)->next;
	if (*at)
		watched_free(at);
}

void cq_waits_forget(const struct checker *c)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct watched **at = &cqs[i]; *at;)
			if ((*at)->c == c)
				watched_free(at);
			else
				at = &(*at)->next;
}

void cq_waits_event_by(const struct checker *c, uint32_t cqn, char *text, size_t size)
{
	const struct watched *w = *place_of(c, cqn);

	checker_functions(w ? w->event_by : NULL, w ? w->n_event_by : 0, text, size);
}

/* --- who sleeps --- */

void cq_waits_armed(const struct drv_cq *cq)
{
	struct watched *w = watched_of(cq);

	threads_armed();
	if (!w)
		return;
	w->armed = true;
	w->empty = false;
	w->armed_events = drv_cq_events(cq);
}

void cq_waits_empty(const struct drv_cq *cq)
{
	struct watched *w = watched_of(cq);

	threads_found_empty();
	if (w)
		w->empty = true;
}

/* A scenario may sleep as it likes. Source: IBA 11.4.2.2: completions before the request raise no event; libibverbs
 * ibv_get_cq_event: arm, then poll, then wait */
void cq_waits_sleep(const struct drv_cq *cq, const void *pc)
{
	const struct watched *w = watched_of(cq);
	const bool armed = w && w->armed && w->armed_events == drv_cq_events(cq);

	if (!w || drv_cq_events(cq) != w->awake || (armed && w->empty) || !checker_in_driver(pc))
		return;
	checker_report(w->c, &(struct breach){RULE_wait_unchecked, {GUEST_CQ, w->cqn}, pc, NULL},
		       "a thread sleeps until an event of the CQ, and %s",
		       armed ? "did not poll it empty since it armed it: what came before raises "
			       "no event"
			     : "has not armed it since its last event");
}

void cq_waits_awake(const struct drv_cq *cq)
{
	struct watched *w = watched_of(cq);

	if (w)
		w->awake++;
}

/* --- events --- */

void cq_waits_eqe(struct checker *c, const struct eqe *e, const void *pc)
{
	const unsigned host = c->host.platform->host % HOSTS;

	cq_waits_eqes_end(c, pc);
	if (eqe_get_type(e) != EVENT_COMP)
		return;
	looked[host].w = *place_of(c, eqe_cq_get_cqn(eqe_as_cq_const(e)));
	if (looked[host].w)
		looked[host].before = drv_cq_events(looked[host].w->cq);
}

void cq_waits_eqes_end(struct checker *c, const void *pc)
{
	const unsigned host = c->host.platform->host % HOSTS;
	struct watched *w = looked[host].w;
	unsigned counted;

	if (!w)
		return;
	looked[host].w = NULL;
	w->n_event_by = trail_newest(w->event_by, PLACES);
	counted = drv_cq_events(w->cq) - looked[host].before;
	if (counted == 1)
		return;
	checker_report(c, &(struct breach){RULE_event_differs, {GUEST_CQ, w->cqn}, pc, NULL},
		       "a completion event was taken, and %u were counted for its CQ: see "
		       "drv_cq_event",
		       counted);
}
