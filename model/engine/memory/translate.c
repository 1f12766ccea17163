/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and addresses: see translate.h. Sources: mlx4 MPT and MTT entries; IBA 10.6 (memory regions
 * and windows). */
#include "model/engine/memory/translate.h"
#include "model/engine/base/monitor.h"
#include "model/engine/memory/icm.h"
#include "model/engine/memory/line_cache.h"
#include "model/interface/contexts.h"
#include "model/sim/params/hca_translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MTT_SIZE = sizeof(struct mtt_entry),
	REPORT_CHARS = 80,
	LOG_PAGE_MIN = 12,
	LOG_PAGE_MAX = 31,
	/* lowest access bit in the MPT's first word: local read. ACCESS_* have the same order */
	ACCESS_SHIFT = 10,
	ACCESS_ALL = (1 << 5) - 1,
	PD_MASK = (1 << 17) - 1,
};

#define QUEUE_OWNER   0x80000000u
#define LENGTH_ALL    UINT64_MAX
#define MTT_ADDR_MASK 0xfffffffffffff000u

struct mpt {
	struct cache_line line;
	struct mpt_entry entry;
	/* What mpt_decode() has read from the entry. */
	uint32_t key, pd;
	uint64_t start, length;
	uint64_t mtt;          /* ICM address of its first MTT entry */
	uint64_t first_offset; /* offset of `start` in the first page */
	/* of a zero-based window: the address in its region that its address 0 means */
	uint64_t window_base;
	uint8_t status, rights, log_page;
	bool physical, region, pages_ok;
};

struct mtt_line {
	struct cache_line line;
	uint8_t bytes[];
};

struct translate {
	struct hca *hca;
	struct miss_server server;
	struct line_cache mpts, mtts;
	uint32_t mtt_mask; /* bytes of an MTT line, less 1 */
};

struct mpt_entry *mpt_bytes(struct mpt *mpt)
{
	return &mpt->entry;
}

static void mpt_decode(struct mpt *m)
{
	struct hca *hca = m->line.cache->hca;
	const struct mpt_entry *e = &m->entry;

	m->status = (uint8_t)mpt_entry_get_status(e);
	m->rights = be32_load(e->b) >> ACCESS_SHIFT & ACCESS_ALL;
	m->region = mpt_entry_get_region(e);
	m->physical = mpt_entry_get_physical(e);
	m->key = key_of_mem_key(mpt_entry_get_mem_key(e));
	m->pd = mpt_entry_get_pd(e) & PD_MASK;
	m->start = mpt_entry_get_start(e);
	m->length = mpt_entry_get_length(e);
	m->mtt = hca->tables[FW_TABLE_MTT].base + mpt_entry_get_mtt_addr(e);
	m->pages_ok = mpt_entry_get_log_page_size(e) >= LOG_PAGE_MIN &&
		      mpt_entry_get_log_page_size(e) <= LOG_PAGE_MAX;
	m->log_page = m->pages_ok ? (uint8_t)mpt_entry_get_log_page_size(e) : LOG_PAGE_MIN;
	m->first_offset = m->start & ((UINT64_C(1) << m->log_page) - 1);
	m->window_base = 0;
	if (!m->region && mpt_entry_get_fbo_enable(e)) {
		m->window_base = m->start;
		m->start = 0;
	} else if (mpt_entry_get_fbo_enable(e) || mpt_entry_get_first_byte_offset(e)) {
		m->first_offset = mpt_entry_get_first_byte_offset(e);
	}
}

static void mpt_filled(struct cache_line *line)
{
	struct mpt *m = (struct mpt *)line;
	struct hca *hca = line->cache->hca;

	mpt_decode(m);
	/* Software has set a released entry back to valid in place, and SYNC_TPT has announced
	 * it. */
	if (m->status == MPT_STATUS_HW)
		icm_object_set(hca, FW_TABLE_MPT, line->owner, true);
}

