// SPDX-License-Identifier: Apache-2.0
/* Received messages, except REQ, LAP, APR and SIDR: what each does in each state (IBA vol. 1, 12.9),
 * and how a repeated message is answered. */
#include "host_driver/cm/cm.h"

#include <errno.h>
#include <string.h>

static void duplicate(struct cm_device *cm, const struct cm_work *work)
{
	cm->counters.rx_duplicates[mad_hdr_get_attr_id(smp_hdr_const(&work->mad)) - CM_ATTR_REQ]++;
}

/* --- REP --- */

/* A REP came again, so the peer has not received the answer to the first one. Sends that answer
 * again. */
static void rep_again(struct cm_device *cm, struct cm_work *work, struct cm_id *id)
{
	duplicate(cm, work);
	if (id->ib.state == IB_CM_ESTABLISHED &&
	    mad_hdr_get_attr_id(smp_hdr(&id->answer)) == CM_ATTR_RTU)
		cm_post(cm, &id->av, &id->answer);
	else if (id->ib.state == IB_CM_MRA_REP_SENT)
		cm_post(cm, &id->av, &id->answer);
}

static void rep_event(struct cm_rep *rep, struct ib_cm_event *event)
{
	*event = (struct ib_cm_event){
		.event = IB_CM_REP_RECEIVED,
		.param.rep_rcvd =
			{
				.remote_ca_guid = htobe64(cm_rep_get_local_ca_guid(rep)),
				.remote_qkey = cm_rep_get_local_qkey(rep),
				.remote_qpn = cm_rep_get_local_qpn(rep),
				.starting_psn = cm_rep_get_starting_psn(rep),
				.responder_resources = (uint8_t)cm_rep_get_initiator_depth(rep),
				.initiator_depth = (uint8_t)cm_rep_get_responder_resources(rep),
				.target_ack_delay = (uint8_t)cm_rep_get_target_ack_delay(rep),
				.failover_accepted = (uint8_t)cm_rep_get_failover_accepted(rep),
				.flow_control = (uint8_t)cm_rep_get_flow_control(rep),
				.rnr_retry_count = (uint8_t)cm_rep_get_rnr_retry_count(rep),
				.srq = (uint8_t)cm_rep_get_srq(rep),
			},
		.private_data = cm_rep_private_data_ptr(rep),
		.private_data_len = IB_CM_REP_PRIVATE_DATA_SIZE,
	};
}

static void rep_take(struct cm_id *id, const struct cm_rep *rep)
{
	const unsigned delay = cm_rep_get_target_ack_delay(rep);

	id->ib.remote_id = htobe32(cm_rep_get_local_comm_id(rep));
	id->remote_qpn = cm_rep_get_local_qpn(rep);
	id->sq_psn = cm_rep_get_starting_psn(rep);
	id->initiator_depth = (uint8_t)cm_rep_get_responder_resources(rep);
	id->responder_resources = (uint8_t)cm_rep_get_initiator_depth(rep);
	id->rnr_retry_count = (uint8_t)cm_rep_get_rnr_retry_count(rep);
	id->remote_delay_ps = cm_time_ps(delay);
	id->av.ack_timeout = cm_ack_timeout(delay, id->av.life_time);
	if (cm_rep_get_failover_accepted(rep) != CM_FAILOVER_ACCEPTED) {
		id->has_alternate = false;
		id->alt_av = (struct cm_av){0};
		id->ib.lap_state = IB_CM_LAP_UNINIT;
	} else if (id->has_alternate) {
		id->alt_av.ack_timeout = cm_ack_timeout(delay, id->alt_av.life_time);
	}
}

