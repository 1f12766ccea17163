// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: what the driver takes and gives back, inside of it. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/held/claims.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/held/counted.h"
#include "testbench/dsan/held/counts.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/taken.h"
#include "testbench/dsan/threads/threads.h"
#include "testbench/dsan/hear/trail.h"
#include "testbench/dsan/hear/wrote.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_BACK = 64, MAKERS = 64 };

/* A bitmap names no device. */
static struct drv_device *devices[DEVICES];

struct claims *claims_of(const struct drv_device *dev)
{
	const struct checker *c = checker_of_host(dev->p->host);

	return c ? c->claims : NULL;
}

W(int, drv_cmd_init, struct drv_device *dev)
{
	if (dev->p->host < DEVICES)
		devices[dev->p->host] = dev;
	if (checker_of_host(dev->p->host))
		dead_begin(checker_of_host(dev->p->host), dev);
	return __real_drv_cmd_init(dev);
}

/* --- memory of the driver --- */

static bool in_drv_calloc;
/* Who called malloc() for the memory that is being taken; NULL: calloc() has set it. */
static const void *unset_by;

/* Not inlined, or gcc would warn that memory of malloc() is not written yet. */
__attribute__((noinline)) static void *memory_taken(void *at, size_t bytes, const void *pc)
{
	if (in_drv_calloc)
		return at;
	if (!at) {
		trail_refused(-ENOMEM);
		return at;
	}
	taken_add(TAKEN_MEMORY, at, 0, pc);
	if (checker_hears(pc))
		heap_taken(at, bytes, checker_in_mlx4(pc), pc);
	if (unset_by)
		heap_unset(at, unset_by);
	return at;
}

W(void *, drv_calloc, size_t n, size_t size)
{
	void *at;

	in_drv_calloc = true;
	unset_by = NULL;
	at = __real_drv_calloc(n, size);
	in_drv_calloc = false;
	return memory_taken(at, n * size, HERE);
}

/* The Makefile renames these in the driver. */
void *callout_malloc(size_t bytes);
void *callout_malloc(size_t bytes)
{
	char *at;

	if (bytes > SIZE_MAX - HEAP_MARGIN)
		bytes = SIZE_MAX - HEAP_MARGIN;
	at = malloc(bytes + HEAP_MARGIN);
	if (at)
		memset(at, HEAP_UNSET, bytes);
	unset_by = HERE;
	return memory_taken(at, bytes, HERE);
}

void *callout_calloc(size_t n, size_t size);
void *callout_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - HEAP_MARGIN)
		bytes = SIZE_MAX - HEAP_MARGIN;
	unset_by = NULL;
	return memory_taken(calloc(1, bytes + HEAP_MARGIN), bytes, HERE);
}

void callout_free(void *at);
void callout_free(void *at)
{
	if (at) {
		taken_back(TAKEN_MEMORY, at, 0, HERE);
		heap_back(threads_interruptible(), at, HERE);
		counts_freed(at);
	}
	if (at && !freed_take(at, HERE))
		return;
	free(at);
}

/* --- locks --- */

W(void, drv_lock, struct drv_device *dev, struct drv_mutex *m)
{
	struct checker *c = checker_of_host(dev->p->host);

	locks_want(c, m, HERE);
	__real_drv_lock(dev, m);
	locks_got(c, m, HERE);
}

W(void, drv_unlock, struct drv_device *dev, struct drv_mutex *m)
{
	locks_back(checker_of_host(dev->p->host), m, HERE);
	__real_drv_unlock(dev, m);
}

W(int, drv_mutex_init, struct drv_device *dev, struct drv_mutex *m)
{
	const int rc = __real_drv_mutex_init(dev, m);

	if (!rc)
		taken_add(TAKEN_LOCK, m, 0, HERE);
	return rc;
}

W(void, drv_mutex_cleanup, struct drv_device *dev, struct drv_mutex *m)
{
	struct checker *c = checker_of_host(dev->p->host);

	locks_forget(m);
	if (c && c->hcr_lock.lock == m)
		c->hcr_lock = (struct lock_hold){0};
	if (taken_is(TAKEN_LOCK, m, 0))
		taken_back(TAKEN_LOCK, m, 0, HERE);
	__real_drv_mutex_cleanup(dev, m);
}

/* --- records, buffers, MTT entries --- */

W(int, drv_db_alloc, struct drv_device *dev, struct drv_db *db)
{
	const unsigned used = dev->db_records;
	const int rc = INNER(dev, true, __real_drv_db_alloc(dev, db));

	if (rc)
		return rc;
	counted_record_taken(dev, used, db, HERE);
	taken_add(TAKEN_RECORD, db->record, 0, HERE);
	return 0;
}

