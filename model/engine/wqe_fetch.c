/* See wqe_fetch.h. */
#include "model/engine/wqe_fetch.h"

#include "model/engine/pcie.h"
#include "model/engine/qp.h"
#include "model/engine/translate.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

enum {
	SLOT_AHEAD = 0, /* of qp->send.wqes: what follows in the queue */
	SLOT_BACK = 1,  /* WQEs that have been taken before */
	BUFFER_FRAGS = 4,
	RECEIVE_WAYS = 4,
};

enum buffer_state { BUFFER_FREE, BUFFER_READING, BUFFER_FULL };

struct wqe_buffer {
	struct dma dma;
	struct wqe_fetch *wf;
	struct wqe_buffer *newer, *older; /* by last use */
	struct waiter_queue waiters;
	struct qp *qp; /* NULL: nobody's, or its owner went away while it was being read */
	uint8_t slot;
	uint8_t state;         /* enum buffer_state */
	bool wanted;           /* read for somebody who has not fetched from it yet */
	uint16_t first, count; /* WQE indices it holds */
	uint32_t stride;
	int status;
	struct dma_frag frags[BUFFER_FRAGS];
	uint8_t *bytes;
};

/* A receive WQE. */
struct receive_buffer {
	struct dma dma;
	struct wqe_fetch *wf;
	struct waiter_queue waiters;
	uint64_t mtt_addr, offset;
	uint32_t qpn;
	uint8_t state;
	bool wanted;
	int status;
	struct dma_frag frags[BUFFER_FRAGS];
	uint8_t bytes[WQE_MAX_BYTES];
};

struct wqe_fetch {
	struct hca *hca;
	unsigned n_buffers, n_receives;
	uint32_t buffer_bytes;
	struct wqe_buffer *buffers, *newest, *oldest;
	struct receive_buffer *receives;
	uint8_t *bytes;
	struct waiter_queue room; /* those for whom there was no buffer */
	struct event room_event;
};

/* --- geometry --- */

static uint32_t stride_of(unsigned log_stride)
{
	return (uint32_t)WQE_UNIT << log_stride;
}

void wqe_geometry_send(const struct qpc *qpc, struct wqe_geometry *g)
{
	g->stride = stride_of(qpc_get_log_sq_stride(qpc));
	g->count = 1u << qpc_get_log_sq_size(qpc);
	g->offset = (uint64_t)qpc_get_page_offset(qpc) * WQE_CHUNK;
	/* the queue with the larger stride comes first, at equal strides the send queue */
	if (qpc_has_rq(qpc) && stride_of(qpc_get_log_rq_stride(qpc)) > g->stride)
		g->offset += (uint64_t)stride_of(qpc_get_log_rq_stride(qpc))
			     << qpc_get_log_rq_size(qpc);
}

void wqe_geometry_receive(const struct qpc *qpc, struct wqe_geometry *g)
{
	uint32_t send_stride = stride_of(qpc_get_log_sq_stride(qpc));

	g->stride = stride_of(qpc_get_log_rq_stride(qpc));
	g->count = 1u << qpc_get_log_rq_size(qpc);
	g->offset = (uint64_t)qpc_get_page_offset(qpc) * WQE_CHUNK;
	if (g->stride <= send_stride)
		g->offset += (uint64_t)send_stride << qpc_get_log_sq_size(qpc);
}

/* --- room --- */

static void room_job(struct event *ev)
{
	struct wqe_fetch *wf =
		(struct wqe_fetch *)((char *)ev - offsetof(struct wqe_fetch, room_event));

	waiter_queue_wake(&wf->room);
}

/* By an event: who makes room is in the middle of a step, and holds pointers into caches. */
static void room_made(struct wqe_fetch *wf)
{
	if (wf->room.first && !event_is_set(&wf->room_event))
		event_set(wf->hca->core, &wf->room_event, hca_now(wf->hca));
}

/* --- buffers by last use --- */

