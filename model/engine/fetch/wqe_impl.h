/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of wqe_fetch: send WQEs (wqe_fetch.c, wqe_read.c), receive WQEs (wqe_receive.c), and
 * their places in the queue (wqe_queue.c). */
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
	uint32_t qpn; /* the QP whose queue it is */
};

/* A WQE held in the device. */
struct wqe_line {
	struct wqe_line *newer, *older; /* in order of last use */
	struct wqe_line *hash_next;
	struct wqe_line *qp_next, **qp_link; /* lines of the same QP */
	struct qp *qp;                       /* NULL: free */
	uint16_t index, len;
	uint8_t wanted; /* enum wqe_user: users that have waited for it and still need it */
	bool fetched;   /* read from memory, not written by BlueFlame */
	uint8_t *bytes;
};

/* A read of WQEs: under way, or waiting for its translation or its turn. */
struct wqe_read {
	struct dma dma;
	struct wqe_fetch *wf;
	struct waiter waiter;             /* waits for the translation */
	struct wqe_read *next, *next_all; /* next free one, or next in the queue */
	struct waiter_queue waiters;
	struct qp *qp; /* NULL: free, or the QP has been freed */
	uint8_t need, log_count;
	uint16_t first, count;
	uint32_t stride, wanted; /* bytes */
	/* bytes beyond the end of the queue, which are at its beginning; only with `long_wqes` */
	uint32_t wrapped;
	bool long_wqes; /* a WQE may take several entries of the queue */
	struct wqe_place place, beginning;
	struct dma_frag frags[2 * WQE_FRAGS];
	uint8_t *bytes; /* its buffer while it is under way */
};

struct wqe_fetch {
	struct hca *hca;
	/* send */
	unsigned n_lines;
	/* lines that are wanted, and those of them that responses want */
	unsigned n_wanted, n_wanted_responses;
	/* WQEs that came by BlueFlame and have not been started, in a line or not */
	unsigned n_announced;
	/* most reads under way; reads under way now; those of them for responses */
	unsigned max_reads, active, active_responses;
	/* reads in reads_all: under way, waiting or free */
	unsigned n_reads;
	uint32_t read_bytes, hash_mask;
	uint64_t busy_ps; /* the next read does not begin before this time */
	struct wqe_line *lines, *newest, *oldest, **buckets;
	/* reads_first, reads_last: those that wait */
	struct wqe_read *reads_all, *reads_free, *reads_first, *reads_last;
	uint8_t *bytes;        /* memory of the lines, then buffers of reads */
	uint8_t *buffers_free; /* free buffers of reads, linked through their first bytes */
	struct event room_event;
	/* receive */
	unsigned n_receives, receive_ways;
	struct receive_buffer *receives;
	struct receive_set *receive_sets, *receive_sets_due;
	struct keep_pool receive_keeps;
	struct event receive_event;
};

/* Bus fragments of n bytes from `place` on. n is reduced to what WQE_FRAGS fragments can hold. 0,
 * or an error as of translate_queue(). */
int wqe_queue_frags(struct hca *hca, const struct wqe_place *place, uint32_t *n, struct waiter *w,
		    struct dma_frag *frags, unsigned *n_frags);

static inline enum wqe_user wqe_need_user(enum wqe_need need)
{
	return need == WQE_NEED_RESPONSE ? WQE_RESPONSES : WQE_SENDS;
}

/* Whether a read may begin. A read for a sender needs a line that nobody waits for; a read for a
 * response needs a line that no other response waits for. */
static inline bool wqe_read_has_room(const struct wqe_fetch *wf, enum wqe_need need)
{
	if (wf->active >= wf->max_reads)
		return false;
	if (need == WQE_NEED_RESPONSE)
		return wf->active_responses + wf->n_wanted_responses < wf->n_lines;
	return wf->active + wf->n_wanted < wf->n_lines;
}

/* -EAGAIN, or the reason why the queue's memory cannot be reached. */
int wqe_read_start(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w);
void wqe_reads_room(struct event *ev); /* job of room_event: a line has become free */
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
