// SPDX-License-Identifier: Apache-2.0
/* See buffers.h. */
#include "testbench/dsan/asked/buffers.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/bucket.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/device/given.h"

#include "model/engine/base/engine.h"
#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUCKET_BITS = 12,
	BUCKETS = 1 << BUCKET_BITS,
	PAGE = 4096,
	LOG_UNIT = 4,
	NAMES_BYTES = 160,
	LOG_STRIDE_SENDS_MIN = 6,
	SIZE_BITS = 0x3f
};

struct buffer {
	struct buffer *next;
	const struct checker *c;
	uint64_t mtt_addr;
	size_t bytes;
	uint8_t **pages;
	unsigned n;
	struct calls by;
};

static struct buffer *buffers[BUCKETS];

/* --- life --- */

static struct buffer **place_of(const struct checker *c, uint64_t mtt_addr)
{
	struct buffer **at = &buffers[bucket_number(mtt_addr, BUCKET_BITS)];

	while (*at && ((*at)->c != c || (*at)->mtt_addr != mtt_addr))
		at = &(*at)->next;
	return at;
}

static void buffer_free(struct buffer **at)
{
	struct buffer *b = *at;

	*at = b->next;
	free(b->pages);
	free(b);
}

/* Each page has an entry that says where it is. */
static void translations_check(struct checker *c, const struct buffer *b, const uint64_t *bus,
			       const struct maker *maker)
{
	const uint64_t first = b->mtt_addr / sizeof(struct mtt_entry);
	char names[CHAIN_BYTES], writers[NAMES_BYTES];

	given_mtts_check(c, first, &b->by);
	if ((uint64_t)b->n * PAGE < b->bytes) {
		chain_format(&b->by, names, sizeof(names));
		checker_report(c, &(struct breach){RULE_context_differs, {0}, NULL, NULL},
			       "a buffer of %zu bytes has %u pages, made by %s", b->bytes, b->n,
			       names);
	}
	for (unsigned i = 0; i < b->n; i++) {
		uint64_t at;
		const struct mtt_entry *e;

		if (hca_icm_bus(c->host.hca, hca_icm_address(c->host.hca, FW_TABLE_MTT, first + i),
				&at) ||
		    !checker_address(c, at))
			return;
		e = (const void *)checker_address(c, at);
		if (mtt_entry_get_present(e) && mtt_entry_get_addr(e) == bus[i])
			continue;
		chain_format(&b->by, names, sizeof(names));
		checker_recent(c, maker->since_recent, writers, sizeof(writers));
		checker_report(c, &(struct breach){RULE_mtt_not_present, {0}, NULL, NULL},
			       "page %u of %u of a new buffer is at 0x%llx, and MTT entry 0x%llx "
			       "says 0x%llx, %s; made by %s for %s; these came by: %s",
			       i, b->n, (unsigned long long)bus[i], (unsigned long long)(first + i),
			       (unsigned long long)mtt_entry_get_addr(e),
			       mtt_entry_get_present(e) ? "present" : "not present", maker->call,
			       names, writers);
		return;
	}
}

void buffer_made(struct checker *c, uint64_t mtt_addr, size_t bytes, uint8_t *const *pages,
		 const uint64_t *bus, unsigned n, const struct maker *maker)
{
	struct buffer *b = calloc(1, sizeof(*b)), **at;

	if (!b)
		abort();
	buffer_gone(c, mtt_addr);
	at = place_of(c, mtt_addr);
	*b = (struct buffer){.c = c, .mtt_addr = mtt_addr, .bytes = bytes, .n = n};
	b->pages = calloc(n ? n : 1, sizeof(*b->pages));
	if (!b->pages)
		abort();
	for (unsigned i = 0; i < n; i++)
		b->pages[i] = pages[i];
	chain_take(&b->by);
	*at = b;
	c->hears_buffers = true;
	translations_check(c, b, bus, maker);
}

