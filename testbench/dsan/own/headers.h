/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header queue of a QLogic 6120: the device writes an entry, then the tail. Software loads the tail, and an
 * entry only behind a load barrier that stands behind this load. Whether the processor at hand would have kept the
 * order without the barrier does not matter. Source: Linux qib_kreceive, smp_rmb() behind qib_get_rcvhdrtail().
 */
#ifndef TESTBENCH_DSAN_OWN_HEADERS_H
#define TESTBENCH_DSAN_OWN_HEADERS_H

#include <stddef.h>
#include <stdint.h>

struct checker;
struct hca_dma_seen;

struct headers {
	uintptr_t tail;     /* where the device has written it; 0: nowhere yet */
	uint32_t writes;    /* of entries, so far */
	uint32_t seen;      /* of those, how many the last load of the tail may have told */
	uint32_t fenced;    /* the same, of the last one with a barrier behind it */
	const void *loaded; /* that load */
};

void headers_dma(struct checker *c, struct headers *r, const struct hca_dma_seen *dma);
void headers_load(struct checker *c, struct headers *r, uintptr_t at, size_t bytes, const void *pc);
void headers_fence(struct headers *r, unsigned fence);

#endif
