// SPDX-License-Identifier: Apache-2.0
/* A new alternate path for an established connection: LAP and APR (12.8). */
#include "host_driver/cm/cm.h"

#include <errno.h>
#include <string.h>

static void lap_fill(struct cm_id *id, const struct sa_path_rec *path, const struct cm_av *av,
		     const void *data, uint8_t len)
{
	struct cm_lap *lap = (struct cm_lap *)&id->request;

	/* Each LAP has a TID of its own, so that the peer can tell a new LAP from a repeated
	 * one. */
	id->tid += UINT64_C(1) << 16;
	cm_fill_header(&id->request, CM_ATTR_LAP, id->tid);
	cm_lap_set_local_comm_id(lap, cm_local(id));
	cm_lap_set_remote_comm_id(lap, cm_remote(id));
	cm_lap_set_remote_qpn(lap, id->remote_qpn);
	cm_path_to_lap(path, av, cm_lap_alternate(lap));
	if (len)
		memcpy(cm_lap_private_data_ptr(lap), data, len);
}

int ib_send_cm_lap(struct ib_cm_id *cm_id, const struct sa_path_rec *path, const void *data,
		   uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	const enum ib_cm_lap_state before = cm_id->lap_state;
	struct cm_av av;
	int rc = path ? cm_check_data(data, len, IB_CM_LAP_PRIVATE_DATA_SIZE) : -EINVAL;

	if (!rc)
		rc = cm_av_from_path(id->cm, path, &av);
	if (!rc && (cm_id->state != IB_CM_ESTABLISHED ||
		    (before != IB_CM_LAP_UNINIT && before != IB_CM_LAP_IDLE)))
		rc = -EINVAL;
	if (rc)
		return rc;
	av.ack_timeout = id->av.ack_timeout > av.ack_timeout ? id->av.ack_timeout : av.ack_timeout;
	lap_fill(id, path, &av, data, len);
	cm_lap_set_remote_cm_response_timeout((struct cm_lap *)&id->request, id->response_code);
	cm_id->lap_state = IB_CM_LAP_SENT;
	rc = cm_post_request(id, id->response_ps, id->max_cm_retries);
	if (rc) {
		cm_id->lap_state = before;
		return rc;
	}
	id->new_av = av;
	return 0;
}

static bool lap_again(struct cm_device *cm, struct cm_id *id, const struct cm_work *work)
{
	const bool same = mad_hdr_get_tid(smp_hdr_const(&work->mad)) == id->answered_tid;

	switch (id->ib.lap_state) {
	case IB_CM_LAP_UNINIT:
	case IB_CM_LAP_IDLE:
		if (!same)
			return false;
		cm_post(cm, &id->av, &id->answer);
		break;
	case IB_CM_MRA_LAP_SENT:
		cm_post(cm, &id->av, &id->answer);
		break;
	default:
		break;
	}
	cm->counters.rx_duplicates[IB_CM_MSG_LAP]++;
	return true;
}

void cm_lap_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_lap *lap = (struct cm_lap *)&work->mad;
	const struct cm_lap_path *path = cm_lap_alternate(lap);
	const unsigned port = cm_port_of_gid(cm, cm_lap_path_remote_gid_cptr(path));
	struct cm_id *id =
		cm_id_find_pair(cm, cm_lap_get_remote_comm_id(lap), cm_lap_get_local_comm_id(lap));
	struct sa_path_rec alternate;
	struct cm_av av;
	int rc = -EINVAL;
	struct ib_cm_event event = {.event = IB_CM_LAP_RECEIVED,
				    .param.lap_rcvd = {.alternate_path = &alternate},
				    .private_data = cm_lap_private_data_ptr(lap),
				    .private_data_len = IB_CM_LAP_PRIVATE_DATA_SIZE};

	if (id && port) { /* it may sleep, and the state may be another one then */
		cm_id_hold(id);
		rc = cm_av_from_lap(cm, port, path, id->pkey, id->path_mtu, &av);
		cm_id_let_go(id);
	}
	if (!id || id->destroying || id->ib.state != IB_CM_ESTABLISHED || lap_again(cm, id, work))
		return;
	id->tid = id->answered_tid = mad_hdr_get_tid(smp_hdr_const(&work->mad));
	id->ib.lap_state = IB_CM_LAP_RCVD;
	/* Refuses what can be refused without the user. */
	if (cm_lap_get_remote_qpn(lap) != id->local_qpn) {
		ib_send_cm_apr(&id->ib, IB_CM_APR_INVALID_QPN_EECN, NULL, 0, NULL, 0);
		return;
	}
	if (rc) {
		ib_send_cm_apr(&id->ib, IB_CM_APR_INVALID_GID, NULL, 0, NULL, 0);
		return;
	}
	id->new_av = av;
	cm_path_from_lap(path, id->pkey, id->path_mtu, &alternate);
	cm_deliver(id, &event);
}

