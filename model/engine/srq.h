/*
 * Receives from RQ, SRQ and XRC SRQ: which WQE a message gets, limits, who may use which SRQ.
 * from: responder; to: wqe_fetch, context_cache, event_queue. Time: [hca.srq].
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
	uint32_t pd;	/* whose keys count */
	uint32_t cqn;
};

/*
 * The receive WQE of the next (or, `again`, the present) message of this QP. 0; -EAGAIN; -ENOENT: none is posted (RNR); -EFAULT or TRANSLATE_*: queue not reachable.
 * `srqn` is the XRCETH's for service XRC, else ignored.
 */
int srq_receive_get(struct qp *qp, struct qpc *qpc, uint32_t srqn, bool again, struct waiter *w, struct receive_wqe *wqe);
/* Number of receives posted and free, for the credit count of ACKs; -EAGAIN while the doorbell record is being read; behind an SRQ -ENOENT. */
int srq_receive_count(struct qp *qp, struct qpc *qpc, struct waiter *w, unsigned *count);
/* Firmware: ARM_SRQ changed the limit in the context: compare now. */
void srq_limit_changed(struct hca *hca, uint32_t srqn);

#endif
