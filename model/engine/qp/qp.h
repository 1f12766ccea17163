/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private state of the QPs that have something to do. An idle QP has none: all it is stands in its
 * context in ICM. The state is made when a doorbell or a packet names the QP, and goes when both
 * halves are idle and nobody holds it. At most QP_STATE_MAX bytes.
 */
#ifndef MODEL_ENGINE_QP_H
#define MODEL_ENGINE_QP_H

#include "model/engine/base/engine.h"
#include "model/engine/memory/context_cache.h"
#include "model/engine/qp/qp_receive.h"
#include "model/engine/qp/qp_send.h"
#include "model/interface/contexts.h"
#include "model/interface/macros.h"

#include <stddef.h>

struct packet_path;

enum { QP_STATE_MAX = 1024 };

/*
 * One half of a QP, the sending or the receiving one, as the QP's life handles it. The stage that
 * owns the half fills one of these. NULL where it has nothing to do.
 */
struct qp_half {
	void (*init)(struct qp *qp); /* a new QP; the state is all zero */
	void (*drop)(struct qp *qp); /* lets go of everything: the state ends */
	/* The same, and of what is kept elsewhere for the QP's number: it may be another QP next. */
	void (*invalidate)(struct qp *qp);
	/* The QP has gone to `state`, ERR or SQER, and its queue completes as flushed. */
	void (*flush)(struct qp *qp, unsigned state);
	/* Firmware has given the context back: it may have changed. Comes before resume(). */
	void (*reload)(struct qp *qp, const struct qpc *qpc);
	/* Goes on in the context's state (RST: there is no context), with what has waited. */
	void (*resume)(struct qp *qp, unsigned state);
	/* The QP's primary path is another one. */
	void (*path_changed)(struct qp *qp, const struct qpc *qpc);
	/* Nothing is under way: no DMA, no packet that waits for one. Packets may have come in. */
	bool (*is_quiet)(const struct qp *qp);
	/* Quiet, and there is nothing to remember that the context does not hold. */
	bool (*is_idle)(const struct qp *qp);
	/* Idle, but for looks at whether software has posted to a QP in ERR. */
	bool (*only_looks)(const struct qp *qp);
};

enum qp_stop { QP_STOP_NONE, QP_STOP_QUIESCE, QP_STOP_INVALIDATE };

struct qp {
	struct hca *hca;
	uint32_t qpn;       /* full 24-bit number */
	uint16_t holds;     /* qp_hold() */
	bool quiescing : 1; /* firmware asked for FW_OBJ_QUIESCE or _INVALIDATE: no new step is
			       begun */
	/* qp_error(), qp_resume() that waits for the context. */
	bool error_pending : 1, resume_pending : 1;
	uint8_t stop : 2;        /* enum qp_stop: what waits for both halves to come to rest */
	uint8_t error_state : 3; /* ERR or SQER */
	uint8_t error_event;
	struct qp *hash_next;
	void (*quiet)(void *arg, int status);
	void *quiet_arg;
	struct waiter waiter;
	struct qp_send send;       /* qp_send.h */
	struct qp_receive receive; /* qp_receive.h */
};

/* `requester` and `responder` are the halves of all QPs, called in this order. */
struct qp_table *qp_table_create(const struct qp_half *requester, const struct qp_half *responder);
void qp_table_destroy(struct qp_table *qps);
/* Forgets all private state, returning what it holds (packets). After the stages that hold waiters,
 * DMAs and rings: pcie, caches, scheduler, retry, wqe_fetch (a WQE buffer that becomes free wakes a
 * QP that waits for one). */
void qp_table_reset(struct hca *hca);
size_t qp_table_footprint(const struct hca *hca);
/* Gives back the memory of those that are idle. */
void qp_table_trim(struct hca *hca);
/* QPs with private state. */
unsigned qp_table_active(const struct hca *hca);
/* Nothing is under way for it: it is in ERR and only looks for what software posts. */
bool qp_only_looks(const struct qp *qp);
/* The lowest number of those for which something is under way; 0: none. */
uint32_t qp_table_first_busy(const struct hca *hca);
/* The private state if there is one; or made. NULL from qp_make when the QP is not valid (valid
 * bit). */
struct qp *qp_find(struct hca *hca, uint32_t qpn);
struct qp *qp_make(struct hca *hca, uint32_t qpn);
/*
 * Either half may have become idle: ends quiescing, and frees the state when both are idle. Does
 * nothing while somebody holds the QP; otherwise the caller does not use it any more.
 */
void qp_settle(struct qp *qp);
/* Who uses the QP after a call that may settle it holds it meanwhile. Counted; the last one that
 * releases it settles it. */
static inline void qp_hold(struct qp *qp)
{
	qp->holds++;
}

static inline void qp_release(struct qp *qp)
{
	if (!--qp->holds)
		qp_settle(qp);
}

/* The context for requester or responder use: context_get() and the full 24-bit number compared
 * (-ENOENT). */
int qp_context(struct qp *qp, bool responder, struct waiter *w, struct qpc **qpc);
/* The same for a run of a half's state machine, which ends with context_lease_end(). */
int qp_lease(struct qp *qp, bool responder, struct waiter *w, struct qpc **qpc);

/*
 * FW_OBJ_QUIESCE: no new packet is started on either half, what is under way (DMA, and the packets
 * that wait for it) finishes, context flushed and dropped, then done. Until qp_resume() packets that
 * come in wait in order, in their port's buffer: they hold its credits.
 */
void qp_quiesce(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg);
/* FW_OBJ_RESUME: from the context's state: RTS goes on sending, ERR flushes both queues, SQD
 * drains. Packets that have waited are taken as if they came now. */
void qp_resume(struct hca *hca, uint32_t qpn);
/* FW_OBJ_INVALIDATE: as quiesce, without writing back; all private state dropped, with packets that
 * came in meanwhile and completions that are not written yet. The valid bit is the caller's. */
void qp_invalidate(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg);

/*
 * The device itself moves a QP to ERR (state 6) or SQER (4) by a verdict: sets the context's state,
 * posts the event the verdict's row names (0: none), starts the flush of the queues. ERR is not
 * left again for SQER. The flush may leave both halves idle: the caller holds the QP, or is a half
 * in the middle of its work.
 */
void qp_error(struct qp *qp, unsigned state, uint8_t event_type);

/* The primary path of the context has changed: both halves take it over. */
void qp_path_changed(struct qp *qp, const struct qpc *qpc);
/* A completion of this QP cannot be written: its work queue cannot report any more, which is a local
 * catastrophic error of it (IBA 11.6.3.2). */
void qp_completion_lost(struct hca *hca, uint32_t qpn);

/* A path of the context as packet_build() takes it. */
void qp_packet_path(const struct qp_path *path, struct packet_path *out);

/* Firmware has the context, or the device has asked for it and not got it back yet. */
static inline bool qp_is_stopped(const struct qp *qp)
{
	return qp->quiescing || qp->resume_pending;
}

static inline struct qp *qp_of_send(struct qp_send *send)
{
	return container_of(send, struct qp, send);
}

#endif
