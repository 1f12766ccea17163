/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HCA with memory but no host, for tests of the stages that read ICM: a few pages of bus memory,
 * and DMA with a fixed latency in place of PCIe. Include it once, in the test's file.
 */
#ifndef MODEL_ENGINE_TESTS_RIG_H
#define MODEL_ENGINE_TESTS_RIG_H

#include "model/engine/memory/context_cache.h"
#include "model/engine/base/engine.h"
#include "model/engine/memory/icm.h"
#include "model/engine/base/keep.h"
#include "model/engine/host/pcie.h"
#include "model/engine/memory/translate.h"
#include "model/interface/contexts.h"
#include "model/sim/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	RIG_BUS = 0x10000000,
	RIG_BYTES = 0x80000,
	RIG_READ_PS = 500000,
	RIG_WRITE_PS = 200000,
};

static struct rig {
	struct event_core core;
	struct hca_params params;
	struct hca hca;
	uint8_t memory[RIG_BYTES];
	unsigned guest_errors;
	const char *last_rule;
	char last_text[256];
	unsigned reads, writes;
	unsigned stalls;         /* context reads that have stalled the receive unit */
	uint64_t stalled_ps;     /* total time of these stalls */
	uint64_t hole, hole_end; /* bus addresses that are not mapped */
} rig;

static int rig_mem(uint64_t bus, size_t len)
{
	if (bus < RIG_BUS || bus - RIG_BUS > RIG_BYTES || len > RIG_BYTES - (bus - RIG_BUS) ||
	    (bus < rig.hole_end && bus + len > rig.hole))
		return -EFAULT;
	return 0;
}

static int rig_dma_read(void *ctx, uint64_t bus, void *buf, size_t len)
{
	if (rig_mem(bus, len))
		return -EFAULT;
	memcpy(buf, rig.memory + (bus - RIG_BUS), len);
	return 0;
}

static int rig_dma_write(void *ctx, uint64_t bus, const void *buf, size_t len)
{
	if (rig_mem(bus, len))
		return -EFAULT;
	memcpy(rig.memory + (bus - RIG_BUS), buf, len);
	return 0;
}

static void rig_guest_error(void *ctx, const struct guest_error *error)
{
	rig.guest_errors++;
	rig.last_rule = error->name;
	strncpy(rig.last_text, error->text, sizeof(rig.last_text) - 1);
}

static void rig_read_job(struct event *ev)
{
	struct dma *dma = (struct dma *)ev;
	uint8_t *to = dma->buf;

	rig.reads++;
	dma->ready_ps = rig.core.now_ps;
	for (unsigned i = 0; i < dma->n_frags && !dma->status; to += dma->frags[i++].len)
		dma->status = rig_dma_read(NULL, dma->frags[i].bus, to, dma->frags[i].len);
	dma->done(dma);
}

static void rig_write_job(struct event *ev)
{
	struct dma *dma = (struct dma *)ev;
	const uint8_t *from = dma->buf;

	rig.writes++;
	dma->ready_ps = rig.core.now_ps;
	for (unsigned i = 0; i < dma->n_frags && !dma->status; from += dma->frags[i++].len)
		dma->status = rig_dma_write(NULL, dma->frags[i].bus, from, dma->frags[i].len);
	dma->done(dma);
}

static void rig_issue(struct dma *dma, uint64_t earliest_ps, uint64_t latency_ps,
		      void (*job)(struct event *ev))
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < dma->n_frags; i++)
		sum += dma->frags[i].len;
	assert_int_equal(sum, dma->len);
	dma->status = 0;
	dma->ev = (struct event){.job = job};
	event_set(&rig.core, &dma->ev,
		  (earliest_ps > rig.core.now_ps ? earliest_ps : rig.core.now_ps) + latency_ps);
}

void pcie_read(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	assert_true(dma->at_ready);
	rig_issue(dma, earliest_ps, RIG_READ_PS, rig_read_job);
}

bool pcie_read_queues(const struct hca *hca, uint64_t at_ps)
{
	return false;
}

void pcie_read_later(struct hca *hca, struct dma *dma, uint64_t at_ps)
{
	pcie_read(hca, dma, at_ps);
}

