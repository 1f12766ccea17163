/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by responder*.c, atomic_read.c, atomic_unit.c and srq.c only. */
#ifndef MODEL_ENGINE_RESPONDER_IMPL_H
#define MODEL_ENGINE_RESPONDER_IMPL_H

#include "model/interface/macros.h"
#include "model/engine/base/pool.h"
#include "model/engine/memory/context_cache.h"
#include "model/engine/wire/frame.h"
#include "model/engine/wire/packet_queue.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/responder.h"
#include "model/engine/receive/srq.h"
#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"

#include <string.h>

/*
 * States that a request packet goes through: S(NAME, "what it waits for: who moves it on"). Each
 * state has a function, which either completes its step and returns the next state, or changes
 * nothing and returns RESP_WAIT.
 */
#define RESP_STATES(S)                                                                             \
	S(NEXT, "a request: responder_request")                                                    \
	S(QP, "context: context_cache")                                                            \
	S(PSN, "context: context_cache")                                                           \
	S(SEQUENCE, "context: context_cache")                                                      \
	S(OPERATION, "context: context_cache")                                                     \
	S(LENGTH, "context: context_cache")                                                        \
	S(RECEIVE, "doorbell record, receive WQE, SRQ context: srq, wqe_fetch")                    \
	S(ACCESS, "MPT: translate")                                                                \
	S(WRITE, "MTT: translate; atomics before it: atomic_read")                                 \
	S(SEND, "receive WQE, MTT: wqe_fetch, translate; atomics before it: atomic_read")          \
	S(FETCH, "MPT, responder resources: translate, atomic_read")                               \
	S(COMPLETE, "context: context_cache")                                                      \
	S(ACK, "context: context_cache")                                                           \
	S(DUPLICATE, "context, responder resources: context_cache, atomic_read")                   \
	S(REFUSE, "context: context_cache")                                                        \
	S(DONE, "nothing")                                                                         \
	S(FLUSH, "context, doorbell record: context_cache, srq")

enum resp_state {
#define S(name, waits) RESP_##name,
	RESP_STATES(S)
#undef S
		RESP_STATE_COUNT,
	RESP_WAIT = RESP_STATE_COUNT, /* returned: stay in this state */
};

/* Bits of packet.mark for packets that the responder holds. */
enum resp_mark {
	MARK_LANDING = 1 << 0,   /* request: payload write under way */
	MARK_READY = 1 << 1,     /* response: may leave */
	MARK_FAILED = 1 << 2,    /* response: the NAK of packet.verdict is sent in its place */
	MARK_LAST = 1 << 3,      /* response: the last one of a READ or atomic */
	MARK_AGAIN = 1 << 4,     /* with MARK_LAST: the READ is a repeated one */
	MARK_RESOURCES = 1 << 5, /* request: has got the QP's responder resources from the cache */
	MARK_BEHIND = 1 << 6,    /* response: ready once the data of earlier requests has landed */
};

enum {
	RECORD_OF_RQ = UINT32_MAX,
	RDMA_MAX_BYTES_LOG = 31, /* longest message, IBA 9.7.4.1.6 */
};

/* One run of the state machine, from an event until it waits. qpc is the context: NULL until the
 * first state that needs it leases it, and leased until the run ends. */
struct resp_run {
	struct qp *qp;
	struct hca *hca;
	struct qp_receive *r;
	struct packet *pkt;
	struct qpc *qpc;
	struct receive_wqe wqe; /* segments is NULL while it is not available */
};

/* A READ that is not yet split into response packets. */
struct read_job {
	struct read_job *next;
	struct packet_queue behind; /* responses due after it and before the next READ */
	uint64_t va;
	uint64_t ready_ps; /* earliest time to read its payload */
	uint32_t rkey, pd, left, psn, msn;
	bool started; /* its first response packet has been built */
	bool again;   /* the READ is repeated */
};

/* State that the responder keeps for each device. Each pool object belongs to a QP, except for the
 * checks. */
struct responder {
	struct pool receives, records, rings,
		read_jobs; /* of qp_receive: the pointers of these names */
	struct pool checks;
	struct srq_check *limit_checks; /* limits of SRQs being compared: srq.c */
	struct qp *flushed;             /* QPs in ERR whose receive queue is looked at */
	uint64_t atomic_busy_ps;        /* the atomic unit is held until then */
};

