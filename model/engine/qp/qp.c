/* SPDX-License-Identifier: Apache-2.0 */
/* See qp.h. */
#include "model/engine/qp/qp.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/base/keep.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce.h"
#include "model/engine/qp/qp_path.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct qp) <= QP_STATE_MAX, "private state of an active QP");

enum { FIRST_BUCKETS = 64, HALVES = 2 };

struct qp_table {
	const struct qp_half *halves[HALVES];
	struct qp **buckets;
	uint32_t n_buckets; /* a power of two */
	uint32_t active, spare;
	struct qp *free; /* linked by hash_next */
};

/* --- both halves --- */

static inline const struct qp_half *half_of(const struct qp *qp, unsigned i)
{
	return qp->hca->qps->halves[i];
}

static bool halves_quiet(const struct qp *qp)
{
	for (unsigned i = 0; i < HALVES; i++)
		if (!half_of(qp, i)->is_quiet(qp))
			return false;
	return true;
}

static bool halves_idle(const struct qp *qp)
{
	for (unsigned i = 0; i < HALVES; i++)
		if (!half_of(qp, i)->is_idle(qp))
			return false;
	return true;
}

bool qp_only_looks(const struct qp *qp)
{
	for (unsigned i = 0; i < HALVES; i++)
		if (!half_of(qp, i)->only_looks(qp))
			return false;
	return true;
}

void qp_path_changed(struct qp *qp, const struct qpc *qpc)
{
	for (unsigned i = 0; i < HALVES; i++)
		if (half_of(qp, i)->path_changed)
			half_of(qp, i)->path_changed(qp, qpc);
}

/* --- the table --- */

struct qp_table *qp_table_create(const struct qp_half *requester, const struct qp_half *responder)
{
	struct qp_table *qps = memory_create(1, sizeof(*qps), "queue pairs");

	qps->halves[0] = requester;
	qps->halves[1] = responder;
	qps->n_buckets = FIRST_BUCKETS;
	qps->buckets = memory_create(qps->n_buckets, sizeof(*qps->buckets), "queue pairs");
	return qps;
}

void qp_table_destroy(struct qp_table *qps)
{
	if (!qps)
		return;
	while (qps->free) {
		struct qp *qp = qps->free;

		qps->free = qp->hash_next;
		free(qp);
	}
	for (uint32_t i = 0; i < qps->n_buckets; i++) {
		while (qps->buckets[i]) {
			struct qp *qp = qps->buckets[i];

			qps->buckets[i] = qp->hash_next;
			free(qp);
		}
	}
	free(qps->buckets);
	free(qps);
}

static struct qp **bucket(struct qp_table *qps, uint32_t qpn)
{
	/* XRC targets differ from others in bit 23 only */
	return &qps->buckets[(qpn ^ qpn >> 17) & (qps->n_buckets - 1)];
}

static void table_grow(struct qp_table *qps)
{
	struct qp **old = qps->buckets,
		  **buckets = calloc((size_t)qps->n_buckets * 2, sizeof(*buckets));
	uint32_t n = qps->n_buckets;

	if (!buckets)
		return;
	qps->buckets = buckets;
	qps->n_buckets = n * 2;
	for (uint32_t i = 0; i < n; i++) {
		while (old[i]) {
			struct qp *qp = old[i], **to = bucket(qps, qp->qpn);

			old[i] = qp->hash_next;
			qp->hash_next = *to;
			*to = qp;
		}
	}
	free(old);
}

static void qp_forget(struct qp *qp)
{
	struct qp_table *qps = qp->hca->qps;
	struct qp **at = bucket(qps, qp->qpn);

	if (qp->holds)
		hca_bug(qp->hca, "the state of qpn %06x is freed while it is held", qp->qpn);
	while (*at != qp)
		at = &(*at)->hash_next;
	*at = qp->hash_next;
	waiter_cancel(&qp->waiter);
	waiter_done(&qp->waiter);
	qp->hash_next = qps->free;
	qps->free = qp;
	qps->active--;
	qps->spare++;
}

static void __attribute__((noinline)) qp_end(struct qp *qp)
{
	for (unsigned i = 0; i < HALVES; i++)
		half_of(qp, i)->drop(qp);
	qp_forget(qp);
}

