// SPDX-License-Identifier: Apache-2.0
/* What a schedule did, in words. */
#include "testbench/app/explore_impl.h"

#include "testbench/os/symbols.h"

#include <inttypes.h>
#include <string.h>

enum { CALLS_SHOWN = 6, SYMBOLS_MAX = 8, NS_PER_US = 1000, BAR_SHIFT = 60 };

static const char driver_folder[] = "host_driver/";

void explore_place(const struct struck *struck, char *buf, size_t size)
{
	struct symbol symbols[SYMBOLS_MAX];

	for (unsigned i = 0; i < struck->n_calls; i++) {
		const size_t n = symbols_find(struck->calls[i], symbols, SYMBOLS_MAX);

		for (size_t k = 0; k < n; k++) {
			const char *file = strstr(symbols[k].file, driver_folder);

			if (!file || strstr(symbols[k].file, "barriers.h"))
				continue;
			snprintf(buf, size, "%s (%s:%d)", symbols[k].name, file, symbols[k].line);
			return;
		}
	}
	snprintf(buf, size, "%s", turn_kinds[struck->at.kind].what);
}

/* "before its store to 0x200000012040 of host 0" */
static void put_point(const struct point *p, char *buf, size_t size)
{
	switch (p->kind) {
	case TURN_ACCESS:
		snprintf(buf, size, "stands still before a %s at %#" PRIxPTR " of host %u",
			 p->store ? "store" : "load", p->at, p->host);
		break;
	case TURN_REGISTER:
		snprintf(buf, size, "is held before it %s BAR %u offset %#" PRIxPTR " of host %u",
			 p->store ? "writes" : "reads", (unsigned)(p->at >> BAR_SHIFT),
			 p->at & (((uintptr_t)1 << BAR_SHIFT) - 1), p->host);
		break;
	case TURN_AFTER:
		snprintf(buf, size, "is held after it %s BAR %u offset %#" PRIxPTR " of host %u",
			 p->store ? "wrote" : "read", (unsigned)(p->at >> BAR_SHIFT),
			 p->at & (((uintptr_t)1 << BAR_SHIFT) - 1), p->host);
		break;
	case TURN_WAKE:
		snprintf(buf, size, "goes on later after a wait, at host %u", p->host);
		break;
	case TURN_INTERRUPT:
		snprintf(buf, size, "interrupt of vector %u of host %u comes later",
			 (unsigned)p->at, p->host);
		break;
	case TURN_READ:
	case TURN_WRITE:
		snprintf(buf, size, "DMA %s of host %u's device, %s, at %#" PRIxPTR " %s later",
			 p->store ? "write" : "read", p->host, p->what, p->at,
			 p->store ? "lands" : "takes place");
		break;
	case TURN_DOORBELL:
		snprintf(buf, size,
			 "writes BAR %u offset %#" PRIxPTR " of host %u, which arrives later",
			 (unsigned)(p->at >> BAR_SHIFT), p->at & (((uintptr_t)1 << BAR_SHIFT) - 1),
			 p->host);
		break;
	default:
		snprintf(buf, size, "interrupt of vector %u of host %u comes once more",
			 (unsigned)p->at, p->host);
	}
}

void explore_tell_turns(const struct schedule *schedule, const struct struck *struck, FILE *out)
{
	char point[160];

	for (unsigned i = 0; i < schedule->n; i++) {
		const struct turn *t = &schedule->turns[i];
		const struct struck *s = &struck[i];
		struct calls calls = {.n = s->n_calls};

		if (!s->yes) {
			fprintf(out,
				"  %u: the run does not come by this point: %s %s %u nth %" PRIu32
				"\n",
				i + 1, turn_kinds[t->kind].word, turn_kinds[t->kind].party,
				t->party, t->nth);
			continue;
		}
		put_point(&s->at, point, sizeof(point));
		fprintf(out,
			"  %u: at %" PRIu64 ".%06" PRIu64 " us %s%s%s%s, for %" PRIu64 ".%03" PRIu64
			" us\n",
			i + 1, s->at.now_ps / CFG_US(1), s->at.now_ps % CFG_US(1),
			*s->thread ? "thread " : "", s->thread, *s->thread ? " " : "", point,
			t->ps / CFG_US(1), t->ps % CFG_US(1) / NS_PER_US);
		memcpy(calls.pc, s->calls, s->n_calls * sizeof(*s->calls));
		tb_tell_calls(&calls, "in:", CALLS_SHOWN, out);
	}
}
