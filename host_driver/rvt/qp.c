// SPDX-License-Identifier: Apache-2.0
/* Queue pairs: numbers, states, attributes. The table of transitions is the specification's, as
 * ib_modify_qp_is_ok() has it. */
#include "host_driver/core/include/rdma/ib_verbs.h"
#include "host_driver/rvt/rvt_impl.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>

/* How long a queue pair that ends waits for its last acknowledgement to leave. */
#define ANSWER_WAIT_PS UINT64_C(1000000)
enum { ANSWER_WAITS = 100 };

/* IBA 10.3.1; SQD differs from RTS in that no request begins. */
static const unsigned state_may[] = {
	[IBV_QPS_RESET] = 0,
	[IBV_QPS_INIT] = RVT_POST_RECV,
	[IBV_QPS_RTR] = RVT_POST_RECV | RVT_RECEIVE,
	[IBV_QPS_RTS] = RVT_POST_RECV | RVT_RECEIVE | RVT_POST_SEND | RVT_SEND | RVT_BEGIN,
	[IBV_QPS_SQD] = RVT_POST_RECV | RVT_RECEIVE | RVT_POST_SEND | RVT_SEND,
	[IBV_QPS_SQE] = RVT_POST_RECV | RVT_RECEIVE | RVT_POST_SEND | RVT_FLUSH_SEND,
	[IBV_QPS_ERR] = RVT_POST_RECV | RVT_FLUSH_RECV | RVT_POST_SEND | RVT_FLUSH_SEND,
};

bool rvt_may(const struct rvt_qp *qp, enum rvt_may what)
{
	return state_may[qp->state] & what;
}

unsigned rvt_mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

enum qp_service rvt_service(const struct rvt_qp *qp)
{
	return qp->type == IBV_QPT_RC ? QP_ST_RC : qp->type == IBV_QPT_UC ? QP_ST_UC : QP_ST_UD;
}

struct rvt_qp *rvt_qp_lookup(struct rvt_device *dev, unsigned port, uint32_t qpn)
{
	struct rvt_qp *qp = qpn < 2 ? dev->ports[port].special[qpn] : dev->qps[qpn % RVT_QPNS];

	return qp && qp->qpn == qpn ? qp : NULL;
}

struct drv_qp *rvt_qp_find(struct drv_device *dev, uint32_t qpn)
{
	return drv_qp_handle(rvt_qp_lookup(rvt_of(dev), 1, qpn));
}

void rvt_qp_event(struct rvt_qp *qp, enum ibv_event_type type)
{
	const struct drv_event event = {.type = type, .qp = drv_qp_handle(qp)};

	rvt_event(rvt_dev(qp), &event);
}

/* --- creation --- */

static int number_alloc(struct rvt_qp *qp)
{
	struct rvt_device *dev = rvt_dev(qp);
	int rc = 0;

	if (dev->hooks->make_qpn) {
		rc = dev->hooks->make_qpn(qp->dev, qp->type, qp->port, &qp->qpn);
		if (!rc && (qp->qpn < RVT_QPN_FIRST || dev->qps[qp->qpn % RVT_QPNS]))
			rc = -EINVAL;
		if (!rc)
			dev->qps[qp->qpn % RVT_QPNS] = qp;
		return rc;
	}
	for (uint32_t n = 1; n < RVT_QPNS; n++) {
		const uint32_t qpn = (dev->qpn_last + n) % RVT_QPNS;

		if (qpn < RVT_QPN_FIRST || dev->qps[qpn])
			continue;
		dev->qpn_last = qp->qpn = qpn;
		dev->qps[qpn] = qp;
		return 0;
	}
	return -ENOMEM;
}