void pcie_write(struct hca *hca, struct dma *dma, uint64_t earliest_ps)
{
	rig_issue(dma, earliest_ps, RIG_WRITE_PS, rig_write_job);
}

void pcie_write_small(struct hca *hca, uint64_t bus, const void *bytes, uint32_t len,
		      const char *what, uint32_t qpn, void (*done)(void *arg, int status),
		      void *arg)
{
	int status = rig_dma_write(NULL, bus, bytes, len);

	rig.writes++;
	if (done)
		done(arg, status);
}

static void rig_receive_stalls(struct hca *hca)
{
	if (!rig.stalls++)
		rig.stalled_ps -= rig.core.now_ps;
}

static void rig_receive_goes_on(struct hca *hca)
{
	assert_true(rig.stalls > 0);
	if (!--rig.stalls)
		rig.stalled_ps += rig.core.now_ps;
}

static const struct hca_calls rig_calls = {
	.receive_stalls = rig_receive_stalls,
	.receive_goes_on = rig_receive_goes_on,
};

static inline void rig_run(void)
{
	event_core_run_until(&rig.core, rig.core.now_ps + 1000000000);
}

static void rig_params(void)
{
	rig.params = (struct hca_params){
#define D(section, key, unit, def, min, max, meaning, source) .section##_##key = (def),
		HCA_PARAMS(D)
#undef D
	};
}

/* Where a table is in bus memory. Each table has one ICM chunk of 16 pages: table t is at ICM
 * address t << 20, mapped to RIG_BUS + t * 64 KiB. It has 64 entries. */
static uint64_t rig_table_bus(unsigned table)
{
	return RIG_BUS + table * 0x10000;
}

static inline uint8_t *rig_at(uint64_t bus)
{
	return rig.memory + (bus - RIG_BUS);
}

static void rig_start(void)
{
	static const uint16_t sizes[] = {256, 64, 64, 64, 64, 8};

	event_core_init(&rig.core);
	memset(rig.memory, 0, sizeof(rig.memory));
	rig.hole = rig.hole_end = 0;
	rig.guest_errors = rig.reads = rig.writes = rig.stalls = 0;
	rig.stalled_ps = 0;
	rig.last_rule = "";
	rig.hca = (struct hca){
		.params = &rig.params,
		.core = &rig.core,
		.calls = &rig_calls,
		.env = {.dma_read = rig_dma_read,
			.dma_write = rig_dma_write,
			.guest_error = rig_guest_error},
	};
	rig.hca.icm = icm_create(&rig.hca);
	rig.hca.context_cache = context_cache_create(&rig.hca);
	rig.hca.translate = translate_create(&rig.hca);
	for (unsigned t = FW_TABLE_QPC; t <= FW_TABLE_MTT; t++) {
		icm_table_set(&rig.hca, t, (uint64_t)t << 20, t == FW_TABLE_MTT ? 13 : 6, sizes[t]);
		assert_int_equal(icm_map(&rig.hca, (uint64_t)t << 20, rig_table_bus(t), 16), 0);
	}
}

static void rig_stop(void)
{
	context_cache_destroy(rig.hca.context_cache);
	translate_destroy(rig.hca.translate);
	icm_destroy(rig.hca.icm);
	event_core_free(&rig.core);
}

/* A waiter that notes when it was woken. */
struct rig_waiter {
	struct waiter w;
	unsigned woken, order;
	uint64_t at_ps;
};

static unsigned rig_order;

/* Ends the waiter, and what is kept for it. */
static inline void rig_waiter_done(struct rig_waiter *w)
{
	waiter_done(&w->w);
}

static inline void rig_waiters_done(struct rig_waiter *w, unsigned n)
{
	while (n--)
		waiter_done(&w[n].w);
}

#define RIG_DONE __attribute__((cleanup(rig_waiter_done)))

static inline void rig_wake(struct waiter *w)
{
	struct rig_waiter *rw = (struct rig_waiter *)w;

	rw->woken++;
	rw->order = ++rig_order;
	rw->at_ps = rig.core.now_ps;
}

#define RIG_WAITER                                                                                 \
	{                                                                                          \
		.w = {.wake = rig_wake }                                                           \
	}

#endif
