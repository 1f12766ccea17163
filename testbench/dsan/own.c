// SPDX-License-Identifier: Apache-2.0
/*
 * Whose the entries of queues are. A work request is the device's from its owner bit, or from the
 * doorbell record that counts it, until software looks at its completion. A CQE or EQE is software's
 * from when the device has written it until the consumer index has passed it. Both ends of each ring
 * follow from what is heard: stores of owner bits, records and doorbells; DMA; loads of completions.
 */
#include "testbench/dsan/claims_impl.h"

#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "testbench/dsan/asked.h"
#include "testbench/dsan/function.h"
#include "testbench/os/calls.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMES_BYTES = 200,
	INDEX_BITS = 24,                /* of consumer indexes */
	FIELDS_BYTES = CQE_SIZE - WORD, /* of a CQE or EQE, before the word with the owner bit */
};

/* [tail, head) of a CQ or EQ is software's, of a work queue the device's. */
struct ring {
	struct ring_shape shape;
	uint32_t head, tail;
};

/* A CQE as the device wrote it, until software has looked at it. */
struct completion {
	struct holder *qp; /* NULL: none */
	uint32_t born;     /* of the QP */
	uint16_t wqe_index;
	bool is_send;
	bool shared; /* a receive of a queue pair that has no receive queue of its own */
	struct cqe entry;
	bool has_id;
	uint64_t wr_id;
};

/* A request as it was posted. */
struct posted {
	bool known;
	uint64_t wr_id;
};

struct queues {
	struct ring entries, sends, receives;
	struct completion *completions; /* of a CQ: one each entry */
	struct completion *waiting; /* of a CQ: those that software has not taken, in their order */
	uint32_t n_waiting, waiting_room;
	uint32_t seen; /* of an EQ: how many events software has looked at */
	bool armed;    /* of an EQ: so said its last doorbell, which was rung by `ringers` */
	struct calls ringers;
	uint32_t events;          /* of a CQ: how many events of it software has looked at */
	struct posted *posted[2]; /* of a QP: one each receive and each send */
	uintptr_t *pages;         /* of a QP: its buffer */
	uint32_t n_pages;
	uint32_t next;   /* of an SRQ: the slot of the next receive, as the list of slots goes on */
	uint32_t born;   /* checker's sequence number when it became the device's */
	uint32_t loaded; /* epoch of stores at the last load of an entry's fields */
	bool no_prefetch;
	bool changed; /* a CQ that was resized: the new buffer's indexes are not followed */
};

struct own {
	struct checker *c;
};

/* --- life --- */

struct own *own_create(struct checker *c)
{
	struct own *o = calloc(1, sizeof(*o));

	if (o)
		o->c = c;
	return o;
}

static void queues_free(void *arg, struct holder *h)
{
	if (!h->queues)
		return;
	free(h->queues->completions);
	free(h->queues->waiting);
	free(h->queues->posted[false]);
	free(h->queues->posted[true]);
	free(h->queues->pages);
	free(h->queues);
	h->queues = NULL;
}

void own_destroy(struct own *o)
{
	if (o && o->c->claims)
		claims_each(o->c->claims, queues_free, NULL);
	free(o);
}

static void *must_calloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static void pages_note(const struct own *o, const struct holder *h, struct queues *q)
{
	const uintptr_t base = (uintptr_t)o->c->host.memory;

	for (const struct claim *k = h->claims; k; k = k->holder_next)
		if (k->use == CLAIM_PAGE && k->nth >= q->n_pages)
			q->n_pages = k->nth + 1;
	q->pages = must_calloc(q->n_pages, sizeof(*q->pages));
	for (const struct claim *k = h->claims; k; k = k->holder_next)
		if (k->use == CLAIM_PAGE)
			q->pages[k->nth] = base + (uintptr_t)k->page * CLAIM_PAGE_SIZE;
}

