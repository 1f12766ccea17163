/* SPDX-License-Identifier: Apache-2.0 */
/* See responder.h. This file: what the responder holds for a QP and for the device, and how all of
 * it is given back. */
#include "model/engine/receive/responder_impl.h"

#include "model/engine/base/keep.h"

#include <stdlib.h>

bool responder_is_quiet(const struct qp *qp)
{
	const struct qp_receive *r = &qp->receive;

	return r->state == RESP_NEXT && !r->running && !r->pumping && !r->flushing &&
	       !r->landing.first && !r->out.first && !r->atomics && !r->record && !r->ring &&
	       !r->waiter.in;
}

static bool nothing_waits(const struct qp_receive *r)
{
	return !r->in.first && !r->read_jobs.first && !r->ack_due && !r->unacked &&
	       !r->out_waiter.in && !r->receive;
}

bool responder_is_idle(const struct qp *qp)
{
	return responder_is_quiet(qp) && nothing_waits(&qp->receive) &&
	       !event_is_set(&qp->receive.timer);
}

static bool only_looks(const struct qp *qp)
{
	return responder_is_quiet(qp) && nothing_waits(&qp->receive) && qp->receive.flushed;
}

/* The DMAs of its packets are over, or pcie_reset() has dropped them. */
static void drop(struct qp *qp)
{
	struct qp_receive *r = &qp->receive;

	event_cancel(qp->hca->core, &r->timer);
	waiter_cancel(&r->waiter);
	waiter_cancel(&r->out_waiter);
	waiter_done(&r->waiter);
	waiter_done(&r->out_waiter);
	if (r->current && !(r->current->mark & MARK_LANDING))
		packet_free(r->current);
	packet_queue_free(&r->in);
	packet_queue_free(&r->landing);
	while (r->read_jobs.first)
		read_job_end(qp, r->read_jobs.first);
	packet_queue_free(&r->out);
	receive_forget(qp);
	record_forget(qp);
	ring_forget(qp);
	flushed_remove(qp);
}

const struct qp_half responder_half = {
	.init = responder_init,
	.drop = drop,
	.invalidate = drop,
	.flush = responder_flush,
	.resume = responder_resume,
	.is_quiet = responder_is_quiet,
	.is_idle = responder_is_idle,
	.only_looks = only_looks,
};

/* --- with the device --- */

struct responder *responder_create(struct hca *hca)
{
	struct responder *responder = memory_create(1, sizeof(*responder), "a responder");

	receive_pool_init(&responder->receives, hca);
	record_pool_init(&responder->records, hca);
	ring_pool_init(&responder->rings, hca);
	read_pool_init(&responder->read_jobs, hca);
	check_pool_init(&responder->checks, hca);
	return responder;
}

static void each_pool(struct responder *responder, void (*job)(struct pool *pool))
{
	job(&responder->receives);
	job(&responder->records);
	job(&responder->rings);
	job(&responder->read_jobs);
	job(&responder->checks);
}

void responder_destroy(struct responder *responder)
{
	each_pool(responder, pool_free);
	free(responder);
}

void responder_reset(struct hca *hca)
{
	srq_checks_reset(hca);
	each_pool(hca->responder, pool_expect_unused);
	hca->responder->atomic_busy_ps = 0;
}

void responder_trim(struct hca *hca)
{
	each_pool(hca->responder, pool_trim);
}

unsigned responder_looking(const struct hca *hca)
{
	unsigned looking = 0;

	for (const struct qp *qp = hca->responder->flushed; qp; qp = qp->receive.flush_next)
		looking += qp_only_looks(qp);
	return looking;
}

unsigned responder_limit_checks(const struct hca *hca)
{
	return hca->responder->checks.in_use;
}

size_t responder_footprint(const struct hca *hca)
{
	const struct responder *responder = hca->responder;

	return sizeof(*responder) + pool_footprint(&responder->receives) +
	       pool_footprint(&responder->records) + pool_footprint(&responder->rings) +
	       pool_footprint(&responder->read_jobs) + pool_footprint(&responder->checks);
}
