/* Send WQEs: see wqe_fetch.h. */
#include "model/engine/wqe_state.h"

#include "model/engine/qp.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

enum {
	SLOT_AHEAD = 0, /* of qp->send.wqe_reads: what follows in the queue */
	SLOT_BACK = 1,  /* a WQE that has been taken before */
};

/* --- lines --- */

static struct wqe_line **line_bucket(const struct wqe_fetch *wf, uint32_t qpn, uint16_t index)
{
	return &wf->buckets[((qpn * 0x9e3779b1u >> 8) + index) & wf->hash_mask];
}

static struct wqe_line *line_find(const struct wqe_fetch *wf, const struct qp *qp, uint16_t index)
{
	struct wqe_line *line = *line_bucket(wf, qp->qpn, index);

	while (line && (line->qp != qp || line->index != index))
		line = line->hash_next;
	return line;
}

static void unlink_line(struct wqe_fetch *wf, struct wqe_line *line)
{
	*(line->newer ? &line->newer->older : &wf->newest) = line->older;
	*(line->older ? &line->older->newer : &wf->oldest) = line->newer;
}

static void link_newest(struct wqe_fetch *wf, struct wqe_line *line)
{
	line->newer = NULL;
	line->older = wf->newest;
	*(wf->newest ? &wf->newest->newer : &wf->oldest) = line;
	wf->newest = line;
}

static void link_oldest(struct wqe_fetch *wf, struct wqe_line *line)
{
	line->older = NULL;
	line->newer = wf->oldest;
	*(wf->oldest ? &wf->oldest->older : &wf->newest) = line;
	wf->oldest = line;
}

/* It is nobody's any more; its place in the order of use stays. */
static void line_empty(struct wqe_fetch *wf, struct wqe_line *line)
{
	struct wqe_line **at = line_bucket(wf, line->qp->qpn, line->index);

	while (*at != line)
		at = &(*at)->hash_next;
	*at = line->hash_next;
	*line->qp_link = line->qp_next;
	if (line->qp_next)
		line->qp_next->qp_link = line->qp_link;
	line->qp = NULL;
	line->wanted = false;
}

static void line_drop(struct wqe_fetch *wf, struct wqe_line *line)
{
	line_empty(wf, line);
	unlink_line(wf, line);
	link_oldest(wf, line);
}

/* A line for this WQE: its own, or the least recently used one that nobody waits for. NULL: none.
 */
static struct wqe_line *line_take(struct wqe_fetch *wf, struct qp *qp, uint16_t index)
{
	struct wqe_line *line = line_find(wf, qp, index), **home;

	if (line)
		return line;
	line = wf->oldest;
	while (line && line->wanted)
		line = line->newer;
	if (!line)
		return NULL;
	if (line->qp) {
		wf->hca->stats.wqe_fetch_evictions++;
		line_empty(wf, line);
	}
	home = line_bucket(wf, qp->qpn, index);
	line->qp = qp;
	line->index = index;
	line->hash_next = *home;
	*home = line;
	line->qp_next = qp->send.wqe_lines;
	line->qp_link = &qp->send.wqe_lines;
	if (line->qp_next)
		line->qp_next->qp_link = &line->qp_next;
	qp->send.wqe_lines = line;
	return line;
}

static void line_touch(struct wqe_fetch *wf, struct wqe_line *line)
{
	if (wf->newest == line)
		return;
	unlink_line(wf, line);
	link_newest(wf, line);
}

static struct wqe_line *line_put(struct wqe_fetch *wf, struct qp *qp, uint16_t index,
				 const uint8_t *bytes, uint32_t len, bool fetched)
{
	struct wqe_line *line = line_take(wf, qp, index);

	if (!line)
		return NULL;
	memcpy(line->bytes, bytes, len);
	line->len = (uint16_t)len;
	line->fetched = fetched;
	line_touch(wf, line);
	return line;
}

/* --- life --- */

static void lines_link(struct wqe_fetch *wf)
{
	wf->newest = wf->oldest = NULL;
	memset(wf->buckets, 0, ((size_t)wf->hash_mask + 1) * sizeof(*wf->buckets));
	for (unsigned i = 0; i < wf->n_lines; i++) {
		wf->lines[i].qp = NULL;
		wf->lines[i].wanted = false;
		link_newest(wf, &wf->lines[i]);
	}
}

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
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->wf = wf;
	r->waiter.wake = translation_here;
	r->next_all = wf->reads_all;
	wf->reads_all = r;
	wf->n_reads++;
	return r;
}