W(void, drv_db_free, struct drv_device *dev, struct drv_db *db)
{
	const unsigned used = dev->db_records;
	const struct drv_db was = *db;

	if (db->record && claims_of(dev))
		claims_record_back(claims_of(dev), db->bus, HERE);
	if (db->record)
		taken_back(TAKEN_RECORD, db->record, 0, HERE);
	__real_drv_db_free(dev, db);
	if (was.page)
		counted_record_back(dev, used, db, was.bus, HERE);
}

static void mtts_back(const struct drv_device *dev, const struct drv_mtt *mtt, const void *pc)
{
	if (mtt->valid && claims_of(dev))
		claims_mtts_back(claims_of(dev), mtt->first, UINT32_C(1) << mtt->order, pc);
}

static uint64_t mtt_address(const struct drv_mtt *mtt)
{
	return (uint64_t)mtt->first * sizeof(struct mtt_entry);
}

W(int, drv_buf_alloc, struct drv_device *dev, size_t bytes, struct drv_buf *buf)
{
	struct checker *c = checker_of_host(dev->p->host);
	const struct maker maker = {__func__ + strlen(WRAP), c ? c->n_recent : 0};
	const int rc = INNER(dev, false, __real_drv_buf_alloc(dev, bytes, buf));

	if (rc)
		return rc;
	taken_add(TAKEN_BUFFER, buf->pages, 0, HERE);
	counted_buffer_taken(dev, buf, bytes, HERE);
	if (c) {
		checker_settle(c);
		buffer_made(c, mtt_address(&buf->mtt), bytes, buf->pages, buf->bus, buf->n, &maker);
	}
	return 0;
}

/* An event queue is read by the handler that has it for its argument. Source: Linux mlx4_cleanup_eq_table:
 * mlx4_free_irqs before mlx4_free_eq */
static void handler_reads_check(struct checker *c, const struct drv_buf *buf, const void *pc)
{
	for (unsigned v = 0; c && v < FUNCTION_VECTORS; v++) {
		const struct drv_eq *eq = c->interrupts[v].arg;

		if (c->function.vectors[v].handlers > 0 && eq && buf == &eq->buf)
			checker_report(
				c,
				&(struct breach){RULE_freed_in_use, {GUEST_EQ, eq->eqn}, pc, NULL},
				"the queue's buffer is freed, and the handler of interrupt vector "
				"%u "
				"that reads it is registered",
				v);
	}
}

W(void, drv_buf_free, struct drv_device *dev, struct drv_buf *buf)
{
	handler_reads_check(checker_of_host(dev->p->host), buf, HERE);
	mtts_back(dev, &buf->mtt, HERE);
	if (buf->mtt.valid)
		buffer_gone(checker_of_host(dev->p->host), mtt_address(&buf->mtt));
	if (buf->pages)
		taken_back(TAKEN_BUFFER, buf->pages, 0, HERE);
	__real_drv_buf_free(dev, buf);
}

W(int, drv_mtt_alloc, struct drv_device *dev, unsigned pages, struct drv_mtt *mtt)
{
	const int rc = INNER(dev, false, __real_drv_mtt_alloc(dev, pages, mtt));

	if (rc)
		return rc;
	taken_add(TAKEN_MTTS, dev, mtt->first, HERE);
	if (checker_of_host(dev->p->host) && pages > UINT64_C(1) << mtt->order)
		checker_report(
			checker_of_host(dev->p->host),
			&(struct breach){RULE_mtt_shared, {0}, HERE, NULL},
			"%s was asked for %u MTT entries, and has taken %u from 0x%x on; the "
			"rest may be another object's",
			__func__ + strlen(WRAP), pages, 1u << mtt->order, mtt->first);
	return 0;
}

W(int, drv_buddy_alloc, struct drv_buddy *b, unsigned order, uint32_t *first)
{
	const uint32_t used = b->used;
	const int rc = __real_drv_buddy_alloc(b, order, first);

	if (rc)
		return rc;
	counted_buddy_taken(b, used, order, *first, HERE);
	taken_add(TAKEN_BUDDY, b, (uint64_t)order << 32 | *first, HERE);
	return 0;
}

W(void, drv_buddy_free, struct drv_buddy *b, uint32_t first, unsigned order)
{
	const uint32_t used = b->used;

	taken_back(TAKEN_BUDDY, b, (uint64_t)order << 32 | first, HERE);
	__real_drv_buddy_free(b, first, order);
	counted_buddy_back(b, used, order, first, HERE);
}

W(void, drv_buddy_cleanup, struct drv_buddy *b)
{
	taken_forget_of(b);
	__real_drv_buddy_cleanup(b);
}

W(void, drv_mtt_free, struct drv_device *dev, struct drv_mtt *mtt)
{
	mtts_back(dev, mtt, HERE);
	if (mtt->valid)
		taken_back(TAKEN_MTTS, dev, mtt->first, HERE);
	__real_drv_mtt_free(dev, mtt);
}

