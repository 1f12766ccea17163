// SPDX-License-Identifier: Apache-2.0
/* The completions of a CQ that software has not taken, in the order in which the device wrote them. */
#include "testbench/dsan/own/own_impl.h"

#include <stdlib.h>
#include <string.h>

/* Software has looked at it: the work requests up to this one are its own again. */
void own_completion_taken(struct completion *done)
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

/* The SRQ whose receive completes a shared one; NULL: it is not known. */
static const struct queues *srq_of(struct own *o, const struct completion *done)
{
	const struct queues *q = done->qp->queues;
	const struct holder *srq;

	if (!q->srq && !q->xrc)
		return NULL;
	srq = own_find(o, HCA_SRQ, q->xrc ? cqe_get_rqpn(&done->entry) : q->srqn);
	return srq ? srq->queues : NULL;
}

/* The request that it completes. */
static void id_note(struct own *o, struct completion *done)
{
	const struct queues *q = !done->qp      ? NULL
				 : done->shared ? srq_of(o, done)
						: done->qp->queues;
	const struct ring *r = q ? done->is_send ? &q->sends : &q->receives : NULL;
	const struct posted *p;

	if (!r || !r->shape.log_stride)
		return;
	p = &q->posted[done->is_send][done->wqe_index & ring_mask(r)];
	done->has_id = p->known;
	done->wr_id = p->wr_id;
}

static struct completion *waiting_nth(const struct queues *q, uint32_t nth)
{
	return &q->waiting[q->waiting_first + nth];
}

static void waiting_add(struct queues *q, const struct completion *done)
{
	if (q->waiting_first + q->n_waiting == q->waiting_room) {
		/* with half of the room free at the front, each completion is moved once at most */
		if (q->waiting_first <= q->waiting_room / 2)
			q->waiting_room = 2 * q->waiting_room + 16;
		q->waiting = realloc(q->waiting, q->waiting_room * sizeof(*q->waiting));
		if (!q->waiting)
			abort();
		memmove(q->waiting, waiting_nth(q, 0), q->n_waiting * sizeof(*q->waiting));
		q->waiting_first = 0;
	}
	*waiting_nth(q, q->n_waiting++) = *done;
}

static void waiting_remove(struct queues *q, uint32_t nth)
{
	q->n_waiting--;
	if (nth == 0)
		q->waiting_first++;
	else
		memmove(waiting_nth(q, nth), waiting_nth(q, nth + 1),
			(q->n_waiting - nth) * sizeof(*q->waiting));
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
	id_note(o, &done);
	return done;
}

/* In a CQ that was resized the slots are not followed, but the order of completions is. */
void own_completion_written(struct own *o, struct queues *q, uint32_t slot, const struct cqe *e)
{
	const struct completion done = completion_of(o, e);

	waiting_add(q, &done);
	if (!q->changed)
		q->completions[slot] = done;
}

/* Nobody tells which completions a guest's polls return. They are taken when it loads them; where slots are
 * not followed, when it gives them back. */
void own_completions_back(struct queues *q, uint32_t n)
{
	while (n-- && q->n_waiting) {
		struct completion done = *waiting_nth(q, 0);

		waiting_remove(q, 0);
		if (q->changed)
			own_completion_taken(&done);
	}
}

bool own_was_resized(const struct own *o, uint32_t cqn)
{
	const struct holder *h = own_find((struct own *)o, HCA_CQ, cqn);

	return !h || h->queues->changed;
}

unsigned own_completions_waiting(const struct own *o, uint32_t cqn)
{
	const struct holder *h = own_find((struct own *)o, HCA_CQ, cqn);

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
	*is = taken_of(waiting_nth(own_find((struct own *)o, HCA_CQ, cqn)->queues, nth));
}

bool own_completion_take(struct own *o, uint32_t cqn, struct own_taken *taken)
{
	struct holder *h = own_find(o, HCA_CQ, cqn);
	struct completion done;

	if (!h || !h->queues->n_waiting)
		return false;
	done = *waiting_nth(h->queues, 0);
	*taken = taken_of(&done);
	waiting_remove(h->queues, 0);
	if (h->queues->changed)
		own_completion_taken(&done);
	return true;
}

unsigned own_completions_of(const struct own *o, uint32_t cqn, uint32_t qpn)
{
	const struct holder *h = own_find((struct own *)o, HCA_CQ, cqn);
	unsigned n = 0;

	for (uint32_t i = 0; h && i < h->queues->n_waiting; i++)
		n += cqe_get_my_qpn(&waiting_nth(h->queues, i)->entry) == qpn;
	return n;
}

void own_completions_discard(struct own *o, uint32_t cqn, uint32_t qpn, unsigned *shared)
{
	struct holder *h = own_find(o, HCA_CQ, cqn);

	*shared = 0;
	for (uint32_t i = 0; h && i < h->queues->n_waiting;) {
		struct completion *done = waiting_nth(h->queues, i);

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
	const struct holder *h = own_find((struct own *)o, HCA_CQ, cqn);
	const struct queues *q = h ? h->queues : NULL;

	for (*nth = 0; q && !q->changed && *nth < q->n_waiting; (*nth)++) {
		struct cqe should = waiting_nth(q, *nth)->entry;
		const struct cqe *is = own_slot_at(
			q, &q->entries, (q->entries.tail + *nth) & ring_mask(&q->entries), 0);

		if (!is)
			return true;
		cqe_set_owner(&should, !!((q->entries.tail + *nth) & (ring_mask(&q->entries) + 1)));
		if (memcmp(&should, is, sizeof(should)))
			return false;
	}
	return true;
}