/* responder.c */
/* Runs the state machine, since something that it may wait for is now there. May free the QP's
 * private state. */
void responder_kick(struct qp *qp);
/* Some work has ended: settles the QP if this half is now quiet (while quiescing) or idle. May free
 * the QP's private state. */
void responder_settle(struct qp *qp);
/* Parts of responder_half. */
void responder_init(struct qp *qp);
void responder_flush(struct qp *qp, unsigned state);
void responder_resume(struct qp *qp, unsigned state);

/* responder_life.c */
bool responder_is_quiet(const struct qp *qp);
bool responder_is_idle(const struct qp *qp);

static inline int resp_context(struct resp_run *x)
{
	return x->qpc ? 0 : qp_lease(x->qp, true, &x->r->waiter, &x->qpc);
}

static inline enum resp_state resp_refuse(struct resp_run *x, enum verdict verdict)
{
	x->r->verdict = (uint8_t)verdict;
	return RESP_REFUSE;
}

/* For an error of resp_context(): waits on -EAGAIN, else drops the request like one for no QP. */
static inline enum resp_state resp_no_context(struct resp_run *x, int err)
{
	return err == -EAGAIN ? RESP_WAIT : resp_refuse(x, VERDICT_DROP);
}

static inline const void *resp_ext(const struct packet *pkt, enum bth_ext ext)
{
	return pkt->wire + pkt->bth_off + pkt->op->at[ext];
}

static inline const struct bth *resp_bth(const struct packet *pkt)
{
	return (const struct bth *)(const void *)(pkt->wire + pkt->bth_off);
}

static inline bool resp_is(const struct resp_run *x, enum bth_prop prop)
{
	return bth_op_is(x->pkt->op, prop);
}

static inline bool resp_reliable(const struct qpc *qpc)
{
	return qpc_get_service(qpc) == QP_ST_RC || qpc_get_service(qpc) == QP_ST_XRC;
}

/* The XRCETH's SRQ on XRC, else the context's. */
uint32_t resp_srqn(const struct resp_run *x);
/* The PD whose keys an RDMA request must use: the QP's, on XRC the SRQ's. 0, -EAGAIN, VERDICT_*. */
int resp_xrc_pd(struct resp_run *x, uint32_t *pd);
static inline int resp_rdma_pd(struct resp_run *x, uint32_t *pd)
{
	if (qpc_get_service(x->qpc) == QP_ST_XRC)
		return resp_xrc_pd(x, pd);
	*pd = qpc_get_pd(x->qpc);
	return 0;
}
/* Verdict for an access that translate has not allowed; `refused`: when the access itself is bad.
 * */
enum verdict resp_access_verdict(int err, enum verdict refused);

/* responder_frame.c */
/* The checks for a frame, once the context is there. */
enum resp_state resp_frame(struct resp_run *x);
void resp_frame_cqe(const struct packet *pkt, struct cqe *cqe);

/* responder_refuse.c */
enum resp_state resp_refuse_state(struct resp_run *x);
/*
 * Abandons the UC message under way, or the datagram. A receive of the QP's own queue is used for
 * the next message (IBA 9.8.2, 9.8.3: class D of responder errors). A receive of an SRQ cannot be
 * given back, so it completes in error and the QP continues (class E; Linux's rxe does so too). It
 * is an assumption that mlx4 does the same, with the syndrome that a reliable QP would give. 0, or
 * -EAGAIN: waits.
 */
int resp_abandon(struct resp_run *x, enum cqe_syndrome syndrome);

/* responder_execute.c */
enum resp_state resp_receive(struct resp_run *x);
enum resp_state resp_write(struct resp_run *x);
enum resp_state resp_send(struct resp_run *x);
enum resp_state resp_complete(struct resp_run *x);
enum resp_state resp_flush(struct resp_run *x);
/* Completes in error the receive that has been taken. 0, or -EAGAIN: waits. */
int resp_complete_error(struct resp_run *x, enum cqe_syndrome syndrome);
void receive_pool_init(struct pool *pool, struct hca *hca);
void receive_forget(struct qp *qp);
/* Removes the QP from the list of struct responder. */
void flushed_remove(struct qp *qp);