static void rep_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_rep *rep = (struct cm_rep *)&work->mad;
	const uint64_t guid = cm_rep_get_local_ca_guid(rep);
	struct cm_id *id = cm_id_find(cm, cm_rep_get_remote_comm_id(rep));
	const struct cm_timewait *stale;
	struct ib_cm_event event;

	if (!id || id->ib.state == IB_CM_IDLE || id->ib.state == IB_CM_LISTEN) {
		cm_issue_rej(cm, work, IB_CM_REJ_INVALID_COMM_ID, CM_MESSAGE_REP, NULL, 0);
		return;
	}
	if (id->ib.state != IB_CM_REQ_SENT && id->ib.state != IB_CM_MRA_REQ_RCVD) {
		if (cm_remote(id) == cm_rep_get_local_comm_id(rep))
			rep_again(cm, work, id);
		return;
	}
	/* 12.9.8.3.1: the peer's QP still belongs to another connection here, so that connection is
	 * stale */
	stale = cm_timewait_by_qpn(cm, cm_rep_get_local_qpn(rep), guid);
	if (stale) {
		cm_issue_rej(cm, work, IB_CM_REJ_STALE_CONN, CM_MESSAGE_REP, NULL, 0);
		if (stale->id && !stale->id->destroying && stale->id->ib.state == IB_CM_ESTABLISHED)
			ib_send_cm_dreq(&stale->id->ib, NULL, 0);
		cm_reset_to_idle(id);
		event = (struct ib_cm_event){.event = IB_CM_REQ_ERROR,
					     .param.send_status = IBV_WC_GENERAL_ERR};
		cm_deliver(id, &event);
		return;
	}
	cm_cancel(id);
	rep_take(id, rep);
	cm_timewait_known(id, cm_remote(id), guid, id->remote_qpn);
	cm_set_state(id, IB_CM_REP_RCVD);
	rep_event(rep, &event);
	cm_deliver(id, &event);
}

/* --- RTU --- */

static void rtu_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_rtu *rtu = (struct cm_rtu *)&work->mad;
	struct cm_id *id =
		cm_id_find_pair(cm, cm_rtu_get_remote_comm_id(rtu), cm_rtu_get_local_comm_id(rtu));
	struct ib_cm_event event = {.event = IB_CM_RTU_RECEIVED,
				    .private_data = cm_rtu_private_data_ptr(rtu),
				    .private_data_len = IB_CM_RTU_PRIVATE_DATA_SIZE};

	if (!id)
		return;
	if (id->ib.state != IB_CM_REP_SENT && id->ib.state != IB_CM_MRA_REP_RCVD) {
		duplicate(cm, work);
		return;
	}
	cm_cancel(id);
	cm_set_state(id, IB_CM_ESTABLISHED);
	cm_deliver(id, &event);
}

/* --- DREQ, DREP --- */

/* Answers a DREQ for an id that no longer exists, so that the peer need not wait (12.9). */
static void drep_of_nobody(struct cm_device *cm, const struct cm_work *work)
{
	const struct cm_dreq *dreq = (const struct cm_dreq *)&work->mad;
	struct smp smp;
	struct cm_drep *drep = (struct cm_drep *)&smp;

	cm_fill_header(&smp, CM_ATTR_DREP, mad_hdr_get_tid(smp_hdr_const(&work->mad)));
	cm_drep_set_local_comm_id(drep, cm_dreq_get_remote_comm_id(dreq));
	cm_drep_set_remote_comm_id(drep, cm_dreq_get_local_comm_id(dreq));
	cm_reply(cm, work, &smp);
}

static void dreq_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_dreq *dreq = (struct cm_dreq *)&work->mad;
	struct cm_id *id = cm_id_find_pair(cm, cm_dreq_get_remote_comm_id(dreq),
					   cm_dreq_get_local_comm_id(dreq));
	struct ib_cm_event event = {.event = IB_CM_DREQ_RECEIVED,
				    .private_data = cm_dreq_private_data_ptr(dreq),
				    .private_data_len = IB_CM_DREQ_PRIVATE_DATA_SIZE};

	if (!id) {
		drep_of_nobody(cm, work);
		return;
	}
	if (cm_dreq_get_remote_qpn(dreq) != id->local_qpn)
		return;
	switch (id->ib.state) {
	case IB_CM_REP_SENT: /* the peer's RTU was lost, or comes later */
	case IB_CM_MRA_REP_RCVD:
	case IB_CM_DREQ_SENT: /* both sides disconnect at the same time */
	case IB_CM_ESTABLISHED:
		break;
	case IB_CM_TIMEWAIT:
		duplicate(cm, work);
		drep_of_nobody(cm, work);
		return;
	default:
		duplicate(cm, work);
		return;
	}
	cm_cancel(id);
	id->ib.lap_state = IB_CM_LAP_UNINIT;
	id->tid = mad_hdr_get_tid(smp_hdr(&work->mad));
	cm_set_state(id, IB_CM_DREQ_RCVD);
	cm_deliver(id, &event);
}

static void drep_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_drep *drep = (struct cm_drep *)&work->mad;
	struct cm_id *id = cm_id_find_pair(cm, cm_drep_get_remote_comm_id(drep),
					   cm_drep_get_local_comm_id(drep));
	struct ib_cm_event event = {.event = IB_CM_DREP_RECEIVED,
				    .private_data = cm_drep_private_data_ptr(drep),
				    .private_data_len = IB_CM_DREP_PRIVATE_DATA_SIZE};

	if (!id || (id->ib.state != IB_CM_DREQ_SENT && id->ib.state != IB_CM_DREQ_RCVD)) {
		duplicate(cm, work);
		return;
	}
	cm_enter_timewait(id);
	cm_deliver(id, &event);
}