static void unlink_buffer(struct wqe_fetch *wf, struct wqe_buffer *b)
{
	if (b->newer)
		b->newer->older = b->older;
	else
		wf->newest = b->older;
	if (b->older)
		b->older->newer = b->newer;
	else
		wf->oldest = b->newer;
}

static void link_newest(struct wqe_fetch *wf, struct wqe_buffer *b)
{
	b->newer = NULL;
	b->older = wf->newest;
	if (wf->newest)
		wf->newest->newer = b;
	else
		wf->oldest = b;
	wf->newest = b;
}

static void link_oldest(struct wqe_fetch *wf, struct wqe_buffer *b)
{
	b->older = NULL;
	b->newer = wf->oldest;
	if (wf->oldest)
		wf->oldest->older = b;
	else
		wf->newest = b;
	wf->oldest = b;
}

static void used(struct wqe_fetch *wf, struct wqe_buffer *b)
{
	if (wf->newest == b)
		return;
	unlink_buffer(wf, b);
	link_newest(wf, b);
}

/* The buffer is nobody's; one that is being read becomes free when the read is done. */
static void release(struct wqe_fetch *wf, struct wqe_buffer *b)
{
	if (b->qp)
		b->qp->send.wqes[b->slot] = NULL;
	b->qp = NULL;
	b->wanted = false;
	if (b->state == BUFFER_READING)
		return;
	b->state = BUFFER_FREE;
	unlink_buffer(wf, b);
	link_oldest(wf, b);
	room_made(wf);
}

static struct wqe_buffer *take(struct wqe_fetch *wf, struct qp *qp, unsigned slot)
{
	struct wqe_buffer *b = wf->oldest;

	while (b && (b->state == BUFFER_READING || b->wanted))
		b = b->newer;
	if (!b)
		return NULL;
	if (b->qp)
		b->qp->send.wqes[b->slot] = NULL;
	b->qp = qp;
	b->slot = (uint8_t)slot;
	qp->send.wqes[slot] = b;
	used(wf, b);
	return b;
}

/* --- life --- */

static void buffer_done(struct dma *dma);
static void receive_done(struct dma *dma);

struct wqe_fetch *wqe_fetch_create(struct hca *hca)
{
	struct wqe_fetch *wf = calloc(1, sizeof(*wf));
	const struct hca_params *p = hca->params;

	if (!wf)
		return NULL;
	wf->hca = hca;
	wf->room_event.job = room_job;
	wf->n_buffers = (unsigned)(p->wqe_fetch_entries / p->wqe_fetch_prefetch);
	if (wf->n_buffers < 2)
		wf->n_buffers = 2; /* one for each slot, or a QP could wait for itself */
	wf->n_receives = (unsigned)((p->wqe_fetch_receives + RECEIVE_WAYS - 1) / RECEIVE_WAYS *
				    RECEIVE_WAYS);
	wf->buffer_bytes = (uint32_t)p->wqe_fetch_prefetch * WQE_CHUNK;
	if (wf->buffer_bytes < WQE_MAX_BYTES)
		wf->buffer_bytes = WQE_MAX_BYTES;
	wf->buffers = calloc(wf->n_buffers, sizeof(*wf->buffers));
	wf->receives = calloc(wf->n_receives, sizeof(*wf->receives));
	wf->bytes = malloc((size_t)wf->n_buffers * wf->buffer_bytes);
	if (!wf->buffers || !wf->receives || !wf->bytes) {
		wqe_fetch_destroy(wf);
		return NULL;
	}
	for (unsigned i = 0; i < wf->n_buffers; i++) {
		wf->buffers[i].wf = wf;
		wf->buffers[i].bytes = wf->bytes + (size_t)i * wf->buffer_bytes;
		link_newest(wf, &wf->buffers[i]);
	}
	for (unsigned i = 0; i < wf->n_receives; i++)
		wf->receives[i].wf = wf;
	return wf;
}

void wqe_fetch_destroy(struct wqe_fetch *wf)
{
	if (!wf)
		return;
	event_cancel(wf->hca->core, &wf->room_event);
	free(wf->buffers);
	free(wf->receives);
	free(wf->bytes);
	free(wf);
}