/* A piece of a receive buffer. */
struct receive_piece {
	uint64_t va;
	uint32_t len, lkey;
};

enum { RECEIVE_PIECES = 128 }; /* data segments of the longest receive WQE: stride 16 << 7 */

/*
 * Spreads [offset, offset + len) of a message over the data segments of a receive WQE, which take
 * n_bytes or end at the terminator. Returns the number of pieces, or -EMSGSIZE when the segments
 * are too short.
 */
int receive_scatter(const uint8_t *segments, unsigned n_bytes, uint32_t offset, uint32_t len,
		    struct receive_piece pieces[RECEIVE_PIECES]);

/* responder_ack.c */
/* Builds a response packet on the QP's primary path, but does not queue it. opcode: that of RC. */
struct packet *response_new(struct qp *qp, const struct qpc *qpc, enum bth_opcode opcode,
			    uint32_t psn, unsigned payload_len, uint8_t syndrome, uint32_t msn);
/* An ACK syndrome with the credits the QP has now. */
uint8_t response_credits(struct qp *qp, struct qpc *qpc);
/* Queues a response behind all that are already due. */
void response_append(struct qp_receive *r, struct packet *pkt);
/* The same, and then sends the responses that can leave. */
void response_queue(struct qp *qp, struct packet *pkt);
void responses_pump(struct qp *qp);
/* Payload has landed in memory: the ACKs that waited for it become ready. */
void responses_landed(struct qp *qp);
enum resp_state resp_ack(struct resp_run *x);
/* A response is about to be queued that acknowledges all earlier requests: no other ACK is due. */
void responses_acknowledge(struct qp *qp);
void responder_timer(struct event *ev);

/* atomic_unit.c */
struct atomic_operands;
void atomic_operands_get(const struct packet *pkt, struct atomic_operands *op, uint64_t *va,
			 uint32_t *rkey);
/* Starts an atomic. `pkt` is its response, and holds the memory address in frags[0]. The result is
 * stored in the response and, with `entry`, in the responder resource of that slot. */
void atomic_start(struct resp_run *x, struct packet *pkt, const struct atomic_operands *op,
		  const struct rdmarc *entry, unsigned slot);

/* atomic_read.c */
/* Writes the entry to ICM by a posted write; PCIe orders later reads of it behind the write. */
void resource_write(struct qp *qp, unsigned slot, const struct rdmarc *entry);
enum resp_state resp_fetch(struct resp_run *x);
enum resp_state resp_fetch_again(struct resp_run *x);
void ring_pool_init(struct pool *pool, struct hca *hca);
void ring_forget(struct qp *qp);
void read_pool_init(struct pool *pool, struct hca *hca);
/* Whether one more response packet of this READ may be under way. */
bool read_job_has_room(const struct qp *qp, const struct read_job *read);
/* Builds the next response packet of a READ and starts to read its payload. False: waits for the
 * context or a translation. */
bool read_job_step(struct qp *qp, struct read_job *read);
/* All response packets of the READ are built, or it is abandoned: frees it, and moves the responses
 * due after it to the output queue. */
void read_job_end(struct qp *qp, struct read_job *read);

/* srq.c */
void record_pool_init(struct pool *pool, struct hca *hca);
void check_pool_init(struct pool *pool, struct hca *hca);
void srq_checks_reset(struct hca *hca);
/*
 * Reads a doorbell record unless one is being read. When the bytes are there, sets record_fresh and
 * kicks the state machine. Only a read with `asked` can show that nothing is posted: the value of a
 * prefetch may be out of date.
 */
void record_read(struct qp *qp, uint64_t bus, uint32_t srqn, bool asked);
void record_forget(struct qp *qp);
bool record_is_asked(const struct qp *qp, uint32_t srqn);
/* Sets rx_rq_posted from a fresh record of the QP's own queue, and checks rule rq_overposted. */
void record_merge(struct qp *qp, struct qpc *qpc);
/* PD and CQ of an SRQ named by an XRCETH: 0, -EAGAIN, -EFAULT, -ENXIO (no such SRQ, or of another
 * domain). */
int srq_get_xrc(struct qp *qp, uint32_t xrcd, uint32_t srqn, struct waiter *w, uint32_t *pd,
		uint32_t *cqn);

#endif