void own_object(struct own *o, struct holder *h, const struct object_memory *m, bool fresh)
{
	struct queues *q;

	if (!fresh) {
		if (h->queues && h->queues->entries.shape.log_count != m->entries.log_count)
			h->queues->changed = true;
		return;
	}
	queues_free(NULL, h);
	if (!m->has_pages || h->kind > HOLDER_SRQ)
		return;
	q = must_calloc(1, sizeof(*q));
	q->entries.shape = m->entries;
	q->sends.shape = m->sends;
	q->receives.shape = m->receives;
	q->no_prefetch = m->no_prefetch;
	q->born = o->c->seq;
	if (h->kind == HOLDER_CQ) {
		pages_note(o, h, q);
		q->completions =
			must_calloc((size_t)1 << m->entries.log_count, sizeof(*q->completions));
	}
	if (h->kind == HOLDER_SRQ)
		pages_note(o, h, q);
	if (h->kind == HOLDER_QP) {
		pages_note(o, h, q);
		q->posted[true] =
			must_calloc((size_t)1 << m->sends.log_count, sizeof(struct posted));
		q->posted[false] =
			must_calloc((size_t)1 << m->receives.log_count, sizeof(struct posted));
	}
	h->queues = q;
}

/* --- rings --- */

static uint32_t ring_mask(const struct ring *r)
{
	return (UINT32_C(1) << r->shape.log_count) - 1;
}

/* The slot at this offset of the buffer, and the offset in the slot; false: not in the ring. */
static bool ring_slot(const struct ring *r, uint64_t offset, uint32_t *slot, uint32_t *within)
{
	const uint64_t at = offset - r->shape.offset;

	if (!r->shape.log_stride || at >> r->shape.log_stride > ring_mask(r))
		return false;
	*slot = (uint32_t)(at >> r->shape.log_stride);
	*within = (uint32_t)at & ((UINT32_C(1) << r->shape.log_stride) - 1);
	return true;
}

static bool ring_has(const struct ring *r, uint32_t slot)
{
	return ((slot - r->tail) & ring_mask(r)) < r->head - r->tail;
}

/* The index beyond `from` that has these low bits. */
static uint32_t index_after(uint32_t from, uint32_t low, unsigned bits)
{
	return from + ((low - from) & ((UINT32_C(1) << bits) - 1));
}

static const void *slot_at(const struct queues *q, const struct ring *r, uint32_t slot,
			   uint32_t within)
{
	const uint64_t offset = r->shape.offset + ((uint64_t)slot << r->shape.log_stride) + within;
	const uint64_t page = offset / CLAIM_PAGE_SIZE;

	if (page >= q->n_pages || !q->pages[page])
		return NULL;
	return (const void *)(q->pages[page] + offset % CLAIM_PAGE_SIZE);
}

static uint64_t offset_of(const struct claim *k, uintptr_t at)
{
	return (uint64_t)k->nth * CLAIM_PAGE_SIZE + at % CLAIM_PAGE_SIZE;
}

static bool is_queue(const struct claim *k)
{
	return k->use == CLAIM_PAGE && k->holder->kind <= HOLDER_EQ && k->holder->queues;
}

static struct guest_object object_of(const struct holder *h)
{
	return (struct guest_object){(enum guest_object_kind)(GUEST_QP + h->kind), h->number};
}

/* --- completions --- */

static struct holder *object_find(struct own *o, enum hca_object type, uint32_t number)
{
	struct holder *h = claims_find(o->c->claims, (enum holder_kind)type,
				       object_index(o->c->host.hca, type, number));

	return h && h->queues ? h : NULL;
}

/* Software has looked at it: the work requests up to this one are its own again. */
static void completion_taken(struct completion *done)
{
	struct queues *q = done->qp ? done->qp->queues : NULL;
	uint32_t tail;

	if (!q || q->born != done->born || !done->qp->live) {
		done->qp = NULL;
		return;
	}
	done->qp = NULL;
	if (done->is_send) {
		tail = index_after(q->sends.tail, done->wqe_index, 16) + 1;
		if (tail - q->sends.tail <= q->sends.head - q->sends.tail)
			q->sends.tail = tail;
	} else if (q->receives.tail != q->receives.head) {
		q->receives.tail++;
	}
}

