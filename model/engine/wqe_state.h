/* Inside of wqe_fetch: send WQEs (wqe_fetch.c), receive WQEs (wqe_receive.c), where they lie
 * (wqe_queue.c). */
#ifndef MODEL_ENGINE_WQE_STATE_H
#define MODEL_ENGINE_WQE_STATE_H

#include "model/engine/engine.h"
#include "model/engine/pcie.h"
#include "model/engine/wqe_fetch.h"

enum { WQE_FRAGS = 4 }; /* pieces of host memory of one read */

struct wqe_line;
struct wqe_read;
struct receive_buffer;

struct wqe_fetch {
	struct hca *hca;
	/* send */
	unsigned n_lines;
	unsigned max_reads, active; /* reads under way: at most, now */
	unsigned n_reads;           /* made, with those that wait for one to end */
	uint32_t read_bytes, hash_mask;
	struct wqe_line *lines, *newest, *oldest, **buckets;
	struct wqe_read *reads_all, *reads_free, *reads_first, *reads_last; /* that wait */
	uint8_t *bytes,
		*buffers_free; /* first what lines hold, then a buffer for each read under way */
	struct waiter idle;    /* of prefetches: nobody waits for their translations */
	/* receive */
	unsigned n_receives;
	struct receive_buffer *receives;
	struct waiter_queue receive_room;
	struct event receive_event;
};

/* Bus fragments of n bytes of a queue buffer; n is cut to what WQE_FRAGS hold. */
int wqe_queue_frags(struct hca *hca, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset,
		    uint32_t *n, struct waiter *w, uint32_t qpn, struct dma_frag *frags,
		    unsigned *n_frags);

void wqe_receive_create(struct wqe_fetch *wf);
void wqe_receive_reset(struct wqe_fetch *wf);
void wqe_receive_drop(struct wqe_fetch *wf, uint32_t qpn);
void wqe_receive_destroy(struct wqe_fetch *wf);
size_t wqe_receive_footprint(const struct wqe_fetch *wf);

#endif