static void reads_link(struct wqe_fetch *wf)
{
	uint8_t *buffers = wf->bytes + (size_t)wf->n_lines * WQE_MAX_BYTES;

	wf->reads_free = wf->reads_first = wf->reads_last = NULL;
	wf->active = 0;
	for (struct wqe_read *r = wf->reads_all; r; r = r->next_all)
		read_give(r);
	wf->buffers_free = NULL;
	for (unsigned i = wf->max_reads; i--;)
		buffer_give(wf, buffers + (size_t)i * wf->read_bytes);
}

static size_t bytes_held(const struct wqe_fetch *wf)
{
	return (size_t)wf->n_lines * WQE_MAX_BYTES + (size_t)wf->max_reads * wf->read_bytes;
}

struct wqe_fetch *wqe_fetch_create(struct hca *hca)
{
	struct wqe_fetch *wf = calloc(1, sizeof(*wf));
	const struct hca_params *p = hca->params;
	uint32_t buckets = 1;

	if (!wf)
		abort();
	wf->hca = hca;
	wf->n_lines = (unsigned)p->wqe_fetch_entries;
	wf->max_reads = (unsigned)p->wqe_fetch_reads;
	wf->read_bytes = (uint32_t)(p->wqe_fetch_read_size > WQE_MAX_BYTES ? p->wqe_fetch_read_size
									   : WQE_MAX_BYTES);
	while (buckets < 2 * wf->n_lines)
		buckets *= 2;
	wf->hash_mask = buckets - 1;
	wf->lines = calloc(wf->n_lines, sizeof(*wf->lines));
	wf->buckets = calloc(buckets, sizeof(*wf->buckets));
	wf->bytes = malloc(bytes_held(wf));
	if (!wf->lines || !wf->buckets || !wf->bytes)
		abort();
	for (unsigned i = 0; i < wf->n_lines; i++)
		wf->lines[i].bytes = wf->bytes + (size_t)i * WQE_MAX_BYTES;
	lines_link(wf);
	reads_link(wf);
	wqe_receive_create(wf);
	return wf;
}

void wqe_fetch_destroy(struct wqe_fetch *wf)
{
	if (!wf)
		return;
	wqe_receive_destroy(wf);
	while (wf->reads_all) {
		struct wqe_read *r = wf->reads_all;

		wf->reads_all = r->next_all;
		free(r);
	}
	free(wf->lines);
	free(wf->buckets);
	free(wf->bytes);
	free(wf);
}

static void qp_forgets(struct qp *qp)
{
	qp->send.wqe_lines = NULL;
	for (unsigned slot = SLOT_AHEAD; slot <= SLOT_BACK; slot++) {
		qp->send.wqe_reads[slot] = NULL;
		qp->send.wqe_status[slot] = 0;
	}
	qp->send.ahead_count = 0;
	qp->send.end_seen = false;
}

void wqe_fetch_reset(struct hca *hca)
{
	struct wqe_fetch *wf = hca->wqe_fetch;

	for (unsigned i = 0; i < wf->n_lines; i++)
		if (wf->lines[i].qp)
			qp_forgets(wf->lines[i].qp);
	for (struct wqe_read *r = wf->reads_all; r; r = r->next_all) {
		waiter_cancel(&r->waiter);
		waiter_queue_clear(&r->waiters);
		if (r->qp)
			qp_forgets(r->qp);
	}
	lines_link(wf);
	reads_link(wf);
	wqe_receive_reset(wf);
}

size_t wqe_fetch_footprint(const struct hca *hca)
{
	const struct wqe_fetch *wf = hca->wqe_fetch;

	return sizeof(*wf) + wf->n_lines * sizeof(*wf->lines) +
	       wf->n_reads * sizeof(struct wqe_read) +
	       ((size_t)wf->hash_mask + 1) * sizeof(*wf->buckets) + bytes_held(wf) +
	       wqe_receive_footprint(wf);
}

/* --- reading --- */

/* What the owner bit says: it changes its meaning with each lap of the queue. */
static bool posted(const struct wqe_read *r, uint16_t index, const uint8_t *wqe)
{
	return wqe_ctrl_get_owner((const struct wqe_ctrl *)wqe) == !!(index & 1u << r->log_count);
}

/* How many of the WQEs read ahead are posted: these are held. */
static void ahead_arrived(struct wqe_read *r)
{
	struct qp_send *send = &r->qp->send;
	uint16_t found = 0;

	while (found < r->count &&
	       posted(r, (uint16_t)(r->first + found), r->bytes + found * r->stride)) {
		struct wqe_line *line = line_put(r->wf, r->qp, (uint16_t)(r->first + found),
						 r->bytes + found * r->stride, r->stride, true);

		/* without it, whoever waits reads again */
		if (line)
			line->wanted = !found && r->waiters.first;
		found++;
	}
	/* how it has been lately: the end of a list is not the end of lists */
	send->found = (uint8_t)(found > send->found / 2 ? found : send->found / 2);
	send->ahead_count = found == r->count ? (uint8_t)found : 0;
	send->ahead_end = (uint16_t)(r->first + found);
	send->end_seen = found < r->count;
}