/* The request that it completes. Receives of an SRQ are not followed. */
static void id_note(struct completion *done)
{
	const struct queues *q = done->qp ? done->qp->queues : NULL;
	const struct ring *r = q ? done->is_send ? &q->sends : &q->receives : NULL;
	const struct posted *p;

	if (!r || !r->shape.log_stride)
		return;
	p = &q->posted[done->is_send][done->wqe_index & ring_mask(r)];
	done->has_id = p->known;
	done->wr_id = p->wr_id;
}

static void waiting_add(struct queues *q, const struct completion *done)
{
	if (q->n_waiting == q->waiting_room) {
		q->waiting_room = 2 * q->waiting_room + 16;
		q->waiting = realloc(q->waiting, q->waiting_room * sizeof(*q->waiting));
		if (!q->waiting)
			abort();
	}
	q->waiting[q->n_waiting++] = *done;
}

static void waiting_remove(struct queues *q, uint32_t nth)
{
	q->n_waiting--;
	memmove(&q->waiting[nth], &q->waiting[nth + 1], (q->n_waiting - nth) * sizeof(*q->waiting));
}

static struct completion completion_of(struct own *o, const struct cqe *e)
{
	const uint32_t qpn = object_index(o->c->host.hca, HCA_QP, cqe_get_my_qpn(e));
	struct holder *qp = claims_find(o->c->claims, HOLDER_QP, qpn);

	struct completion done = {.qp = qp && qp->queues ? qp : NULL,
				  .born = qp && qp->queues ? qp->queues->born : 0,
				  .wqe_index = (uint16_t)cqe_get_wqe_index(e),
				  .is_send = cqe_get_is_send(e),
				  .entry = *e};

	done.shared = done.qp && !done.is_send && !done.qp->queues->receives.shape.log_stride;
	id_note(&done);
	return done;
}

/* In a CQ that was resized the slots are not followed, but the order of completions is. */
static void completion_written(struct own *o, struct queues *q, uint32_t slot, const struct cqe *e)
{
	const struct completion done = completion_of(o, e);

	if (cqe_get_opcode(e) == CQE_OP_RESIZE) {
		q->changed = true;
		return;
	}
	waiting_add(q, &done);
	if (!q->changed)
		q->completions[slot] = done;
}

void own_dma(struct own *o, const struct hca_dma_seen *dma)
{
	const uintptr_t at = checker_address(o->c, dma->bus);
	uint32_t slot = 0, within;

	if (!dma->write || !at || (strcmp(dma->what, "cqe") && strcmp(dma->what, "eqe")))
		return;
	for (const struct claim *k = claims_of_page(o->c->claims, at); k; k = k->page_next) {
		struct queues *q = is_queue(k) ? k->holder->queues : NULL;
		struct ring *r = q ? &q->entries : NULL;

		if (!q || (!q->changed && !ring_slot(r, offset_of(k, at), &slot, &within)))
			continue;
		if (!q->changed)
			r->head = index_after(r->head, slot, r->shape.log_count) + 1;
		if (q->completions)
			completion_written(o, q, slot, dma->bytes);
	}
}

/* --- loads --- */

/* The driver counts the events of a CQ for the sequence number of its next arming. */
static void event_seen(struct own *o, struct queues *eq, uint32_t slot, const struct eqe *e)
{
	const uint32_t index = index_after(eq->entries.tail, slot, eq->entries.shape.log_count);
	struct holder *cq;

	if (index - eq->seen >= eq->entries.head - eq->seen)
		return;
	eq->seen = index + 1;
	if (eqe_get_type(e) != EVENT_COMP)
		return;
	cq = object_find(o, HCA_CQ, eqe_cq_get_cqn(eqe_as_cq_const(e)));
	if (cq)
		cq->queues->events++;
}

static void entry_load(struct own *o, const struct claim *k, uintptr_t at, const void *pc)
{
	struct queues *q = k->holder->queues;
	uint32_t slot, within;

	if (q->changed || !ring_slot(&q->entries, offset_of(k, at), &slot, &within) ||
	    within >= FIELDS_BYTES)
		return;
	q->loaded = order_epoch(o->c->order);
	if (!ring_has(&q->entries, slot))
		checker_report(
			o->c,
			&(struct breach){RULE_entry_not_owned, object_of(k->holder), pc, NULL},
			"slot %u, byte %u; software has the indexes from %u up to %u", slot, within,
			q->entries.tail, q->entries.head);
	else if (q->completions)
		completion_taken(&q->completions[slot]);
	else
		event_seen(o, q, slot, (const void *)(at - within));
}

