// SPDX-License-Identifier: Apache-2.0
/* Sends the messages that connect and disconnect. In each state a call of the user sends its own
 * message, or fails. */
#include "host_driver/cm/cm.h"

#include <errno.h>
#include <string.h>

enum { CODE_MAX = 31, RETRY_MAX = 7, CM_RETRIES_MAX = 15 };

/* --- how a message leaves --- */

void cm_fill_header(struct smp *smp, enum cm_attr attr, uint64_t tid)
{
	struct mad_hdr *hdr = smp_hdr(smp);

	memset(smp, 0, sizeof(*smp));
	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, MAD_CLASS_CM);
	mad_hdr_set_class_version(hdr, CM_CLASS_VERSION);
	mad_hdr_set_method(hdr, MAD_METHOD_SEND);
	mad_hdr_set_tid(hdr, tid);
	mad_hdr_set_attr_id(hdr, attr);
}

uint64_t cm_guid_be(const struct cm_device *cm)
{
	return htobe64(cm->guid);
}

static void count_sent(struct cm_device *cm, const struct smp *smp)
{
	cm->counters.tx_msgs[mad_hdr_get_attr_id(smp_hdr_const(smp)) - CM_ATTR_REQ]++;
}

int cm_post(struct cm_device *cm, const struct cm_av *av, const struct smp *smp)
{
	struct drv_mad_addr to = {.dlid = av->ah.dlid,
				  .sl = av->ah.sl,
				  .path_bits = av->ah.src_path_bits,
				  .qpn = QPN_GSI,
				  .qkey = QKEY_GSI};
	int rc = 0;

	if (rdma_protocol_roce(cm->device, av->port))
		rc = ib_ah_to_drv(cm->device, &av->ah, &to.ah);
	if (!rc)
		rc = drv_mad_send(cm->device->drv, av->port, QPN_GSI, &to, smp);
	if (!rc)
		count_sent(cm, smp);
	return rc;
}

int cm_reply(struct cm_device *cm, const struct cm_work *work, const struct smp *smp)
{
	int rc = drv_mad_send(cm->device->drv, work->port, QPN_GSI, &work->from, smp);

	if (!rc)
		count_sent(cm, smp);
	return rc;
}

int cm_post_request(struct cm_id *id, uint64_t timeout_ps, unsigned retries)
{
	int rc;

	/* the answer may come before the call returns, and ends the wait for it */
	id->timeout_ps = timeout_ps;
	id->retries_left = retries;
	id->deadline = cm_now(id->cm) + timeout_ps;
	rc = cm_post(id->cm, &id->av, &id->request);
	if (rc)
		cm_cancel(id);
	else
		cm_wake(id->cm);
	return rc;
}

int cm_check_data(const void *data, unsigned len, unsigned room)
{
	return len > room || (len && !data) ? -EINVAL : 0;
}

static void copy(uint8_t *to, const void *from, unsigned len)
{
	if (len)
		memcpy(to, from, len);
}

/* A TID for messages that this side begins. The message's kind in the low half makes them
 * differ. */
static uint64_t tid_of(const struct cm_id *id, enum cm_attr attr)
{
	return (uint64_t)cm_local(id) << 32 | attr;
}

/* --- REQ --- */

static int transport_of(enum ib_qp_type type, struct cm_req *req)
{
	switch (type) {
	case IB_QPT_RC:
		cm_req_set_transport_type(req, CM_TRANSPORT_RC);
		return 0;
	case IB_QPT_UC:
		cm_req_set_transport_type(req, CM_TRANSPORT_UC);
		return 0;
	case IB_QPT_XRC_INI:
		cm_req_set_transport_type(req, CM_TRANSPORT_EXTENDED);
		cm_req_set_extended_transport(req, CM_EXTENDED_XRC);
		return 0;
	default:
		return -EINVAL;
	}
}