void buffer_gone(const struct checker *c, uint64_t mtt_addr)
{
	struct buffer **at = place_of(c, mtt_addr);

	if (*at)
		buffer_free(at);
}

void buffers_forget(const struct checker *c)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct buffer **at = &buffers[i]; *at;) {
			if ((*at)->c == c)
				buffer_free(at);
			else
				at = &(*at)->next;
		}
	}
}

/* --- contexts --- */

void buffer_says(struct compared *d, const struct layout *layout, uint64_t mtt_addr, uint64_t bytes)
{
	const struct buffer *b = *place_of(d->ask->c, mtt_addr);
	char by[CHAIN_BYTES], filled[NAMES_BYTES];

	if (d->differs || !d->ask->c->hears_buffers)
		return;
	if (!b) {
		d->differs = true;
		checker_storers(d->ask->c, d->from, d->to, d->ask->since, filled, sizeof(filled));
		checker_report(d->ask->c,
			       &(struct breach){RULE_context_differs, d->object, NULL, NULL},
			       "%s.mtt_addr is 0x%llx, and no buffer was made there; filled by %s",
			       layout->name, (unsigned long long)mtt_addr, filled);
		return;
	}
	if (b->bytes == bytes)
		return;
	d->differs = true;
	chain_format(&b->by, by, sizeof(by));
	checker_storers(d->ask->c, d->from, d->to, d->ask->since, filled, sizeof(filled));
	checker_report(d->ask->c, &(struct breach){RULE_context_differs, d->object, NULL, NULL},
		       "for the device (%s) its queues have %llu bytes, and the buffer was made "
		       "with %zu; the context was filled by %s; the buffer was made by %s",
		       layout->name, (unsigned long long)bytes, b->bytes, filled, by);
}

/* How the device takes the buffer: two queues, the one with the longer slots first. */
struct halves {
	bool sends, receives;
	unsigned log_send_stride, log_receive_stride, log_sends;
	uint64_t send_bytes, receive_bytes, send_offset;
};

static struct halves halves_of(const struct qpc *q)
{
	const bool receives = qpc_get_rq_size_stride(q) != QPC_NO_RQ_SIZE_STRIDE;
	struct halves h = {
		.receives = receives,
		.log_send_stride = qpc_get_log_sq_stride(q) + LOG_UNIT,
		.log_receive_stride = qpc_get_log_rq_stride(q) + LOG_UNIT,
		.log_sends = qpc_get_log_sq_size(q),
	};

	h.sends = h.log_send_stride >= LOG_STRIDE_SENDS_MIN;
	h.send_bytes = UINT64_C(1) << (h.log_sends + h.log_send_stride);
	if (receives)
		h.receive_bytes = UINT64_C(1) << (qpc_get_log_rq_size(q) + h.log_receive_stride);
	if (receives && h.log_receive_stride > h.log_send_stride)
		h.send_offset = h.receive_bytes;
	return h;
}

static const uint8_t *byte_at(const struct buffer *b, uint64_t offset)
{
	return offset / PAGE < b->n ? b->pages[offset / PAGE] + offset % PAGE : NULL;
}

/* What is not as Linux leaves a slot of a new send queue; NULL: it is right. Source: mlx4_ib
 * __mlx4_ib_modify_qp behind RESET, stamp_send_wqe; rdma-core mlx4_qp_init_sq_ownership */
static const char *mark_lacks(const struct buffer *b, uint64_t offset, unsigned log_stride)
{
	const struct wqe_ctrl *ctrl = (const void *)byte_at(b, offset);

	if (!wqe_ctrl_get_owner(ctrl))
		return "its owner bit says that it is the device's";
	if (wqe_ctrl_get_ds(ctrl) != (1u << (log_stride - LOG_UNIT) & SIZE_BITS))
		return "its size is not that of the slot";
	for (uint64_t at = WQE_CHUNK; at < UINT64_C(1) << log_stride; at += WQE_CHUNK) {
		const uint32_t *word = (const void *)byte_at(b, offset + at);

		if (word && *word != UINT32_MAX)
			return "it is not stamped";
	}
	return NULL;
}

