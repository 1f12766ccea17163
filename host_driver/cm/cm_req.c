// SPDX-License-Identifier: Apache-2.0
/* Received REQs: checks them, and finds repeated REQs, stale connections, and peers that connect at
 * the same time. All other REQs go to a listener. */
#include "host_driver/cm/cm.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <string.h>

/* A REQ that has been checked. Its paths are stored in the direction to the peer. */
struct req_view {
	struct cm_device *cm;
	struct cm_work *work;
	struct cm_req *req;
	struct cm_av av, alt_av;
	enum ib_qp_type qp_type; /* of this side's QP */
	bool has_alternate;
};

static void reject(const struct req_view *v, enum ib_cm_rej_reason reason, const void *ari,
		   uint8_t ari_length)
{
	cm_issue_rej(v->cm, v->work, reason, CM_MESSAGE_REQ, ari, ari_length);
}

/* --- checks; they may sleep --- */

static int type_of(const struct cm_req *req, enum ib_qp_type *type)
{
	switch ((enum cm_transport)cm_req_get_transport_type(req)) {
	case CM_TRANSPORT_RC:
		*type = IB_QPT_RC;
		return 0;
	case CM_TRANSPORT_UC:
		*type = IB_QPT_UC;
		return 0;
	case CM_TRANSPORT_EXTENDED:
		*type = IB_QPT_XRC_TGT;
		return cm_req_get_extended_transport(req) == CM_EXTENDED_XRC ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static bool paths_ok(struct req_view *v)
{
	const struct cm_path *primary = cm_req_primary(v->req),
			     *alternate = cm_req_alternate(v->req);
	const uint16_t pkey = (uint16_t)cm_req_get_pkey(v->req);
	const uint8_t mtu = (uint8_t)cm_req_get_path_mtu(v->req);
	const struct cm_port *port;
	unsigned n;

	if (cm_port_get(v->cm, v->work->port, &port))
		return false;
	n = cm_port_of_gid(v->cm, cm_path_remote_gid_cptr(primary));
	if (!n) {
		reject(v, IB_CM_REJ_INVALID_GID, port->gid.raw, sizeof(port->gid.raw));
		return false;
	}
	if (mtu > (unsigned)port->attr.active_mtu) {
		const uint8_t largest = (uint8_t)port->attr.active_mtu;

		reject(v, IB_CM_REJ_INVALID_MTU, &largest, sizeof(largest));
		return false;
	}
	if (cm_av_from_msg(v->cm, n, primary, pkey, mtu, &v->av)) {
		reject(v, IB_CM_REJ_UNSUPPORTED, NULL, 0);
		return false;
	}
	if (rdma_protocol_roce(v->cm->device, n)) /* the way that the REQ came has the peer's MAC */
		cm_ah_from_sender(n, &v->work->from, &v->av.ah);
	v->has_alternate = cm_path_get_local_lid(alternate) != 0;
	if (!v->has_alternate)
		return true;
	n = cm_port_of_gid(v->cm, cm_path_remote_gid_cptr(alternate));
	if (!n || cm_av_from_msg(v->cm, n, alternate, pkey, mtu, &v->alt_av)) {
		reject(v, IB_CM_REJ_INVALID_ALT_GID, port->gid.raw, sizeof(port->gid.raw));
		return false;
	}
	return true;
}

static bool req_ok(struct req_view *v)
{
	const uint8_t version = CM_CLASS_VERSION;

	if (mad_hdr_get_class_version(smp_hdr_const(&v->work->mad)) != CM_CLASS_VERSION) {
		reject(v, IB_CM_REJ_INVALID_CLASS_VERSION, &version, sizeof(version));
		return false;
	}
	if (type_of(v->req, &v->qp_type)) {
		reject(v, IB_CM_REJ_INVALID_TRANSPORT_TYPE, NULL, 0);
		return false;
	}
	return paths_ok(v);
}

/* --- one that came before --- */

static void req_again(const struct req_view *v, const struct cm_timewait *tw)
{
	struct cm_id *id = tw->id;

	v->cm->counters.rx_duplicates[IB_CM_MSG_REQ]++;
	if (!id)
		return;
	switch (id->ib.state) {
	case IB_CM_MRA_REQ_SENT:
		cm_post(v->cm, &id->av, &id->answer);
		break;
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
		cm_post(v->cm, &id->av, &id->request);
		break;
	case IB_CM_TIMEWAIT:
		reject(v, IB_CM_REJ_STALE_CONN, NULL, 0);
		break;
	default:
		break; /* the user has not answered yet */
	}
}

/* 12.9.8.3.1: the peer's QP is connected here, but the peer does not know that connection any more.
 * Rejects the REQ and disconnects. */
static bool is_stale(const struct req_view *v)
{
	const struct cm_timewait *tw = cm_timewait_by_qpn(v->cm, cm_req_get_local_qpn(v->req),
							  cm_req_get_local_ca_guid(v->req));

	if (!tw)
		return false;
	reject(v, IB_CM_REJ_STALE_CONN, NULL, 0);
	if (tw->id && !tw->id->destroying && tw->id->ib.state == IB_CM_ESTABLISHED)
		ib_send_cm_dreq(&tw->id->ib, NULL, 0);
	return true;
}

/* --- who takes it --- */

static void take(struct cm_id *id, const struct req_view *v)
{
	const struct cm_req *req = v->req;

	id->av = v->av;
	id->alt_av = v->alt_av;
	id->has_alternate = v->has_alternate;
	id->ib.lap_state = v->has_alternate ? IB_CM_LAP_IDLE : IB_CM_LAP_UNINIT;
	id->ib.service_id = htobe64(cm_req_get_service_id(req));
	id->ib.remote_id = htobe32(cm_req_get_local_comm_id(req));
	id->tid = mad_hdr_get_tid(smp_hdr_const(&v->work->mad));
	id->qp_type = v->qp_type;
	id->remote_qpn = cm_req_get_local_qpn(req);
	id->sq_psn = cm_req_get_starting_psn(req);
	id->pkey = (uint16_t)cm_req_get_pkey(req);
	id->path_mtu = (uint8_t)cm_req_get_path_mtu(req);
	id->initiator_depth = (uint8_t)cm_req_get_responder_resources(req);
	id->responder_resources = (uint8_t)cm_req_get_initiator_depth(req);
	id->retry_count = (uint8_t)cm_req_get_retry_count(req);
	id->rnr_retry_count = (uint8_t)cm_req_get_rnr_retry_count(req);
	id->max_cm_retries = cm_req_get_max_cm_retries(req);
	id->response_code = (uint8_t)cm_req_get_local_cm_response_timeout(req);
	id->response_ps = cm_time_ps(cm_req_get_local_cm_response_timeout(req)) + v->av.turn_ps;
	cm_timewait_known(id, cm_req_get_local_comm_id(req), cm_req_get_local_ca_guid(req),
			  id->remote_qpn);
	cm_set_state(id, IB_CM_REQ_RCVD);
}

static void tell(struct cm_id *id, struct cm_id *listener, const struct req_view *v)
{
	struct cm_req *req = v->req;
	struct sa_path_rec primary, alternate;
	struct ib_cm_event event = {
		.event = IB_CM_REQ_RECEIVED,
		.param.req_rcvd =
			{
				.listen_id = listener ? &listener->ib : NULL,
				.port = v->av.port,
				.primary_path = &primary,
				.alternate_path = v->has_alternate ? &alternate : NULL,
				.remote_ca_guid = htobe64(cm_req_get_local_ca_guid(req)),
				.remote_qkey = cm_req_get_local_qkey(req),
				.remote_qpn = cm_req_get_local_qpn(req),
				.qp_type = v->qp_type,
				.starting_psn = cm_req_get_starting_psn(req),
				.responder_resources = (uint8_t)cm_req_get_initiator_depth(req),
				.initiator_depth = (uint8_t)cm_req_get_responder_resources(req),
				.local_cm_response_timeout =
					(uint8_t)cm_req_get_remote_cm_response_timeout(req),
				.remote_cm_response_timeout =
					(uint8_t)cm_req_get_local_cm_response_timeout(req),
				.flow_control = (uint8_t)cm_req_get_flow_control(req),
				.retry_count = (uint8_t)cm_req_get_retry_count(req),
				.rnr_retry_count = (uint8_t)cm_req_get_rnr_retry_count(req),
				.srq = (uint8_t)cm_req_get_srq(req),
				.pkey = (uint16_t)cm_req_get_pkey(req),
			},
		.private_data = cm_req_private_data_ptr(req),
		.private_data_len = IB_CM_REQ_PRIVATE_DATA_SIZE,
	};

	cm_path_from_msg(cm_req_primary(req), id->pkey, id->path_mtu, &primary);
	cm_path_add_roce(v->cm, &v->av, &primary);
	if (v->has_alternate)
		cm_path_from_msg(cm_req_alternate(req), id->pkey, id->path_mtu, &alternate);
	id->listener = listener;
	cm_deliver(id, &event);
}

/* Finds an id that has sent a REQ for the same service to the peer that this REQ comes from. */
static struct cm_id *find_peer(const struct req_view *v)
{
	struct cm_device *cm = v->cm;

	for (struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		struct cm_id *id = container_of(l, struct cm_id, link);

		if (id->peer_to_peer && !id->destroying &&
		    (id->ib.state == IB_CM_REQ_SENT || id->ib.state == IB_CM_MRA_REQ_RCVD) &&
		    be64toh(id->ib.service_id) == cm_req_get_service_id(v->req) &&
		    cm_av_same_peer(&id->av, &v->av) && id->av.port == v->av.port)
			return id;
	}
	return NULL;
}

/* When two peers connect at the same time, the one with the larger GUID stays active; with equal
 * GUIDs the one with the larger QPN. */
static bool stays_active(const struct cm_id *id, const struct cm_req *req)
{
	const uint64_t guid = cm_req_get_local_ca_guid(req);

	return id->cm->guid > guid ||
	       (id->cm->guid == guid && id->local_qpn > cm_req_get_local_qpn(req));
}

static void to_peer(struct cm_id *id, const struct req_view *v)
{
	if (stays_active(id, v->req))
		return;
	cm_cancel(id);
	take(id, v);
	tell(id, NULL, v);
}

static void to_listener(struct cm_id *listener, const struct req_view *v)
{
	struct cm_id *id = cm_id_new(v->cm, listener->ib.cm_handler, listener->ib.context);

	if (!id || cm_timewait_new(id)) {
		reject(v, IB_CM_REJ_NO_RESOURCES, NULL, 0);
		if (id)
			cm_id_end(id);
		return;
	}
	take(id, v);
	tell(id, listener, v);
}

void cm_req_came(struct cm_device *cm, struct cm_work *work)
{
	struct req_view v = {.cm = cm, .work = work, .req = (struct cm_req *)&work->mad};
	const struct cm_timewait *tw;
	struct cm_id *id;

	if (!req_ok(&v))
		return;
	tw = cm_timewait_by_remote_id(cm, cm_req_get_local_comm_id(v.req),
				      cm_req_get_local_ca_guid(v.req));
	if (tw) {
		req_again(&v, tw);
		return;
	}
	if (is_stale(&v))
		return;
	id = find_peer(&v);
	if (id) {
		to_peer(id, &v);
		return;
	}
	id = cm_find_listener(cm, cm_req_get_service_id(v.req));
	if (id)
		to_listener(id, &v);
	else
		reject(&v, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0);
}