static int req_check(const struct ib_cm_req_param *p)
{
	if (!p->primary_path || p->remote_cm_response_timeout > CODE_MAX ||
	    p->local_cm_response_timeout > CODE_MAX || p->retry_count > RETRY_MAX ||
	    p->rnr_retry_count > RETRY_MAX || p->max_cm_retries > CM_RETRIES_MAX ||
	    p->qp_num > PSN_MASK || p->starting_psn > PSN_MASK)
		return -EINVAL;
	if (p->alternate_path && (p->alternate_path->pkey != p->primary_path->pkey ||
				  p->alternate_path->mtu != p->primary_path->mtu))
		return -EINVAL;
	return cm_check_data(p->private_data, p->private_data_len, IB_CM_REQ_PRIVATE_DATA_SIZE);
}

static int req_fill(struct cm_id *id, const struct ib_cm_req_param *p)
{
	struct cm_req *req = (struct cm_req *)&id->request;
	int rc;

	id->tid = tid_of(id, CM_ATTR_REQ);
	cm_fill_header(&id->request, CM_ATTR_REQ, id->tid);
	rc = transport_of(p->qp_type, req);
	if (rc)
		return rc;
	cm_req_set_local_comm_id(req, cm_local(id));
	cm_req_set_service_id(req, be64toh(p->service_id));
	cm_req_set_local_ca_guid(req, id->cm->guid);
	cm_req_set_local_qpn(req, p->qp_num);
	cm_req_set_responder_resources(req, p->responder_resources);
	cm_req_set_initiator_depth(req, p->initiator_depth);
	cm_req_set_remote_cm_response_timeout(req, p->remote_cm_response_timeout);
	cm_req_set_flow_control(req, p->flow_control);
	cm_req_set_starting_psn(req, p->starting_psn);
	cm_req_set_local_cm_response_timeout(req, p->local_cm_response_timeout);
	cm_req_set_retry_count(req, p->retry_count);
	cm_req_set_pkey(req, be16toh(p->primary_path->pkey));
	cm_req_set_path_mtu(req, p->primary_path->mtu);
	cm_req_set_rnr_retry_count(req, p->rnr_retry_count);
	cm_req_set_max_cm_retries(req, p->max_cm_retries);
	cm_req_set_srq(req, p->srq);
	cm_path_to_msg(p->primary_path, &id->av, cm_req_primary(req));
	if (p->alternate_path)
		cm_path_to_msg(p->alternate_path, &id->alt_av, cm_req_alternate(req));
	copy(cm_req_private_data_ptr(req), p->private_data, p->private_data_len);
	return 0;
}

static void req_remember(struct cm_id *id, const struct ib_cm_req_param *p)
{
	id->ib.service_id = p->service_id;
	id->qp_type = p->qp_type;
	id->local_qpn = p->qp_num;
	id->rq_psn = p->starting_psn;
	id->pkey = be16toh(p->primary_path->pkey);
	id->path_mtu = p->primary_path->mtu;
	id->responder_resources = p->responder_resources;
	id->initiator_depth = p->initiator_depth;
	id->retry_count = p->retry_count;
	id->max_cm_retries = p->max_cm_retries;
	id->peer_to_peer = p->peer_to_peer;
	id->has_alternate = p->alternate_path != NULL;
	id->response_code = p->remote_cm_response_timeout;
	id->ib.lap_state = id->has_alternate ? IB_CM_LAP_IDLE : IB_CM_LAP_UNINIT;
	id->response_ps = cm_time_ps(p->remote_cm_response_timeout) + id->av.turn_ps;
}

int ib_send_cm_req(struct ib_cm_id *cm_id, const struct ib_cm_req_param *p)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct cm_av av, alt = {0};
	int rc = req_check(p);

	if (!rc)
		rc = cm_av_from_path(id->cm, p->primary_path, &av);
	if (!rc && p->alternate_path)
		rc = cm_av_from_path(id->cm, p->alternate_path, &alt);
	if (!rc && (cm_id->state != IB_CM_IDLE || id->timewait))
		rc = -EINVAL;
	if (rc)
		return rc;
	id->av = av;
	id->alt_av = alt;
	rc = req_fill(id, p);
	if (rc)
		return rc;
	rc = cm_timewait_new(id);
	if (rc)
		return rc;
	req_remember(id, p);
	cm_set_state(id, IB_CM_REQ_SENT);
	rc = cm_post_request(id, id->response_ps, id->max_cm_retries);
	if (rc)
		cm_reset_to_idle(id);
	return rc;
}