/* --- numbers --- */

/* The kind of object that has the bitmap's numbers. */
static bool type_of(const struct drv_device *dev, const struct drv_bitmap *b, enum hca_object *type)
{
	const struct {
		const struct drv_bitmap *b;
		enum hca_object type;
	} kinds[] = {{&dev->qps, HCA_QP},
		     {&dev->cqs, HCA_CQ},
		     {&dev->srqs, HCA_SRQ},
		     {&dev->mpts, HCA_MPT}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].b != b)
			continue;
		*type = kinds[i].type;
		return true;
	}
	return false;
}

/* The number that was given back last, of a few bitmaps. */
static struct given_back {
	const struct drv_bitmap *b;
	uint32_t number;
} given_back[GIVEN_BACK];

static struct given_back *given_back_of(const struct drv_bitmap *b)
{
	return &given_back[(uintptr_t)b / sizeof(*b) % GIVEN_BACK];
}

/* The host to which the bitmap of an object's numbers belongs. */
static const struct drv_device *numbers_of(const struct drv_bitmap *b, enum hca_object *type)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i] && type_of(devices[i], b, type))
			return devices[i];
	return NULL;
}

static void reuse_check(const struct drv_bitmap *b, uint32_t number, const void *pc)
{
	struct given_back *last = given_back_of(b);
	enum hca_object type;
	const struct drv_device *dev =
		last->b == b && last->number == number && b->used < b->size / 2
			? numbers_of(b, &type)
			: NULL;

	if (dev && checker_of_host(dev->p->host))
		checker_report(
			checker_of_host(dev->p->host),
			&(struct breach){RULE_number_reused,
					 {(enum guest_object_kind)(GUEST_QP + type), number},
					 pc,
					 NULL},
			"number 0x%x is given out by drv_bitmap_alloc, and it is the one that "
			"drv_bitmap_free took back last; %u of %u are in use",
			number, b->used, b->size);
	last->b = NULL;
}

/* Who made which allocator; a newer one takes the place of an older one. */
static struct numbers_maker {
	const struct drv_bitmap *b;
	const void *pc;
} makers[MAKERS];

static struct numbers_maker *maker_of(const struct drv_bitmap *b)
{
	return &makers[(uintptr_t)b / sizeof(*b) % MAKERS];
}

W(int, drv_bitmap_init, struct drv_bitmap *b, uint32_t size, uint32_t mask, uint32_t reserved,
  uint32_t reserved_top)
{
	const int rc = __real_drv_bitmap_init(b, size, mask, reserved, reserved_top);
	const struct ask *a = ask_running();

	if (!rc)
		counted_numbers_made(b, reserved, reserved_top, HERE);
	*maker_of(b) = (struct numbers_maker){b, HERE};
	/* as after millions of objects: a number that is kept in too few bits is then another one */
	if (!rc && a && a->c && a->c->host.high_numbers)
		b->top = mask & ~(size - 1);
	return rc;
}

/* Of these the number itself is the place in a table or in the BAR, so it has no further high bits. Source:
 * Linux mlx4_bitmap_init of UARs, CQs, SRQs, XRC domains and multicast groups: the mask is num - 1 */
static const struct drv_device *places_of(const struct drv_bitmap *b)
{
	for (unsigned i = 0; i < DEVICES; i++) {
		const struct drv_device *dev = devices[i];

		if (dev && (b == &dev->uars || b == &dev->cqs || b == &dev->srqs ||
			    b == &dev->xrcds || b == &dev->mcgs))
			return dev;
	}
	return NULL;
}

static void place_check(const struct drv_bitmap *b, uint32_t number)
{
	const struct drv_device *dev = number < b->size ? NULL : places_of(b);

	if (dev && checker_of_host(dev->p->host) && maker_of(b)->b == b)
		checker_report(checker_of_host(dev->p->host),
			       &(struct breach){RULE_range_exceeded, {0}, maker_of(b)->pc, NULL},
			       "number 0x%x is given out, of 0x%x that there are; who made the "
			       "allocator",
			       number, b->size);
}

/* Of these the number is a name for others, so that of an object that is gone must not be used again when the
 * table is through. Source: Linux mlx4_init_mr_table, mlx4_init_qp_table: the masks are ~0 and 24 bits */
static const struct drv_device *names_of(const struct drv_bitmap *b)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i] && (b == &devices[i]->mpts || b == &devices[i]->qps))
			return devices[i];
	return NULL;
}

