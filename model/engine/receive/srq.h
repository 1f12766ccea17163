/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives from RQ, SRQ and XRC SRQ: which WQE a message gets, limits, who may use which SRQ.
 * from: responder; to: wqe_fetch, context_cache, event_queue. Time: [hca.srq].
 *
 * A doorbell record in host memory says how many receives are posted. It is read when all receives
 * known to be posted are used up, in advance when an RQ has fewer than srq.refresh percent of its
 * size left, and when an SRQ's limit is to be compared.
 */
#ifndef MODEL_ENGINE_SRQ_H
#define MODEL_ENGINE_SRQ_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct qp;
struct qpc;
struct waiter;

/* A receive WQE taken for a message. */
struct receive_wqe {
	const uint8_t *segments; /* data segments; valid until the next fetch */
	unsigned n_bytes;
	uint16_t index; /* RQ counter or SRQ slot, as the CQE shows it */
	uint32_t pd;    /* whose keys count */
	uint32_t cqn;
};

/*
 * Gets the receive WQE for the next message of this QP or, with `again`, that of the present one.
 * Taking it is recorded in the context (rx_has_receive, rx_receive, rx_srqn) and in the queue.
 * 0; -EAGAIN; -ENOENT: none is posted (RNR); -ENXIO: XRC, no such SRQ or of another domain; -EIO:
 * SRQ in error; -EFAULT or TRANSLATE_*: queue not reachable. `srqn` is the XRCETH's for service
 * XRC, else that of the context. The caller has a lease on qpc.
 */
int srq_receive_get(struct qp *qp, struct qpc *qpc, uint32_t srqn, bool again, struct waiter *w,
		    struct receive_wqe *wqe);
/* Number of receives known to be posted and free, for the credit count of ACKs; behind an SRQ
 * -ENOENT. Never waits. */
int srq_receive_count(struct qp *qp, struct qpc *qpc, unsigned *count);
/* Firmware (ARM_SRQ) has changed the limit in the context: compares it now. */
void srq_limit_changed(struct hca *hca, uint32_t srqn);

#endif
