// SPDX-License-Identifier: Apache-2.0
/* See explorer.h. */
#include "testbench/explore/explorer.h"

#include <string.h>

void explorer_begin(struct explorer *e)
{
	e->on = true;
}

static void note(struct notes *notes, const struct noted *n)
{
	if (notes && notes->n < notes->room)
		notes->noted[notes->n++] = *n;
}

uint64_t explorer_point(struct explorer *e, const struct point *p)
{
	uint64_t ps = 0;
	uint32_t nth;

	if (!e->on || p->party >= EXPLORER_PARTIES)
		return 0;
	nth = e->counts[p->kind][p->party]++;
	note(e->notes, &(struct noted){.now_ps = p->now_ps,
				       .at = p->at,
				       .place = p->place,
				       .nth = nth,
				       .kind = (uint8_t)p->kind,
				       .party = (uint8_t)p->party,
				       .host = (uint8_t)p->host,
				       .store = p->store,
				       .woken = p->woken});
	for (unsigned i = 0; i < e->schedule.n; i++) {
		const struct turn *t = &e->schedule.turns[i];

		if (t->kind != p->kind || t->party != p->party || t->nth != nth)
			continue;
		e->struck[i] = (struct struck){.yes = true, .at = *p};
		e->newest = &e->struck[i];
		ps += t->ps;
	}
	return ps;
}

void explorer_name(struct explorer *e, const char *thread, const void *const *calls, unsigned n)
{
	struct struck *s = e->newest;

	if (!s)
		return;
	strncpy(s->thread, thread, sizeof(s->thread) - 1);
	s->n_calls = n < STRUCK_CALLS ? n : STRUCK_CALLS;
	memcpy(s->calls, calls, s->n_calls * sizeof(*calls));
}

void explorer_device(struct explorer *e, unsigned host, uintptr_t at, size_t bytes, bool store,
		     uint64_t now_ps)
{
	if (e->on)
		note(e->notes, &(struct noted){.now_ps = now_ps,
					       .at = at,
					       .bytes = (uint32_t)bytes,
					       .kind = NOTED_DEVICE,
					       .host = (uint8_t)host,
					       .store = store});
}