void own_load(struct own *o, uintptr_t at, size_t bytes, const void *pc)
{
	for (const struct claim *k = claims_of_page(o->c->claims, at); k; k = k->page_next)
		if (is_queue(k) && k->holder->kind != HOLDER_QP)
			entry_load(o, k, at, pc);
}

/* --- stores --- */

static void entry_store(struct own *o, const struct claim *k, uintptr_t at, const void *pc)
{
	struct queues *q = k->holder->queues;
	uint32_t slot, within;

	if (q->changed || !ring_slot(&q->entries, offset_of(k, at), &slot, &within))
		return;
	if (ring_has(&q->entries, slot))
		return;
	checker_report(o->c,
		       &(struct breach){RULE_device_memory_written, object_of(k->holder), pc, NULL},
		       "slot %u of %s %x", slot, holder_name(k->holder), k->holder->number);
}

/* The newest WQE's fields bf_index and bf_qpn may be written: the device ignores them in memory. */
static bool is_blueflame_note(const struct ring *r, uint32_t slot, uint32_t within)
{
	return within < 2 * WORD && slot == ((r->head - 1) & ring_mask(r));
}

static void request_store(struct own *o, const struct claim *k, uintptr_t at, const void *pc)
{
	const struct queues *q = k->holder->queues;
	uint32_t slot, within;
	bool send;

	send = ring_slot(&q->sends, offset_of(k, at), &slot, &within);
	if (send ? !ring_has(&q->sends, slot) || is_blueflame_note(&q->sends, slot, within)
		 : !ring_slot(&q->receives, offset_of(k, at), &slot, &within) ||
			    !ring_has(&q->receives, slot))
		return;
	checker_report(o->c,
		       &(struct breach){RULE_device_memory_written, object_of(k->holder), pc, NULL},
		       "%s in slot %u of qpn %06x is not completed, or nobody has looked at it",
		       send ? "work request" : "receive", slot, k->holder->number);
}

void own_store(struct own *o, uintptr_t at, size_t bytes, const void *pc)
{
	for (const struct claim *k = claims_of_page(o->c->claims, at); k; k = k->page_next) {
		if (!is_queue(k))
			continue;
		if (k->holder->kind == HOLDER_QP)
			request_store(o, k, at, pc);
		else
			entry_store(o, k, at, pc);
	}
}

/* --- what gives entries to the device --- */

static void index_set(struct own *o, struct holder *h, uint32_t index, const void *pc)
{
	struct queues *q = h->queues;
	struct ring *r = &q->entries;
	const uint32_t tail = index_after(r->tail, index, INDEX_BITS);

	if (q->changed) {
		if (h->kind == HOLDER_CQ)
			asked_entries_back(o->c, h->number, 0, 0);
		return;
	}
	if (q->loaded && q->loaded == order_epoch(o->c->order))
		checker_report(o->c, &(struct breach){RULE_order_index, object_of(h), pc, NULL},
			       "index %u of %s %x", index, holder_name(h), h->number);
	if (tail - r->tail <= r->head - r->tail) {
		if (h->kind == HOLDER_CQ)
			asked_entries_back(o->c, h->number, r->tail, tail);
		r->tail = tail;
	} else {
		checker_report(o->c,
			       &(struct breach){h->kind == HOLDER_CQ ? RULE_cq_consumer_index
								     : RULE_eq_consumer_index,
						object_of(h), pc, NULL},
			       "index %u, but the device has written up to %u only", index,
			       r->head);
	}
}

static void receive_given(struct own *o, const struct holder *h, uint32_t index)
{
	const struct ring *r = &h->queues->receives;
	struct posted *p = &h->queues->posted[false][index & ring_mask(r)];
	const void *wqe = slot_at(h->queues, r, index & ring_mask(r), 0);

	*p = (struct posted){0};
	p->wr_id = UINT64_MAX;
	if (wqe)
		p->known = asked_receive_given(o->c, false, h->number, (uintptr_t)wqe,
					       (size_t)1 << r->shape.log_stride, &p->wr_id);
}