/* Whoever waits for it is told; nobody does for a prefetch, which is asked for again when needed.
 */
static void read_failed(struct wqe_read *r, int status)
{
	struct qp_send *send = &r->qp->send;

	send->wqe_reads[r->slot] = NULL;
	if (!r->waiters.first)
		return;
	send->wqe_status[r->slot] = (int16_t)status;
	if (r->slot == SLOT_AHEAD)
		send->ahead_end = r->first;
}

static void reads_start(struct wqe_fetch *wf);

static void read_done(struct dma *dma)
{
	struct wqe_read *r = (struct wqe_read *)((char *)dma - offsetof(struct wqe_read, dma));
	struct wqe_fetch *wf = r->wf;

	if (r->qp) {
		r->qp->send.wqe_reads[r->slot] = NULL;
		if (dma->status) {
			read_failed(r, dma->status);
		} else if (r->slot == SLOT_AHEAD) {
			ahead_arrived(r);
		} else {
			struct wqe_line *line =
				line_put(wf, r->qp, r->first, r->bytes, r->stride, true);

			if (line)
				line->wanted = true;
		}
	}
	buffer_give(wf, r->bytes);
	read_give(r);
	wf->active--;
	waiter_queue_wake(&r->waiters);
	reads_start(wf);
}

/* The bytes are read later than now: whatever doorbell came until now is covered; reading again
 * says nothing of WQEs that are new. */
static void read_begin(struct wqe_read *r)
{
	struct wqe_fetch *wf = r->wf;
	struct hca *hca = wf->hca;

	wf->active++;
	r->bytes = r->dma.buf = buffer_take(wf);
	if (r->slot == SLOT_AHEAD)
		r->qp->send.rung = false;
	hca->stats.wqe_fetch_reads++;
	pcie_read(hca, &r->dma, 0);
	HCA_TRACE(hca, TP_WQE_READ_RUN, .qpn = r->qp->qpn, .corr = r->first,
		  .args = {r->dma.ready_ps, r->count});
}

/* Those that waited longest, but for those whose QP went away. */
static void reads_start(struct wqe_fetch *wf)
{
	while (wf->reads_first && wf->active < wf->max_reads) {
		struct wqe_read *r = wf->reads_first;

		wf->reads_first = r->next;
		if (r->qp) {
			read_begin(r);
		} else {
			read_give(r);
			waiter_queue_wake(&r->waiters); /* its queue may have been let go of only */
		}
	}
}

/* WQEs that a read from `index` on takes. */
static uint32_t read_count(const struct qp *qp, const struct qpc *qpc, const struct wqe_geometry *g,
			   uint16_t index, unsigned slot)
{
	const struct hca_params *p = qp->hca->params;
	const struct qp_send *send = &qp->send;
	const uint32_t to_end = g->count - (index & (g->count - 1));
	uint32_t n = send->found ? 2u * send->found : (uint32_t)p->wqe_fetch_first;

	/* what has been taken is read alone: what follows it is in the device, or will be read when
	 * it is needed */
	if (slot == SLOT_BACK || qpc_get_sq_no_prefetch(qpc))
		n = 1;
	else if (send->bf_known && (int16_t)(send->bf_end - index) > 0 &&
		 n > (uint16_t)(send->bf_end - index))
		n = (uint16_t)(send->bf_end - index);
	if (n > p->wqe_fetch_prefetch)
		n = (uint32_t)p->wqe_fetch_prefetch;
	if (n > to_end)
		n = to_end;
	if (n > qp->hca->wqe_fetch->read_bytes / g->stride)
		n = qp->hca->wqe_fetch->read_bytes / g->stride;
	return n;
}

/* Finds out where it lies and puts it into line. 0; -EAGAIN: its waiter is queued; or why it is
 * out of reach. */
static int read_translate(struct wqe_read *r)
{
	struct wqe_fetch *wf = r->wf;
	uint32_t bytes = r->wanted;
	unsigned n_frags;
	int err = wqe_queue_frags(wf->hca, &r->place, &bytes, &r->waiter, r->frags, &n_frags);

	if (err)
		return err;
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
	struct wqe_read *r = (struct wqe_read *)((char *)w - offsetof(struct wqe_read, waiter));
	int err = r->qp ? read_translate(r) : -ENOENT;

	if (!err || err == -EAGAIN)
		return;
	if (r->qp)
		read_failed(r, err);
	read_give(r);
	waiter_queue_wake(&r->waiters);
}