void wqe_fetch_reset(struct hca *hca)
{
	struct wqe_fetch *wf = hca->wqe_fetch;

	for (unsigned i = 0; i < wf->n_buffers; i++) {
		struct wqe_buffer *b = &wf->buffers[i];

		waiter_queue_clear(&b->waiters);
		if (b->qp)
			b->qp->send.wqes[b->slot] = NULL;
		b->qp = NULL;
		b->wanted = false;
		b->state = BUFFER_FREE;
	}
	for (unsigned i = 0; i < wf->n_receives; i++) {
		waiter_queue_clear(&wf->receives[i].waiters);
		wf->receives[i].wanted = false;
		wf->receives[i].state = BUFFER_FREE;
	}
	waiter_queue_clear(&wf->room);
	event_cancel(hca->core, &wf->room_event);
}

size_t wqe_fetch_footprint(const struct hca *hca)
{
	const struct wqe_fetch *wf = hca->wqe_fetch;

	return sizeof(*wf) + wf->n_buffers * (sizeof(*wf->buffers) + wf->buffer_bytes) +
	       wf->n_receives * sizeof(*wf->receives);
}

/* --- send WQEs --- */

static bool holds(const struct wqe_buffer *b, uint16_t index)
{
	return b && (uint16_t)(index - b->first) < b->count;
}

static void buffer_done(struct dma *dma)
{
	struct wqe_buffer *b =
		(struct wqe_buffer *)((char *)dma - offsetof(struct wqe_buffer, dma));

	b->state = BUFFER_FULL;
	b->status = dma->status;
	if (!b->qp)
		release(b->wf, b);
	waiter_queue_wake(&b->waiters);
}

/* Bus fragments of n bytes of a queue buffer; n is cut to what BUFFER_FRAGS hold. */
static int queue_frags(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		       uint32_t *n, struct waiter *w, uint32_t qpn, struct dma_frag *frags,
		       unsigned *n_frags)
{
	uint32_t done = 0;

	for (*n_frags = 0; done < *n && *n_frags < BUFFER_FRAGS; (*n_frags)++) {
		struct dma_frag *frag = &frags[*n_frags];
		uint32_t contiguous;
		int err = translate_queue(hca, mtt_addr, log_page_size, offset + done, w,
					  &frag->bus, &contiguous, qpn);

		if (err)
			return err;
		frag->len = contiguous < *n - done ? contiguous : *n - done;
		done += frag->len;
	}
	*n = done;
	return 0;
}

static int read_buffer(struct qp *qp, const struct qpc *qpc, uint16_t index, unsigned slot,
		       struct waiter *w)
{
	struct hca *hca = qp->hca;
	struct wqe_fetch *wf = hca->wqe_fetch;
	struct wqe_buffer *b = qp->send.wqes[slot];
	struct dma_frag frags[BUFFER_FRAGS];
	struct wqe_geometry g;
	uint32_t at,
		n = qpc_get_sq_no_prefetch(qpc) ? 1 : (uint32_t)hca->params->wqe_fetch_prefetch,
		bytes;
	unsigned n_frags;
	int err;