static int requests_alloc(struct rvt_qp *qp)
{
	struct rvt_requester *r = &qp->req;
	const unsigned sges = qp->cap.max_send_sge ? qp->cap.max_send_sge : 1;

	r->max_post = qp->cap.max_send_wr;
	r->entries = UINT32_C(1) << drv_log2_up(r->max_post ? r->max_post : 1);
	r->ring = drv_calloc(r->entries, sizeof(*r->ring));
	r->sges = drv_calloc((size_t)r->entries * sges, sizeof(*r->sges));
	r->in_line = drv_calloc(r->entries, qp->cap.max_inline_data + 1);
	if (!r->ring || !r->sges || !r->in_line)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->entries; i++) {
		r->ring[i].sge = &r->sges[(size_t)i * sges];
		r->ring[i].in_line = &r->in_line[(size_t)i * (qp->cap.max_inline_data + 1)];
	}
	return 0;
}

static void qp_free(struct rvt_qp *qp)
{
	free(qp->req.ring);
	free(qp->req.sges);
	free(qp->req.in_line);
	rvt_rq_cleanup(&qp->rq);
	free(qp);
}

static void users(struct rvt_qp *qp, int n)
{
	qp->pd->users += (unsigned)n;
	qp->send_cq->users += (unsigned)n;
	qp->recv_cq->users += (unsigned)n;
	if (qp->srq)
		qp->srq->users += (unsigned)n;
}

static int cap_check(struct rvt_device *dev, const struct drv_qp_cap *cap)
{
	if (cap->max_send_wr <= dev->limits.attr.max_qp_wr &&
	    cap->max_recv_wr <= dev->limits.attr.max_qp_wr && cap->max_send_sge <= RVT_SGES &&
	    cap->max_recv_sge <= RVT_SGES && cap->max_inline_data <= RVT_MTU_MAX)
		return 0;
	rvt_refuse(rvt_drv(dev), "queue pair of that size");
	return -EINVAL;
}

static int qp_finish(const struct rvt_qp *model, struct rvt_qp **out)
{
	struct rvt_device *dev = rvt_dev(model);
	struct rvt_qp *qp;
	int rc = cap_check(dev, &model->cap);

	if (rc)
		return rc;
	qp = drv_calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	*qp = *model;
	drv_list_init(&qp->ready);
	rc = requests_alloc(qp);
	if (!rc)
		rc = rvt_rq_init(&qp->rq, qp->srq ? 0 : qp->cap.max_recv_wr, qp->cap.max_recv_sge);
	if (!rc && !qp->special)
		rc = number_alloc(qp);
	if (rc) {
		qp_free(qp);
		return rc;
	}
	drv_list_add(&dev->qp_list, &qp->link);
	users(qp, 1);
	rvt_requester_reset(qp);
	rvt_responder_reset(qp);
	*out = qp;
	return 0;
}

static int qp_create(struct rvt_pd *pd, const struct drv_qp_init *init, struct drv_qp **out)
{
	const struct rvt_qp model = {.dev = pd->dev,
				     .pd = pd,
				     .send_cq = rvt_cq_of(init->send_cq),
				     .recv_cq = rvt_cq_of(init->recv_cq),
				     .srq = rvt_srq_of(init->srq),
				     .type = init->type,
				     .port = 1,
				     .cap = init->cap,
				     .sq_sig_all = init->sq_sig_all,
				     .user = init->user};
	struct rvt_qp *qp;
	int rc;

	if (init->type == IBV_QPT_XRC_SEND || init->type == IBV_QPT_XRC_RECV)
		return rvt_refuse(pd->dev, "qp_create of an XRC queue pair");
	if (init->type != IBV_QPT_RC && init->type != IBV_QPT_UC && init->type != IBV_QPT_UD)
		return -EINVAL;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	rc = qp_finish(&model, &qp);
	if (!rc)
		*out = drv_qp_handle(qp);
	return rc;
}

int rvt_qp_create(struct drv_pd *pd, const struct drv_qp_init *init, struct drv_qp **qp)
{
	struct drv_device *dev = drv_device_of(pd);

	DRV_ENTER(dev, "type %d, %u sends, %u receives", init->type, init->cap.max_send_wr,
		  init->cap.max_recv_wr);
	return DRV_LEAVE(dev, qp_create(rvt_pd_of(pd), init, qp));
}