/* --- REJ --- */

static struct cm_id *rejected_id(struct cm_device *cm, struct cm_rej *rej)
{
	const uint32_t theirs = cm_rej_get_local_comm_id(rej),
		       ours = cm_rej_get_remote_comm_id(rej);
	struct cm_timewait *tw;
	struct cm_id *id;

	/* a peer that sent a REQ and gave up does not know our communication id (12.6.7) */
	if (cm_rej_get_reason(rej) == CM_REASON_TIMEOUT && !ours) {
		tw = cm_timewait_by_remote_id(cm, theirs, be64_load(cm_rej_ari_cptr(rej)));
		return tw ? cm_id_find(cm, tw->local_id) : NULL;
	}
	if (cm_rej_get_message_rejected(rej) == CM_MESSAGE_REQ)
		return cm_id_find(cm, ours);
	id = cm_id_find(cm, ours);
	if (!id || cm_remote(id) == theirs)
		return id;
	/* the peer has given up, and its REP never came */
	return id->ib.state == IB_CM_REQ_SENT || id->ib.state == IB_CM_MRA_REQ_RCVD ? id : NULL;
}

/* Whether the REJ concerns the id in its present state. Changes the state if it does. */
static bool rej_take(struct cm_id *id, struct cm_rej *rej)
{
	const unsigned reason = cm_rej_get_reason(rej);

	/* This REQ has been answered: an old copy of it was rejected, after the peer's end of the
	 * connection was gone. */
	if (cm_rej_get_message_rejected(rej) == CM_MESSAGE_REQ && id->ib.state != IB_CM_REQ_SENT &&
	    id->ib.state != IB_CM_MRA_REQ_RCVD)
		return false;
	switch (id->ib.state) {
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
		/* The other peer has not started yet. The REQ is sent again. */
		if (id->peer_to_peer && reason == CM_REASON_INVALID_SERVICE_ID)
			return false;
		break;
	case IB_CM_REQ_RCVD:
	case IB_CM_MRA_REQ_SENT:
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
		break;
	case IB_CM_ESTABLISHED:
	case IB_CM_DREQ_SENT:
		cm_enter_timewait(id);
		return true;
	default:
		return false;
	}
	if (reason == CM_REASON_STALE_CONN)
		cm_enter_timewait(id);
	else
		cm_reset_to_idle(id);
	return true;
}

static void rej_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_rej *rej = (struct cm_rej *)&work->mad;
	struct cm_id *id = rejected_id(cm, rej);
	struct ib_cm_event event = {
		.event = IB_CM_REJ_RECEIVED,
		.param.rej_rcvd = {.reason = (enum ib_cm_rej_reason)cm_rej_get_reason(rej),
				   .ari = cm_rej_ari_ptr(rej),
				   .ari_length = (uint8_t)cm_rej_get_info_length(rej)},
		.private_data = cm_rej_private_data_ptr(rej),
		.private_data_len = IB_CM_REJ_PRIVATE_DATA_SIZE};

	if (event.param.rej_rcvd.ari_length > IB_CM_REJ_ARI_LENGTH)
		event.param.rej_rcvd.ari_length = IB_CM_REJ_ARI_LENGTH;
	if (id && rej_take(id, rej))
		cm_deliver(id, &event);
}

/* --- MRA --- */

/* Changes the state for an MRA. 0: the first MRA for that message; 1: a repeated one; -EINVAL: no
 * such message is under way. */
static int mra_take(struct cm_id *id, enum cm_message message)
{
	const enum ib_cm_state state = id->ib.state;

	if (message == CM_MESSAGE_REQ && (state == IB_CM_REQ_SENT || state == IB_CM_MRA_REQ_RCVD)) {
		cm_set_state(id, IB_CM_MRA_REQ_RCVD);
		return state != IB_CM_REQ_SENT;
	}
	if (message == CM_MESSAGE_REP && (state == IB_CM_REP_SENT || state == IB_CM_MRA_REP_RCVD)) {
		cm_set_state(id, IB_CM_MRA_REP_RCVD);
		return state != IB_CM_REP_SENT;
	}
	if (message == CM_MESSAGE_OTHER && state == IB_CM_ESTABLISHED &&
	    (id->ib.lap_state == IB_CM_LAP_SENT || id->ib.lap_state == IB_CM_MRA_LAP_RCVD)) {
		const bool again = id->ib.lap_state == IB_CM_MRA_LAP_RCVD;

		id->ib.lap_state = IB_CM_MRA_LAP_RCVD;
		return again;
	}
	return -EINVAL;
}