struct translate *translate_create(struct hca *hca)
{
	const struct hca_params *p = hca->params;
	struct translate *t = memory_create(1, sizeof(*t), "translations");
	uint32_t per_line = 1;

	while (per_line * 2 <= param_translate_mtt_line(p))
		per_line *= 2;
	t->hca = hca;
	t->mtt_mask = per_line * MTT_SIZE - 1;
	t->server = (struct miss_server){.limit = param_translate_misses(p),
					 .latency_ps = param_translate_miss_latency(p),
					 .waits = &hca->stats.translate_miss_waits,
					 .busy_ps = &hca->stats.translate_miss_ps};
	t->mpts = (struct line_cache){.hca = hca,
				      .server = &t->server,
				      .what = "mpt",
				      .filled = mpt_filled,
				      .evictions = &hca->stats.translate_mpt_evictions,
				      .line_size = sizeof(struct mpt),
				      .bytes = offsetof(struct mpt, entry),
				      .len = sizeof(struct mpt_entry)};
	t->mtts = (struct line_cache){
		.hca = hca,
		.server = &t->server,
		.what = "mtt",
		.evictions = &hca->stats.translate_mtt_evictions,
		.line_size = (uint32_t)(sizeof(struct mtt_line) + per_line * MTT_SIZE),
		.bytes = offsetof(struct mtt_line, bytes),
		.len = per_line * MTT_SIZE};
	line_cache_init(&t->mpts, (uint32_t)param_translate_mpt_entries(p));
	line_cache_init(&t->mtts,
			(uint32_t)((param_translate_mtt_entries(p) + per_line - 1) / per_line));
	return t;
}

void translate_destroy(struct translate *t)
{
	if (!t)
		return;
	line_cache_free(&t->mpts);
	line_cache_free(&t->mtts);
	free(t);
}

void translate_reset(struct hca *hca)
{
	line_cache_reset(&hca->translate->mpts);
	line_cache_reset(&hca->translate->mtts);
	miss_server_reset(&hca->translate->server);
}

/* --- forgetting --- */

static bool match_all(const struct cache_line *line, const void *arg)
{
	return true;
}

static bool match_owner(const struct cache_line *line, const void *arg)
{
	return line->owner == *(const uint32_t *)arg;
}

static bool match_queue(const struct cache_line *line, const void *arg)
{
	return line->owner & QUEUE_OWNER;
}

struct icm_range {
	uint64_t va, len;
};

static bool match_range(const struct cache_line *line, const void *arg)
{
	const struct icm_range *range = arg;

	return line->icm - range->va < range->len || range->va - line->icm < line->cache->len;
}

void translate_drop_all(struct hca *hca)
{
	line_cache_drop_if(&hca->translate->mpts, match_all, NULL);
	line_cache_drop_if(&hca->translate->mtts, match_all, NULL);
}

static uint32_t mpt_index(const struct hca *hca, uint32_t index)
{
	return index & 0xffffff & ((UINT32_C(1) << (hca->tables[FW_TABLE_MPT].log_num & 31)) - 1);
}

void translate_drop_key(struct hca *hca, uint32_t index)
{
	struct translate *t = hca->translate;
	uint32_t owner = mpt_index(hca, index);
	struct cache_line *line =
		line_cache_find(&t->mpts, icm_entry(hca, FW_TABLE_MPT, owner), owner);

	if (line)
		line_cache_drop(&t->mpts, line);
	line_cache_drop_if(&t->mtts, match_owner, &owner);
}

void translate_sync(struct hca *hca)
{
	translate_drop_all(hca);
	if (hca_is_monitored(hca))
		hca->monitor->sync(hca->monitor->ctx);
	icm_mpt_sync(hca);
}

