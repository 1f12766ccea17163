/*
 * Send WQEs from host memory: owner bits, prefetch of what follows, the WQE cache of the device.
 * from: requester; to: pcie, translate. Time: [hca.wqe_fetch].
 */
#ifndef MODEL_ENGINE_WQE_FETCH_H
#define MODEL_ENGINE_WQE_FETCH_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;
struct qpc;
struct waiter;

enum { WQE_MAX_BYTES = 1024 };

struct wqe_fetch *wqe_fetch_create(struct hca *hca);
void wqe_fetch_destroy(struct wqe_fetch *wf);
void wqe_fetch_reset(struct hca *hca);
/*
 * The bytes of send WQE `index` (free running). 0: *wqe points to *len bytes valid until the next call; -EAGAIN: being read; -ENOENT: owner bit says
 * it is not the hardware's (nothing posted); -EFAULT, TRANSLATE_*: queue memory not reachable. `executed`: the WQE has been taken before (retry): the owner bit is not asked again.
 */
int wqe_fetch_send(struct qp *qp, const struct qpc *qpc, uint16_t index, bool executed, struct waiter *w, const uint8_t **wqe, unsigned *len);
/* A WQE that came by BlueFlame. */
void wqe_fetch_put(struct qp *qp, uint16_t index, const uint8_t *wqe, unsigned len);
/* Forgets what is cached for a QP: queue memory may have changed (reset, flush). */
void wqe_fetch_drop(struct hca *hca, uint32_t qpn);
/*
 * A receive WQE's bytes read from memory (no cache beyond a small prefetch): RQ index, SRQ slot. Same results; the caller knows that one is posted.
 */
int wqe_fetch_receive(struct hca *hca, uint32_t qpn, uint64_t mtt_addr, unsigned log_page_size, uint64_t offset, unsigned stride, struct waiter *w,
		      const uint8_t **wqe);

#endif