void qp_table_reset(struct hca *hca)
{
	struct qp_table *qps = hca->qps;

	for (uint32_t i = 0; i < qps->n_buckets; i++)
		while (qps->buckets[i])
			qp_end(qps->buckets[i]);
}

void qp_table_trim(struct hca *hca)
{
	struct qp_table *qps = hca->qps;

	while (qps->free) {
		struct qp *qp = qps->free;

		qps->free = qp->hash_next;
		qps->spare--;
		memory_give(hca, qp, sizeof(*qp));
	}
}

size_t qp_table_footprint(const struct hca *hca)
{
	const struct qp_table *qps = hca->qps;

	return sizeof(*qps) + qps->n_buckets * sizeof(*qps->buckets) +
	       (size_t)(qps->active + qps->spare) * sizeof(struct qp);
}

unsigned qp_table_active(const struct hca *hca)
{
	return hca->qps->active;
}

uint32_t qp_table_first_busy(const struct hca *hca)
{
	const struct qp_table *qps = hca->qps;
	uint32_t first = 0;

	for (size_t i = 0; i < qps->n_buckets; i++)
		for (const struct qp *qp = qps->buckets[i]; qp; qp = qp->hash_next)
			if (!qp_only_looks(qp) && (!first || qp->qpn < first))
				first = qp->qpn;
	return first;
}

struct qp *qp_find(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = *bucket(hca->qps, qpn);

	while (qp && qp->qpn != qpn)
		qp = qp->hash_next;
	return qp;
}

static void qp_wake(struct waiter *w);

static struct qp *__attribute__((noinline)) make(struct hca *hca, uint32_t qpn)
{
	struct qp_table *qps = hca->qps;
	struct qp *qp, **at;

	if (!icm_object_valid(hca, FW_TABLE_QPC, qpn))
		return NULL;
	if (qps->active >= qps->n_buckets)
		table_grow(qps);
	if (qps->free) {
		qp = qps->free;
		qps->free = qp->hash_next;
		qps->spare--;
	} else {
		qp = memory_take(hca, sizeof(*qp), "queue pairs with work");
	}
	memset(qp, 0, sizeof(*qp));
	qp->hca = hca;
	qp->qpn = qpn;
	qp->waiter.wake = qp_wake;
	at = bucket(qps, qpn);
	qp->hash_next = *at;
	*at = qp;
	qps->active++;
	for (unsigned i = 0; i < HALVES; i++)
		half_of(qp, i)->init(qp);
	return qp;
}

struct qp *qp_make(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_find(hca, qpn);

	return qp ? qp : make(hca, qpn);
}

int qp_context(struct qp *qp, bool responder, struct waiter *w, struct qpc **qpc)
{
	void *bytes;
	int err = context_get(qp->hca, responder ? CONTEXT_RESPONDER : CONTEXT_REQUESTER, qp->qpn,
			      w, &bytes, "QP context");

	if (err)
		return err;
	if (qpc_get_local_qpn(bytes) != qp->qpn)
		return -ENOENT;
	*qpc = bytes;
	return 0;
}

int qp_lease(struct qp *qp, bool responder, struct waiter *w, struct qpc **qpc)
{
	const enum context_use use = responder ? CONTEXT_RESPONDER : CONTEXT_REQUESTER;
	void *bytes;
	int err = context_lease(qp->hca, use, qp->qpn, w, &bytes, "QP context");

	if (err)
		return err;
	if (qpc_get_local_qpn(bytes) != qp->qpn) {
		context_lease_end(bytes);
		return -ENOENT;
	}
	*qpc = bytes;
	return 0;
}

/* --- rest --- */

static void stopped(struct qp *qp, int status)
{
	void (*quiet)(void *, int) = qp->quiet;
	void *arg = qp->quiet_arg;

	qp->quiet = NULL;
	quiet(arg, status);
}

static void responder_line_flushed(void *arg, int status)
{
	struct qp *qp = arg;

	stopped(qp, status);
}