/* -EAGAIN, or why the queue's memory is out of reach. */
static int read_start(struct qp *qp, const struct qpc *qpc, uint16_t index, unsigned slot,
		      struct waiter *w)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct wqe_read *r = read_take(wf);
	struct wqe_geometry g;
	int err;

	wqe_geometry_send(qpc, &g);
	r->qp = qp;
	r->slot = (uint8_t)slot;
	r->log_count = (uint8_t)qpc_get_log_sq_size(qpc);
	r->first = index;
	r->stride = g.stride < WQE_MAX_BYTES ? g.stride : WQE_MAX_BYTES;
	r->wanted = r->stride * read_count(qp, qpc, &g, index, slot);
	r->place = (struct wqe_place){.mtt_addr = qpc_get_mtt_addr(qpc),
				      .offset = g.offset +
						(uint64_t)(index & (g.count - 1)) * g.stride,
				      .log_page_size = qpc_get_log_page_size(qpc),
				      .qpn = qp->qpn};
	wf->hca->stats.wqe_fetch_waits += wf->active == wf->max_reads;
	err = read_translate(r);
	if (err && err != -EAGAIN) {
		read_give(r);
		return err;
	}
	if (slot == SLOT_AHEAD) {
		qp->send.ahead_count = 0;
		qp->send.end_seen = false;
	}
	qp->send.wqe_reads[slot] = r;
	if (w)
		waiter_queue_add(&r->waiters, w);
	return -EAGAIN;
}

/* The queue goes on behind what was read last: the next read begins when half of that is used, but
 * not where it would have to wait for others. */
static void read_ahead(struct qp *qp, const struct qpc *qpc, uint16_t index)
{
	const struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct qp_send *send = &qp->send;

	if (!send->ahead_count || send->bf_known || send->wqe_reads[SLOT_AHEAD] ||
	    2u * (uint16_t)(send->ahead_end - index) > send->ahead_count)
		return;
	if (wf->active == wf->max_reads)
		qp->hca->stats.wqe_fetch_waits++;
	else
		read_start(qp, qpc, send->ahead_end, SLOT_AHEAD, NULL);
}

int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, bool executed,
		   struct waiter *w, const uint8_t **wqe, unsigned *len)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	const unsigned slot = executed ? SLOT_BACK : SLOT_AHEAD;
	struct qp_send *send = &qp->send;
	struct wqe_line *line = line_find(wf, qp, index);
	uint32_t bytes;

	if (line) {
		line_touch(wf, line);
		qp->hca->stats.wqe_fetch_hits += !line->wanted;
		line->wanted = false;
		send->fetched = line->fetched;
		bytes = wqe_ctrl_get_ds((const struct wqe_ctrl *)line->bytes) * WQE_UNIT;
		*wqe = line->bytes;
		*len = bytes < line->len ? bytes : line->len;
		if (!executed && line->fetched)
			read_ahead(qp, qpc, index);
		return 0;
	}
	if (send->wqe_reads[slot]) {
		waiter_queue_add(&send->wqe_reads[slot]->waiters, w);
		return -EAGAIN;
	}
	if (send->wqe_status[slot] && (executed || send->ahead_end == index)) {
		const int status = send->wqe_status[slot];

		send->wqe_status[slot] = 0;
		return status;
	}
	if (!executed && send->end_seen && send->ahead_end == index && !send->rung)
		return -ENOENT;
	return read_start(qp, qpc, index, slot, w);
}

void wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len)
{
	qp->send.end_seen = false;
	if (len >= sizeof(struct wqe_ctrl) && len <= WQE_MAX_BYTES &&
	    wqe_ctrl_get_ds((const struct wqe_ctrl *)wqe) * WQE_UNIT <= len)
		line_put(qp->hca->wqe_fetch, qp, index, wqe, len, false);
}

void wqe_fetch_done(struct qp *qp, uint16_t index)
{
	struct wqe_line *line = line_find(qp->hca->wqe_fetch, qp, index);

	if (line && !line->wanted)
		line_drop(qp->hca->wqe_fetch, line);
}

void wqe_fetch_release(struct qp *qp)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;

	while (qp->send.wqe_lines)
		line_drop(wf, qp->send.wqe_lines);
	for (unsigned slot = SLOT_AHEAD; slot <= SLOT_BACK; slot++)
		if (qp->send.wqe_reads[slot])
			qp->send.wqe_reads[slot]->qp = NULL;
	qp_forgets(qp);
}

void wqe_fetch_drop(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_find(hca, qpn);

	if (qp)
		wqe_fetch_release(qp);
	wqe_receive_drop(hca->wqe_fetch, qpn);
}