/* Receives of an SRQ stand in the slots of a list, behind the link. Their owner is not followed. */
static void srq_receive_given(struct own *o, const struct holder *h)
{
	struct queues *q = h->queues;
	const struct ring *r = &q->receives;
	const struct srq_next *link = slot_at(q, r, q->next & ring_mask(r), 0);
	uint64_t wr_id;

	if (!link)
		return;
	asked_receive_given(o->c, true, h->number, (uintptr_t)(link + 1),
			    ((size_t)1 << r->shape.log_stride) - sizeof(*link), &wr_id);
	q->next = srq_next_get_next_wqe_index(link);
}

static void record_stored(struct own *o, struct holder *h, uintptr_t at, uintptr_t record)
{
	const void *pc = code_pc(checker_stored(o->c, at)->pc);
	struct ring *r = &h->queues->receives;
	uint32_t head;

	if (at - record >= WORD)
		return;
	if (h->kind == HOLDER_CQ) {
		index_set(o, h, cq_dbrec_get_set_ci((const struct cq_dbrec *)record), pc);
	} else if (r->shape.log_stride) {
		head = index_after(r->head, rq_dbrec_get_counter((const struct rq_dbrec *)record),
				   16);
		if (h->kind == HOLDER_SRQ)
			r->tail = r->head;
		if (head - r->tail > ring_mask(r) + 1)
			return;
		for (; h->kind == HOLDER_SRQ && r->head != head; r->head++)
			srq_receive_given(o, h);
		while (r->head != head)
			receive_given(o, h, r->head++);
	}
}

static void owner_stored(struct own *o, struct holder *h, uint64_t offset, uintptr_t at)
{
	struct ring *r = &h->queues->sends;
	struct posted *p;
	uint32_t slot, within;

	if (!ring_slot(r, offset, &slot, &within) || within || slot != (r->head & ring_mask(r)))
		return;
	if (wqe_ctrl_get_owner((const struct wqe_ctrl *)at) != !!(r->head & (ring_mask(r) + 1)))
		return;
	r->head++;
	p = &h->queues->posted[true][slot];
	p->known = asked_send_given(o->c, h->number, at, &p->wr_id);
}

void own_stored(struct own *o, uintptr_t at)
{
	for (const struct claim *k = claims_of_page(o->c->claims, at); k; k = k->page_next) {
		struct holder *h = k->holder;

		if (k->use == CLAIM_RECORD && h->queues &&
		    at - checker_address(o->c, h->record) < 2 * WORD)
			record_stored(o, h, at, checker_address(o->c, h->record));
		else if (is_queue(k) && h->kind == HOLDER_QP)
			owner_stored(o, h, offset_of(k, at), at);
	}
}

/* Scenarios post by hand as well. */
void own_wqe(struct own *o, const struct hca_wqe_seen *wqe)
{
	const uint32_t number = object_index(o->c->host.hca, HCA_QP, wqe->qpn);
	const struct holder *h = claims_find(o->c->claims, HOLDER_QP, number);
	struct ring *r = h && h->queues ? &h->queues->sends : NULL;
	uint32_t head;

	if (!r)
		return;
	head = index_after(r->tail, wqe->index, 16) + 1;
	if (head - r->tail > r->head - r->tail && head - r->tail <= ring_mask(r) + 1)
		r->head = head;
}

/* --- doorbells --- */

/* The first dword of each 64-byte chunk but the first must not look like a WQE. */
static bool is_stamped(const struct queues *q, uint32_t slot)
{
	for (uint32_t at = WQE_CHUNK; at < UINT32_C(1) << q->sends.shape.log_stride;
	     at += WQE_CHUNK) {
		const uint32_t *word = slot_at(q, &q->sends, slot, at);

		if (word && *word != UINT32_MAX)
			return false;
	}
	return true;
}

