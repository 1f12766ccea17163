/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that hold send WQEs, and the look-up of a WQE. See wqe_fetch.h; wqe_read.c reads
 * them. */
#include "model/engine/fetch/wqe_impl.h"

#include "model/engine/qp/qp.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca_wqe_fetch.h"

#include <stdlib.h>
#include <string.h>

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

void wqe_line_want(struct wqe_fetch *wf, struct wqe_line *line, enum wqe_user user)
{
	line->qp->send.wqe_wants |= user;
	wf->n_wanted += !line->wanted;
	wf->n_wanted_responses += user == WQE_RESPONSES && !(line->wanted & WQE_RESPONSES);
	line->wanted |= user;
}

/* There may be room for another read now. An event looks for it, because the caller is in the
 * middle of a step. */
static void line_unwant(struct wqe_fetch *wf, struct wqe_line *line, unsigned users)
{
	const unsigned ended = line->wanted & users;

	if (!ended)
		return;
	line->wanted &= ~users;
	wf->n_wanted -= !line->wanted;
	wf->n_wanted_responses -= !!(ended & WQE_RESPONSES);
	if (wf->reads_first && !event_is_set(&wf->room_event))
		event_set(wf->hca->core, &wf->room_event, hca_now(wf->hca));
}

/* Empties the line. It keeps its place in the order of last use. */
static void line_empty(struct wqe_fetch *wf, struct wqe_line *line)
{
	struct wqe_line **at = line_bucket(wf, line->qp->qpn, line->index);

	line->qp->send.wqe_wants &= ~line->wanted;
	line_unwant(wf, line, line->wanted);
	while (*at != line)
		at = &(*at)->hash_next;
	*at = line->hash_next;
	*line->qp_link = line->qp_next;
	if (line->qp_next)
		line->qp_next->qp_link = line->qp_link;
	line->qp = NULL;
}

static void line_drop(struct wqe_fetch *wf, struct wqe_line *line)
{
	line_empty(wf, line);
	unlink_line(wf, line);
	link_oldest(wf, line);
}

/* The least recently used line that nobody waits for. If there is none, a response takes the line
 * of a sender. */
static struct wqe_line *line_spare(const struct wqe_fetch *wf, bool response)
{
	struct wqe_line *line = wf->oldest;

	while (line && line->wanted)
		line = line->newer;
	if (line || !response)
		return line;
	line = wf->oldest;
	while (line && line->wanted & WQE_RESPONSES)
		line = line->newer;
	return line;
}