static void requester_line_flushed(void *arg, int status)
{
	struct qp *qp = arg;

	if (status) {
		context_drop(qp->hca, CONTEXT_RESPONDER, qp->qpn);
		stopped(qp, status);
		return;
	}
	context_flush(qp->hca, CONTEXT_RESPONDER, qp->qpn, true, responder_line_flushed, qp);
}

static void come_to_rest(struct qp *qp)
{
	struct hca *hca = qp->hca;
	uint32_t qpn = qp->qpn;
	void (*quiet)(void *, int) = qp->quiet;
	void *arg = qp->quiet_arg;

	if (qp->stop == QP_STOP_QUIESCE) {
		qp->stop = QP_STOP_NONE;
		context_flush(hca, CONTEXT_REQUESTER, qpn, true, requester_line_flushed, qp);
		return;
	}
	context_drop(hca, CONTEXT_REQUESTER, qpn);
	context_drop(hca, CONTEXT_RESPONDER, qpn);
	cqe_write_purge_qp(hca, qpn);
	for (unsigned i = 0; i < HALVES; i++)
		half_of(qp, i)->invalidate(qp);
	qp_forget(qp);
	quiet(arg, 0);
}

void qp_settle(struct qp *qp)
{
	if (qp->holds)
		return;
	if (qp->stop != QP_STOP_NONE) {
		if (halves_quiet(qp) && !qp->error_pending)
			come_to_rest(qp);
		return;
	}
	if (qp->quiescing || qp->error_pending || qp->resume_pending)
		return;
	if (halves_idle(qp))
		qp_end(qp);
}

static void qp_stop(struct hca *hca, uint32_t qpn, enum qp_stop stop,
		    void (*done)(void *arg, int status), void *arg)
{
	struct qp *qp = qp_make(hca, qpn);

	if (!qp) {
		done(arg, 0);
		return;
	}
	qp->quiescing = true;
	qp->resume_pending = false;
	if (stop == QP_STOP_INVALIDATE)
		qp->error_pending = false;
	if (!qp->error_pending)
		waiter_cancel(&qp->waiter);
	qp->stop = stop;
	qp->quiet = done;
	qp->quiet_arg = arg;
	qp_settle(qp);
}

void qp_quiesce(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg)
{
	qp_stop(hca, qpn, QP_STOP_QUIESCE, done, arg);
}

void qp_invalidate(struct hca *hca, uint32_t qpn, void (*done)(void *arg, int status), void *arg)
{
	qp_stop(hca, qpn, QP_STOP_INVALIDATE, done, arg);
}

/* --- going on --- */

/* Reads the context. If firmware has asked for a change of path, makes that change first. 0: the
 * context is there; -EAGAIN; other errors: there is no context. */
static int resume_context(struct qp *qp, struct qpc **qpc)
{
	int err = qp_context(qp, false, &qp->waiter, qpc);

	if (err || qpc_get_pm_state(*qpc) != QP_PM_ASKED)
		return err;
	qp_path_asked(qp, *qpc);
	return qp_context(qp, false, &qp->waiter, qpc);
}

/* Both halves continue in the state that firmware has left. The caller holds the QP. */
static void resume(struct qp *qp)
{
	struct qpc *qpc = NULL;
	int err = resume_context(qp, &qpc);
	unsigned state;

	qp->resume_pending = err == -EAGAIN;
	if (err == -EAGAIN)
		return;
	state = err ? QP_STATE_RST : qpc_get_state(qpc);
	for (unsigned i = 0; i < HALVES; i++)
		if (!err && half_of(qp, i)->reload)
			half_of(qp, i)->reload(qp, qpc);
	for (unsigned i = 0; i < HALVES; i++)
		half_of(qp, i)->resume(qp, state);
}

void qp_resume(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_make(hca, qpn);

	if (!qp)
		return;
	qp_hold(qp);
	qp->quiescing = false;
	resume(qp);
	qp_release(qp);
}