/* --- REP, RTU --- */

static void rep_fill(struct cm_id *id, const struct ib_cm_rep_param *p)
{
	struct cm_rep *rep = (struct cm_rep *)&id->request;

	cm_fill_header(&id->request, CM_ATTR_REP, id->tid);
	cm_rep_set_local_comm_id(rep, cm_local(id));
	cm_rep_set_remote_comm_id(rep, cm_remote(id));
	cm_rep_set_local_qpn(rep, p->qp_num);
	cm_rep_set_starting_psn(rep, p->starting_psn);
	cm_rep_set_responder_resources(rep, p->responder_resources);
	cm_rep_set_initiator_depth(rep, p->initiator_depth);
	cm_rep_set_target_ack_delay(rep, id->cm->ack_delay);
	cm_rep_set_failover_accepted(rep, p->failover_accepted);
	cm_rep_set_flow_control(rep, p->flow_control);
	cm_rep_set_rnr_retry_count(rep, p->rnr_retry_count);
	cm_rep_set_srq(rep, p->srq);
	cm_rep_set_local_ca_guid(rep, id->cm->guid);
	copy(cm_rep_private_data_ptr(rep), p->private_data, p->private_data_len);
}

int ib_send_cm_rep(struct ib_cm_id *cm_id, const struct ib_cm_rep_param *p)
{
	struct cm_id *id = cm_id_of(cm_id);
	const enum ib_cm_state before = cm_id->state;
	int rc = cm_check_data(p->private_data, p->private_data_len, IB_CM_REP_PRIVATE_DATA_SIZE);

	if (!rc && (p->qp_num > PSN_MASK || p->starting_psn > PSN_MASK ||
		    p->rnr_retry_count > RETRY_MAX || p->failover_accepted > CM_FAILOVER_REJECTED))
		rc = -EINVAL;
	if (!rc && before != IB_CM_REQ_RCVD && before != IB_CM_MRA_REQ_SENT)
		rc = -EINVAL;
	if (rc)
		return rc;
	rep_fill(id, p);
	id->local_qpn = p->qp_num;
	id->rq_psn = p->starting_psn;
	id->responder_resources = p->responder_resources;
	id->initiator_depth = p->initiator_depth;
	if (id->has_alternate && p->failover_accepted != CM_FAILOVER_ACCEPTED) {
		id->has_alternate = false;
		id->alt_av = (struct cm_av){0};
	}
	id->ib.lap_state = id->has_alternate ? IB_CM_LAP_IDLE : IB_CM_LAP_UNINIT;
	cm_set_state(id, IB_CM_REP_SENT);
	rc = cm_post_request(id, id->response_ps, id->max_cm_retries);
	if (rc)
		cm_set_state(id, before);
	return rc;
}

int ib_send_cm_rtu(struct ib_cm_id *cm_id, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct cm_rtu *rtu = (struct cm_rtu *)&id->answer;
	const enum ib_cm_state before = cm_id->state;
	int rc = cm_check_data(data, len, IB_CM_RTU_PRIVATE_DATA_SIZE);

	if (rc || (before != IB_CM_REP_RCVD && before != IB_CM_MRA_REP_SENT))
		return -EINVAL;
	cm_fill_header(&id->answer, CM_ATTR_RTU, id->tid);
	cm_rtu_set_local_comm_id(rtu, cm_local(id));
	cm_rtu_set_remote_comm_id(rtu, cm_remote(id));
	copy(cm_rtu_private_data_ptr(rtu), data, len);
	cm_set_state(id, IB_CM_ESTABLISHED);
	rc = cm_post(id->cm, &id->av, &id->answer);
	if (rc)
		cm_set_state(id, before);
	return rc;
}

/* --- DREQ, DREP --- */