int rvt_special_create(struct drv_pd *handle, const struct drv_special_init *init,
		       struct drv_qp **out)
{
	struct rvt_pd *pd = rvt_pd_of(handle);
	struct rvt_device *dev = rvt_dev(pd);
	const struct rvt_qp model = {.dev = pd->dev,
				     .pd = pd,
				     .send_cq = rvt_cq_of(init->cq),
				     .recv_cq = rvt_cq_of(init->cq),
				     .type = IBV_QPT_UD,
				     .special = true,
				     .qpn = init->qpn,
				     .port = init->port,
				     .sq_sig_all = true,
				     .cap = {.max_send_wr = init->max_send_wr,
					     .max_recv_wr = init->max_recv_wr,
					     .max_send_sge = 1,
					     .max_recv_sge = 1}};
	struct rvt_qp *qp;
	int rc;

	if (dev->ports[init->port].special[init->qpn])
		return -EBUSY;
	rc = qp_finish(&model, &qp);
	if (rc)
		return rc;
	dev->ports[init->port].special[init->qpn] = qp;
	*out = drv_qp_handle(qp);
	return 0;
}

/* --- states --- */

/* Completes what is posted; what is being received, too. */
void rvt_qp_flush(struct rvt_qp *qp)
{
	struct rvt_responder *r = &qp->resp;

	if (rvt_may(qp, RVT_FLUSH_SEND)) {
		while (qp->req.tail != qp->req.head)
			rvt_request_end(qp, IBV_WC_WR_FLUSH_ERR, 0);
		qp->req.cur = qp->req.tail;
	}
	if (!rvt_may(qp, RVT_FLUSH_RECV))
		return;
	if (r->has_rwqe)
		rvt_receive_end(qp, NULL, IBV_WC_WR_FLUSH_ERR, 0);
	while (!qp->srq && rvt_rwqe_take(qp))
		rvt_receive_end(qp, NULL, IBV_WC_WR_FLUSH_ERR, 0);
	if (qp->srq && !qp->last_told) {
		qp->last_told = true;
		rvt_qp_event(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
	}
}

void rvt_qp_error(struct rvt_qp *qp)
{
	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_RESET)
		return;
	qp->state = IBV_QPS_ERR;
	qp->req.timeout_at_ps = qp->req.rnr_until_ps = RVT_NEVER;
	qp->req.draining = false;
	rvt_qp_flush(qp);
}

void rvt_qp_send_error(struct rvt_qp *qp)
{
	if (qp->type == IBV_QPT_RC) {
		rvt_qp_error(qp);
		return;
	}
	qp->state = IBV_QPS_SQE;
	rvt_qp_flush(qp);
}

static void qp_was_reset(struct rvt_qp *qp)
{
	const unsigned port = qp->port;

	rvt_cq_clean(qp->send_cq, qp);
	if (qp->recv_cq != qp->send_cq)
		rvt_cq_clean(qp->recv_cq, qp);
	rvt_requester_reset(qp);
	rvt_responder_reset(qp);
	qp->rq.head = qp->rq.tail = qp->rq.polled = 0;
	qp->last_told = qp->established = false;
	qp->attr = (struct drv_qp_attr){.port_num = port};
}

static int ah_check(const struct rvt_device *dev, unsigned port, const struct drv_ah_attr *ah)
{
	return !ah->dlid || (ah->is_global && ah->sgid_index >= dev->limits.attr.gids[port])
		       ? -EINVAL
		       : 0;
}

static int alternate_check(const struct rvt_device *dev, const struct drv_qp_attr *a)
{
	const unsigned port = a->alt_port_num;

	return !port || port > dev->limits.attr.ports ||
			       a->alt_pkey_index >= dev->limits.attr.pkeys[port] ||
			       a->alt_timeout > AETH_CODE_MASK ||
			       ah_check(dev, port, &a->alt_ah_attr)
		       ? -EINVAL
		       : 0;
}

