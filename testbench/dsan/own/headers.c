// SPDX-License-Identifier: Apache-2.0
/* See headers.h. */
#include "testbench/dsan/own/headers.h"

#include "testbench/dsan/checker_impl.h"

enum { DWORD = 4 };

void headers_dma(struct checker *c, struct headers *r, const struct hca_dma_seen *dma)
{
	const uintptr_t at = checker_address(c, dma->bus);
	uint32_t nth = 0;

	if (!dma->write || !at || !checker_has(c, at + dma->len - 1))
		return;
	if (!strcmp(dma->what, "header queue tail"))
		r->tail = at;
	else if (!strcmp(dma->what, "packet header"))
		nth = ++r->writes;
	else
		return;
	for (uintptr_t w = at & ~(uintptr_t)(WORD - 1); w < at + dma->len; w += WORD)
		checker_stored(c, w)->entry = nth;
}

void headers_load(struct checker *c, struct headers *r, uintptr_t at, size_t bytes, const void *pc)
{
	uint32_t nth;

	if (!checker_has(c, at))
		return;
	if (at - r->tail < DWORD) {
		r->seen = r->writes;
		r->loaded = pc;
		return;
	}
	nth = checker_stored(c, at)->entry;
	if (nth && (int32_t)(nth - r->fenced) > 0)
		c->tell(c, &(struct breach){RULE_order_entry, {0}, pc, r->loaded},
			"an entry of the header queue, written behind the last tail that was "
			"loaded with a load barrier behind it");
}

void headers_fence(struct headers *r, unsigned fence)
{
	if (fence & CALLOUT_FENCE_LOADS)
		r->fenced = r->seen;
}