/* A device that reads ahead looks at the slots behind the newest work request. */
static void headroom_check(struct own *o, const struct holder *h, const void *pc)
{
	const struct queues *q = h->queues;
	const struct ring *r = &q->sends;
	const struct ask *a = ask_now(o->c);
	char names[NAMES_BYTES] = "";
	const uint32_t spare = (HEADROOM_BYTES >> r->shape.log_stride) + 1;

	if (q->no_prefetch || !r->shape.log_stride || spare > ring_mask(r))
		return;
	if (r->head - r->tail > ring_mask(r) + 1 - spare)
		checker_report(o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			       "%u work requests in a ring of %u, of which %u must stay free",
			       r->head - r->tail, ring_mask(r) + 1, spare);
	for (uint32_t i = 0; i < spare; i++) {
		if (is_stamped(q, (r->head + i) & ring_mask(r)))
			continue;
		if (a)
			checker_recent(o->c, a->since_recent, names, sizeof(names));
		checker_report(
			o->c, &(struct breach){RULE_headroom, object_of(h), pc, NULL},
			"slot %u, %u behind the newest, is not stamped; this call came by %s",
			(r->head + i) & ring_mask(r), i + 1, names);
		return;
	}
}

/* The record holds what the doorbell says; the device reads it then. */
static void arm_check(struct own *o, const struct holder *h, const struct cq_arm_db *db,
		      const void *pc)
{
	const unsigned sn = cq_arm_db_get_sn(db), ci = cq_arm_db_get_ci(db);
	const uintptr_t at = checker_address(o->c, h->record) + WORD;
	const struct stored *s = h->record ? checker_stored(o->c, at) : NULL;

	if (s && s->seq && s->epoch == order_epoch(o->c->order))
		checker_report(
			o->c,
			&(struct breach){RULE_order_doorbell, object_of(h), code_pc(s->pc), pc},
			"arm record of cqn %x", h->number);
	if (at > WORD && ci != cq_dbrec_get_arm_ci((const void *)(at - WORD)))
		checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
			       "the doorbell's index is %u, and the record's is %u", ci,
			       cq_dbrec_get_arm_ci((const void *)(at - WORD)));
	if (sn != ((h->queues->events + 1) & 3))
		checker_report(o->c, &(struct breach){RULE_arm_record, object_of(h), pc, NULL},
			       "sequence number %u, but the driver has taken %u events of cqn %x, "
			       "so it is %u",
			       sn, h->queues->events, h->number, (h->queues->events + 1) & 3);
}

static void vectors_check(struct own *o, uint32_t eqn, const void *pc)
{
	for (unsigned v = 0; v < CHECKER_VECTORS; v++)
		if (o->c->eq_of_vector[v] == eqn + 1)
			function_armed(o->c, v, pc);
}

void own_register(struct own *o, uint64_t offset, const void *bytes, const void *pc)
{
	const uint32_t page = (uint32_t)(offset / UAR_PAGE_SIZE), at = offset % UAR_PAGE_SIZE;
	struct holder *h;

	if (offset >= HCA_BF_OFFSET)
		return;
	if (page < HCA_UAR_EQ_PAGES && at >= UAR_EQ_DB) {
		h = object_find(o, HCA_EQ,
				page * UAR_EQS_PER_PAGE + (at - UAR_EQ_DB) / UAR_EQ_DB_STRIDE);
		if (h) {
			h->queues->armed = eq_db_get_arm(bytes);
			if (h->queues->armed)
				vectors_check(o, h->number, pc);
			calls_take(&h->queues->ringers, kernel_thread_running());
			index_set(o, h, eq_db_get_ci(bytes), pc);
		}
	} else if (at == UAR_SEND_DB) {
		h = object_find(o, HCA_QP, send_db_get_qpn(bytes));
		asked_send_rung(o->c, send_db_get_qpn(bytes));
		if (h)
			headroom_check(o, h, pc);
	} else if (at == UAR_CQ_ARM) {
		h = object_find(o, HCA_CQ, cq_arm_db_get_cqn(bytes));
		asked_cq_armed(o->c, cq_arm_db_get_cqn(bytes), cq_arm_db_get_cmd(bytes), pc);
		if (h)
			arm_check(o, h, bytes, pc);
	}
}