/* ib_cm_init_qp_attr() returns the new path from now on. */
static void path_taken(struct cm_id *id)
{
	id->alt_av = id->new_av;
	id->has_alternate = false;
}

int ib_send_cm_apr(struct ib_cm_id *cm_id, enum ib_cm_apr_status status, const void *info,
		   uint8_t info_length, const void *data, uint8_t len)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct cm_apr *apr = (struct cm_apr *)&id->answer;
	const enum ib_cm_lap_state before = cm_id->lap_state;
	int rc;

	if (cm_check_data(data, len, IB_CM_APR_PRIVATE_DATA_SIZE) ||
	    cm_check_data(info, info_length, IB_CM_APR_INFO_LENGTH) ||
	    cm_id->state != IB_CM_ESTABLISHED || (unsigned)status > IB_CM_APR_INVALID_SL ||
	    (cm_id->lap_state != IB_CM_LAP_RCVD && cm_id->lap_state != IB_CM_MRA_LAP_SENT))
		return -EINVAL;
	cm_fill_header(&id->answer, CM_ATTR_APR, id->answered_tid);
	cm_apr_set_local_comm_id(apr, cm_local(id));
	cm_apr_set_remote_comm_id(apr, cm_remote(id));
	cm_apr_set_ap_status(apr, status);
	cm_apr_set_info_length(apr, info_length);
	if (info_length)
		memcpy(cm_apr_info_ptr(apr), info, info_length);
	if (len)
		memcpy(cm_apr_private_data_ptr(apr), data, len);
	cm_id->lap_state = IB_CM_LAP_IDLE;
	if (status == IB_CM_APR_SUCCESS)
		path_taken(id);
	rc = cm_post(id->cm, &id->av, &id->answer);
	if (rc)
		cm_id->lap_state = before;
	return rc;
}

void cm_apr_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_apr *apr = (struct cm_apr *)&work->mad;
	struct cm_id *id =
		cm_id_find_pair(cm, cm_apr_get_remote_comm_id(apr), cm_apr_get_local_comm_id(apr));
	struct ib_cm_event event = {
		.event = IB_CM_APR_RECEIVED,
		.param.apr_rcvd = {.ap_status = (enum ib_cm_apr_status)cm_apr_get_ap_status(apr),
				   .apr_info = cm_apr_info_ptr(apr),
				   .info_len = (uint8_t)cm_apr_get_info_length(apr)},
		.private_data = cm_apr_private_data_ptr(apr),
		.private_data_len = IB_CM_APR_PRIVATE_DATA_SIZE};

	if (event.param.apr_rcvd.info_len > IB_CM_APR_INFO_LENGTH)
		event.param.apr_rcvd.info_len = IB_CM_APR_INFO_LENGTH;
	if (!id || id->ib.state != IB_CM_ESTABLISHED ||
	    (id->ib.lap_state != IB_CM_LAP_SENT && id->ib.lap_state != IB_CM_MRA_LAP_RCVD) ||
	    mad_hdr_get_tid(smp_hdr_const(&work->mad)) != id->tid) {
		cm->counters.rx_duplicates[IB_CM_MSG_APR]++;
		return;
	}
	cm_cancel(id);
	id->ib.lap_state = IB_CM_LAP_IDLE;
	if (event.param.apr_rcvd.ap_status == IB_CM_APR_SUCCESS)
		path_taken(id);
	cm_deliver(id, &event);
}
