/* Receive WQEs: see wqe_fetch.h. A read takes what is known to be posted, up to srq.prefetch WQEs
 * of an aligned group; each is handed out once, and again only within the message that took it. */
#include "model/engine/wqe_state.h"

#include "model/engine/translate.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

enum buffer_state { BUFFER_FREE, BUFFER_READING, BUFFER_FULL };

/* Receive WQEs of a group. */
struct receive_buffer {
	struct dma dma;
	struct wqe_fetch *wf;
	struct waiter_queue waiters;
	uint64_t mtt_addr, offset; /* of the first one held */
	uint32_t qpn, stride, count;
	uint64_t handed; /* a bit each: not to be handed out a second time */
	uint8_t state;
	bool wanted; /* read for somebody who has not fetched from it yet */
	int status;
	struct dma_frag frags[WQE_FRAGS];
	uint8_t bytes[WQE_MAX_BYTES];
};

/* --- life --- */

static void room_job(struct event *ev)
{
	struct wqe_fetch *wf =
		(struct wqe_fetch *)((char *)ev - offsetof(struct wqe_fetch, receive_event));

	waiter_queue_wake(&wf->receive_room);
}

/* By an event: who makes room is in the middle of a step, and holds pointers into caches. */
static void room_made(struct wqe_fetch *wf)
{
	if (wf->receive_room.first && !event_is_set(&wf->receive_event))
		event_set(wf->hca->core, &wf->receive_event, hca_now(wf->hca));
}

void wqe_receive_create(struct wqe_fetch *wf)
{
	wf->receive_event.job = room_job;
	wf->n_receives = (unsigned)((wf->hca->params->wqe_fetch_receives + WAYS - 1) / WAYS * WAYS);
	wf->receives = calloc(wf->n_receives, sizeof(*wf->receives));
	if (!wf->receives)
		abort();
	for (unsigned i = 0; i < wf->n_receives; i++)
		wf->receives[i].wf = wf;
}

void wqe_receive_destroy(struct wqe_fetch *wf)
{
	event_cancel(wf->hca->core, &wf->receive_event);
	free(wf->receives);
}

void wqe_receive_reset(struct wqe_fetch *wf)
{
	for (unsigned i = 0; i < wf->n_receives; i++) {
		waiter_queue_clear(&wf->receives[i].waiters);
		wf->receives[i].wanted = false;
		wf->receives[i].state = BUFFER_FREE;
	}
	waiter_queue_clear(&wf->receive_room);
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
		r->wanted = false;
	}
}

size_t wqe_receive_footprint(const struct wqe_fetch *wf)
{
	return wf->n_receives * sizeof(*wf->receives);
}

/* --- reading --- */

static void receive_done(struct dma *dma)
{
	struct receive_buffer *r =
		(struct receive_buffer *)((char *)dma - offsetof(struct receive_buffer, dma));

	r->state = r->wanted ? BUFFER_FULL : BUFFER_FREE;
	r->status = dma->status;
	waiter_queue_wake(&r->waiters);
	room_made(r->wf);
}

/* The buffer of this WQE's group, or one it can have, or NULL. */
static struct receive_buffer *buffer_find(struct wqe_fetch *wf, const struct receive_slot *s,
					  uint64_t group_bytes, bool *found)
{
	uint32_t set = (uint32_t)((s->mtt_addr >> 3) * 31 + s->qpn * 7 + s->offset / group_bytes) %
		       (wf->n_receives / WAYS);
	struct receive_buffer *free_way = NULL;

	for (unsigned i = 0; i < WAYS; i++) {
		struct receive_buffer *r = &wf->receives[set * WAYS + i];

		*found = r->state != BUFFER_FREE && r->qpn == s->qpn &&
			 r->mtt_addr == s->mtt_addr &&
			 r->offset / group_bytes == s->offset / group_bytes;
		if (*found)
			return r;
		if (r->state == BUFFER_FREE || (r->state == BUFFER_FULL && !r->wanted && !free_way))
			free_way = r;
	}
	return free_way;
}

/* Bit of the WQE in a buffer that holds it, 0: it does not. */
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
	r->wanted = true;
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

int wqe_fetch_receive(struct hca *hca, const struct receive_slot *s, bool again, struct waiter *w,
		      const uint8_t **wqe)
{
	struct wqe_fetch *wf = hca->wqe_fetch;
	uint32_t group = s->stride < WQE_MAX_BYTES ? WQE_MAX_BYTES / s->stride : 1, left;
	struct receive_buffer *r;
	uint64_t bit;
	bool found;

	while (group > hca->params->srq_prefetch)
		group /= 2;
	group = group ? group : 1;
	r = buffer_find(wf, s, (uint64_t)group * s->stride, &found);
	if (found && r->state == BUFFER_READING) {
		waiter_queue_add(&r->waiters, w);
		return -EAGAIN;
	}
	bit = found ? bit_of(r, s->offset) : 0;
	if (bit && (again || !(r->handed & bit))) {
		hca->stats.wqe_fetch_receive_hits += !again && !r->wanted;
		r->handed |= bit;
		r->wanted = false;
		if (r->status)
			r->state = BUFFER_FREE;
		room_made(wf);
		*wqe = r->bytes + (s->offset - r->offset);
		return r->status;
	}
	if (!r || (found && r->wanted)) {
		waiter_queue_add(&wf->receive_room, w);
		return -EAGAIN;
	}
	left = group - (uint32_t)(s->offset / s->stride % group);
	return read_start(hca, r, s, s->posted < left ? s->posted : left, w);
}