static int attr_check(const struct rvt_qp *qp, const struct drv_qp_attr *a, unsigned mask)
{
	const struct rvt_device *dev = rvt_dev(qp);
	const struct drv_device_attr *limits = &dev->limits.attr;
	const unsigned port = mask & IBV_QP_PORT ? a->port_num : qp->port;

	if (!port || port > limits->ports)
		return -EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX && a->pkey_index >= limits->pkeys[port]) ||
	    (mask & IBV_QP_AV && ah_check(dev, port, &a->ah_attr)) ||
	    (mask & IBV_QP_PATH_MTU &&
	     (a->path_mtu < IBV_MTU_256 || a->path_mtu > dev->limits.max_mtu)) ||
	    (mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > limits->max_rd_atomic) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	     a->max_dest_rd_atomic > limits->max_dest_rd_atomic) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && a->min_rnr_timer > AETH_CODE_MASK) ||
	    (mask & IBV_QP_TIMEOUT && a->timeout > AETH_CODE_MASK) ||
	    (mask & IBV_QP_RETRY_CNT && a->retry_cnt > 7) ||
	    (mask & IBV_QP_RNR_RETRY && a->rnr_retry > 7) ||
	    (mask & IBV_QP_DEST_QPN && a->dest_qp_num > PSN_MASK) ||
	    (mask & IBV_QP_ALT_PATH && alternate_check(dev, a)))
		return -EINVAL;
	return mask & IBV_QP_PATH_MIG_STATE ? rvt_path_state_check(qp, a->path_mig_state) : 0;
}

#define TAKE(bit, member)                                                                          \
	if (mask & (bit))                                                                          \
	qp->attr.member = a->member

static void attr_take(struct rvt_qp *qp, const struct drv_qp_attr *a, unsigned mask)
{
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_AV, ah_attr);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_RQ_PSN, rq_psn);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_SQ_PSN, sq_psn);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_ALT_PATH, alt_ah_attr);
	TAKE(IBV_QP_ALT_PATH, alt_pkey_index);
	TAKE(IBV_QP_ALT_PATH, alt_port_num);
	TAKE(IBV_QP_ALT_PATH, alt_timeout);
	if (mask & IBV_QP_PATH_MIG_STATE)
		rvt_path_state_set(qp, a->path_mig_state);
	if (mask & IBV_QP_PORT && !qp->special)
		qp->port = a->port_num;
	if (mask & IBV_QP_AV && rvt_path_slower(qp, &a->ah_attr))
		rvt_refuse(qp->dev, "static rate of a path"); /* it sends as fast as it can */
	if (mask & IBV_QP_RQ_PSN)
		qp->resp.psn = a->rq_psn & PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		qp->req.next_psn = qp->req.psn = qp->req.sent_psn = qp->req.una_psn =
			a->sq_psn & PSN_MASK;
	if (mask & IBV_QP_RETRY_CNT)
		qp->req.retries = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		qp->req.rnr_retries = a->rnr_retry;
}

/* The packets' size: the smaller of the path's and the port's MTU, and a query says it. A datagram has no path of
 * its queue pair: the port's MTU counts when it is sent. */
static void mtu_set(struct rvt_qp *qp)
{
	if (qp->type == IBV_QPT_UD)
		return;
	qp->attr.path_mtu = rvt_dev(qp)->hooks->qp_mtu(qp->dev, qp->port, qp->attr.ah_attr.sl & 0xf,
						       qp->attr.path_mtu);
	qp->mtu = rvt_mtu_bytes(qp->attr.path_mtu);
}

/* What a new state begins. */
static void state_enter(struct rvt_qp *qp, enum ibv_qp_state from, bool tell_drained)
{
	switch (qp->state) {
	case IBV_QPS_RESET:
		qp_was_reset(qp);
		break;
	case IBV_QPS_RTR:
		mtu_set(qp);
		break;
	case IBV_QPS_RTS:
		qp->req.draining = false;
		rvt_schedule(qp);
		break;
	case IBV_QPS_SQD:
		qp->req.draining = from == IBV_QPS_RTS && tell_drained;
		rvt_drained_check(qp);
		break;
	case IBV_QPS_ERR:
		qp->req.timeout_at_ps = qp->req.rnr_until_ps = RVT_NEVER;
		qp->req.draining = false;
		rvt_qp_flush(qp);
		break;
	default:
		break;
	}
}

