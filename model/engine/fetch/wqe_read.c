/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of send WQEs: translation, waiting for a free buffer, owner bits. See wqe_fetch.h. */
#include "model/engine/fetch/wqe_impl.h"

#include "model/engine/base/keep.h"
#include "model/engine/base/monitor.h"
#include "model/engine/qp/qp.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca_wqe_fetch.h"

#include <stdlib.h>
#include <string.h>

/* --- life --- */

static void buffer_give(struct wqe_fetch *wf, uint8_t *buffer)
{
	memcpy(buffer, &wf->buffers_free, sizeof(wf->buffers_free));
	wf->buffers_free = buffer;
}

static uint8_t *buffer_take(struct wqe_fetch *wf)
{
	uint8_t *buffer = wf->buffers_free;

	memcpy(&wf->buffers_free, buffer, sizeof(wf->buffers_free));
	return buffer;
}

static void read_give(struct wqe_read *r)
{
	waiter_done(&r->waiter);
	r->qp = NULL;
	r->next = r->wf->reads_free;
	r->wf->reads_free = r;
}

static void translation_here(struct waiter *w);

static struct wqe_read *read_take(struct wqe_fetch *wf)
{
	struct wqe_read *r = wf->reads_free;

	if (r) {
		wf->reads_free = r->next;
		return r;
	}
	r = memory_take(wf->hca, sizeof(*r), "reads of work requests");
	r->wf = wf;
	r->waiter.wake = translation_here;
	r->next_all = wf->reads_all;
	wf->reads_all = r;
	wf->n_reads++;
	return r;
}

void wqe_reads_reset(struct wqe_fetch *wf)
{
	uint8_t *buffers = wf->bytes + (size_t)wf->n_lines * WQE_MAX_BYTES;

	wf->reads_free = wf->reads_first = wf->reads_last = NULL;
	wf->active = wf->active_responses = 0;
	for (struct wqe_read *r = wf->reads_all; r; r = r->next_all)
		read_give(r);
	wf->buffers_free = NULL;
	for (unsigned i = wf->max_reads; i--;)
		buffer_give(wf, buffers + (size_t)i * wf->read_bytes);
}

/* --- reading --- */

/* Is the WQE posted, by its owner bit? The bit changes its meaning with each lap of the queue. */
static bool posted(const struct wqe_read *r, uint16_t index, const uint8_t *wqe)
{
	return wqe_ctrl_get_owner((const struct wqe_ctrl *)wqe) == !!(index & 1u << r->log_count);
}

static void __attribute__((noinline)) wqe_tell(const struct wqe_read *r, uint16_t nth)
{
	const struct hca_monitor *m = r->wf->hca->monitor;
	const struct dma_frag *f = r->frags;
	uint32_t at = nth * r->stride;

	for (; at >= f->len; f++)
		at -= f->len;
	m->wqe(m->ctx, &(struct hca_wqe_seen){.qpn = r->qp->qpn,
					      .index = (uint16_t)(r->first + nth),
					      .bus = f->bus + at,
					      .bytes = r->bytes + nth * r->stride});
}

/* Entries of the queue that the WQE at this place takes. */
static uint16_t entries_at(const struct wqe_read *r, uint16_t nth)
{
	const uint8_t *wqe = r->bytes + nth * r->stride;

	if (__builtin_expect(!r->long_wqes, 1))
		return 1;
	return (uint16_t)wqe_entries(wqe_ctrl_get_ds((const void *)wqe) * WQE_UNIT, r->stride);
}

/* Puts the WQEs that are posted into lines, up to the first one that is not, or whose end was not
 * read. */
static void ahead_arrived(struct wqe_read *r)
{
	struct qp_send *send = &r->qp->send;
	uint16_t found = 0;
	bool cut = false;

	while (found < r->count &&
	       posted(r, (uint16_t)(r->first + found), r->bytes + found * r->stride)) {
		const uint16_t entries = entries_at(r, found);
		struct wqe_line *line;

		if (found + entries > r->count) {
			cut = true;
			break;
		}
		line = wqe_line_put(r->wf, r->qp, (uint16_t)(r->first + found),
				    r->bytes + found * r->stride, entries * r->stride, r);
		if (hca_is_monitored(r->wf->hca))
			wqe_tell(r, found);
		/* if there is no line, whoever waits asks for the WQE again */
		if (line && !found && r->waiters.first)
			wqe_line_want(r->wf, line, WQE_SENDS);
		found += entries;
	}
	/* The number falls by half at most: a read that finds few WQEs at the end of a list does
	 * not make the next read small. */
	send->found = (uint8_t)(found > send->found / 2 ? found : send->found / 2);
	send->ahead_count = found == r->count ? (uint8_t)found : 0;
	send->ahead_end = (uint16_t)(r->first + found);
	send_tail_set_seen(send, found < r->count && !cut);
}