static void unarmed_check(void *arg, struct holder *h)
{
	struct own *o = arg;
	const struct queues *q = h->queues;
	char names[NAMES_BYTES];

	if (h->kind != HOLDER_EQ || !q || q->armed || q->entries.head == q->entries.tail)
		return;
	checker_functions(q->ringers.pc, q->ringers.n, names, sizeof(names));
	checker_report(o->c, &(struct breach){RULE_eq_not_armed, object_of(h), NULL, NULL},
		       "%u events wait; its last doorbell did not arm it: %s",
		       q->entries.head - q->entries.tail, *names ? names : "none was rung");
}

void own_tell_waits(struct own *o)
{
	claims_each(o->c->claims, unarmed_check, o);
}

/* --- questions --- */

bool own_follows(const struct own *o, enum hca_object type, uint32_t number, bool sends)
{
	const struct holder *h = object_find((struct own *)o, type, number);

	return h && (sends ? h->queues->sends : h->queues->receives).shape.log_stride;
}

bool own_was_resized(const struct own *o, uint32_t cqn)
{
	const struct holder *h = object_find((struct own *)o, HCA_CQ, cqn);

	return !h || h->queues->changed;
}

unsigned own_open(const struct own *o, uint32_t qpn, bool sends)
{
	const struct holder *h = object_find((struct own *)o, HCA_QP, qpn);
	const struct ring *r = sends ? &h->queues->sends : &h->queues->receives;

	return r->head - r->tail;
}

unsigned own_completions_waiting(const struct own *o, uint32_t cqn)
{
	const struct holder *h = object_find((struct own *)o, HCA_CQ, cqn);

	return h ? h->queues->n_waiting : 0;
}

static struct own_taken taken_of(const struct completion *done)
{
	return (struct own_taken){.entry = done->entry,
				  .has_id = done->has_id,
				  .wr_id = done->wr_id,
				  .shared = done->shared};
}

void own_completion_waiting(const struct own *o, uint32_t cqn, uint32_t nth, struct own_taken *is)
{
	*is = taken_of(&object_find((struct own *)o, HCA_CQ, cqn)->queues->waiting[nth]);
}

bool own_completion_take(struct own *o, uint32_t cqn, struct own_taken *taken)
{
	struct holder *h = object_find(o, HCA_CQ, cqn);
	struct completion done;

	if (!h || !h->queues->n_waiting)
		return false;
	done = h->queues->waiting[0];
	*taken = taken_of(&done);
	waiting_remove(h->queues, 0);
	if (h->queues->changed)
		completion_taken(&done);
	return true;
}

unsigned own_completions_of(const struct own *o, uint32_t cqn, uint32_t qpn)
{
	const struct holder *h = object_find((struct own *)o, HCA_CQ, cqn);
	unsigned n = 0;

	for (uint32_t i = 0; h && i < h->queues->n_waiting; i++)
		n += cqe_get_my_qpn(&h->queues->waiting[i].entry) == qpn;
	return n;
}

void own_completions_discard(struct own *o, uint32_t cqn, uint32_t qpn, unsigned *shared)
{
	struct holder *h = object_find(o, HCA_CQ, cqn);

	*shared = 0;
	for (uint32_t i = 0; h && i < h->queues->n_waiting;) {
		struct completion *done = &h->queues->waiting[i];

		if (cqe_get_my_qpn(&done->entry) != qpn) {
			i++;
			continue;
		}
		*shared += done->shared;
		waiting_remove(h->queues, i);
	}
}

bool own_entries_match(const struct own *o, uint32_t cqn, unsigned *nth)
{
	const struct holder *h = object_find((struct own *)o, HCA_CQ, cqn);
	const struct queues *q = h ? h->queues : NULL;

	for (*nth = 0; q && !q->changed && *nth < q->n_waiting; (*nth)++) {
		struct cqe should = q->waiting[*nth].entry;
		const struct cqe *is = slot_at(
			q, &q->entries, (q->entries.tail + *nth) & ring_mask(&q->entries), 0);

		if (!is)
			return true;
		cqe_set_owner(&should, !!((q->entries.tail + *nth) & (ring_mask(&q->entries) + 1)));
		if (memcmp(&should, is, sizeof(should)))
			return false;
	}
	return true;
}