/* A completion may have told of a message whose acknowledgement has not left. Its user may end the
 * queue pair at once, and the peer would wait in vain. */
static void answers_leave(struct rvt_qp *qp)
{
	struct platform *p = rvt_dev(qp)->base.p;

	for (unsigned n = 0; qp->resp.ack_due && rvt_may(qp, RVT_RECEIVE) && n < ANSWER_WAITS; n++)
		p->ops->waitq_wait(p, rvt_dev(qp)->done_waitq, p->ops->now_ps(p) + ANSWER_WAIT_PS);
}

static int qp_modify(struct rvt_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	const enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	const enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	const enum ib_qp_type type = qp->special ? IB_QPT_GSI : (enum ib_qp_type)qp->type;
	int rc;

	if (from != qp->state || (unsigned)to >= ARRAY_SIZE(state_may) ||
	    !ib_modify_qp_is_ok((enum ib_qp_state)from, (enum ib_qp_state)to, type, mask))
		return -EINVAL;
	rc = attr_check(qp, attr, mask);
	if (rc)
		return rc;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) {
		answers_leave(qp);
		/* from now on nothing is sent; the engine may be at it with a packet */
		if (to == IBV_QPS_RESET)
			qp->state = IBV_QPS_RESET;
		rvt_unschedule(qp);
		rvt_quiesce(qp);
	}
	attr_take(qp, attr, mask);
	qp->state = to;
	state_enter(qp, from, mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify);
	return 0;
}

int rvt_qp_modify(struct drv_qp *handle, const struct drv_qp_attr *attr, unsigned mask)
{
	struct rvt_qp *qp = rvt_qp_of(handle);

	DRV_ENTER(qp->dev, "qpn %06x, state %d, mask %x", qp->qpn, attr->qp_state, mask);
	return DRV_LEAVE(qp->dev, qp_modify(qp, attr, mask));
}

int rvt_qp_query(struct drv_qp *handle, struct drv_qp_attr *attr)
{
	const struct rvt_qp *qp = rvt_qp_of(handle);

	*attr = qp->attr;
	attr->qp_state = attr->cur_qp_state = qp->state;
	attr->cap = qp->cap;
	attr->port_num = qp->port;
	attr->rq_psn = qp->resp.psn;
	attr->sq_psn = qp->req.next_psn;
	attr->sq_draining = qp->req.draining;
	return 0;
}

int rvt_qp_destroy(struct drv_qp *handle)
{
	struct rvt_qp *qp = rvt_qp_of(handle);
	struct rvt_device *dev = rvt_dev(qp);

	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	if (qp->state != IBV_QPS_RESET)
		qp_modify(qp, &(struct drv_qp_attr){.qp_state = IBV_QPS_RESET}, IBV_QP_STATE);
	rvt_groups_drop(qp);
	if (qp->special)
		dev->ports[qp->port].special[qp->qpn] = NULL;
	else
		dev->qps[qp->qpn % RVT_QPNS] = NULL;
	users(qp, -1);
	drv_list_del(&qp->link);
	qp_free(qp);
	return DRV_LEAVE(rvt_drv(dev), 0);
}

/* --- what it is --- */

void rvt_qp_cap(const struct drv_qp *qp, struct drv_qp_cap *cap)
{
	*cap = rvt_qp_of(qp)->cap;
}

enum ibv_qp_state rvt_qp_state(const struct drv_qp *qp)
{
	return rvt_qp_of(qp)->state;
}

enum ibv_qp_type rvt_qp_type(const struct drv_qp *qp)
{
	return rvt_qp_of(qp)->type;
}

uint32_t rvt_qp_num(const struct drv_qp *qp)
{
	return rvt_qp_of(qp)->qpn;
}

void rvt_qp_set_owner(struct drv_qp *qp, void *owner)
{
	rvt_qp_of(qp)->owner = owner;
}

void *rvt_qp_owner(const struct drv_qp *qp)
{
	return rvt_qp_of(qp)->owner;
}