void cm_fill_dreq(struct cm_id *id, struct smp *smp, const void *data, uint8_t len)
{
	struct cm_dreq *dreq = (struct cm_dreq *)smp;

	id->tid = tid_of(id, CM_ATTR_DREQ);
	cm_fill_header(smp, CM_ATTR_DREQ, id->tid);
	cm_dreq_set_local_comm_id(dreq, cm_local(id));
	cm_dreq_set_remote_comm_id(dreq, cm_remote(id));
	cm_dreq_set_remote_qpn(dreq, id->remote_qpn);
	copy(cm_dreq_private_data_ptr(dreq), data, len);
}

int ib_send_cm_dreq(struct ib_cm_id *cm_id, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	int rc = cm_check_data(data, len, IB_CM_DREQ_PRIVATE_DATA_SIZE);

	if (rc || cm_id->state != IB_CM_ESTABLISHED)
		return -EINVAL;
	cm_cancel(id); /* a LAP may be under way */
	cm_fill_dreq(id, &id->request, data, len);
	cm_set_state(id, IB_CM_DREQ_SENT);
	rc = cm_post_request(id, id->response_ps, id->max_cm_retries);
	/* the connection ends even if the peer cannot be told */
	if (rc)
		cm_enter_timewait(id);
	return rc;
}

static void cm_fill_drep(const struct cm_id *id, struct smp *smp, const void *data, uint8_t len)
{
	struct cm_drep *drep = (struct cm_drep *)smp;

	cm_fill_header(smp, CM_ATTR_DREP, id->tid);
	cm_drep_set_local_comm_id(drep, cm_local(id));
	cm_drep_set_remote_comm_id(drep, cm_remote(id));
	copy(cm_drep_private_data_ptr(drep), data, len);
}

int ib_send_cm_drep(struct ib_cm_id *cm_id, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);

	if (cm_check_data(data, len, IB_CM_DREP_PRIVATE_DATA_SIZE) ||
	    cm_id->state != IB_CM_DREQ_RCVD)
		return -EINVAL;
	cm_fill_drep(id, &id->answer, data, len);
	cm_enter_timewait(id);
	return cm_post(id->cm, &id->av, &id->answer);
}

/* --- REJ, MRA --- */

static void rej_header(struct cm_id *id, struct smp *smp)
{
	struct cm_rej *rej = (struct cm_rej *)smp;

	cm_fill_header(smp, CM_ATTR_REJ, id->tid);
	cm_rej_set_remote_comm_id(rej, cm_remote(id));
	switch (id->ib.state) {
	case IB_CM_REQ_RCVD: /* the peer does not know this side's id yet */
		cm_rej_set_message_rejected(rej, CM_MESSAGE_REQ);
		break;
	case IB_CM_MRA_REQ_SENT:
		cm_rej_set_local_comm_id(rej, cm_local(id));
		cm_rej_set_message_rejected(rej, CM_MESSAGE_REQ);
		break;
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
		cm_rej_set_local_comm_id(rej, cm_local(id));
		cm_rej_set_message_rejected(rej, CM_MESSAGE_REP);
		break;
	default:
		cm_rej_set_local_comm_id(rej, cm_local(id));
		cm_rej_set_message_rejected(rej, CM_MESSAGE_OTHER);
		break;
	}
}

void cm_fill_rej(struct cm_id *id, struct smp *smp, enum ib_cm_rej_reason reason, const void *ari,
		 uint8_t ari_length, const void *data, uint8_t len)
{
	struct cm_rej *rej = (struct cm_rej *)smp;

	rej_header(id, smp);
	cm_rej_set_reason(rej, reason);
	cm_rej_set_info_length(rej, ari_length);
	copy(cm_rej_ari_ptr(rej), ari, ari_length);
	copy(cm_rej_private_data_ptr(rej), data, len);
}