/* Tells those who wait for the read that it has failed. Nobody waits for a prefetch: its WQEs are
 * asked for again when they are needed. */
static void read_failed(struct wqe_read *r, int status)
{
	struct qp_send *send = &r->qp->send;

	send->wqe_reads[r->need] = NULL;
	if (!r->waiters.first)
		return;
	send->wqe_status[r->need] = (int8_t)status;
	if (r->need == WQE_NEED_NEXT)
		send->ahead_end = r->first;
}

static void reads_start(struct wqe_fetch *wf);

static void read_done(struct dma *dma)
{
	struct wqe_read *r = container_of(dma, struct wqe_read, dma);
	struct wqe_fetch *wf = r->wf;

	if (r->qp) {
		r->qp->send.wqe_reads[r->need] = NULL;
		if (dma->status) {
			read_failed(r, dma->status);
		} else if (r->need == WQE_NEED_NEXT) {
			ahead_arrived(r);
		} else {
			struct wqe_line *line = wqe_line_put(wf, r->qp, r->first, r->bytes,
							     entries_at(r, 0) * r->stride, r);

			if (line && r->waiters.first)
				wqe_line_want(wf, line, wqe_need_user(r->need));
		}
	}
	buffer_give(wf, r->bytes);
	wf->active--;
	wf->active_responses -= r->need == WQE_NEED_RESPONSE;
	read_give(r);
	waiter_queue_wake(&r->waiters);
	reads_start(wf);
}

/* The read sees all WQEs that doorbells have announced until now. That holds for a read of the next
 * WQEs only, not for one that reads an old WQE again. */
static void read_begin(struct wqe_read *r)
{
	struct wqe_fetch *wf = r->wf;
	struct hca *hca = wf->hca;

	wf->active++;
	wf->active_responses += r->need == WQE_NEED_RESPONSE;
	wf->busy_ps = hca_now(hca) + r->count * param_wqe_fetch_gap(hca->params);
	r->bytes = r->dma.buf = buffer_take(wf);
	if (r->need == WQE_NEED_NEXT)
		send_tail_begin_read(&r->qp->send);
	hca->stats.wqe_fetch_reads++;
	pcie_read(hca, &r->dma, 0);
	HCA_TRACE(hca, TP_WQE_READ_RUN, .qpn = r->qp->qpn, .corr = r->first,
		  .args = {r->dma.ready_ps, r->count});
}

/* Takes the next read out of the queue: of those that may begin, the one that has waited
 * longest. */
static struct wqe_read *read_next(struct wqe_fetch *wf)
{
	struct wqe_read **at = &wf->reads_first, *before = NULL, *r;

	while (*at && (*at)->qp && !wqe_read_has_room(wf, (*at)->need)) {
		before = *at;
		at = &before->next;
	}
	r = *at;
	if (!r)
		return NULL;
	*at = r->next;
	if (wf->reads_last == r)
		wf->reads_last = before;
	return r;
}

/* Begins as many reads as may begin. A read whose QP went away only leaves the queue. */
static void reads_start(struct wqe_fetch *wf)
{
	struct wqe_read *r;

	while (wf->active < wf->max_reads && wf->reads_first) {
		if (wf->busy_ps > hca_now(wf->hca)) {
			event_set(wf->hca->core, &wf->room_event, wf->busy_ps);
			return;
		}
		r = read_next(wf);
		if (!r)
			return;
		if (r->qp) {
			read_begin(r);
		} else {
			read_give(r);
			waiter_queue_wake(
				&r->waiters); /* the QP may still be there and ask again */
		}
	}
}

void wqe_reads_room(struct event *ev)
{
	reads_start(container_of(ev, struct wqe_fetch, room_event));
}

/* How many WQEs a read takes, from `index` on. */
static uint32_t read_count(const struct qp *qp, const struct qpc *qpc, const struct wqe_geometry *g,
			   uint16_t index, enum wqe_need need)
{
	const struct hca_params *p = qp->hca->params;
	const struct qp_send *send = &qp->send;
	const uint32_t to_end = g->count - (index & (g->count - 1));
	uint32_t n = send->found ? 2u * send->found : (uint32_t)param_wqe_fetch_first(p);

	/* a WQE that has been taken before is read alone: those behind it are held already, or are
	 * read when they are needed */
	if (need != WQE_NEED_NEXT || qpc_get_sq_no_prefetch(qpc))
		n = 1;
	else if (send_tail_is_blueflame(send) && (int16_t)(send->bf_end - index) > 0 &&
		 n > (uint16_t)(send->bf_end - index))
		n = (uint16_t)(send->bf_end - index);
	if (n > param_wqe_fetch_prefetch(p))
		n = (uint32_t)param_wqe_fetch_prefetch(p);
	if (n > to_end)
		n = to_end;
	if (n > qp->hca->wqe_fetch->read_bytes / g->stride)
		n = qp->hca->wqe_fetch->read_bytes / g->stride;
	return n;
}