void translate_mpt_set(struct hca *hca, uint32_t index, bool valid)
{
	bool released = !valid && icm_object_valid(hca, FW_TABLE_MPT, index);

	translate_drop_key(hca, index);
	icm_object_set(hca, FW_TABLE_MPT, index, valid);
	if (valid || released)
		icm_object_set(hca, ICM_MPT_RELEASED, index, released);
	icm_object_set(hca, ICM_MPT_SYNCED, index, false);
}

static uint32_t queue_owner(uint64_t mtt_addr)
{
	return QUEUE_OWNER | (uint32_t)(mtt_addr / MTT_SIZE);
}

void translate_drop_queue(struct hca *hca, uint64_t mtt_addr)
{
	uint32_t owner = queue_owner(mtt_addr);

	line_cache_drop_if(&hca->translate->mtts, match_owner, &owner);
}

void translate_drop_queues(struct hca *hca)
{
	line_cache_drop_if(&hca->translate->mtts, match_queue, NULL);
}

void translate_drop_range(struct hca *hca, uint64_t icm_va, uint64_t len)
{
	struct icm_range range = {icm_va, len};

	line_cache_drop_if(&hca->translate->mpts, match_range, &range);
	line_cache_drop_if(&hca->translate->mtts, match_range, &range);
}

/* --- MPT --- */

static int __attribute__((noinline))
mpt_miss(struct hca *hca, uint32_t key, uint32_t index, struct waiter *w)
{
	uint64_t icm = icm_entry(hca, FW_TABLE_MPT, index);
	char text[REPORT_CHARS];
	bool started;
	int rc;

	if (!icm_object_valid(hca, FW_TABLE_MPT, index) &&
	    !icm_object_valid(hca, ICM_MPT_SYNCED, index))
		return TRANSLATE_BAD_KEY;
	rc = line_cache_miss(&hca->translate->mpts, icm, index, w, &started);
	if (rc == -EFAULT) {
		snprintf(text, sizeof(text), "mpt %x of key %x is not reachable", index, key);
		icm_report(hca, guest_object(GUEST_MPT, index), icm, sizeof(struct mpt_entry),
			   text);
	}
	if (started) {
		hca->stats.translate_mpt_misses++;
		HCA_TRACE(hca, TP_TRANSLATE_MISS, .text = "mpt", .args = {key, 0});
	}
	return rc;
}

static inline __attribute__((always_inline)) int mpt_find(struct hca *hca, uint32_t key,
							  struct waiter *w, struct mpt **mpt)
{
	struct line_cache *mpts = &hca->translate->mpts;
	uint32_t index = mpt_index(hca, key >> 8);
	struct cache_line *line = mpts->first;

	if (!line || line->owner != index) {
		line = line_cache_get(mpts, icm_entry(hca, FW_TABLE_MPT, index), index);
		if (!line)
			return mpt_miss(hca, key, index, w);
	}
	hca->stats.translate_mpt_hits++;
	*mpt = (struct mpt *)line;
	return 0;
}

/* Whether [va, va + len) lies in the entry's range. */
static bool mpt_covers(const struct mpt *m, uint64_t va, uint32_t len)
{
	uint64_t offset = va - m->start;

	if (va + (len - 1) < va)
		return false;
	if (m->length == LENGTH_ALL)
		return va >= m->start;
	return offset < m->length && len <= m->length - offset;
}

static int __attribute__((noinline, cold))
deny(struct hca *hca, const struct access *a, int verdict, const char *text)
{
	HCA_TRACE(hca, TP_TRANSLATE_DENY, .qpn = a->qpn, .text = text,
		  .args = {a->key, a->va, a->len});
	return verdict;
}

/* The key's MPT entry is owned by software. That is this host's mistake only if the access is
 * local: a peer may use an old key at any time, and is only refused. */
static void software_owned(struct hca *hca, const struct access *a)
{
	if (a->rights & (ACCESS_LOCAL_READ | ACCESS_LOCAL_WRITE))
		guest_error(hca, RULE_object_after_hw2sw,
			    guest_object(GUEST_MPT, mpt_index(hca, a->key >> 8)),
			    "qpn %06x uses key %x, which software owns", a->qpn, a->key);
}

