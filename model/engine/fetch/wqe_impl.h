/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of wqe_fetch: send WQEs (wqe_fetch.c, wqe_read.c), receive WQEs (wqe_receive.c), where
 * they lie (wqe_queue.c). */
#ifndef MODEL_ENGINE_WQE_IMPL_H
#define MODEL_ENGINE_WQE_IMPL_H

#include "model/engine/base/engine.h"
#include "model/engine/qp/qp_send_states.h"
#include "model/engine/base/keep.h"
#include "model/engine/host/pcie.h"
#include "model/engine/fetch/wqe_fetch.h"

enum { WQE_FRAGS = 4 }; /* pieces of host memory of one read */

struct receive_buffer;
struct receive_set;

/* A place in a queue buffer. */
struct wqe_place {
	uint64_t mtt_addr, offset;
	unsigned log_page_size;
	uint32_t qpn; /* whose */
};

/* A WQE held in the device. */
struct wqe_line {
	struct wqe_line *newer, *older; /* by last use */
	struct wqe_line *hash_next;
	struct wqe_line *qp_next, **qp_link; /* of the same QP */
	struct qp *qp;                       /* NULL: free */
	uint16_t index, len;
	uint8_t wanted; /* enum wqe_user: who has waited for it and is not done with it */
	bool fetched;   /* from memory, not by BlueFlame */
	uint8_t *bytes;
};

/* WQEs being read, or that wait for their translation or their turn. */
struct wqe_read {
	struct dma dma;
	struct wqe_fetch *wf;
	struct waiter waiter;             /* for the translation */
	struct wqe_read *next, *next_all; /* free, or behind it waiting */
	struct waiter_queue waiters;
	struct qp *qp; /* NULL: free, or its owner went away */
	uint8_t need, log_count;
	uint16_t first, count;
	uint32_t stride, wanted; /* bytes */
	struct wqe_place place;
	struct dma_frag frags[WQE_FRAGS];
	uint8_t *bytes; /* its buffer, while it is under way */
};

struct wqe_fetch {
	struct hca *hca;
	/* send */
	unsigned n_lines;
	unsigned n_wanted, n_wanted_responses; /* lines that are wanted; of these, by responses */
	unsigned n_announced; /* WQEs that came by BlueFlame and are not begun, held or not */
	unsigned max_reads, active, active_responses; /* reads under way: at most, now */
	unsigned n_reads;                             /* in reads_all: under way, waiting or free */
	uint32_t read_bytes, hash_mask;
	uint64_t busy_ps; /* the next read does not begin before */
	struct wqe_line *lines, *newest, *oldest, **buckets;
	struct wqe_read *reads_all, *reads_free, *reads_first, *reads_last; /* that wait */
	uint8_t *bytes;        /* what lines hold, then buffers of reads */
	uint8_t *buffers_free; /* of reads under way, chained by their first bytes */
	struct event room_event;
	/* receive */
	unsigned n_receives, receive_ways;
	struct receive_buffer *receives;
	struct receive_set *receive_sets, *receive_sets_due;
	struct keep_pool receive_keeps;
	struct event receive_event;
};

/* Bus fragments of n bytes from there on; n is cut to what WQE_FRAGS hold. 0, or as
 * translate_queue(). */
int wqe_queue_frags(struct hca *hca, const struct wqe_place *place, uint32_t *n, struct waiter *w,
		    struct dma_frag *frags, unsigned *n_frags);

static inline enum wqe_user wqe_need_user(enum wqe_need need)
{
	return need == WQE_NEED_RESPONSE ? WQE_RESPONSES : WQE_SENDS;
}

/* May a read begin? One for a sender needs a line that nobody waits for; one for a response needs a
 * line that no other response waits for. */
static inline bool wqe_read_has_room(const struct wqe_fetch *wf, enum wqe_need need)
{
	if (wf->active >= wf->max_reads)
		return false;
	if (need == WQE_NEED_RESPONSE)
		return wf->active_responses + wf->n_wanted_responses < wf->n_lines;
	return wf->active + wf->n_wanted < wf->n_lines;
}

/* -EAGAIN, or why the queue's memory is out of reach. */
int wqe_read_start(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w);
void wqe_reads_room(struct event *ev); /* job of room_event: a line is free */
void wqe_reads_reset(struct wqe_fetch *wf);
/* Puts bytes that came by a read, or by BlueFlame (read: NULL), into a line. NULL: no line is
 * free. */
struct wqe_line *wqe_line_put(struct wqe_fetch *wf, struct qp *qp, uint16_t index,
			      const uint8_t *bytes, uint32_t len, const struct wqe_read *read);
/* The line stays until the user is done with it. */
void wqe_line_want(struct wqe_fetch *wf, struct wqe_line *line, enum wqe_user user);

void wqe_receive_create(struct wqe_fetch *wf);
void wqe_receive_reset(struct wqe_fetch *wf);
void wqe_receive_drop(struct wqe_fetch *wf, uint32_t qpn);
void wqe_receive_destroy(struct wqe_fetch *wf);
size_t wqe_receive_footprint(const struct wqe_fetch *wf);

#endif