	wqe_geometry_send(qpc, &g);
	at = index & (g.count - 1);
	if (n > g.count - at)
		n = g.count - at;
	/* what is not executed yet may not be written yet, and this slot does not look at owners */
	if (slot == SLOT_BACK && n > (uint16_t)(qp->send.next - index))
		n = qp->send.next != index ? (uint16_t)(qp->send.next - index) : 1;
	if (n > wf->buffer_bytes / g.stride)
		n = wf->buffer_bytes / g.stride;
	bytes = n ? n * g.stride : WQE_MAX_BYTES; /* a stride may be larger than any WQE */
	err = queue_frags(hca, qpc_get_mtt_addr(qpc), qpc_get_log_page_size(qpc),
			  g.offset + (uint64_t)at * g.stride, &bytes, w, qp->qpn, frags, &n_frags);
	if (err)
		return err;
	if (b && b->state == BUFFER_READING) {
		/* Who asked for it comes first: sending again and scattering a response take turns
		 * at this slot, and would take it from each other for ever. */
		waiter_queue_add(&b->waiters, w);
		return -EAGAIN;
	}
	if (!b)
		b = take(wf, qp, slot);
	if (!b) {
		waiter_queue_add(&wf->room, w);
		return -EAGAIN;
	}
	b->first = index;
	b->count = n ? (uint16_t)(bytes / g.stride) : 1;
	b->stride = n ? g.stride : WQE_MAX_BYTES;
	b->state = BUFFER_READING;
	b->wanted = true;
	memcpy(b->frags, frags, n_frags * sizeof(*frags));
	memset(&b->dma, 0, sizeof(b->dma));
	b->dma = (struct dma){.hca = hca,
			      .done = buffer_done,
			      .buf = b->bytes,
			      .frags = b->frags,
			      .n_frags = n_frags,
			      .len = bytes,
			      .at_ready = true,
			      .what = "wqe",
			      .qpn = qp->qpn};
	/* the bytes are read later than now: whatever doorbell came until now is covered; reading
	 * again says nothing of WQEs that are new */
	if (slot == SLOT_AHEAD)
		qp->send.rung = false;
	hca->stats.wqe_fetch_reads++;
	waiter_queue_add(&b->waiters, w);
	pcie_read(hca, &b->dma, 0);
	HCA_TRACE(hca, TP_WQE_READ_RUN, .qpn = qp->qpn, .corr = index,
		  .args = {b->dma.ready_ps, b->count});
	return -EAGAIN;
}

/* What the owner bit says: it changes its meaning with each lap of the queue. */
static bool posted(const struct qpc *qpc, uint16_t index, const uint8_t *wqe)
{
	return wqe_ctrl_get_owner((const struct wqe_ctrl *)wqe) ==
	       !!(index & 1u << qpc_get_log_sq_size(qpc));
}

int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, bool executed,
		   struct waiter *w, const uint8_t **wqe, unsigned *len)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct wqe_buffer *b = qp->send.wqes[SLOT_AHEAD];
	const uint8_t *at;
	uint32_t bytes;
	bool was_wanted;

	if (executed && !holds(b, index))
		b = qp->send.wqes[SLOT_BACK];
	if (!holds(b, index))
		return read_buffer(qp, qpc, index, executed ? SLOT_BACK : SLOT_AHEAD, w);
	if (b->state == BUFFER_READING) {
		waiter_queue_add(&b->waiters, w);
		return -EAGAIN;
	}
	was_wanted = b->wanted;
	b->wanted = false;
	if (b->status) {
		int err = b->status;

		release(wf, b);
		return err;
	}
	at = b->bytes + (uint16_t)(index - b->first) * b->stride;
	if (!posted(qpc, index, at) && (!executed || !was_wanted)) {
		const unsigned slot = b->slot;

		release(wf, b);
		/* A WQE that has been taken was posted: these bytes are from before that, read with an
		 * earlier one. */
		return executed ? read_buffer(qp, qpc, index, slot, w) : -ENOENT;
	}
	used(wf, b);
	bytes = wqe_ctrl_get_ds((const struct wqe_ctrl *)at) * WQE_UNIT;
	*wqe = at;
	*len = bytes < b->stride ? bytes : b->stride;
	if (was_wanted)
		room_made(wf);
	else
		qp->hca->stats.wqe_fetch_hits++;
	return 0;
}

bool wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct wqe_buffer *b = qp->send.wqes[SLOT_AHEAD];

	if (len < sizeof(struct wqe_ctrl) || len > wf->buffer_bytes ||
	    wqe_ctrl_get_ds((const struct wqe_ctrl *)wqe) * WQE_UNIT > len)
		return false;
	if (b && b->state == BUFFER_READING)
		return false;
	if (!b)
		b = take(wf, qp, SLOT_AHEAD);
	if (!b)
		return false;
	memcpy(b->bytes, wqe, len);
	b->first = index;
	b->count = 1;
	b->stride = len;
	b->status = 0;
	b->state = BUFFER_FULL;
	b->wanted = true;
	return true;
}