static int __attribute__((noinline, cold)) deny_absent(struct hca *hca, const struct access *a)
{
	if (icm_object_valid(hca, ICM_MPT_RELEASED, a->key >> 8))
		software_owned(hca, a);
	return deny(hca, a, TRANSLATE_BAD_KEY, "no such key");
}

static int __attribute__((noinline, cold))
deny_key(struct hca *hca, const struct access *a, const struct mpt *m)
{
	if (m->key == a->key && m->status == MPT_STATUS_SW)
		software_owned(hca, a);
	return deny(hca, a, TRANSLATE_BAD_KEY,
		    m->key == a->key ? "key is not valid" : "no such key");
}

/* Finds the region under a window that has passed its own checks. Turns *va into an address of that
 * region. */
static int __attribute__((noinline)) window_region(struct hca *hca, const struct access *a,
						   struct waiter *w, struct mpt **mpt, uint64_t *va)
{
	const struct mpt *window = *mpt;
	uint32_t lkey = mpt_entry_get_lkey(&window->entry), pd = window->pd;
	uint64_t at = a->va + window->window_base;
	struct mpt *m = NULL;
	int rc = mpt_find(hca, lkey, w, &m);

	if (rc)
		return rc == TRANSLATE_BAD_KEY ? deny(hca, a, rc, "the window's region is gone")
					       : rc;
	if (m->status != MPT_STATUS_HW || m->key != lkey || !m->region ||
	    !mpt_entry_get_bind_enable(&m->entry))
		return deny(hca, a, TRANSLATE_BAD_KEY, "the window's region is not valid");
	if (m->pd != pd)
		return deny(hca, a, TRANSLATE_BAD_PD, "the window's region is in another pd");
	if (!mpt_covers(m, at, a->len))
		return deny(hca, a, TRANSLATE_BAD_RANGE, "outside the window's region");
	*va = at;
	*mpt = m;
	return 0;
}

/* Does all checks. Sets *mpt to the region that has the pages, and *va to the address in it. */
static inline __attribute__((always_inline)) int access_region(struct hca *hca,
							       const struct access *a,
							       struct waiter *w, struct mpt **mpt,
							       uint64_t *va)
{
	struct mpt *m = NULL;
	int rc = mpt_find(hca, a->key, w, &m);

	if (rc)
		return rc == TRANSLATE_BAD_KEY ? deny_absent(hca, a) : rc;
	if (m->key != a->key || m->status != MPT_STATUS_HW)
		return deny_key(hca, a, m);
	if (m->pd != (a->pd & PD_MASK))
		return deny(hca, a, TRANSLATE_BAD_PD, "another pd");
	if (a->rights & ~m->rights)
		return deny(hca, a, TRANSLATE_BAD_RIGHT, "no such right");
	if (!mpt_covers(m, a->va, a->len))
		return deny(hca, a, TRANSLATE_BAD_RANGE, "out of range");
	*va = a->va;
	if (!m->region) {
		if (!(hca->ctrl & FW_CTRL_MW) ||
		    a->rights & (ACCESS_LOCAL_READ | ACCESS_LOCAL_WRITE))
			return deny(hca, a, TRANSLATE_BAD_KEY, "a window is no local key");
		if (mpt_entry_get_bound_to_qp(&m->entry) && mpt_entry_get_qpn(&m->entry) != a->qpn)
			return deny(hca, a, TRANSLATE_BAD_KEY, "the window is bound to another qp");
		rc = window_region(hca, a, w, &m, va);
		if (rc)
			return rc;
	}
	if (!m->physical && !m->pages_ok)
		return deny(hca, a, TRANSLATE_BAD_KEY, "page size of the region");
	*mpt = m;
	return 0;
}

int translate_check(struct hca *hca, const struct access *access, struct waiter *w)
{
	struct mpt *m;
	uint64_t va;

	return access_region(hca, access, w, &m, &va);
}

