/* SPDX-License-Identifier: Apache-2.0 */
/* Waiter queues, guest errors, catastrophes, bugs: see engine.h. */
#include "model/engine/base/engine.h"
#include "model/interface/rows.h"
#include "model/sim/cfg.h"
#include "model/sim/params/hca_fw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { GUEST_ERROR_TEXT = 512, CATAS_TEXT = 256, BUG_TEXT = 256 };

void waiter_queue_add(struct waiter_queue *q, struct waiter *w)
{
	if (w->in)
		return;
	w->in = q;
	w->next = NULL;
	if (q->last)
		q->last->next = w;
	else
		q->first = w;
	q->last = w;
}

static struct waiter *waiter_queue_pop(struct waiter_queue *q)
{
	struct waiter *w = q->first;

	if (!w)
		return NULL;
	q->first = w->next;
	if (!q->first)
		q->last = NULL;
	w->next = NULL;
	w->in = NULL;
	return w;
}

void waiter_queue_wake(struct waiter_queue *q)
{
	/* A waiter that queues again while it is woken waits for the next wake. A waiter may also
	 * cancel another one that is still in `taken`, so each points to the queue that it is
	 * in. */
	struct waiter_queue taken = *q;
	struct waiter *w;

	q->first = q->last = NULL;
	for (w = taken.first; w; w = w->next)
		w->in = &taken;
	while ((w = waiter_queue_pop(&taken)))
		w->wake(w);
}

void waiter_queue_wake_first(struct waiter_queue *q)
{
	struct waiter *w = waiter_queue_pop(q);

	if (w)
		w->wake(w);
}

static void waiter_queue_remove(struct waiter_queue *q, struct waiter *w)
{
	struct waiter **link = &q->first, *before = NULL;

	while (*link && *link != w) {
		before = *link;
		link = &before->next;
	}
	if (!*link)
		return;
	*link = w->next;
	if (q->last == w)
		q->last = before;
	w->next = NULL;
	w->in = NULL;
}

void waiter_cancel(struct waiter *w)
{
	if (w->in)
		waiter_queue_remove(w->in, w);
}

void waiter_queue_clear(struct waiter_queue *q)
{
	while (waiter_queue_pop(q))
		;
}

void guest_error(struct hca *hca, enum guest_rule rule, struct guest_object object,
		 const char *format, ...)
{
	char text[GUEST_ERROR_TEXT];
	const char *name = guest_rules[rule].name;
	va_list args;
	int used;

	hca->rule_count[rule]++;
	used = snprintf(text, sizeof(text), "%s: ", name);
	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - (size_t)used, format, args);
	va_end(args);
	HCA_TRACE(hca, TP_GUEST_ERROR, .text = text);
	if (hca->env.guest_error)
		hca->env.guest_error(hca->env.ctx, &(struct guest_error){.rule = rule,
									 .name = name,
									 .object = object,
									 .text = text + used});
}

static void catastrophe(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			uint32_t detail, const char *format, va_list args)
{
	char text[CATAS_TEXT];

	hca->stopped = true;
	vsnprintf(text, sizeof(text), format, args);
	HCA_TRACE(hca, TP_FW_CATAS, .text = text);
	hca->calls->catastrophe(hca, told, code, detail, text);
}

void hca_catastrophe(struct hca *hca, enum err_buf_cause code, uint32_t detail, const char *format,
		     ...)
{
	va_list args;

	if (hca->stopped)
		return;
	va_start(args, format);
	catastrophe(hca, NULL, code, detail, format, args);
	va_end(args);
}

void hca_catastrophe_then(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			  uint32_t detail, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	catastrophe(hca, told, code, detail, format, args);
	va_end(args);
}

_Noreturn void hca_bug_at(const struct hca *hca, const char *file, int line, const char *format,
			  ...)
{
	enum { PS_PER_US = 1000000 };
	const uint64_t now = hca_now(hca);
	char text[BUG_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s:%d: bug of the simulator: hca%u at %" PRIu64 ".%06" PRIu64 " us: %s\n",
		file, line, hca->index, now / PS_PER_US, now % PS_PER_US, text);
	abort();
}

uint64_t hca_core_cycles(const struct hca *hca)
{
	enum { PS_PER_NS = 1000, NS_PER_US = 1000, NS_PER_S = 1000000000, HZ_PER_MHZ = 1000000 };
	const uint64_t ns = hca_now(hca) / PS_PER_NS, hz = param_fw_clock(hca->params);

	return ns / NS_PER_S * hz + ns % NS_PER_S * (hz / HZ_PER_MHZ) / NS_PER_US;
}

uint64_t hca_node_guid(const struct hca *hca)
{
	return cfg_node_guid(hca->params, hca->index);
}
