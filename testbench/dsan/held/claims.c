// SPDX-License-Identifier: Apache-2.0
/* See claims.h. What an object points to is read in objects.c. */
#include "testbench/dsan/held/claims_impl.h"

#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/interface/mailboxes.h"
#include "model/interface/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	RECORD_BYTES = 4,
	CQ_RECORD_BYTES = 8,
	WITHOUT_TOKEN = 1 << 16,
};

/* --- life --- */

static size_t pages_of(const struct checker *c)
{
	return c->host.bytes / CLAIM_PAGE_SIZE;
}

static void *sparse_create(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void sparse_destroy(void *at, size_t bytes)
{
	if (at)
		munmap(at, bytes);
}

struct claims *claims_create(struct checker *c)
{
	struct claims *cl = calloc(1, sizeof(*cl));

	if (!cl)
		return NULL;
	cl->c = c;
	cl->pages = sparse_create(pages_of(c) * sizeof(*cl->pages));
	cl->last = sparse_create(pages_of(c) * sizeof(*cl->last));
	cl->mapped = sparse_create(pages_of(c) * sizeof(*cl->mapped));
	cl->mtts = sparse_create((size_t)CLAIM_MTTS * sizeof(*cl->mtts));
	if (cl->pages && cl->last && cl->mapped && cl->mtts)
		return cl;
	claims_destroy(cl);
	return NULL;
}

static void claims_free(struct claim *claim)
{
	while (claim) {
		struct claim *next = claim->holder_next;

		free(claim);
		claim = next;
	}
}

void claims_destroy(struct claims *cl)
{
	if (!cl)
		return;
	for (unsigned i = 0; i < CLAIM_BUCKETS; i++) {
		while (cl->buckets[i]) {
			struct holder *h = cl->buckets[i];

			cl->buckets[i] = h->hash_next;
			claims_free(h->claims);
			free(h);
		}
	}
	claims_free(cl->free);
	sparse_destroy(cl->pages, pages_of(cl->c) * sizeof(*cl->pages));
	sparse_destroy(cl->last, pages_of(cl->c) * sizeof(*cl->last));
	sparse_destroy(cl->mapped, pages_of(cl->c) * sizeof(*cl->mapped));
	sparse_destroy(cl->mtts, (size_t)CLAIM_MTTS * sizeof(*cl->mtts));
	free(cl);
}

/* --- holders and claims --- */

static struct holder **bucket_of(struct claims *cl, enum holder_kind kind, uint32_t number)
{
	return &cl->buckets[(number * HOLDER_KIND_COUNT + kind) % CLAIM_BUCKETS];
}

struct holder *claims_find(const struct claims *cl, enum holder_kind kind, uint32_t number)
{
	struct holder *h = *bucket_of((struct claims *)cl, kind, number);

	while (h && (h->kind != kind || h->number != number))
		h = h->hash_next;
	return h && h->live ? h : NULL;
}

static struct holder *holder_take(struct claims *cl, enum holder_kind kind, uint32_t number)
{
	struct holder **bucket = bucket_of(cl, kind, number), *h = *bucket;

	while (h && (h->kind != kind || h->number != number))
		h = h->hash_next;
	if (!h) {
		h = calloc(1, sizeof(*h));
		if (!h)
			abort();
		*h = (struct holder){.kind = kind, .number = number, .hash_next = *bucket};
		*bucket = h;
	}
	h->live = true;
	return h;
}

const char *holder_name(const struct holder *h)
{
#define H(NAME, name) [HOLDER_##NAME] = name,
	static const char *const names[HOLDER_KIND_COUNT] = {HOLDER_KINDS(H)};
#undef H

	return names[h->kind];
}

/* The kinds of guest errors' objects have the order of holders. */
struct guest_object holder_object(const struct holder *h)
{
	_Static_assert(GUEST_CQ - GUEST_QP == HOLDER_CQ && GUEST_EQ - GUEST_QP == HOLDER_EQ &&
			       GUEST_SRQ - GUEST_QP == HOLDER_SRQ &&
			       GUEST_MPT - GUEST_QP == HOLDER_MPT,
		       "one order");
	if (h->kind <= HOLDER_MPT)
		return (struct guest_object){(enum guest_object_kind)(GUEST_QP + h->kind),
					     h->number};
	if (h->kind == HOLDER_COMMAND)
		return (struct guest_object){GUEST_COMMAND, h->number};
	return (struct guest_object){0};
}

const struct claim *claims_of_page(const struct claims *cl, uintptr_t at)
{
	return cl->pages[claims_page(cl, at)];
}

bool claims_last(const struct claims *cl, uintptr_t at, char *text, size_t size)
{
	const struct claim_last *last =
		checker_has(cl->c, at) ? &cl->last[claims_page(cl, at)] : NULL;

	if (!last || !last->holder)
		return false;
	snprintf(text, size, "%s of %s %x",
		 last->use == CLAIM_RECORD ? "the doorbell record" : "a page", last->holder,
		 last->number);
	return true;
}

/* Payload is not watched: no rule is about a single load or store of it. */
static bool is_watched(const struct claim *k)
{
	return k->holder->kind != HOLDER_MPT;
}

static void page_watch(const struct claims *cl, uint32_t page, bool watched)
{
	if (cl->c->watch.page)
		cl->c->watch.page(cl->c->watch.ctx, page, watched);
}

/* A driver fills a mailbox again before its next command tells which one it is: it stays watched. */
static void page_leave(const struct claims *cl, const struct claim *gone)
{
	const struct claim *k = cl->pages[gone->page];

	if (!is_watched(gone) || gone->holder->kind == HOLDER_COMMAND)
		return;
	while (k && !is_watched(k))
		k = k->page_next;
	if (!k)
		page_watch(cl, gone->page, false);
}

static void claim_add(struct claims *cl, struct holder *h, uint64_t bus, uint32_t nth,
		      enum claim_use use)
{
	const uintptr_t at = checker_address(cl->c, bus);
	struct claim *claim = cl->free;
	uint32_t page;

	if (!at)
		return;
	if (claim)
		cl->free = claim->holder_next;
	else
		claim = malloc(sizeof(*claim));
	if (!claim)
		abort();
	page = claims_page(cl, at);
	*claim = (struct claim){.page_next = cl->pages[page],
				.holder_next = h->claims,
				.holder = h,
				.page = page,
				.nth = nth,
				.use = use};
	cl->pages[page] = h->claims = claim;
	cl->last[page] = (struct claim_last){holder_name(h), h->number, use};
	if (is_watched(claim))
		page_watch(cl, page, true);
}

static void page_forgets(struct claims *cl, const struct claim *claim)
{
	struct claim **at = &cl->pages[claim->page];

	while (*at != claim)
		at = &(*at)->page_next;
	*at = claim->page_next;
	page_leave(cl, claim);
}

/* Of a large area one page goes; `at` is its place in the holder's list. */
static void claim_remove(struct claims *cl, struct claim **at)
{
	struct claim *claim = *at;

	page_forgets(cl, claim);
	*at = claim->holder_next;
	claim->holder_next = cl->free;
	cl->free = claim;
}

static void holder_lets_pages_go(struct claims *cl, struct holder *h)
{
	while (h->claims)
		claim_remove(cl, &h->claims);
}

static void holder_lets_memory_go(struct claims *cl, struct holder *h)
{
	holder_lets_pages_go(cl, h);
	for (uint32_t i = 0; i < h->mtt_count; i++)
		if (cl->mtts[h->mtt_first + i] == h)
			cl->mtts[h->mtt_first + i] = NULL;
	h->mtt_count = 0;
}

static void holder_goes(struct claims *cl, struct holder *h)
{
	holder_lets_memory_go(cl, h);
	h->record = 0;
	h->live = h->taken = false;
}

void claims_each(struct claims *cl, void (*fn)(void *arg, struct holder *h), void *arg)
{
	for (unsigned i = 0; i < CLAIM_BUCKETS; i++)
		for (struct holder *h = cl->buckets[i]; h; h = h->hash_next)
			fn(arg, h);
}

/* --- objects --- */

/* The bus address in an MTT entry. */
static bool mtt_read(const struct claims *cl, uint64_t mtt_addr, uint64_t *bus)
{
	const uint64_t va =
		hca_icm_address(cl->c->host.hca, FW_TABLE_MTT, mtt_addr / sizeof(struct mtt_entry));
	struct mtt_entry e;
	uint64_t at;

	if (hca_icm_bus(cl->c->host.hca, va, &at) || !checker_read(cl->c, at, &e, sizeof(e)))
		return false;
	*bus = mtt_entry_get_addr(&e);
	return mtt_entry_get_present(&e);
}

static void page_missing(struct claims *cl, const struct holder *h, uint64_t mtt)
{
	checker_report(cl->c, &(struct breach){RULE_mtt_not_present, holder_object(h), NULL, NULL},
		       "%s %x is given to the device, and its mtt %" PRIx64 " has no page",
		       holder_name(h), h->number, mtt);
}

/*
 * A page of a queue belongs to no other object, nor to what else the device uses. Two regions may have
 * the same page. Reports one that is not so.
 * Source: Linux mlx4_buf_alloc and ib_umem_get: a buffer has whole pages, and a mapping of its own.
 */
static bool page_is_own(struct claims *cl, const struct holder *h, uint64_t bus, uint64_t nth)
{
	const struct breach b = {RULE_page_not_own, holder_object(h), NULL, NULL};
	const uintptr_t at = checker_address(cl->c, bus);

	if (!at && h->kind == HOLDER_MPT) /* the caller of a verb may have chosen its pages */
		return true;
	if (!at) {
		checker_report(cl->c, &b,
			       "%s %x: the device does not reach its page %" PRIu64
			       ", at bus address %" PRIx64,
			       holder_name(h), h->number, nth, bus);
		return false;
	}
	for (const struct claim *k = claims_of_page(cl, at); k; k = k->page_next) {
		const struct holder *other = k->holder;

		if (k->use != CLAIM_PAGE || other == h ||
		    (h->kind == HOLDER_MPT && other->kind == HOLDER_MPT))
			continue;
		checker_report(cl->c, &b, "%s %x: its page %" PRIu64 " is a page of %s %x",
			       holder_name(h), h->number, nth, holder_name(other), other->number);
		return false;
	}
	return true;
}

/* told: only when it is given, and only the first page that is missing or not its own */
static void pages_claim(struct claims *cl, struct holder *h, const struct object_memory *m,
			bool told)
{
	const uint64_t end = m->start + m->bytes, large = UINT64_C(1) << m->log_page;

	for (uint64_t at = m->start & ~(uint64_t)(CLAIM_PAGE_SIZE - 1); at < end;
	     at += CLAIM_PAGE_SIZE) {
		const uint64_t mtt = m->mtt_addr + (at >> m->log_page) * sizeof(struct mtt_entry);
		uint64_t bus;

		if (mtt_read(cl, mtt, &bus)) {
			bus += at & (large - 1);
			told = told || !page_is_own(cl, h, bus, at / CLAIM_PAGE_SIZE);
			claim_add(cl, h, bus, (uint32_t)(at / CLAIM_PAGE_SIZE), CLAIM_PAGE);
		} else if (!told) {
			page_missing(cl, h, mtt / sizeof(struct mtt_entry));
			told = true;
		}
	}
}

/* Returns whether all are its own. */
static bool mtts_claim(struct claims *cl, struct holder *h, const struct object_memory *m)
{
	const uint64_t first = m->mtt_addr / sizeof(struct mtt_entry);
	const struct holder *told = NULL; /* of the entries of another object one is reported */

	if (!m->mtt_count || first + m->mtt_count > CLAIM_MTTS)
		return true;
	h->mtt_first = (uint32_t)first;
	h->mtt_count = m->mtt_count;
	for (uint32_t i = 0; i < m->mtt_count; i++) {
		struct holder **owner = &cl->mtts[first + i], *other = *owner;

		if (other && other != h && other != told)
			checker_report(
				cl->c,
				&(struct breach){RULE_mtt_shared, holder_object(h), NULL, NULL},
				"%s %x uses mtt %x, which is that of %s %x", holder_name(h),
				h->number, h->mtt_first + i, holder_name(other), other->number);
		if (other && other != h)
			told = other;
		*owner = h;
	}
	return !told;
}

/* The record of a CQ has a second word, for arming. */
static unsigned record_bytes(const struct holder *h)
{
	return h->kind == HOLDER_CQ ? CQ_RECORD_BYTES : RECORD_BYTES;
}

static bool records_meet(const struct holder *a, const struct holder *b)
{
	return a->record < b->record + record_bytes(b) && b->record < a->record + record_bytes(a);
}

/* No two objects have the same record, or parts of the same. */
static void record_claim(struct claims *cl, struct holder *h, uint64_t record)
{
	const uintptr_t at = record ? checker_address(cl->c, record) : 0;

	if (!at)
		return;
	h->record = record;
	for (const struct claim *k = claims_of_page(cl, at); k; k = k->page_next)
		if (k->use == CLAIM_RECORD && k->holder != h && records_meet(k->holder, h))
			checker_report(
				cl->c,
				&(struct breach){RULE_record_shared, holder_object(h), NULL, NULL},
				"the doorbell record of %s %x is%s that of %s %x", holder_name(h),
				h->number, k->holder->record == record ? "" : " within",
				holder_name(k->holder), k->holder->number);
	claim_add(cl, h, record, 0, CLAIM_RECORD);
}

static void needs_check(struct claims *cl, enum hca_object type, uint32_t number)
{
	const char *what;
	uint64_t va, bus;

	for (unsigned i = 0; object_needs(cl->c->host.hca, type, number, i, &va, &what); i++)
		if (hca_icm_bus(cl->c->host.hca, va, &bus))
			checker_report(cl->c,
				       &(struct breach){
					       RULE_icm_unmapped,
					       {(enum guest_object_kind)(GUEST_QP + type), number},
					       NULL,
					       NULL},
				       "%s of %x at icm %llx, when it became the device's", what,
				       number, (unsigned long long)va);
}

struct holder *claims_object(struct claims *cl, enum hca_object type, uint32_t number, bool valid,
			     const struct mpt_entry *mpt, struct object_memory *m, bool *fresh)
{
	const enum holder_kind kind = (enum holder_kind)type;
	const uint32_t index = object_index(cl->c->host.hca, type, number);
	struct holder *h = claims_find(cl, kind, index);
	bool own;

	*fresh = !h;
	if (h)
		holder_goes(cl, h);
	if (!valid || !object_read(cl->c->host.hca, type, number, mpt, m))
		return NULL;
	if (*fresh)
		needs_check(cl, type, number);
	h = holder_take(cl, kind, index);
	own = mtts_claim(cl, h, m);
	if (m->has_pages)
		pages_claim(cl, h, m, !*fresh || !own);
	record_claim(cl, h, m->record);
	return h;
}

struct holder *claims_cq_resized(struct claims *cl, uintptr_t at)
{
	for (const struct claim *k = claims_of_page(cl, at); k; k = k->page_next) {
		struct holder *h = k->holder;

		if (h->kind == HOLDER_CQ && k->use == CLAIM_PAGE) {
			holder_lets_memory_go(cl, h);
			return h;
		}
	}
	return NULL;
}

/* --- commands --- */

/* Pages that the driver gives to the device must be its own. How a guest maps its memory is not known. */
static void given_check(const struct claims *cl, uint32_t opcode, uint64_t bus, uint64_t bytes)
{
	struct checker *c = cl->c;

	for (uint64_t at = 0; at < bytes && !c->guest; at += CLAIM_PAGE_SIZE) {
		const uintptr_t page = checker_address(c, bus + at);

		if (checker_has(c, page) && cl->mapped[claims_page(cl, page)])
			continue;
		checker_report(
			c, &(struct breach){RULE_dma_unmapped, {GUEST_COMMAND, opcode}, NULL, NULL},
			"the device is given %llu bytes from 0x%llx on, and of those 0x%llx is not "
			"mapped",
			(unsigned long long)bytes, (unsigned long long)bus,
			(unsigned long long)(bus + at));
		return;
	}
}

/* Pages of MAP_FA and MAP_ICM_AUX are the firmware's until they are unmapped. */
static void area_claim(struct claims *cl, const struct hcr *command)
{
	struct holder *h = holder_take(cl, HOLDER_FIRMWARE, hcr_get_opcode(command));
	struct vpm_list list;

	if (!checker_read(cl->c, hcr_get_in_param(command), &list, sizeof(list)))
		return;
	for (uint32_t i = 0; i < hcr_get_in_mod(command) && i < VPM_ENTRIES_MAX; i++) {
		const struct vpm_entry *e = vpm_list_at_const(&list, i);
		const uint64_t pages = UINT64_C(1) << vpm_entry_get_log_size(e);

		given_check(cl, hcr_get_opcode(command), vpm_entry_get_pa(e),
			    pages * CLAIM_PAGE_SIZE);
		for (uint64_t n = 0; n < pages; n++)
			claim_add(cl, h, vpm_entry_get_pa(e) + n * CLAIM_PAGE_SIZE, 0, CLAIM_PAGE);
	}
}

static void area_release(struct claims *cl, uint32_t mapped_by)
{
	struct holder *h = claims_find(cl, HOLDER_FIRMWARE, mapped_by);

	if (h)
		holder_goes(cl, h);
}

static void mailboxes_claim(struct claims *cl, const struct hcr *command)
{
	const struct hcr_row *row = hcr_row_find(hcr_get_opcode(command));
	struct holder *h = holder_take(cl, HOLDER_COMMAND, hcr_get_opcode(command));

	if (row && row->in == HCR_P_MBOX)
		claim_add(cl, h, hcr_get_in_param(command), 0, CLAIM_PAGE);
	if (row && row->out == HCR_P_MBOX)
		claim_add(cl, h, hcr_get_out_param(command), 1, CLAIM_PAGE);
}

/* CLOSE_HCA: software is to have taken back every object before. */
static void left_check(void *arg, struct holder *h)
{
	struct claims *cl = arg;

	if (h->live && h->kind <= HOLDER_MPT)
		checker_report(cl->c,
			       &(struct breach){RULE_object_left, holder_object(h), NULL, NULL},
			       "%s %x", holder_name(h), h->number);
}

void claims_command(struct claims *cl, const struct hcr *command,
		    const struct hca_command_answer *answer)
{
	const uint32_t opcode = hcr_get_opcode(command);
	struct holder *h = claims_find(cl, HOLDER_COMMAND, opcode);

	if (h)
		holder_goes(cl, h);
	if (!answer) {
		if (opcode == HCR_CLOSE_HCA)
			claims_each(cl, left_check, cl);
		mailboxes_claim(cl, command);
		return;
	}
	if ((opcode == HCR_MAP_FA || opcode == HCR_MAP_ICM_AUX) && !answer->status)
		area_claim(cl, command);
	else if (opcode == HCR_UNMAP_FA)
		area_release(cl, HCR_MAP_FA);
	else if (opcode == HCR_UNMAP_ICM_AUX)
		area_release(cl, HCR_MAP_ICM_AUX);
}

/* --- ICM --- */

void claims_icm_map(struct claims *cl, uint64_t va, uint64_t bus, uint64_t len)
{
	struct holder *h = holder_take(cl, HOLDER_ICM, 0);

	given_check(cl, HCR_MAP_ICM, bus, len);
	for (uint64_t at = 0; at < len; at += CLAIM_PAGE_SIZE)
		claim_add(cl, h, bus + at, (uint32_t)((va + at) / CLAIM_PAGE_SIZE), CLAIM_PAGE);
}

static void object_check(struct claims *cl, const struct holder *h, uint64_t va, uint64_t len)
{
	const char *what;
	uint64_t at;

	for (unsigned i = 0;
	     object_needs(cl->c->host.hca, (enum hca_object)h->kind, h->number, i, &at, &what); i++)
		if (at - va < len)
			checker_report(
				cl->c,
				&(struct breach){RULE_icm_unmapped, holder_object(h), NULL, NULL},
				"%s of %s %x at icm %llx is unmapped while it lives", what,
				holder_name(h), h->number, (unsigned long long)at);
	at = hca_icm_address(cl->c->host.hca, FW_TABLE_MTT, h->mtt_first);
	if (h->mtt_count && at < va + len && at + h->mtt_count * sizeof(struct mtt_entry) > va)
		checker_report(cl->c,
			       &(struct breach){RULE_icm_unmapped, holder_object(h), NULL, NULL},
			       "mtt of %s %x at icm %llx is unmapped while it lives",
			       holder_name(h), h->number, (unsigned long long)at);
}

void claims_icm_unmap(struct claims *cl, uint64_t va, uint64_t len)
{
	struct holder *icm = claims_find(cl, HOLDER_ICM, 0);

	if (!icm)
		return;
	if (len == UINT64_MAX) {
		holder_goes(cl, icm);
		return;
	}
	for (unsigned i = 0; i < CLAIM_BUCKETS; i++)
		for (const struct holder *h = cl->buckets[i]; h; h = h->hash_next)
			if (h->live && h->kind <= HOLDER_MPT)
				object_check(cl, h, va, len);
	for (struct claim **at = &icm->claims; *at;) {
		if ((uint64_t)(*at)->nth - va / CLAIM_PAGE_SIZE < len / CLAIM_PAGE_SIZE)
			claim_remove(cl, at);
		else
			at = &(*at)->holder_next;
	}
}

void claims_forgotten(struct claims *cl, bool reset)
{
	for (unsigned i = 0; i < CLAIM_BUCKETS; i++)
		for (struct holder *h = cl->buckets[i]; h; h = h->hash_next)
			if (h->live && (reset || h->kind <= HOLDER_MPT))
				holder_goes(cl, h);
}

/* --- what the driver stores --- */

/* Software has taken this MPT entry back and has already set its status again: from then on the
 * device may read it. Source: Linux mlx4_mr_hw_write_mpt, which sets the status last. Its
 * mlx4_mr_rereg_mem_write clears it too early, so a guest's driver is not held to this. */
static bool given_by_status(uintptr_t at, uint64_t va)
{
	const struct mpt_entry *e = (const void *)(at - va % sizeof(*e));

	return mpt_entry_get_status(e) == MPT_STATUS_HW;
}

/* Of the tables in ICM, software may write those that it fills itself: MTT entries that no object
 * has, and the MPT entry that it has taken back. */
static void icm_store(struct claims *cl, uintptr_t at, uint64_t va, const void *pc)
{
	struct hca *hca = cl->c->host.hca;
	const struct holder *owner;
	unsigned table;
	uint64_t index;

	if (!hca_icm_find(hca, va, &table, &index))
		return;
	if (table == FW_TABLE_MTT) {
		owner = index < CLAIM_MTTS ? cl->mtts[index] : NULL;
		if (owner)
			checker_report(cl->c,
				       &(struct breach){RULE_device_memory_written,
							holder_object(owner), pc, NULL},
				       "mtt %llx of %s %x", (unsigned long long)index,
				       holder_name(owner), owner->number);
	} else if (table != FW_TABLE_MPT) {
		checker_report(cl->c, &(struct breach){RULE_device_memory_written, {0}, pc, NULL},
			       "icm %llx", (unsigned long long)va);
	} else if (hca_object_valid(hca, HCA_MPT, (uint32_t)index)) {
		checker_report(
			cl->c,
			&(struct breach){
				RULE_device_memory_written, {GUEST_MPT, (uint32_t)index}, pc, NULL},
			"mpt %x", (uint32_t)index);
	} else if (!cl->c->guest && given_by_status(at, va)) {
		checker_report(
			cl->c,
			&(struct breach){
				RULE_device_memory_written, {GUEST_MPT, (uint32_t)index}, pc, NULL},
			"mpt %x, whose status already says that the device has it,",
			(uint32_t)index);
	}
}

void claims_store(struct claims *cl, uintptr_t at, uint64_t bytes, const void *pc)
{
	for (const struct claim *k = claims_of_page(cl, at); k; k = k->page_next) {
		if (k->use != CLAIM_PAGE)
			continue;
		if (k->holder->kind == HOLDER_ICM)
			icm_store(cl, at, (uint64_t)k->nth * CLAIM_PAGE_SIZE + at % CLAIM_PAGE_SIZE,
				  pc);
		else if (k->holder->kind == HOLDER_FIRMWARE || k->holder->kind == HOLDER_COMMAND)
			checker_report(cl->c,
				       &(struct breach){RULE_device_memory_written,
							holder_object(k->holder), pc, NULL},
				       "%s %x", holder_name(k->holder), k->holder->number);
	}
}