/* --- MTT --- */

static int __attribute__((noinline))
mtt_miss(struct hca *hca, uint64_t icm, uint32_t owner, struct waiter *w, uint32_t qpn)
{
	struct translate *t = hca->translate;
	char text[REPORT_CHARS];
	bool started;
	int rc = line_cache_miss(&t->mtts, icm & ~(uint64_t)t->mtt_mask, owner, w, &started);

	if (rc == -EFAULT) {
		snprintf(text, sizeof(text), "mtt is not reachable, qpn %06x", qpn);
		icm_report(hca, guest_object(GUEST_QP, qpn), icm, MTT_SIZE, text);
	}
	if (started) {
		hca->stats.translate_mtt_misses++;
		HCA_TRACE(hca, TP_TRANSLATE_MISS, .qpn = qpn, .text = "mtt",
			  .args = {owner & QUEUE_OWNER ? 0 : owner, icm});
	}
	return rc;
}

static int __attribute__((noinline, cold))
not_present(struct hca *hca, uint64_t icm, uint64_t index, uint32_t owner, uint32_t qpn)
{
	struct line_cache *mtts = &hca->translate->mtts;
	struct cache_line *line =
		line_cache_find(mtts, icm & ~(uint64_t)hca->translate->mtt_mask, owner);

	if (owner & QUEUE_OWNER)
		guest_error(hca, RULE_mtt_not_present, guest_object(GUEST_QP, qpn),
			    "qpn %06x, queue buffer, entry %llu at icm %llx", qpn,
			    (unsigned long long)index, (unsigned long long)icm);
	else
		guest_error(hca, RULE_mtt_not_present, guest_object(GUEST_MPT, owner),
			    "qpn %06x, mpt %x, entry %llu at icm %llx", qpn, owner,
			    (unsigned long long)index, (unsigned long long)icm);
	/* Forget the line: software may write the entry later, and it must then be read again. */
	if (line)
		line_cache_drop(mtts, line);
	return TRANSLATE_NO_PAGE;
}

/* Bus address of entry `index` of the MTT entries at ICM address mtt. */
static inline int mtt_get(struct hca *hca, uint64_t mtt, uint64_t index, uint32_t owner,
			  struct waiter *w, uint32_t qpn, uint64_t *bus)
{
	struct translate *t = hca->translate;
	uint64_t icm = mtt + index * MTT_SIZE, entry;
	struct cache_line *line = line_cache_get(&t->mtts, icm & ~(uint64_t)t->mtt_mask, owner);

	if (!line)
		return mtt_miss(hca, icm, owner, w, qpn);
	hca->stats.translate_mtt_hits++;
	entry = be64_load(((struct mtt_line *)line)->bytes + (icm & t->mtt_mask));
	if (!(entry & 1))
		return not_present(hca, icm, index, owner, qpn);
	*bus = entry & MTT_ADDR_MASK;
	return 0;
}

static inline int frag_append(struct dma_frag *frags, unsigned *n, unsigned room, uint64_t bus,
			      uint32_t len)
{
	if (*n && frags[*n - 1].bus + frags[*n - 1].len == bus) {
		frags[*n - 1].len += len;
		return 0;
	}
	if (*n == room)
		return -ENOSPC;
	frags[(*n)++] = (struct dma_frag){.bus = bus, .len = len};
	return 0;
}

/* For an access to more than one page. Leaves the fragments unchanged if it fails. */
static int __attribute__((noinline))
pages_append(struct hca *hca, const struct access *access, const struct mpt *m, uint64_t at,
	     struct waiter *w, struct dma_frag *frags, unsigned *n, unsigned room)
{
	uint32_t len = access->len, last_len = *n ? frags[*n - 1].len : 0;
	const uint64_t page = UINT64_C(1) << m->log_page;
	unsigned count = *n;