static void name_check(const struct drv_bitmap *b)
{
	const struct drv_device *dev =
		b->mask == b->size - 1 && b->size <= DRV_QPN_MASK ? names_of(b) : NULL;

	if (dev && checker_of_host(dev->p->host) && maker_of(b)->b == b)
		checker_report(checker_of_host(dev->p->host),
			       &(struct breach){RULE_number_reused, {0}, maker_of(b)->pc, NULL},
			       "the numbers have no bits beyond the %u places of their table, so "
			       "that of a gone object is soon given out again; who made the "
			       "allocator",
			       b->size);
}

static void maker_note(const struct drv_bitmap *b)
{
	struct ask *a = ask_running();

	if (a)
		a->numbers_by = maker_of(b)->b == b ? maker_of(b)->pc : NULL;
}

W(int, drv_bitmap_alloc, struct drv_bitmap *b, uint32_t *number)
{
	const uint32_t used = b->used;
	const int rc = __real_drv_bitmap_alloc(b, number);

	if (rc && b->used >= b->size / 2)
		trail_refused(rc);
	if (rc)
		return rc;
	counted_number_taken(b, used, *number, HERE);
	maker_note(b);
	place_check(b, *number);
	name_check(b);
	reuse_check(b, *number, HERE);
	taken_add(TAKEN_NUMBER, b, *number & (b->size - 1), HERE);
	return 0;
}

/* The driver finds the object of a number in a table; nobody may find it there when somebody else can get
 * the number. Source: Linux mlx4_qp_remove before mlx4_qp_free; mlx4_cq_free, mlx4_srq_free */
static void table_check(struct drv_device *dev, enum hca_object type, uint32_t number,
			const void *pc)
{
	struct checker *c = checker_of_host(dev->p->host);
	struct guest_object object = {GUEST_NONE, number};

	if (type == HCA_QP && dev->qp_table) {
		const struct drv_qp *qp = dev->qp_table[number & drv_table_mask(dev, DRV_T_QPC)];

		object.kind = qp && qp->qpn == number ? GUEST_QP : GUEST_NONE;
	} else if (type == HCA_CQ && dev->cq_table) {
		const struct drv_cq *cq = dev->cq_table[number & drv_table_mask(dev, DRV_T_CQC)];

		object.kind = cq && cq->cqn == number ? GUEST_CQ : GUEST_NONE;
	} else if (type == HCA_SRQ && dev->srq_table) {
		const struct drv_srq *srq =
			dev->srq_table[number & drv_table_mask(dev, DRV_T_SRQC)];

		object.kind = srq && srq->srqn == number ? GUEST_SRQ : GUEST_NONE;
	}
	if (c && object.kind != GUEST_NONE)
		checker_report(c, &(struct breach){RULE_number_taken, object, pc, NULL},
			       "the number is given back, and the driver's table still leads from "
			       "it to the object");
}

W(void, drv_bitmap_free, struct drv_bitmap *b, uint32_t number)
{
	const uint32_t used = b->used;
	enum hca_object type;

	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i] && type_of(devices[i], b, &type) && claims_of(devices[i]))
			claims_number_back(claims_of(devices[i]), type, number, HERE);
	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i] && type_of(devices[i], b, &type))
			table_check((struct drv_device *)devices[i], type, number, HERE);
	taken_back(TAKEN_NUMBER, b, number & (b->size - 1), HERE);
	*given_back_of(b) = (struct given_back){b, number};
	__real_drv_bitmap_free(b, number);
	counted_number_back(b, used, number, HERE);
}

W(void, drv_bitmap_cleanup, struct drv_bitmap *b)
{
	taken_forget_of(b);
	*given_back_of(b) = (struct given_back){0};
	__real_drv_bitmap_cleanup(b);
}

/* --- completions --- */

W(void, drv_cq_clean, struct drv_cq *cq, struct drv_qp *qp)
{
	ASK a;

	ask_begin(&a, ASK_POLL, __func__, cq->dev->p, cq->cqn);
	__real_drv_cq_clean(cq, qp);
	asked_clean_end(&a, qp->qpn);
}

W(void, drv_srq_free_slot, struct drv_srq *srq, uint32_t slot)
{
	struct ask *a = ask_running();

	if (a)
		a->poll.slots++;
	__real_drv_srq_free_slot(srq, slot);
}

static const struct cqe *entry_of(const struct drv_cq *cq, uint32_t nth)
{
	const uint64_t at = (uint64_t)((cq->ci + nth) & (cq->entries - 1)) * CQE_SIZE;

	return (const void *)((const uint8_t *)cq->buf.pages[at / PLATFORM_PAGE_SIZE] +
			      at % PLATFORM_PAGE_SIZE);
}

void cq_was_resized(struct ask *a, const struct drv_cq *cq)
{
	/* a poller that was at it will change buffers later */
	if (!cq->new_buf.pages)
		asked_resize_end(a, entry_of, cq);
}