static void enter_error(struct qp *qp)
{
	struct qpc *qpc;
	int err = qp_context(qp, false, &qp->waiter, &qpc);
	unsigned from, to = qp->error_state;

	qp->error_pending = err == -EAGAIN;
	if (err)
		return;
	from = qpc_get_state(qpc);
	if (from == QP_STATE_RST || from == QP_STATE_ERR ||
	    (to == QP_STATE_SQER && from == QP_STATE_SQER))
		return;
	qpc_set_state(qpc, to);
	context_changed(qp->hca, CONTEXT_REQUESTER, qp->qpn);
	HCA_TRACE(qp->hca, TP_QP_STATE, .qpn = qp->qpn,
		  .text = to == QP_STATE_ERR ? "error" : "send queue error");
	if (qp->error_event)
		event_queue_qp(qp->hca, qp->error_event, qp->qpn);
	qp_hold(qp);
	for (unsigned i = 0; i < HALVES; i++)
		half_of(qp, i)->flush(qp, to);
	qp_release(qp);
}

void qp_error(struct qp *qp, unsigned state, uint8_t event_type)
{
	if (qp->error_pending && qp->error_state == QP_STATE_ERR)
		return;
	qp->error_state = (uint8_t)state;
	qp->error_event = event_type;
	enter_error(qp);
}

void qp_completion_lost(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_make(hca, qpn);

	if (!qp)
		return;
	qp_hold(qp);
	qp_error(qp, QP_STATE_ERR, EVENT_WQ_CATAS_ERROR);
	qp_release(qp);
}

static void qp_wake(struct waiter *w)
{
	struct qp *qp = container_of(w, struct qp, waiter);

	qp_hold(qp);
	if (qp->error_pending)
		enter_error(qp);
	if (qp->resume_pending)
		resume(qp);
	if (!w->in)
		waiter_done(w);
	qp_release(qp);
}

/* --- paths --- */

/* On an Ethernet port. The path holds an index into the table of VLANs; a path without a VLAN has a
 * tag nevertheless if it has a priority (assumption: as Linux's priority tags). */
static void __attribute__((noinline))
frame_path(struct hca *hca, const struct qpc *qpc, struct packet_path *out)
{
	const struct qp_path *path = qpc_primary_const(qpc);
	const struct eth_port *eth = link_port_config(hca, out->port)->eth;
	const unsigned priority = qp_path_get_priority(path);
	const unsigned vid =
		qp_path_get_cv(path)
			? eth->vlans[qp_path_get_vlan_index(path) % ETH_TABLE_SIZE] & VLAN_MASK
			: 0;

	out->smac_index = (uint8_t)qp_path_get_smac_index(path);
	memcpy(out->dmac, qp_path_dmac_cptr(path), sizeof(out->dmac));
	out->vlan = vid || priority ? (uint16_t)(priority << VLAN_PRIORITY_SHIFT | vid) : VLAN_NONE;
	out->roce = roce_kind_of(eth, out->sgid_index, qpc_get_roce_mode(qpc));
	out->udp_sport = (uint16_t)qpc_get_roce_entropy(qpc);
	if (!out->udp_sport)
		out->udp_sport = roce_source_port(qpc_get_local_qpn(qpc), qpc_get_remote_qpn(qpc));
	out->force_loopback = qp_path_get_force_loopback(path);
}

void qp_packet_path(struct hca *hca, const struct qpc *qpc, struct packet_path *out)
{
	const struct qp_path *path = qpc_primary_const(qpc);

	out->port = (uint8_t)(qp_path_get_port(path) + 1);
	out->sl = (uint8_t)qp_path_get_sl(path);
	out->static_rate = (uint8_t)qp_path_get_static_rate(path);
	out->path_bits = (uint8_t)qp_path_get_path_bits(path);
	out->dlid = (uint16_t)qp_path_get_rlid(path);
	out->grh = qp_path_get_grh(path);
	if (!out->grh)
		return;
	out->sgid_index = (uint8_t)qp_path_get_mgid_index(path);
	out->hop_limit = (uint8_t)qp_path_get_hop_limit(path);
	out->traffic_class = (uint8_t)qp_path_get_tclass(path);
	out->flow_label = qp_path_get_flow_label(path);
	memcpy(out->dgid, qp_path_rgid_cptr(path), sizeof(out->dgid));
	if (__builtin_expect(link_port_config(hca, out->port)->eth != NULL, 0))
		frame_path(hca, qpc, out);
}
