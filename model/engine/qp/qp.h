/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private state of the QPs that have something to do. An idle QP has none: its context in ICM holds
 * everything. The state is created when a doorbell or a packet names the QP, and freed when both
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

/* What a half of a QP, the sending or the receiving one, does at each event in the QP's life. The
 * stage that owns the half fills in one of these; a function it does not need is NULL. */
struct qp_half {
	void (*init)(struct qp *qp); /* a new QP; the state is all zero */
	void (*drop)(struct qp *qp); /* releases everything: the state is about to be freed */
	/* As drop(), and also releases what other stages keep under the QP's number, which may be
	 * given to another QP next. */
	void (*invalidate)(struct qp *qp);
	/* The QP has gone to `state`, ERR or SQER, and its queue completes as flushed. */
	void (*flush)(struct qp *qp, unsigned state);
	/* Firmware has given the context back and may have changed it. Called before resume(). */
	void (*reload)(struct qp *qp, const struct qpc *qpc);
	/* Continues in the context's state (RST: there is no context) with the work that waited. */
	void (*resume)(struct qp *qp, unsigned state);
	/* The QP's primary path has changed. */
	void (*path_changed)(struct qp *qp, const struct qpc *qpc);
	/* No DMA is under way and no packet waits for one. Received packets may be queued. */
	bool (*is_quiet)(const struct qp *qp);
	/* Quiet, and the context holds everything that must be remembered. */
	bool (*is_idle)(const struct qp *qp);
	/* The QP is in ERR, and this half only polls for work that software posts. */
	bool (*only_looks)(const struct qp *qp);
};

enum qp_stop { QP_STOP_NONE, QP_STOP_QUIESCE, QP_STOP_INVALIDATE };

struct qp {
	struct hca *hca;
	uint32_t qpn;       /* full 24-bit number */
	uint16_t holds;     /* qp_hold() */
	bool quiescing : 1; /* firmware asked for FW_OBJ_QUIESCE or _INVALIDATE: no new step
			       begins */
	/* A qp_error() or qp_resume() waits for the context. */
	bool error_pending : 1, resume_pending : 1;
	uint8_t stop : 2;        /* enum qp_stop: what to do once both halves are quiet */
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
/*
 * Frees all private state and the packets it holds. Called after the stages that hold waiters, DMAs
 * and rings have been reset: pcie, caches, scheduler, retry, and wqe_fetch (which, when a WQE
 * buffer becomes free, wakes a QP that waits for one).
 */
void qp_table_reset(struct hca *hca);
size_t qp_table_footprint(const struct hca *hca);
/* Frees the memory of QP states that are not in use. */
void qp_table_trim(struct hca *hca);
/* Number of QPs with private state. */
unsigned qp_table_active(const struct hca *hca);
/* The QP is in ERR and only polls for work that software posts. */
bool qp_only_looks(const struct qp *qp);
/* The lowest number of a QP that has work under way; 0: none. */
uint32_t qp_table_first_busy(const struct hca *hca);
/* qp_find() returns the private state, or NULL when there is none. qp_make() creates it then; it
 * returns NULL when the QP is not valid (valid bit). */
struct qp *qp_find(struct hca *hca, uint32_t qpn);
struct qp *qp_make(struct hca *hca, uint32_t qpn);
/*
 * To be called when a half may have become idle. Finishes quiescing, and frees the state when both
 * halves are idle. Does nothing while somebody holds the QP. A caller that does not hold it must
 * not use it afterwards.
 */
void qp_settle(struct qp *qp);
/* Hold the QP across a call that may settle it, if it is used afterwards. Holds are counted; the
 * last release settles the QP. */
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
 * FW_OBJ_QUIESCE: neither half starts a new packet. Work under way (DMA, and the packets that wait
 * for it) finishes, the context is flushed and dropped, then done() is called. Until qp_resume(),
 * packets that come in wait in order in their port's buffer and hold its credits.
 */
void qp_quiesce(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg);
/* FW_OBJ_RESUME: continues from the context's state: RTS sends, ERR flushes both queues, SQD
 * drains. Packets that have waited are handled as if they came now. */
void qp_resume(struct hca *hca, uint32_t qpn);
/*
 * FW_OBJ_INVALIDATE: as quiesce, but the context is not written back. Drops all private state, the
 * packets that came in meanwhile, and completions not yet written. The caller clears the valid bit.
 */
void qp_invalidate(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg);

/*
 * The device itself moves a QP to ERR (state 6) or SQER (4) because of a verdict: sets the
 * context's state, posts event_type (0: none), and starts to flush the queues. A QP in ERR does not
 * change to SQER. The flush may leave both halves idle, so the caller must hold the QP, or be a
 * half that still has work under way.
 */
void qp_error(struct qp *qp, unsigned state, uint8_t event_type);

/* The primary path of the context has changed: tells both halves. */
void qp_path_changed(struct qp *qp, const struct qpc *qpc);
/* A completion of this QP cannot be written, so its work queue can no longer report: a local
 * catastrophic error of the work queue (IBA 11.6.3.2). */
void qp_completion_lost(struct hca *hca, uint32_t qpn);

/* Converts a path of the context to the form that packet_build() takes. */
void qp_packet_path(struct hca *hca, const struct qpc *qpc, struct packet_path *out);

/* Firmware owns the context or has asked for it, or the device has not read it again yet after
 * qp_resume(). */
static inline bool qp_is_stopped(const struct qp *qp)
{
	return qp->quiescing || qp->resume_pending;
}

static inline struct qp *qp_of_send(struct qp_send *send)
{
	return container_of(send, struct qp, send);
}

#endif