void wqe_fetch_release(struct qp *qp)
{
	for (unsigned slot = SLOT_AHEAD; slot <= SLOT_BACK; slot++)
		if (qp->send.wqes[slot])
			release(qp->hca->wqe_fetch, qp->send.wqes[slot]);
}

void wqe_fetch_drop(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_find(hca, qpn);

	if (qp)
		wqe_fetch_release(qp);
	for (unsigned i = 0; i < hca->wqe_fetch->n_receives; i++) {
		struct receive_buffer *r = &hca->wqe_fetch->receives[i];

		if (r->qpn != qpn)
			continue;
		r->qpn = UINT32_MAX;
		if (r->state == BUFFER_FULL)
			r->state = BUFFER_FREE;
		r->wanted = false;
	}
}

/* --- receive WQEs --- */

static void receive_done(struct dma *dma)
{
	struct receive_buffer *r =
		(struct receive_buffer *)((char *)dma - offsetof(struct receive_buffer, dma));

	r->state = r->wanted ? BUFFER_FULL : BUFFER_FREE;
	r->status = dma->status;
	waiter_queue_wake(&r->waiters);
	room_made(r->wf);
}

/* The buffer of this WQE, or one it can have, or NULL. */
static struct receive_buffer *receive_find(struct wqe_fetch *wf, uint32_t qpn, uint64_t mtt_addr,
					   uint64_t offset, unsigned stride, bool *found)
{
	uint32_t set = (uint32_t)((mtt_addr >> 3) * 31 + qpn * 7 + offset / stride) %
		       (wf->n_receives / RECEIVE_WAYS);
	struct receive_buffer *free_way = NULL;

	for (unsigned i = 0; i < RECEIVE_WAYS; i++) {
		struct receive_buffer *r = &wf->receives[set * RECEIVE_WAYS + i];

		*found = r->state != BUFFER_FREE && r->qpn == qpn && r->mtt_addr == mtt_addr &&
			 r->offset == offset;
		if (*found)
			return r;
		if (r->state == BUFFER_FREE || (r->state == BUFFER_FULL && !r->wanted && !free_way))
			free_way = r;
	}
	return free_way;
}

int wqe_fetch_receive(struct hca *hca, uint32_t qpn, uint64_t mtt_addr, unsigned log_page_size,
		      uint64_t offset, unsigned stride, bool again, struct waiter *w,
		      const uint8_t **wqe)
{
	struct wqe_fetch *wf = hca->wqe_fetch;
	struct dma_frag frags[BUFFER_FRAGS];
	uint32_t bytes = stride < WQE_MAX_BYTES ? stride : WQE_MAX_BYTES;
	unsigned n_frags;
	bool found;
	struct receive_buffer *r = receive_find(wf, qpn, mtt_addr, offset, stride, &found);
	int err;

	if (found && r->state == BUFFER_READING) {
		waiter_queue_add(&r->waiters, w);
		return -EAGAIN;
	}
	if (found && (again || r->wanted)) {
		r->wanted = false;
		if (r->status)
			r->state = BUFFER_FREE;
		room_made(wf);
		*wqe = r->bytes;
		return r->status;
	}
	if (!r) {
		waiter_queue_add(&wf->room, w);
		return -EAGAIN;
	}
	err = queue_frags(hca, mtt_addr, log_page_size, offset, &bytes, w, qpn, frags, &n_frags);
	if (err)
		return err;
	r->mtt_addr = mtt_addr;
	r->offset = offset;
	r->qpn = qpn;
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
			      .qpn = qpn};
	hca->stats.wqe_fetch_receives++;
	waiter_queue_add(&r->waiters, w);
	pcie_read(hca, &r->dma, 0);
	HCA_TRACE(hca, TP_RWQE_READ_RUN, .qpn = qpn, .args = {r->dma.ready_ps});
	return -EAGAIN;
}
