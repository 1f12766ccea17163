// SPDX-License-Identifier: Apache-2.0
/*
 * Whose the entries of queues are. A work request is the device's from its owner bit, or from the
 * doorbell record that counts it, until software looks at its completion. A CQE or EQE is software's
 * from when the device has written it until the consumer index has passed it. Both ends of each ring
 * follow from what is heard: stores of owner bits, records and doorbells; DMA; loads of completions.
 */
#include "testbench/dsan/own/own_impl.h"

#include "model/engine/base/engine.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"

#include <stdlib.h>
#include <string.h>

/* Linux tells the device that often: MLX4_NUM_SPARE_EQE. */
enum { EVENTS_WITHOUT_INDEX = 0x80 };

/* --- life --- */

struct own *own_create(struct checker *c)
{
	struct own *o = calloc(1, sizeof(*o));

	if (o)
		o->c = c;
	return o;
}

static void physical_leave(struct own *o, struct holder *h)
{
	struct holder **at = &o->physical;

	while (*at && *at != h)
		at = &(*at)->queues->physical_next;
	if (*at)
		*at = h->queues->physical_next;
}

static void queues_free(void *arg, struct holder *h)
{
	if (!h->queues)
		return;
	if (h->queues->physical)
		physical_leave(arg, h);
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
		claims_each(o->c->claims, queues_free, o);
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

/* Of Linux's network interface each request takes as many slots as it needs: they are not followed. */
static void frames_note(const struct own *o, struct queues *q, const struct object_memory *m)
{
	q->frames = m->frames;
	if (q->frames && o->c->guest)
		q->sends.shape.log_stride = q->receives.shape.log_stride = 0;
}

void own_object(struct own *o, struct holder *h, const struct object_memory *m, bool fresh)
{
	struct queues *q;

	if (!fresh) {
		if (h->queues && h->queues->entries.shape.log_count != m->entries.log_count)
			h->queues->changed = true;
		if (h->queues)
			frames_note(o, h->queues, m);
		return;
	}
	queues_free(o, h);
	if (!m->has_pages || h->kind > HOLDER_SRQ)
		return;
	q = must_calloc(1, sizeof(*q));
	q->entries.shape = m->entries;
	q->sends.shape = m->sends;
	q->receives.shape = m->receives;
	q->no_prefetch = m->no_prefetch;
	q->srq = m->srq;
	q->xrc = m->xrc;
	q->srqn = m->srqn;
	frames_note(o, q, m);
	q->born = o->c->seq;
	pages_note(o, h, q);
	if (h->kind == HOLDER_CQ)
		q->completions =
			must_calloc((size_t)1 << m->entries.log_count, sizeof(*q->completions));
	if (h->kind == HOLDER_SRQ)
		q->posted[false] =
			must_calloc((size_t)1 << m->receives.log_count, sizeof(struct posted));
	if (h->kind == HOLDER_QP) {
		q->posted[true] =
			must_calloc((size_t)1 << m->sends.log_count, sizeof(struct posted));
		q->posted[false] =
			must_calloc((size_t)1 << m->receives.log_count, sizeof(struct posted));
	}
	h->queues = q;
}

void own_buffer_changes(struct holder *h)
{
	if (h->queues)
		h->queues->changed = true;
}

/* --- rings --- */

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

const void *own_slot_at(const struct queues *q, const struct ring *r, uint32_t slot,
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

/* --- what the device writes --- */

struct holder *own_find(struct own *o, enum hca_object type, uint32_t number)
{
	struct holder *h = claims_find(o->c->claims, (enum holder_kind)type,
				       object_index(o->c->host.hca, type, number));

	return h && h->queues ? h : NULL;
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
			own_completion_written(o, q, slot, dma->bytes);
	}
}

/* --- loads --- */

/* The driver counts the events of a CQ for the sequence number of its next arming. */
static void event_counted(struct own *o, const struct eqe *e)
{
	struct holder *cq;

	if (eqe_get_type(e) != EVENT_COMP)
		return;
	cq = own_find(o, HCA_CQ, eqe_cq_get_cqn(eqe_as_cq_const(e)));
	if (cq)
		cq->queues->events++;
}

static void event_seen(struct own *o, const struct holder *h, uint32_t slot, const struct eqe *e,
		       const void *pc)
{
	struct queues *eq = h->queues;
	const uint32_t index = index_after(eq->entries.tail, slot, eq->entries.shape.log_count);

	if (index - eq->seen >= eq->entries.head - eq->seen)
		return;
	eq->seen = index + 1;
	if (o->c->watcher && o->c->watcher->eqe)
		o->c->watcher->eqe(o->c, e, pc);
	if (eq->seen - eq->entries.tail > EVENTS_WITHOUT_INDEX)
		checker_report(o->c, &(struct breach){RULE_eq_left, object_of(h), pc, NULL},
			       "%u events were taken, and no index has given one back",
			       eq->seen - eq->entries.tail);
	event_counted(o, e);
}

static void entry_load(struct own *o, const struct claim *k, uintptr_t at, const void *pc)
{
	struct queues *q = k->holder->queues;
	uint32_t slot, within;

	if (q->changed || !ring_slot(&q->entries, offset_of(k, at), &slot, &within))
		return;
	if (within >= FIELDS_BYTES) {
		q->looked = slot;
		return;
	}
	q->loaded = order_epoch(o->c->order);
	if (!ring_has(&q->entries, slot))
		checker_report(
			o->c,
			&(struct breach){RULE_entry_not_owned, object_of(k->holder), pc, NULL},
			"slot %u, byte %u; software has the indexes from %u up to %u", slot, within,
			q->entries.tail, q->entries.head);
	else if (q->completions)
		own_completion_taken(&q->completions[slot]);
	else
		event_seen(o, k->holder, slot, (const void *)(at - within), pc);
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
	/* Linux's network interface sets owner bits when the CQ is the device's already, but nothing
	 * uses it yet: mlx4_en_start_port */
	if (o->c->guest && !q->entries.head)
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

/* A driver that gives an event back before it looks at it counts it all the same. */
static void events_unseen(struct own *o, struct queues *eq, uint32_t tail)
{
	for (; (int32_t)(tail - eq->seen) > 0; eq->seen++) {
		const struct eqe *e =
			own_slot_at(eq, &eq->entries, eq->seen & ring_mask(&eq->entries), 0);

		if (e)
			event_counted(o, e);
	}
}

void own_index_set(struct own *o, struct holder *h, uint32_t index, const void *pc)
{
	struct queues *q = h->queues;
	struct ring *r = &q->entries;
	const uint32_t tail = index_after(r->tail, index, INDEX_BITS);

	if (h->kind == HOLDER_EQ && o->c->watcher && o->c->watcher->eqes_end)
		o->c->watcher->eqes_end(o->c, pc);
	if (h->kind == HOLDER_CQ && o->c->guest)
		own_completions_back(q, tail - r->tail);
	if (q->changed) {
		if (h->kind == HOLDER_CQ)
			asked_entries_back(o->c, h->number, 0, 0);
		r->tail = tail;
		return;
	}
	if (q->loaded && q->loaded == order_epoch(o->c->order))
		checker_report(o->c, &(struct breach){RULE_order_index, object_of(h), pc, NULL},
			       "index %u of %s %x", index, holder_name(h), h->number);
	if (tail - r->tail <= r->head - r->tail) {
		if (h->kind == HOLDER_CQ)
			asked_entries_back(o->c, h->number, r->tail, tail);
		else
			events_unseen(o, q, tail);
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

/* A physical key names bus addresses. */
static void physical_note(struct own *o, struct holder *h, const struct wqe_data *first)
{
	if (h->queues->physical || wqe_data_get_addr(first) - o->c->host.bus >= o->c->host.bytes)
		return;
	h->queues->physical = true;
	h->queues->physical_next = o->physical;
	o->physical = h;
}

static void receive_given(struct own *o, struct holder *h, uint32_t index)
{
	const struct ring *r = &h->queues->receives;
	struct posted *p = &h->queues->posted[false][index & ring_mask(r)];
	const void *wqe = own_slot_at(h->queues, r, index & ring_mask(r), 0);

	*p = (struct posted){0};
	p->wr_id = UINT64_MAX;
	if (wqe)
		physical_note(o, h, wqe);
	if (wqe)
		p->known = asked_receive_given(o->c, false, h->number, (uintptr_t)wqe,
					       (size_t)1 << r->shape.log_stride, &p->wr_id);
}

/* Receives of an SRQ stand in the slots of a list, behind the link. Their owner is not followed. */
static void srq_receive_given(struct own *o, const struct holder *h)
{
	struct queues *q = h->queues;
	const struct ring *r = &q->receives;
	struct posted *p = &q->posted[false][q->next & ring_mask(r)];
	const struct srq_next *link = own_slot_at(q, r, q->next & ring_mask(r), 0);

	*p = (struct posted){0};
	if (!link)
		return;
	p->known =
		asked_receive_given(o->c, true, h->number, (uintptr_t)(link + 1),
				    ((size_t)1 << r->shape.log_stride) - sizeof(*link), &p->wr_id);
	q->next = srq_next_get_next_wqe_index(link);
}

/* The counter in the record of a receive queue. */
static void counter_stored(struct own *o, struct holder *h, uint16_t counter, const void *pc)
{
	struct ring *r = &h->queues->receives;
	const uint32_t head = index_after(r->head, counter, 16);

	if (h->kind == HOLDER_SRQ)
		r->tail = r->head;
	if (head - r->tail > ring_mask(r) + 1) {
		checker_report(o->c, &(struct breach){RULE_rq_overposted, object_of(h), pc, NULL},
			       "the counter of receives is %u, and was %u: it goes back, or "
			       "counts more than the %u that there is room for",
			       counter, r->head & UINT16_MAX, ring_mask(r) + 1);
		return;
	}
	for (; h->kind == HOLDER_SRQ && r->head != head; r->head++)
		srq_receive_given(o, h);
	while (r->head != head)
		receive_given(o, h, r->head++);
}

static void record_stored(struct own *o, struct holder *h, uintptr_t at, uintptr_t record)
{
	const void *pc = checker_stored(o->c, at)->pc;

	if (at - record >= WORD)
		return;
	if (h->kind == HOLDER_CQ)
		own_index_set(o, h, cq_dbrec_get_set_ci((const struct cq_dbrec *)record), pc);
	else if (h->queues->receives.shape.log_stride)
		counter_stored(o, h,
			       (uint16_t)rq_dbrec_get_counter((const struct rq_dbrec *)record), pc);
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
	order_owner(o->c->order, at, h->number);
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

/* --- questions --- */

bool own_follows(const struct own *o, enum hca_object type, uint32_t number, bool sends)
{
	const struct holder *h = own_find((struct own *)o, type, number);

	return h && (sends ? h->queues->sends : h->queues->receives).shape.log_stride;
}

unsigned own_open(const struct own *o, uint32_t qpn, bool sends)
{
	const struct holder *h = own_find((struct own *)o, HCA_QP, qpn);
	const struct ring *r = sends ? &h->queues->sends : &h->queues->receives;

	return r->head - r->tail;
}

uintptr_t own_next_send(const struct own *o, uint32_t qpn)
{
	const struct holder *h = own_find((struct own *)o, HCA_QP, qpn);
	const struct ring *r = h ? &h->queues->sends : NULL;

	return r ? (uintptr_t)own_slot_at(h->queues, r, r->head & ring_mask(r), 0) : 0;
}

/* --- memory that open requests name --- */

struct freed {
	struct own *o;
	uint64_t bus, bytes;
	const void *pc;
};

static bool is_active(const struct own *o, uint32_t qpn)
{
	struct qpc context;

	return hca_context_read(o->c->host.hca, HCA_QP, qpn, &context, sizeof(context)) > 0 &&
	       qpc_get_state(&context) >= QP_STATE_INIT && qpc_get_state(&context) <= QP_STATE_RTS;
}

/* What other keys than physical ones name has a claim of its own. */
static void receive_check(const struct freed *f, const struct holder *h, uint32_t slot)
{
	const struct ring *r = &h->queues->receives;
	const struct wqe_data *d = own_slot_at(h->queues, r, slot, 0);
	const struct wqe_data *end = d + ((size_t)1 << r->shape.log_stride) / sizeof(*d);

	for (; d && d < end && wqe_data_get_lkey(d) != LKEY_INVALID; d++) {
		if (wqe_data_get_addr(d) - f->bus >= f->bytes || !is_active(f->o, h->number))
			continue;
		checker_report(f->o->c,
			       &(struct breach){RULE_memory_taken, object_of(h), f->pc, NULL},
			       "the receive in slot %u, which is posted, names bus address 0x%llx, "
			       "and that memory is freed",
			       slot, (unsigned long long)wqe_data_get_addr(d));
		return;
	}
}

void own_freed(struct own *o, uintptr_t at, size_t bytes, const void *pc)
{
	struct freed f = {o, o->c->host.bus + (at - (uintptr_t)o->c->host.memory), bytes, pc};

	for (const struct holder *h = o->physical; h; h = h->queues->physical_next) {
		const struct ring *r = &h->queues->receives;

		for (uint32_t i = r->tail; h->live && i != r->head; i++)
			receive_check(&f, h, i & ring_mask(r));
	}
}
