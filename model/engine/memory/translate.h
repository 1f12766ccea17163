/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks keys and translates addresses with MPT and MTT entries, each of which have a cache. A miss
 * is a DMA read from ICM. Time: [hca.translate] entries, latencies, misses served at a time (both
 * kinds together). A miss costs miss_latency and a DMA read; the caller adds the hit latency. The
 * least recently used entry is evicted first, but none before its waiter has used it and called
 * waiter_done().
 *
 * An MTT line is cached for one owner (an MPT or a queue buffer). If an object is created later
 * whose entries are in the same line of ICM, the line is read again for it.
 */
#ifndef MODEL_ENGINE_TRANSLATE_H
#define MODEL_ENGINE_TRANSLATE_H

#include "model/engine/host/pcie.h"
#include "model/interface/contexts.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct waiter;

enum access_right {
	ACCESS_LOCAL_READ = 1 << 0,
	ACCESS_LOCAL_WRITE = 1 << 1,
	ACCESS_REMOTE_READ = 1 << 2,
	ACCESS_REMOTE_WRITE = 1 << 3,
	ACCESS_REMOTE_ATOMIC = 1 << 4,
};

struct access {
	uint32_t key; /* lkey or rkey as software knows it: index << 8 | variant */
	uint64_t va;
	uint32_t len; /* > 0 */
	uint32_t pd;
	unsigned rights; /* ACCESS_*: the rights that the access needs */
	uint32_t qpn;    /* the QP that makes the access: a window of type 2 is bound to one QP */
};

/* Results of translate_access() besides negative errno values. */
enum {
	TRANSLATE_BAD_KEY = -1000, /* no such key, not valid, wrong variant */
	TRANSLATE_BAD_PD,
	TRANSLATE_BAD_RIGHT,
	TRANSLATE_BAD_RANGE,
	TRANSLATE_NO_PAGE, /* MTT entry not present: guest error mtt_not_present reported */
};

struct translate *translate_create(struct hca *hca);
void translate_destroy(struct translate *translate);
/* Forgets all entries and waiters. Only after pcie_reset(), so that no read under way completes. */
void translate_reset(struct hca *hca);
/* Forgets all cached entries. */
void translate_drop_all(struct hca *hca);
/* SYNC_TPT: forgets all cached entries. Slots released by HW2SW_MPT are read again, and count as
 * valid when software has marked them so. */
void translate_sync(struct hca *hca);
/* SW2HW_MPT (valid) and HW2SW_MPT: the entry in ICM now belongs to the device, or to software. */
void translate_mpt_set(struct hca *hca, uint32_t mpt_index, bool valid);
/* Forgets an MPT entry, and the MTT entries that were read for it. */
void translate_drop_key(struct hca *hca, uint32_t mpt_index);
/* Forgets the MTT entries read for a queue buffer (mtt_addr as in its context), or for all queue
 * buffers, when the address is no longer known. */
void translate_drop_queue(struct hca *hca, uint64_t mtt_addr);
void translate_drop_queues(struct hca *hca);
void translate_drop_range(struct hca *hca, uint64_t icm_va, uint64_t len);

/*
 * Checks the whole access and translates it to bus fragments (adjacent pages that are contiguous on
 * the bus are joined). Appends them to frags[*n], up to `room`. An access is not longer than one
 * packet, so that all its entries fit in the caches at once.
 *
 * Results: 0; -EAGAIN: the waiter is queued and nothing is appended (what was read for the waiter
 * stays cached until waiter_done()); -ENOSPC; a TRANSLATE_* value; -EFAULT: ICM is not mapped
 * (reported).
 */
int translate_access(struct hca *hca, const struct access *access, struct waiter *w,
		     struct dma_frag *frags, unsigned *n, unsigned room);
/* Does only the checks. The first packet of an RDMA request needs this, because the request's whole
 * length must be allowed. Reads no MTT entry. */
int translate_check(struct hca *hca, const struct access *access, struct waiter *w);

/*
 * The bus address of byte `offset` of a queue buffer (WQ, CQ, EQ, SRQ). `offset` counts from the
 * start of the buffer's first page: the caller has added the context's page_offset. mtt_addr and
 * log_page_size are as in the context (log_page_size is log2 of the page size, less 12).
 * *contiguous: bytes from there to the end of the page. Results: 0; -EAGAIN; TRANSLATE_NO_PAGE
 * (reported); -EFAULT (reported).
 */
int translate_queue(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    struct waiter *w, uint64_t *bus, uint32_t *contiguous, uint32_t qpn);

/* An MPT entry in the cache. In a bound window, field lkey is the L_Key of the region under it, as
 * software knows it, and field fbo_enable says that its addresses count from 0. `entry` has the
 * layout of ICM. Code that changes it calls translate_mpt_changed(). */
struct mpt;
struct mpt_entry *mpt_bytes(struct mpt *mpt);
/*
 * For BIND, fast register, local and remote invalidate: the entry of a key's index, if hardware
 * owns it or it is free. The key's variant is not compared. *mpt is valid until the next call or
 * event. Results: 0; -EAGAIN; TRANSLATE_BAD_KEY; -EFAULT.
 */
int translate_mpt_get(struct hca *hca, uint32_t key, struct waiter *w, struct mpt **mpt);
/* Writes the changed entry through to ICM (posted), and forgets the MTT entries read for it. */
void translate_mpt_changed(struct hca *hca, uint32_t key);
size_t translate_footprint(const struct hca *hca);

#endif
