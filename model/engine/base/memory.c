/* SPDX-License-Identifier: Apache-2.0 */
/* See memory.h. */
#include "model/engine/base/memory.h"

#include "model/engine/base/engine.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"

#include <stdlib.h>

/* Enough for the work under way to finish, and for the C library while it does. */
enum { RESERVE_BYTES = 4 << 20, LOG_MIB = 20 };

/* The event that tells software has been written, or could not be written. The device gives its
 * memory back. */
static void let_go(struct event *ev)
{
	struct hca *hca = container_of(ev, struct hca, memory.ev);

	hca->calls->give_back(hca);
}

static void told(void *arg)
{
	struct hca *hca = arg;

	hca->memory.ev.job = let_go;
	event_set(hca->core, &hca->memory.ev, hca_now(hca));
}

static void stop(struct event *ev)
{
	struct hca *hca = container_of(ev, struct hca, memory.ev);
	const uint64_t mib = hca->memory.bytes >> LOG_MIB;

	if (hca->stopped) {
		told(hca);
		return;
	}
	hca_catastrophe_then(hca, told, ERR_BUF_MEMORY, (uint32_t)mib,
			     "out of memory for %s: %llu MiB are held, hca.memory is %llu MiB",
			     hca->memory.what, (unsigned long long)mib,
			     (unsigned long long)(param_hca_memory(hca->params) >> LOG_MIB));
}

/* Stops the device by an event, because the caller is in the middle of its work. */
static void over(struct hca *hca, const char *what)
{
	if (hca->memory.what)
		return;
	hca->memory.what = what;
	hca->memory.ev.job = stop;
	event_set(hca->core, &hca->memory.ev, hca_now(hca));
}

void *memory_take(struct hca *hca, size_t size, const char *what)
{
	void *p = calloc(1, size);

	hca->memory.bytes += size;
	if (!p || hca->memory.bytes > param_hca_memory(hca->params))
		over(hca, what);
	if (p)
		return p;
	free(hca->memory.reserve);
	hca->memory.reserve = NULL;
	return memory_create(1, size, what);
}

void memory_give(struct hca *hca, void *p, size_t size)
{
	if (!p)
		return;
	free(p);
	hca->memory.bytes -= size;
}

void memory_init(struct hca *hca)
{
	hca->memory.reserve = malloc(RESERVE_BYTES);
}

void memory_free(struct hca *hca)
{
	event_cancel(hca->core, &hca->memory.ev);
	free(hca->memory.reserve);
}

void memory_reset(struct hca *hca)
{
	event_cancel(hca->core, &hca->memory.ev);
	hca->memory.what = NULL;
	if (!hca->memory.reserve)
		hca->memory.reserve = malloc(RESERVE_BYTES);
}