/* A line for this WQE: its own, or a spare one. NULL: none. */
static struct wqe_line *line_take(struct wqe_fetch *wf, struct qp *qp, uint16_t index,
				  bool response)
{
	struct wqe_line *line = line_find(wf, qp, index), **home;

	if (line)
		return line;
	line = line_spare(wf, response);
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

struct wqe_line *wqe_line_put(struct wqe_fetch *wf, struct qp *qp, uint16_t index,
			      const uint8_t *bytes, uint32_t len, const struct wqe_read *read)
{
	struct wqe_line *line = line_take(wf, qp, index, read && read->need == WQE_NEED_RESPONSE);

	if (!line)
		return NULL;
	memcpy(line->bytes, bytes, len);
	line->len = (uint16_t)len;
	line->fetched = read;
	line_touch(wf, line);
	return line;
}

/* --- life --- */

static void lines_link(struct wqe_fetch *wf)
{
	wf->newest = wf->oldest = NULL;
	wf->n_wanted = wf->n_wanted_responses = 0;
	wf->busy_ps = 0;
	memset(wf->buckets, 0, ((size_t)wf->hash_mask + 1) * sizeof(*wf->buckets));
	for (unsigned i = 0; i < wf->n_lines; i++) {
		wf->lines[i].qp = NULL;
		wf->lines[i].wanted = 0;
		link_newest(wf, &wf->lines[i]);
	}
}

static size_t bytes_held(const struct wqe_fetch *wf)
{
	return (size_t)wf->n_lines * WQE_MAX_BYTES + (size_t)wf->max_reads * wf->read_bytes;
}

struct wqe_fetch *wqe_fetch_create(struct hca *hca)
{
	struct wqe_fetch *wf = memory_create(1, sizeof(*wf), "WQEs");
	const struct hca_params *p = hca->params;
	uint32_t buckets = 1;

	wf->hca = hca;
	wf->room_event.job = wqe_reads_room;
	wf->n_lines = (unsigned)param_wqe_fetch_entries(p);
	wf->max_reads = (unsigned)param_wqe_fetch_reads(p);
	wf->read_bytes = (uint32_t)(param_wqe_fetch_read_size(p) > WQE_MAX_BYTES
					    ? param_wqe_fetch_read_size(p)
					    : WQE_MAX_BYTES);
	while (buckets < 2 * wf->n_lines)
		buckets *= 2;
	wf->hash_mask = buckets - 1;
	wf->lines = memory_create(wf->n_lines, sizeof(*wf->lines), "WQEs");
	wf->buckets = memory_create(buckets, sizeof(*wf->buckets), "WQEs");
	wf->bytes = memory_create(1, bytes_held(wf), "WQEs");
	for (unsigned i = 0; i < wf->n_lines; i++)
		wf->lines[i].bytes = wf->bytes + (size_t)i * WQE_MAX_BYTES;
	lines_link(wf);
	wqe_reads_reset(wf);
	wqe_receive_create(wf);
	return wf;
}

void wqe_fetch_destroy(struct wqe_fetch *wf)
{
	if (!wf)
		return;
	wqe_receive_destroy(wf);
	event_cancel(wf->hca->core, &wf->room_event);
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
	wqe_fetch_begun(qp, qp->send.announced);
	qp->send.wqe_lines = NULL;
	qp->send.wqe_wants = 0;
	for (unsigned need = 0; need < WQE_NEEDS; need++) {
		qp->send.wqe_reads[need] = NULL;
		qp->send.wqe_status[need] = 0;
	}
	qp->send.ahead_count = 0;
	send_tail_set_seen(&qp->send, false);
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
	event_cancel(hca->core, &wf->room_event);
	lines_link(wf);
	wqe_reads_reset(wf);
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

/* --- interface --- */

/* Starts a prefetch behind the last read when half of the WQEs that it found have been used, but
 * not if the prefetch would have to wait for other reads. */
static void read_ahead(struct qp *qp, const struct qpc *qpc, uint16_t index)
{
	const struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct qp_send *send = &qp->send;

	if (!send->ahead_count || send_tail_is_blueflame(send) || send->wqe_reads[WQE_NEED_NEXT] ||
	    2u * (uint16_t)(send->ahead_end - index) > send->ahead_count)
		return;
	if (!wqe_read_has_room(wf, WQE_NEED_NEXT))
		qp->hca->stats.wqe_fetch_waits++;
	else
		wqe_read_start(qp, qpc, send->ahead_end, WQE_NEED_NEXT, NULL);
}

void __attribute__((noinline)) wqe_fetch_unwant(struct qp *qp, enum wqe_user user)
{
	qp->send.wqe_wants &= ~user;
	for (struct wqe_line *line = qp->send.wqe_lines; line; line = line->qp_next)
		line_unwant(qp->hca->wqe_fetch, line, user);
}

int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w, const uint8_t **wqe, unsigned *len)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;
	struct qp_send *send = &qp->send;
	const bool next = need == WQE_NEED_NEXT;
	const enum wqe_user user = wqe_need_user(need);
	struct wqe_line *line = line_find(wf, qp, index);
	uint32_t bytes;

	if (line) {
		line_touch(wf, line);
		qp->hca->stats.wqe_fetch_hits += !line->wanted;
		if (send->wqe_wants & user && !(line->wanted & user))
			wqe_fetch_unwant(qp, user);
		bytes = wqe_ctrl_get_ds((const struct wqe_ctrl *)line->bytes) * WQE_UNIT;
		*wqe = line->bytes;
		*len = bytes < line->len ? bytes : line->len;
		if (next && line->fetched)
			read_ahead(qp, qpc, index);
		return 0;
	}
	if (send->wqe_wants & user)
		wqe_fetch_unwant(qp, user);
	if (send->wqe_reads[need]) {
		waiter_queue_add(&send->wqe_reads[need]->waiters, w);
		return -EAGAIN;
	}
	if (send->wqe_status[need] && (!next || send->ahead_end == index)) {
		const int status = send->wqe_status[need];

		send->wqe_status[need] = 0;
		return status;
	}
	if (next && send->ahead_end == index && send_tail_is_seen(send))
		return -ENOENT;
	return wqe_read_start(qp, qpc, index, need, w);
}

bool wqe_fetch_announce(struct qp *qp)
{
	if (qp->send.announced == UINT16_MAX) /* more than a queue can contain */
		return false;
	qp->send.announced++;
	return qp->hca->wqe_fetch->n_announced++ < qp->hca->wqe_fetch->n_lines;
}

void wqe_fetch_begun(struct qp *qp, unsigned n)
{
	if (n > qp->send.announced)
		n = qp->send.announced;
	qp->send.announced -= (uint16_t)n;
	qp->hca->wqe_fetch->n_announced -= n;
}

void wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len)
{
	if (len >= sizeof(struct wqe_ctrl) && len <= WQE_MAX_BYTES &&
	    wqe_ctrl_get_ds((const struct wqe_ctrl *)wqe) * WQE_UNIT <= len)
		wqe_line_put(qp->hca->wqe_fetch, qp, index, wqe, len, NULL);
}

void wqe_fetch_done(struct qp *qp, uint16_t index)
{
	struct wqe_line *line = line_find(qp->hca->wqe_fetch, qp, index);

	if (line)
		line_drop(qp->hca->wqe_fetch, line);
}

void wqe_fetch_release(struct qp *qp)
{
	struct wqe_fetch *wf = qp->hca->wqe_fetch;

	while (qp->send.wqe_lines)
		line_drop(wf, qp->send.wqe_lines);
	for (unsigned need = 0; need < WQE_NEEDS; need++)
		if (qp->send.wqe_reads[need])
			qp->send.wqe_reads[need]->qp = NULL;
	qp_forgets(qp);
}

void wqe_fetch_drop(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_find(hca, qpn);

	if (qp)
		wqe_fetch_release(qp);
	wqe_receive_drop(hca->wqe_fetch, qpn);
}
