/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WQEs from host memory: owner bits, prefetch of what follows, the WQE buffers of the device.
 * from: requester, scheduler (BlueFlame), srq; to: pcie, translate. Time: [hca.wqe_fetch].
 *
 * The device holds wqe_fetch.entries send WQEs in lines, which are found by QP and index. The least
 * recently used line is the first to go. WQEs come by BlueFlame or by DMA reads. At most
 * wqe_fetch.reads reads are under way; others wait in the order in which they were asked for. The
 * first read of a queue at rest takes wqe_fetch.first WQEs; each further one takes twice as many as
 * the last one found, up to wqe_fetch.prefetch. It begins when half of what the last one found has
 * been used. A WQE that is needed again (to send it again, or for a READ response) and is not held
 * any more is read alone.
 *
 * A line that was read for a sender stays until its packet is built; one that was read for a
 * response stays until the response is written. So everybody gets his WQE, however few lines there
 * are. A read for a sender begins when a line is free that nobody waits for. A read for a response
 * begins when there is a line that no other response waits for; it may take the line of a sender,
 * who then reads again. Responses never wait for senders, because they hold the receive buffer of
 * the port: while it is full, the peer cannot send.
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
/* Entries of the send queue that a WQE takes: one, but on a QP with frames as many as it is long
 * (Linux mlx4_en counts its ring in entries of 64 bytes). Its index is that of the first one. */
static inline unsigned wqe_entries(unsigned bytes, unsigned stride)
{
	return bytes > stride ? (bytes + stride - 1) / stride : 1;
}
void wqe_geometry_send(const struct qpc *qpc, struct wqe_geometry *g);
void wqe_geometry_receive(const struct qpc *qpc, struct wqe_geometry *g);

struct wqe_fetch *wqe_fetch_create(struct hca *hca);
void wqe_fetch_destroy(struct wqe_fetch *wf);
void wqe_fetch_reset(struct hca *hca);
size_t wqe_fetch_footprint(const struct hca *hca);
/*
 * The bytes of send WQE `index` (free running). 0: *wqe points to *len bytes (at most a stride),
 * which are valid until the next call. -EAGAIN: it is being read, `w` is queued. -ENOENT: it is not
 * posted, by its owner bit. -EFAULT, TRANSLATE_*: the queue's memory cannot be reached. The owner
 * bit is looked at for WQE_NEED_NEXT only.
 */
int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, enum wqe_need need,
		   struct waiter *w, const uint8_t **wqe, unsigned *len);
/* One more WQE has come by BlueFlame: whether it is to be held, or left to be read. */
bool wqe_fetch_announce(struct qp *qp);
/* n WQEs that came by BlueFlame have been begun, or never will be. */
void wqe_fetch_begun(struct qp *qp, unsigned n);
/* A WQE has come by BlueFlame. It is held if there is a line; otherwise it is read from memory
 * later. */
void wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len);
/* The user does not wait for WQEs any more: lines that were read for him may go. */
void wqe_fetch_unwant(struct qp *qp, enum wqe_user user);
/* The WQE has completed: its line is free for others. */
void wqe_fetch_done(struct qp *qp, uint16_t index);
/* All lines of the QP are free for others. */
void wqe_fetch_release(struct qp *qp);
/* Forgets all WQEs of the QP, receive WQEs too: the memory of its queues goes away. */
void wqe_fetch_drop(struct hca *hca, uint32_t qpn);
/* Where a receive WQE lies: queue buffer as in its context, byte offset in it. */
struct receive_slot {
	uint64_t mtt_addr, offset;
	uint32_t qpn;
	unsigned log_page_size, stride;
	unsigned posted; /* it and WQEs behind it, in a row, that are known to be posted: 1 or more
			  */
	bool shared;     /* of an SRQ: another QP may take it while this one waits for its bytes */
};
/*
 * The bytes of a receive WQE. Results as those of wqe_fetch_send(), but not -ENOENT: the caller
 * knows that it is posted. `again`: for a later packet of the message that took it. Without
 * `again`, a WQE that was handed out before is read anew, because its slot has been posted again.
 * So is a shared one that nobody waits for any more: the driver may have posted its slot again for
 * another QP.
 */
int wqe_fetch_receive(struct hca *hca, const struct receive_slot *slot, bool again,
		      struct waiter *w, const uint8_t **wqe);

#endif