/* The addresses of the bytes that stand at the beginning of the queue. */
static int read_wrap(struct wqe_read *r, uint32_t *bytes, unsigned *n_frags)
{
	uint32_t more = r->wrapped;
	unsigned n;
	int err = wqe_queue_frags(r->wf->hca, &r->beginning, &more, &r->waiter, r->frags + *n_frags,
				  &n);

	*bytes += more;
	*n_frags += n;
	return err;
}

/* Finds the WQEs' addresses and queues the read. 0; -EAGAIN: waits for a translation; or why the
 * memory cannot be reached. */
static int read_translate(struct wqe_read *r)
{
	struct wqe_fetch *wf = r->wf;
	uint32_t bytes = r->wanted;
	unsigned n_frags;
	int err = wqe_queue_frags(wf->hca, &r->place, &bytes, &r->waiter, r->frags, &n_frags);

	if (!err && __builtin_expect(r->wrapped && bytes == r->wanted, 0))
		err = read_wrap(r, &bytes, &n_frags);
	if (err)
		return err;
	waiter_done(&r->waiter);
	r->count = bytes > r->stride ? (uint16_t)(bytes / r->stride) : 1;
	r->dma = (struct dma){.done = read_done,
			      .frags = r->frags,
			      .n_frags = n_frags,
			      .len = bytes,
			      .at_ready = true,
			      .what = "wqe",
			      .qpn = r->place.qpn};
	r->next = NULL;
	*(wf->reads_first ? &wf->reads_last->next : &wf->reads_first) = r;
	wf->reads_last = r;
	reads_start(wf);
	return 0;
}

static void translation_here(struct waiter *w)
{
	struct wqe_read *r = container_of(w, struct wqe_read, waiter);
	int err = r->qp ? read_translate(r) : -ENOENT;

	if (!err || err == -EAGAIN)
		return;
	if (r->qp)
		read_failed(r, err);
	read_give(r);
	waiter_queue_wake(&r->waiters);
}

/* The longest WQE must fit into a read, also where the queue ends and begins again. */
static void read_long(struct wqe_read *r, const struct wqe_geometry *g)
{
	const uint32_t longest = WQE_MAX_BYTES / r->stride,
		       n = longest < g->count ? longest : g->count;
	const uint32_t to_end = g->count - (r->first & (g->count - 1));

	r->long_wqes = true;
	r->wanted = (n < to_end ? n : to_end) * r->stride;
	r->wrapped = n * r->stride - r->wanted;
	r->beginning = r->place;
	r->beginning.offset = g->offset;
}

int wqe_read_start(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct wqe_read *r = read_take(wf);
	struct wqe_geometry g;
	int err;

	wqe_geometry_send(qpc, &g);
	r->qp = qp;
	r->need = (uint8_t)need;
	r->log_count = (uint8_t)qpc_get_log_sq_size(qpc);
	r->first = index;
	r->stride = g.stride < WQE_MAX_BYTES ? g.stride : WQE_MAX_BYTES;
	r->wanted = r->stride * read_count(qp, qpc, &g, index, need);
	r->place = (struct wqe_place){.mtt_addr = qpc_get_mtt_addr(qpc),
				      .offset = g.offset +
						(uint64_t)(index & (g.count - 1)) * g.stride,
				      .log_page_size = qpc_get_log_page_size(qpc),
				      .qpn = qp->qpn};
	r->wrapped = 0;
	r->long_wqes = false;
	if (__builtin_expect(qpc_has_frames(qpc), 0))
		read_long(r, &g);
	wf->hca->stats.wqe_fetch_waits += !wqe_read_has_room(wf, need);
	err = read_translate(r);
	if (err && err != -EAGAIN) {
		read_give(r);
		return err;
	}
	if (need == WQE_NEED_NEXT) {
		qp->send.ahead_count = 0;
		send_tail_set_seen(&qp->send, false);
	}
	qp->send.wqe_reads[need] = r;
	if (w)
		waiter_queue_add(&r->waiters, w);
	return -EAGAIN;
}
