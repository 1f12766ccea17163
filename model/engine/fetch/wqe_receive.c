/* SPDX-License-Identifier: Apache-2.0 */
/* Receive WQEs: see wqe_fetch.h. A read takes WQEs that are known to be posted, up to srq.prefetch
 * of an aligned group. Each is handed out once, and again only for the message that took it. */
#include "model/engine/fetch/wqe_impl.h"

#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca_srq.h"
#include "model/sim/params/hca_wqe_fetch.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 }; /* buffers of a set, unless there are fewer in total */

enum buffer_state { BUFFER_FREE, BUFFER_READING, BUFFER_FULL };

/* The receive WQEs of one group. */
struct receive_buffer {
	struct dma dma;
	struct wqe_fetch *wf;
	struct waiter_queue waiters;
	uint64_t mtt_addr, offset; /* place of the first WQE that it holds */
	uint32_t qpn, stride, count;
	uint64_t handed; /* one bit for each WQE that has been handed out */
	uint8_t state;
	/* kept for those who wait for it, until one of them takes a WQE or all have given up */
	struct keep *keeps;
	int status;
	struct dma_frag frags[WQE_FRAGS];
	uint8_t bytes[WQE_MAX_BYTES];
};

/* Buffers for places with the same hash, and the waiters for one of these buffers. */
struct receive_set {
	struct waiter_queue room;
	struct receive_set *due_next;
	bool due; /* room has been made, and waiters must be woken */
};

/* --- room --- */

static bool buffer_is_spare(const struct receive_buffer *r)
{
	return r->state == BUFFER_FREE || (r->state == BUFFER_FULL && !r->keeps);
}

static bool set_has_room(const struct wqe_fetch *wf, const struct receive_set *set)
{
	const struct receive_buffer *r =
		&wf->receives[(size_t)(set - wf->receive_sets) * wf->receive_ways];

	for (unsigned i = 0; i < wf->receive_ways; i++)
		if (buffer_is_spare(&r[i]))
			return true;
	return false;
}

/* Wakes waiters in the order in which they came, each once, as long as there is room. */
static void set_wake(const struct wqe_fetch *wf, struct receive_set *set)
{
	unsigned n = 0;

	for (const struct waiter *w = set->room.first; w; w = w->next)
		n++;
	while (n-- && set_has_room(wf, set))
		waiter_queue_wake_first(&set->room);
}

static void room_job(struct event *ev)
{
	struct wqe_fetch *wf = container_of(ev, struct wqe_fetch, receive_event);

	while (wf->receive_sets_due) {
		struct receive_set *set = wf->receive_sets_due;

		wf->receive_sets_due = set->due_next;
		set->due = false;
		set_wake(wf, set);
	}
}

/* An event wakes the waiters, because the caller is in the middle of a step and holds pointers into
 * caches. */
static void room_made(struct receive_buffer *r)
{
	struct wqe_fetch *wf = r->wf;
	struct receive_set *set = &wf->receive_sets[(size_t)(r - wf->receives) / wf->receive_ways];

	if (!set->room.first || set->due)
		return;
	set->due = true;
	set->due_next = wf->receive_sets_due;
	wf->receive_sets_due = set;
	if (!event_is_set(&wf->receive_event))
		event_set(wf->hca->core, &wf->receive_event, hca_now(wf->hca));
}

static void keeps_ended(struct keep **keeps)
{
	room_made(container_of(keeps, struct receive_buffer, keeps));
}

/* --- life --- */

