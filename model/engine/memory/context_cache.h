/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of QP, CQ, EQ and SRQ contexts in ICM, of the size of a real device's cache. A miss is a
 * DMA read and takes its time; evicting a changed line is a DMA write. The requester's and the
 * responder's uses of a QP context have separate cache entries that share the bytes: published
 * measurements show that inbound WRITEs evict neither what the requester needs nor what READs need.
 *
 * Time: [hca.context_cache] entries, ways, latencies, misses served at a time. A miss costs
 * miss_latency and a DMA read; the caller adds the latency of a hit. Misses for sending, for
 * receiving and for completions wait in three separate queues. The receive unit stalls until a miss
 * for receiving is over.
 *
 * Replacement: a hash of the number selects a set of `ways` lines, of which the least recently used
 * one is evicted. A line that is being read is in a miss buffer, and enters its set when the read
 * is over. A line that is leased, or kept for a waiter (keep.h), is not evicted, even when the set
 * then has more lines than ways. A changed line is written before it goes, and serves hits until
 * the write has landed. When one use of a QP has the line and another use asks for it, that use
 * also waits for a DMA read, but the bytes are not replaced.
 */
#ifndef MODEL_ENGINE_CONTEXT_CACHE_H
#define MODEL_ENGINE_CONTEXT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct waiter;

/* CONTEXT_READS is what a responder needs beyond CONTEXT_RESPONDER for READs and atomics. */
enum context_use {
	CONTEXT_REQUESTER,
	CONTEXT_RESPONDER,
	CONTEXT_READS,
	CONTEXT_CQ,
	CONTEXT_EQ,
	CONTEXT_SRQ,
};

struct context_cache *context_cache_create(struct hca *hca);
void context_cache_destroy(struct context_cache *cache);
/* Drops every line and waiter without writing back. Only after pcie_reset(), so that no DMA under
 * way completes. */
void context_cache_reset(struct hca *hca);

/*
 * The bytes of a context, for reading, or for writing if context_changed() follows. Results: 0;
 * -EAGAIN: the context is being read, and the waiter (not NULL in this case) is woken when it is
 * there; -ENOENT: the object is not valid; -EFAULT: its ICM is not mapped or not readable (reported
 * as guest error icm_unmapped once a call, naming `why`).
 *
 * The pointer from context_get() is valid until the next call into the cache or the next event. The
 * pointer from context_lease() is valid until context_lease_end(): it is meant for one run of a
 * state machine, which ends before the next event. A leased context is not evicted; dropping one is
 * a bug.
 */
int context_get(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		void **bytes, const char *why);
int context_lease(struct hca *hca, enum context_use use, uint32_t number, struct waiter *w,
		  void **bytes, const char *why);
void context_lease_end(void *bytes);
void context_changed(struct hca *hca, enum context_use use, uint32_t number);
/*
 * While a context is held, gets that miss wait (-EAGAIN) until it is released. Firmware holds it
 * between FW_OBJ_QUIESCE, which flushes and drops the line, and FW_OBJ_RESUME, because it changes
 * the context in ICM in between. Only one object is held at a time.
 */
void context_hold(struct hca *hca, enum context_use use, uint32_t number);
void context_release(struct hca *hca);
/*
 * Writes a changed line back; `drop` also forgets it. Calls done(arg, status) when the bytes are in
 * memory (at once when there is nothing to write). status: 0 or -EFAULT.
 */
void context_flush(struct hca *hca, enum context_use use, uint32_t number, bool drop,
		   void (*done)(void *arg, int status), void *arg);
/* Forgets lines without writing back, because the ICM pages [va, va + len) were unmapped. */
void context_drop_range(struct hca *hca, uint64_t va, uint64_t len);
/* Evicts the line, as if its place had been needed for another. */
void context_evict(struct hca *hca, enum context_use use, uint32_t number);
void context_drop(struct hca *hca, enum context_use use, uint32_t number);
/* The cached bytes or NULL, for dumps: takes no time and counts no hit or miss. */
const void *context_peek(const struct hca *hca, enum context_use use, uint32_t number);
size_t context_cache_footprint(const struct hca *hca);

#endif