static void mra_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_mra *mra = (struct cm_mra *)&work->mad;
	const enum cm_message message = (enum cm_message)cm_mra_get_message_mraed(mra);
	struct cm_id *id = message == CM_MESSAGE_REQ
				   ? cm_id_find(cm, cm_mra_get_remote_comm_id(mra))
				   : cm_id_find_pair(cm, cm_mra_get_remote_comm_id(mra),
						     cm_mra_get_local_comm_id(mra));
	struct ib_cm_event event = {
		.event = IB_CM_MRA_RECEIVED,
		.param.mra_rcvd = {.service_timeout = (uint8_t)cm_mra_get_service_timeout(mra)},
		.private_data = cm_mra_private_data_ptr(mra),
		.private_data_len = IB_CM_MRA_PRIVATE_DATA_SIZE};
	int again = id ? mra_take(id, message) : -EINVAL;

	if (again < 0)
		return;
	/* The timeout is now the peer's service timeout, counted from now. */
	id->timeout_ps = cm_time_ps(cm_mra_get_service_timeout(mra)) + id->av.turn_ps;
	id->deadline = cm_now(cm) + id->timeout_ps;
	if (again)
		duplicate(cm, work);
	else
		cm_deliver(id, &event);
}

/* --- all of them --- */

void cm_received(struct cm_device *cm, struct cm_work *work)
{
	const struct mad_hdr *hdr = smp_hdr_const(&work->mad);
	const unsigned attr = mad_hdr_get_attr_id(hdr);

	if (attr < CM_ATTR_REQ || attr > CM_ATTR_APR)
		return;
	cm->counters.rx_msgs[attr - CM_ATTR_REQ]++;
	if (mad_hdr_get_class_version(hdr) != CM_CLASS_VERSION && attr != CM_ATTR_REQ &&
	    attr != CM_ATTR_SIDR_REQ)
		return;
	switch ((enum cm_attr)attr) {
	case CM_ATTR_REQ:
		cm_req_came(cm, work);
		break;
	case CM_ATTR_MRA:
		mra_came(cm, work);
		break;
	case CM_ATTR_REJ:
		rej_came(cm, work);
		break;
	case CM_ATTR_REP:
		rep_came(cm, work);
		break;
	case CM_ATTR_RTU:
		rtu_came(cm, work);
		break;
	case CM_ATTR_DREQ:
		dreq_came(cm, work);
		break;
	case CM_ATTR_DREP:
		drep_came(cm, work);
		break;
	case CM_ATTR_SIDR_REQ:
		cm_sidr_req_came(cm, work);
		break;
	case CM_ATTR_SIDR_REP:
		cm_sidr_rep_came(cm, work);
		break;
	case CM_ATTR_LAP:
		cm_lap_came(cm, work);
		break;
	case CM_ATTR_APR:
		cm_apr_came(cm, work);
		break;
	default:
		break;
	}
}

/* --- what the user has heard by itself --- */

static int path_migrated(struct cm_id *id)
{
	if (id->ib.state != IB_CM_ESTABLISHED || !id->alt_av.port ||
	    (id->ib.lap_state != IB_CM_LAP_UNINIT && id->ib.lap_state != IB_CM_LAP_IDLE))
		return -EINVAL;
	id->av = id->alt_av;
	id->alt_av = (struct cm_av){0};
	id->has_alternate = false;
	id->ib.lap_state = IB_CM_LAP_UNINIT;
	return 0;
}

int ib_cm_notify(struct ib_cm_id *cm_id, enum ib_event_type event)
{
	struct cm_id *id = cm_id_of(cm_id);

	if (event == IB_EVENT_PATH_MIG)
		return path_migrated(id);
	if (event != IB_EVENT_COMM_EST)
		return -EINVAL;
	if (cm_id->state == IB_CM_ESTABLISHED)
		return -EISCONN;
	if (cm_id->state != IB_CM_REP_SENT && cm_id->state != IB_CM_MRA_REP_RCVD)
		return -EINVAL;
	cm_cancel(id);
	cm_set_state(id, IB_CM_ESTABLISHED);
	id->established_by_user = true;
	cm_wake(id->cm);
	return 0;
}