	while (len) {
		uint64_t in_page = at & (page - 1), bus = 0;
		uint32_t here = page - in_page < len ? (uint32_t)(page - in_page) : len;
		int rc = mtt_get(hca, m->mtt, at >> m->log_page, m->line.owner, w, access->qpn,
				 &bus);

		if (!rc)
			rc = frag_append(frags, &count, room, bus + in_page, here);
		if (rc) {
			if (*n)
				frags[*n - 1].len = last_len;
			return rc;
		}
		at += here;
		len -= here;
	}
	*n = count;
	return 0;
}

int translate_access(struct hca *hca, const struct access *access, struct waiter *w,
		     struct dma_frag *frags, unsigned *n, unsigned room)
{
	const uint32_t len = access->len;
	uint64_t va, at, in_page, bus = 0;
	struct mpt *m = NULL;
	int rc = access_region(hca, access, w, &m, &va);

	if (rc)
		return rc;
	if (m->physical)
		return frag_append(frags, n, room, va, len);
	at = va - m->start + m->first_offset;
	in_page = at & ((UINT64_C(1) << m->log_page) - 1);
	if (in_page + len > UINT64_C(1) << m->log_page || !len)
		return pages_append(hca, access, m, at, w, frags, n, room);
	rc = mtt_get(hca, m->mtt, at >> m->log_page, m->line.owner, w, access->qpn, &bus);
	return rc ? rc : frag_append(frags, n, room, bus + in_page, len);
}

int translate_queue(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    struct waiter *w, uint64_t *bus, uint32_t *contiguous, uint32_t qpn)
{
	unsigned log_page = LOG_PAGE_MIN + log_page_size;
	uint64_t page, in_page;
	int rc;

	if (log_page > LOG_PAGE_MAX)
		log_page = LOG_PAGE_MAX;
	page = UINT64_C(1) << log_page;
	in_page = offset & (page - 1);
	rc = mtt_get(hca, hca->tables[FW_TABLE_MTT].base + mtt_addr, offset >> log_page,
		     queue_owner(mtt_addr), w, qpn, bus);
	if (rc)
		return rc;
	*bus += in_page;
	*contiguous = (uint32_t)(page - in_page);
	return 0;
}

int translate_mpt_get(struct hca *hca, uint32_t key, struct waiter *w, struct mpt **mpt)
{
	struct mpt *m = NULL;
	int rc = mpt_find(hca, key, w, &m);

	if (rc)
		return rc;
	if (m->status != MPT_STATUS_HW && m->status != MPT_STATUS_FREE)
		return TRANSLATE_BAD_KEY;
	*mpt = m;
	return 0;
}

void translate_mpt_changed(struct hca *hca, uint32_t key)
{
	struct translate *t = hca->translate;
	uint32_t index = mpt_index(hca, key >> 8);
	uint64_t icm = icm_entry(hca, FW_TABLE_MPT, index), bus;
	struct cache_line *line = line_cache_get(&t->mpts, icm, index);
	struct mpt *m = (struct mpt *)line;

	if (!line)
		return;
	mpt_decode(m);
	line_cache_drop_if(&t->mtts, match_owner, &index);
	if (icm_translate(hca, icm, &bus))
		guest_error(hca, RULE_icm_unmapped, guest_object(GUEST_MPT, index),
			    "mpt %x at icm %llx can not be written", index,
			    (unsigned long long)icm);
	else
		pcie_write_small(hca, bus, m->entry.b, sizeof(m->entry), "mpt", 0, NULL, NULL);
	monitor_object(hca, FW_TABLE_MPT, index, icm_object_valid(hca, FW_TABLE_MPT, index),
		       &m->entry);
}

size_t translate_footprint(const struct hca *hca)
{
	const struct translate *t = hca->translate;

	return sizeof(*t) + t->mpts.footprint + t->mpts.keeps.footprint + t->mtts.footprint +
	       t->mtts.keeps.footprint;
}