void wqe_receive_create(struct wqe_fetch *wf)
{
	wf->receive_keeps.hca = wf->hca;
	wf->receive_keeps.ended = keeps_ended;
	wf->receive_event.job = room_job;
	wf->n_receives = (unsigned)param_wqe_fetch_receives(wf->hca->params);
	wf->receive_ways = wf->n_receives < WAYS ? wf->n_receives : WAYS;
	wf->n_receives =
		(wf->n_receives + wf->receive_ways - 1) / wf->receive_ways * wf->receive_ways;
	wf->receives = memory_create(wf->n_receives, sizeof(*wf->receives), "receives");
	wf->receive_sets = memory_create(wf->n_receives / wf->receive_ways,
					 sizeof(*wf->receive_sets), "receives");
	for (unsigned i = 0; i < wf->n_receives; i++)
		wf->receives[i].wf = wf;
}

void wqe_receive_destroy(struct wqe_fetch *wf)
{
	event_cancel(wf->hca->core, &wf->receive_event);
	for (unsigned i = 0; i < wf->n_receives; i++)
		keep_line_gone(&wf->receives[i].keeps);
	keep_pool_free(&wf->receive_keeps);
	free(wf->receives);
	free(wf->receive_sets);
}

void wqe_receive_reset(struct wqe_fetch *wf)
{
	for (unsigned i = 0; i < wf->n_receives; i++) {
		waiter_queue_clear(&wf->receives[i].waiters);
		keep_line_gone(&wf->receives[i].keeps);
		wf->receives[i].state = BUFFER_FREE;
	}
	for (unsigned i = 0; i < wf->n_receives / wf->receive_ways; i++) {
		waiter_queue_clear(&wf->receive_sets[i].room);
		wf->receive_sets[i].due = false;
	}
	wf->receive_sets_due = NULL;
	event_cancel(wf->hca->core, &wf->receive_event);
}

void wqe_receive_drop(struct wqe_fetch *wf, uint32_t qpn)
{
	for (unsigned i = 0; i < wf->n_receives; i++) {
		struct receive_buffer *r = &wf->receives[i];

		if (r->qpn != qpn)
			continue;
		r->qpn = UINT32_MAX;
		if (r->state == BUFFER_FULL)
			r->state = BUFFER_FREE;
		keep_line_gone(&r->keeps);
		room_made(r);
	}
}

size_t wqe_receive_footprint(const struct wqe_fetch *wf)
{
	return wf->n_receives * sizeof(*wf->receives) +
	       wf->n_receives / wf->receive_ways * sizeof(*wf->receive_sets) +
	       wf->receive_keeps.footprint;
}

/* --- reading --- */

static void receive_done(struct dma *dma)
{
	struct receive_buffer *r = container_of(dma, struct receive_buffer, dma);

	/* the queue may be gone, and those who waited too */
	r->state = r->waiters.first && r->qpn != UINT32_MAX ? BUFFER_FULL : BUFFER_FREE;
	r->status = dma->status;
	if (r->state == BUFFER_FULL)
		keep_for_all(&r->wf->receive_keeps, &r->keeps, &r->waiters);
	waiter_queue_wake(&r->waiters);
	room_made(r);
}

static struct receive_set *set_of(const struct wqe_fetch *wf, const struct receive_slot *s,
				  uint64_t group_bytes)
{
	return &wf->receive_sets[(uint32_t)((s->mtt_addr >> 3) * 31 + s->qpn * 7 +
					    s->offset / group_bytes) %
				 (wf->n_receives / wf->receive_ways)];
}

/* The buffer of this WQE's group, or one it can have, or NULL. */
static struct receive_buffer *buffer_find(struct wqe_fetch *wf, const struct receive_slot *s,
					  const struct receive_set *set, uint64_t group_bytes,
					  bool *found)
{
	struct receive_buffer
		*ways = &wf->receives[(size_t)(set - wf->receive_sets) * wf->receive_ways],
		*free_way = NULL;

	for (unsigned i = 0; i < wf->receive_ways; i++) {
		struct receive_buffer *r = &ways[i];

		*found = r->state != BUFFER_FREE && r->qpn == s->qpn &&
			 r->mtt_addr == s->mtt_addr &&
			 r->offset / group_bytes == s->offset / group_bytes;
		if (*found)
			return r;
		if (r->state == BUFFER_FREE || (buffer_is_spare(r) && !free_way))
			free_way = r;
	}
	return free_way;
}

