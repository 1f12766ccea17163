// SPDX-License-Identifier: Apache-2.0
/*
 * Draining a QP. The error state flushes all posted requests. A marker request is posted behind
 * them; when it completes, done() has been called for all of them. Receives from an SRQ cannot have
 * a marker: there the device's event "last WQE reached" takes its place.
 */
#include "host_driver/core/core.h"
#include "model/interface/macros.h"

#include <errno.h>

#define STEP_PS UINT64_C(100000000000)   /* 100 ms, then checks whether the device is alive */
#define LAST_PS UINT64_C(10000000000000) /* 10 s */

struct marker {
	struct ib_cqe cqe;
	struct ib_device *device;
	bool done;
};

static void marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct marker *m = container_of(wc->wr_cqe, struct marker, cqe);

	m->done = true;
	core_wake(m->device);
}

static void warn(struct ib_qp *qp, const char *what, int rc)
{
	if (qp->device->platform->ops->trace_on(qp->device->platform)) {
		core_trace(qp->device, true, "drain_warning", "qpn %06x, %s", qp->qp_num, what);
		core_trace(qp->device, false, "drain_warning", "%d", rc);
	}
}

static bool to_error(struct ib_qp *qp)
{
	const struct ib_qp_attr attr = {.qp_state = IB_QPS_ERR};
	int rc = ib_modify_qp(qp, &attr, IB_QP_STATE);

	if (!rc || drv_is_dead(qp->device->drv))
		return true;
	warn(qp, "not drained: cannot go to the error state", rc);
	return false;
}

static uint64_t step(const struct ib_device *device)
{
	return device->platform->ops->now_ps(device->platform) + STEP_PS;
}

/* Checks whether the device has died. Nobody else may have noticed that, and the drain would wait
 * for ever. */
static void look(struct ib_device *device)
{
	if (!drv_is_dead(device->drv) && drv_catas_check(device->drv, NULL))
		drv_fatal(device->drv);
}

/* Waits for completions of the CQ, for at most one step, and polls it if nobody else does. */
static void go_on(struct ib_cq *cq)
{
	struct ib_device *device = cq->device;

	if (drv_is_dead(device->drv)) {
		core_cq_flush(cq);
	} else if (cq->poll_ctx == IB_POLL_DIRECT) {
		if (drv_cq_wait(cq->drv, step(device)))
			look(device);
		ib_process_cq_direct(cq, -1);
	} else if (!core_wait(device, step(device))) {
		look(device);
	}
}

/* Posts the marker with post(), and waits until it completes. */
static void mark_and_wait(struct ib_qp *qp, struct ib_cq *cq,
			  int (*post)(struct ib_qp *qp, uint64_t wr_id))
{
	struct marker m = {.cqe = {.done = marker_done}, .device = qp->device};
	int rc;

	if (!cq->poll) {
		warn(qp, "not drained: its CQ is not of ib_alloc_cq", -EINVAL);
		return;
	}
	while ((rc = post(qp, (uintptr_t)&m.cqe)) == -ENOMEM)
		go_on(cq);
	if (rc)
		warn(qp, "not drained: the marker cannot be posted", rc);
	while (!rc && !m.done)
		go_on(cq);
}

/* A NOP: every service has it, and it is flushed as any other request. */
static int post_send_marker(struct ib_qp *qp, uint64_t wr_id)
{
	const struct drv_send_wr wr = {
		.wr_id = wr_id, .opcode = IBV_WR_NOP, .send_flags = IBV_SEND_SIGNALED};

	return drv_post_send(qp->drv, &wr, NULL);
}

static int post_recv_marker(struct ib_qp *qp, uint64_t wr_id)
{
	const struct drv_recv_wr wr = {.wr_id = wr_id};

	return drv_post_recv(qp->drv, &wr, NULL);
}

void ib_drain_sq(struct ib_qp *qp)
{
	CORE_ENTER(qp->device, "qpn %06x", qp->qp_num);
	if (qp->send_cq && to_error(qp))
		mark_and_wait(qp, qp->send_cq, post_send_marker);
	CORE_LEAVE(qp->device, 0);
}

static void drain_srq(struct ib_qp *qp)
{
	struct platform *p = qp->device->platform;
	const uint64_t deadline = p->ops->now_ps(p) + LAST_PS;

	if (!qp->srq || !qp->recv_cq || !to_error(qp))
		return;
	if (!qp->recv_cq->poll) {
		warn(qp, "not drained: its CQ is not of ib_alloc_cq", -EINVAL);
		return;
	}
	while (!qp->last_wqe && !drv_is_dead(qp->device->drv) && p->ops->now_ps(p) < deadline)
		if (!core_wait(qp->device, step(qp->device)))
			look(qp->device);
	if (!qp->last_wqe)
		warn(qp, "the last WQE has not been reached", -ETIMEDOUT);
	core_cq_flush(qp->recv_cq);
}

void ib_drain_rq(struct ib_qp *qp)
{
	CORE_ENTER(qp->device, "qpn %06x", qp->qp_num);
	if (qp->srq)
		drain_srq(qp);
	else if (qp->recv_cq && to_error(qp))
		mark_and_wait(qp, qp->recv_cq, post_recv_marker);
	CORE_LEAVE(qp->device, 0);
}

void ib_drain_srq(struct ib_qp *qp)
{
	CORE_ENTER(qp->device, "qpn %06x", qp->qp_num);
	drain_srq(qp);
	CORE_LEAVE(qp->device, 0);
}

void ib_drain_qp(struct ib_qp *qp)
{
	ib_drain_sq(qp);
	ib_drain_rq(qp);
}
