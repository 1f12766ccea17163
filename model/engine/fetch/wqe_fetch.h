/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WQEs from host memory: owner bits, prefetch of what follows, the WQE buffers of the device.
 * from: requester, scheduler (BlueFlame), srq; to: pcie, translate. Time: [hca.wqe_fetch].
 *
 * Send WQEs: wqe_fetch.entries of them are held, found by QP and index, the least recently used one
 * goes. They come by BlueFlame or by DMA reads, of which wqe_fetch.reads are under way at a time,
 * the others in the order in which they were asked for: of a few WQEs where a queue was at rest, of
 * twice as many as the last one found, up to prefetch, while it goes on; the next one begins when
 * what the last one found is begun to be used. A WQE that is needed once more (resending, READ
 * responses) and has gone is read alone.
 *
 * What was read for somebody stays until he is done with it: until his packet is built or his
 * response written, however long translations take. So everyone comes to his turn, however few are
 * held: a read to send from begins when it will find a line that nobody waits for; that of a
 * response when it will find one that no other response waits for, and takes it from a sender, who
 * reads again. Responses wait for no sender: they hold the receive buffer that the peer's link, and
 * so its senders, wait for.
 */
#ifndef MODEL_ENGINE_WQE_FETCH_H
#define MODEL_ENGINE_WQE_FETCH_H

#include "model/engine/qp/qp_send.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct qp;
struct qpc;
struct waiter;

enum { WQE_MAX_BYTES = 1024 };

/* Who takes send WQEs of a QP. */
enum wqe_user { WQE_SENDS = 1 << 0, WQE_RESPONSES = 1 << 1 };

/* Where a queue of a context lies in the work queue buffer: the one with the larger stride first,
 * at equal strides the send queue. */
struct wqe_geometry {
	uint64_t offset; /* of WQE 0 */
	uint32_t stride; /* bytes */
	uint32_t count;  /* WQEs, a power of two */
};
void wqe_geometry_send(const struct qpc *qpc, struct wqe_geometry *g);
void wqe_geometry_receive(const struct qpc *qpc, struct wqe_geometry *g);

struct wqe_fetch *wqe_fetch_create(struct hca *hca);
void wqe_fetch_destroy(struct wqe_fetch *wf);
void wqe_fetch_reset(struct hca *hca);
size_t wqe_fetch_footprint(const struct hca *hca);
/*
 * The bytes of send WQE `index` (free running). 0: *wqe points to *len bytes (at most a stride)
 * valid until the next call; -EAGAIN: being read; -ENOENT: owner bit says it is not the hardware's
 * (nothing posted); -EFAULT, TRANSLATE_*: queue memory not reachable. A WQE that has been taken
 * before is read again where the bytes at hand are from before it was posted; whatever is in memory
 * then is the answer.
 */
int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w, const uint8_t **wqe, unsigned *len);
/* One more WQE has come by BlueFlame: whether it is to be held, or left to be read. */
bool wqe_fetch_announce(struct qp *qp);
/* WQEs of the queue have been begun, or never will be. */
void wqe_fetch_begun(struct qp *qp, unsigned n);
/* A WQE that came by BlueFlame: held if there is room; it is in memory too. */
void wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len);
/* The user is done, or waits for something else than memory: what was read for him may go. */
void wqe_fetch_unwant(struct qp *qp, enum wqe_user user);
/* It has completed: its place is free for others. */
void wqe_fetch_done(struct qp *qp, uint16_t index);
/* What is held for the QP is free for others. */
void wqe_fetch_release(struct qp *qp);
/* Forgets what is held for a QP, receives too: its queue memory goes away. */
void wqe_fetch_drop(struct hca *hca, uint32_t qpn);
/* Where a receive WQE lies: queue buffer as in its context, byte offset in it. */
struct receive_slot {
	uint64_t mtt_addr, offset;
	uint32_t qpn;
	unsigned log_page_size, stride;
	unsigned posted; /* it and WQEs behind it, in a row, that are known to be posted: 1 or more
			  */
};
/*
 * A receive WQE's bytes: RQ index, SRQ slot. The same results; the caller knows that it is posted.
 * It is kept for `again`, the later packets of the message that took it; without it a WQE that was
 * handed out before is read anew, for its slot has been posted again.
 */
int wqe_fetch_receive(struct hca *hca, const struct receive_slot *slot, bool again,
		      struct waiter *w, const uint8_t **wqe);

#endif