/* The bit of the WQE at `offset` in the buffer. 0: the buffer does not hold it. */
static uint64_t bit_of(const struct receive_buffer *r, uint64_t offset)
{
	const uint64_t at = (offset - r->offset) / r->stride;

	return offset >= r->offset && at < r->count ? UINT64_C(1) << at : 0;
}

static int read_start(struct hca *hca, struct receive_buffer *r, const struct receive_slot *s,
		      uint32_t count, struct waiter *w)
{
	const struct wqe_place place = {.mtt_addr = s->mtt_addr,
					.offset = s->offset,
					.log_page_size = s->log_page_size,
					.qpn = s->qpn};
	struct dma_frag frags[WQE_FRAGS];
	uint32_t one = s->stride < WQE_MAX_BYTES ? s->stride : WQE_MAX_BYTES, bytes = one * count;
	unsigned n_frags;
	int err = wqe_queue_frags(hca, &place, &bytes, w, frags, &n_frags);

	if (err)
		return err;
	r->mtt_addr = s->mtt_addr;
	r->offset = s->offset;
	r->qpn = s->qpn;
	r->stride = s->stride;
	r->count = bytes > one ? bytes / one : 1;
	r->handed = 0;
	r->state = BUFFER_READING;
	memcpy(r->frags, frags, n_frags * sizeof(*frags));
	r->dma = (struct dma){.hca = hca,
			      .done = receive_done,
			      .buf = r->bytes,
			      .frags = r->frags,
			      .n_frags = n_frags,
			      .len = bytes,
			      .at_ready = true,
			      .what = "receive wqe",
			      .qpn = s->qpn};
	hca->stats.wqe_fetch_receives++;
	waiter_queue_add(&r->waiters, w);
	pcie_read(hca, &r->dma, 0);
	HCA_TRACE(hca, TP_RWQE_READ_RUN, .qpn = s->qpn, .args = {r->dma.ready_ps});
	return -EAGAIN;
}

/* Whether the bytes in the buffer are those of the receive that is posted now. */
static bool is_current(const struct receive_buffer *r, uint64_t bit, const struct receive_slot *s)
{
	return !(r->handed & bit) && (r->keeps || !s->shared);
}

int wqe_fetch_receive(struct hca *hca, const struct receive_slot *s, bool again, struct waiter *w,
		      const uint8_t **wqe)
{
	struct wqe_fetch *wf = hca->wqe_fetch;
	uint32_t group = s->stride < WQE_MAX_BYTES ? WQE_MAX_BYTES / s->stride : 1, left;
	struct receive_set *set;
	struct receive_buffer *r;
	uint64_t bit;
	bool found;

	while (group > param_srq_prefetch(hca->params))
		group /= 2;
	group = group ? group : 1;
	set = set_of(wf, s, (uint64_t)group * s->stride);
	r = buffer_find(wf, s, set, (uint64_t)group * s->stride, &found);
	if (found && r->state == BUFFER_READING) {
		waiter_queue_add(&r->waiters, w);
		return -EAGAIN;
	}
	bit = found ? bit_of(r, s->offset) : 0;
	if (bit && (again || is_current(r, bit, s))) {
		hca->stats.wqe_fetch_receive_hits += !again && !r->keeps;
		r->handed |= bit;
		keep_line_gone(&r->keeps);
		if (r->status)
			r->state = BUFFER_FREE;
		room_made(r);
		*wqe = r->bytes + (s->offset - r->offset);
		return r->status;
	}
	if (!r || (found && r->keeps)) {
		waiter_queue_add(&set->room, w);
		return -EAGAIN;
	}
	left = group - (uint32_t)(s->offset / s->stride % group);
	return read_start(hca, r, s, s->posted < left ? s->posted : left, w);
}