static void marks_check(struct compared *d, const struct buffer *b, const struct halves *h)
{
	char names[NAMES_BYTES];

	for (uint32_t i = 0; i < UINT32_C(1) << h->log_sends; i++) {
		const uint64_t offset = h->send_offset + ((uint64_t)i << h->log_send_stride);
		const char *lacks =
			byte_at(b, offset) ? mark_lacks(b, offset, h->log_send_stride) : NULL;

		if (!lacks)
			continue;
		checker_recent(d->ask->c, d->ask->since_recent, names, sizeof(names));
		checker_report(d->ask->c, &(struct breach){RULE_headroom, d->object, NULL, NULL},
			       "the device gets the send queue, and slot %u is not marked as "
			       "unused: %s; this call came by %s",
			       i, lacks, names);
		return;
	}
}

void buffer_of_qp_says(struct compared *d, const struct qpc *q)
{
	const struct halves h = halves_of(q);
	const struct buffer *b;

	buffer_says(d, &layout_qpc, qpc_get_mtt_addr(q), h.send_bytes + h.receive_bytes);
	b = *place_of(d->ask->c, qpc_get_mtt_addr(q));
	if (!d->differs && b && h.sends && !qpc_get_sq_no_prefetch(q))
		marks_check(d, b, &h);
}

/* --- places --- */

static bool has_page(const struct buffer *b, uintptr_t at, uint64_t *offset)
{
	for (unsigned i = 0; i < b->n; i++) {
		if (at - (uintptr_t)b->pages[i] >= PAGE)
			continue;
		*offset = (uint64_t)i * PAGE + (at - (uintptr_t)b->pages[i]);
		return true;
	}
	return false;
}

static const struct buffer *buffer_around(const struct checker *c, uintptr_t at, uint64_t *offset)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct buffer *b = buffers[i]; b; b = b->next)
			if (b->c == c && has_page(b, at, offset))
				return b;
	return NULL;
}

/* Where in the buffer this call has stored first. */
static bool stored_at(const struct ask *a, const struct buffer *b, uint64_t *offset)
{
	uint32_t seq = UINT32_MAX;

	for (uint64_t at = 0; at < (uint64_t)b->n * PAGE; at += WORD) {
		const struct stored *s = checker_stored(a->c, (uintptr_t)byte_at(b, at));

		if (s->seq <= a->since || s->seq >= seq)
			continue;
		seq = s->seq;
		*offset = at;
	}
	return seq != UINT32_MAX;
}

bool buffer_place_check(const struct ask *a, bool sends, uintptr_t slot)
{
	uint64_t should = 0, is = 0;
	const struct buffer *b = buffer_around(a->c, slot, &should);
	char by[CHAIN_BYTES], writers[NAMES_BYTES], reset[NAMES_BYTES] = "";

	if (!b || !stored_at(a, b, &is))
		return false;
	if (a->made)
		checker_functions(a->made->reset_by.pc, a->made->reset_by.n, reset, sizeof(reset));
	chain_format(&b->by, by, sizeof(by));
	checker_storers(a->c, (uintptr_t)byte_at(b, is), (uintptr_t)byte_at(b, is) + WORD, a->since,
			writers, sizeof(writers));
	checker_report(
		a->c,
		&(struct breach){RULE_queue_place,
				 {a->kind == ASK_SRQ_RECEIVES ? GUEST_SRQ : GUEST_QP, a->number},
				 NULL,
				 NULL},
		"the device takes the next %s from byte 0x%llx of the buffer, and this call has "
		"written at byte 0x%llx first (%s); the buffer was made by %s%s%s",
		sends ? "send" : "receive", (unsigned long long)should, (unsigned long long)is,
		writers, by, *reset ? "; the queue was reset by " : "", reset);
	return true;
}