int ib_send_cm_rej(struct ib_cm_id *cm_id, enum ib_cm_rej_reason reason, const void *ari,
		   uint8_t ari_length, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct smp smp;

	if (cm_check_data(data, len, IB_CM_REJ_PRIVATE_DATA_SIZE) ||
	    cm_check_data(ari, ari_length, IB_CM_REJ_ARI_LENGTH))
		return -EINVAL;
	cm_fill_rej(id, &smp, reason, ari, ari_length, data, len);
	switch (cm_id->state) {
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
	case IB_CM_REQ_RCVD:
	case IB_CM_MRA_REQ_SENT:
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
		cm_reset_to_idle(id);
		break;
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
		/* the peer may already have used the connection */
		cm_enter_timewait(id);
		break;
	default:
		return -EINVAL;
	}
	return cm_post(id->cm, &id->av, &smp);
}

void cm_issue_rej(struct cm_device *cm, const struct cm_work *work, enum ib_cm_rej_reason reason,
		  enum cm_message rejected, const void *ari, uint8_t ari_length)
{
	/* the two ids are at the same offset in all messages */
	const struct cm_rep *came = (const struct cm_rep *)&work->mad;
	struct smp smp;
	struct cm_rej *rej = (struct cm_rej *)&smp;

	cm_fill_header(&smp, CM_ATTR_REJ, mad_hdr_get_tid(smp_hdr_const(&work->mad)));
	cm_rej_set_remote_comm_id(rej, cm_rep_get_local_comm_id(came));
	if (rejected != CM_MESSAGE_REQ)
		cm_rej_set_local_comm_id(rej, cm_rep_get_remote_comm_id(came));
	cm_rej_set_message_rejected(rej, rejected);
	cm_rej_set_reason(rej, reason);
	cm_rej_set_info_length(rej, ari_length);
	copy(cm_rej_ari_ptr(rej), ari, ari_length);
	cm_reply(cm, work, &smp);
}

static void cm_fill_mra(const struct cm_id *id, struct smp *smp, enum cm_message message,
			const void *data, uint8_t len)
{
	struct cm_mra *mra = (struct cm_mra *)smp;

	cm_fill_header(smp, CM_ATTR_MRA, id->tid);
	cm_mra_set_local_comm_id(mra, cm_local(id));
	cm_mra_set_remote_comm_id(mra, cm_remote(id));
	cm_mra_set_message_mraed(mra, message);
	cm_mra_set_service_timeout(mra, id->service_timeout);
	copy(cm_mra_private_data_ptr(mra), data, len);
}

int ib_send_cm_mra(struct ib_cm_id *cm_id, uint8_t service_timeout, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	const uint8_t code = service_timeout & ~(unsigned)IB_CM_MRA_FLAG_DELAY;
	const enum ib_cm_state before = cm_id->state;
	const enum ib_cm_lap_state lap_before = cm_id->lap_state;
	enum cm_message message;
	int rc;

	if (cm_check_data(data, len, IB_CM_MRA_PRIVATE_DATA_SIZE) || code > CODE_MAX)
		return -EINVAL;
	if (cm_id->state == IB_CM_REQ_RCVD)
		message = CM_MESSAGE_REQ;
	else if (cm_id->state == IB_CM_REP_RCVD)
		message = CM_MESSAGE_REP;
	else if (cm_id->state == IB_CM_ESTABLISHED && cm_id->lap_state == IB_CM_LAP_RCVD)
		message = CM_MESSAGE_OTHER;
	else
		return -EINVAL;
	id->service_timeout = code;
	cm_fill_mra(id, &id->answer, message, data, len);
	if (message == CM_MESSAGE_OTHER)
		cm_id->lap_state = IB_CM_MRA_LAP_SENT;
	else
		cm_set_state(id,
			     message == CM_MESSAGE_REQ ? IB_CM_MRA_REQ_SENT : IB_CM_MRA_REP_SENT);
	if (service_timeout & IB_CM_MRA_FLAG_DELAY)
		return 0;
	rc = cm_post(id->cm, &id->av, &id->answer);
	if (rc && message == CM_MESSAGE_OTHER)
		cm_id->lap_state = lap_before;
	else if (rc)
		cm_set_state(id, before);
	return rc;
}
