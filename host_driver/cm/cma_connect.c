// SPDX-License-Identifier: Apache-2.0
/* Connecting by IP address: puts the header of annex A11 into a REQ, and turns events of ib_cm into
 * events of rdma_cm. */
#include "host_driver/cm/cma_impl.h"

#include <errno.h>
#include <string.h>

/* The values of Linux' cma.c: 4.3 s for an answer, 15 retries, and 69 s when the peer's program is
 * slow to answer. */
enum {
	RESPONSE_TIMEOUT = 20,
	MAX_CM_RETRIES = 15,
	MRA_TIMEOUT = 24,
	RETRY_MAX = 7,
	PSN_STEP = 0x10001
};

uint64_t cma_service_id(const struct cma_id *id, const struct sockaddr_storage *addr)
{
	return (uint64_t)id->ps << 16 | cma_port(addr);
}

static uint32_t new_psn(struct cm_device *cm)
{
	cm->last_psn = psn_add(cm->last_psn, PSN_STEP);
	return cm->last_psn;
}

static uint8_t least(unsigned a, unsigned b)
{
	return (uint8_t)(a < b ? a : b);
}

/* --- the header in private data --- */

static void ip_addr_set(uint8_t to[16], const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		memcpy(to + CM_IP_V4, &((const struct sockaddr_in *)a)->sin_addr, 4);
	else
		memcpy(to, &((const struct sockaddr_in6 *)a)->sin6_addr, 16);
}

void cma_data_fill(const struct cma_id *id, const void *private_data, unsigned len, uint8_t *data)
{
	struct cm_ip *ip = (struct cm_ip *)(void *)data;

	cm_ip_set_ipv(ip, id->src.ss_family == AF_INET ? 4 : 6);
	cm_ip_set_src_port(ip, cma_port(&id->src));
	ip_addr_set(cm_ip_src_ptr(ip), &id->src);
	ip_addr_set(cm_ip_dst_ptr(ip), &id->dst);
	if (len)
		memcpy(data + sizeof(*ip), private_data, len);
}

static void ip_addr_get(const uint8_t from[16], unsigned ipv, uint16_t port,
			struct sockaddr_storage *a)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)a;

	memset(a, 0, sizeof(*a));
	if (ipv == 4) {
		v4->sin_family = AF_INET;
		v4->sin_port = htobe16(port);
		memcpy(&v4->sin_addr, from + CM_IP_V4, 4);
	} else {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htobe16(port);
		memcpy(&v6->sin6_addr, from, 16);
	}
}

static bool ip_ok(const struct cm_ip *ip)
{
	return !cm_ip_get_major(ip) && (cm_ip_get_ipv(ip) == 4 || cm_ip_get_ipv(ip) == 6);
}

/* --- what comes --- */

static void disconnected(struct cma_id *id, int status)
{
	if (id->state != CMA_CONNECT)
		return;
	id->state = CMA_DISCONNECT;
	cma_event(id, NULL, RDMA_CM_EVENT_DISCONNECTED, status, NULL);
}

static void responded(struct cma_id *id, const struct ib_cm_event *event)
{
	const struct ib_cm_rep_event_param *rep = &event->param.rep_rcvd;
	const union cma_param param = {.conn = {.private_data = event->private_data,
						.private_data_len = event->private_data_len,
						.responder_resources = rep->responder_resources,
						.initiator_depth = rep->initiator_depth,
						.flow_control = rep->flow_control,
						.rnr_retry_count = rep->rnr_retry_count,
						.srq = rep->srq,
						.qp_num = rep->remote_qpn}};

	/* The program must now change the queue pair's state. Without this MRA the peer would send
	 * its REP again if that took long. */
	ib_send_cm_mra(id->ib, IB_CM_MRA_FLAG_DELAY | MRA_TIMEOUT, NULL, 0);
	cma_event(id, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &param);
}

static int conn_handler(struct ib_cm_id *ib, const struct ib_cm_event *event)
{
	struct cma_id *id = ib->context;
	const union cma_param data = {.conn = {.private_data = event->private_data,
					       .private_data_len = event->private_data_len}};

	switch (event->event) {
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
		cma_event(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
		break;
	case IB_CM_REP_RECEIVED:
		responded(id, event);
		break;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		cma_event(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, &data);
		break;
	case IB_CM_DREQ_ERROR:
		disconnected(id, -ETIMEDOUT);
		break;
	case IB_CM_DREQ_RECEIVED:
	case IB_CM_DREP_RECEIVED:
		disconnected(id, 0);
		break;
	case IB_CM_TIMEWAIT_EXIT:
		cma_event(id, NULL, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL);
		break;
	case IB_CM_REJ_RECEIVED:
		id->state = CMA_DISCONNECT;
		cma_event(id, NULL, RDMA_CM_EVENT_REJECTED, (int)event->param.rej_rcvd.reason,
			  &data);
		break;
	default:
		break;
	}
	return 0;
}

/* --- a request --- */

static void child_fill(struct cma_id *id, struct cma_id *listener, struct ib_cm_id *ib,
		       const struct cm_ip *ip)
{
	const unsigned ipv = cm_ip_get_ipv(ip);

	id->cm = listener->cm;
	id->state = CMA_CONNECT;
	ip_addr_get(cm_ip_dst_cptr(ip), ipv, cma_port(&listener->src), &id->src);
	ip_addr_get(cm_ip_src_cptr(ip), ipv, (uint16_t)cm_ip_get_src_port(ip), &id->dst);
	id->ib = ib;
	ib->context = id;
	ib->cm_handler = id->ud ? cma_ud_handler : conn_handler;
}

static void take_req(struct cma_id *id, const struct ib_cm_req_event_param *req,
		     struct rdma_conn_param *conn)
{
	const struct drv_device_attr *limits = &id->cm->device->attrs;

	id->port = req->port;
	id->path = *req->primary_path;
	id->psn = new_psn(id->cm);
	id->responder_resources = least(req->responder_resources, limits->max_dest_rd_atomic);
	id->initiator_depth = least(req->initiator_depth, limits->max_rd_atomic);
	*conn = (struct rdma_conn_param){.private_data_len = CMA_CONNECT_DATA,
					 .responder_resources = id->responder_resources,
					 .initiator_depth = id->initiator_depth,
					 .flow_control = req->flow_control,
					 .retry_count = req->retry_count,
					 .rnr_retry_count = req->rnr_retry_count,
					 .srq = req->srq,
					 .qp_num = req->remote_qpn};
}

/* Whether the listener accepts that message. */
static bool is_for(const struct cma_id *listener, const struct ib_cm_event *event)
{
	const struct cm_ip *ip = event->private_data;

	if (event->event != (listener->ud ? IB_CM_SIDR_REQ_RECEIVED : IB_CM_REQ_RECEIVED))
		return false;
	if (listener->af_only && (cm_ip_get_ipv(ip) == 4) != (listener->src.ss_family == AF_INET))
		return false;
	return !listener->destroying && ip_ok(ip) && listener->pending < listener->backlog;
}

int cma_listen_handler(struct ib_cm_id *ib, const struct ib_cm_event *event)
{
	struct cma_id *listener = ib->context, *id;
	const struct cm_ip *ip = event->private_data;
	union cma_param param = {0};
	int rc;

	if (!is_for(listener, event))
		return -EINVAL;
	rc = cma_create(listener->channel, listener->ps, NULL, &id);
	if (rc)
		return rc;
	child_fill(id, listener, ib, ip);
	if (id->ud) {
		id->port = event->param.sidr_req_rcvd.port;
		param.ud.private_data_len = CMA_UD_DATA;
	} else {
		take_req(id, &event->param.req_rcvd, &param.conn);
	}
	param.conn.private_data = (const uint8_t *)event->private_data + sizeof(*ip);
	rc = cma_event(id, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &param);
	if (rc) {
		/* the caller destroys the id of ib_cm */
		id->ib = NULL;
		cma_destroy(id, NULL);
		return rc;
	}
	listener->pending++;
	if (!id->ud)
		ib_send_cm_mra(ib, IB_CM_MRA_FLAG_DELAY | MRA_TIMEOUT, NULL, 0);
	return 0;
}

/* --- what the process does --- */

int cma_connect(struct cma_id *id, const struct rdma_conn_param *p)
{
	uint8_t data[IB_CM_REQ_PRIVATE_DATA_SIZE] = {0};
	struct ib_cm_req_param req = {
		.primary_path = &id->path,
		.service_id = htobe64(cma_service_id(id, &id->dst)),
		.qp_num = p->qp_num,
		.qp_type = IB_QPT_RC,
		.private_data = data,
		.private_data_len = (uint8_t)(sizeof(struct cm_ip) + p->private_data_len),
		.flow_control = p->flow_control,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.remote_cm_response_timeout = RESPONSE_TIMEOUT,
		.local_cm_response_timeout = RESPONSE_TIMEOUT,
		.retry_count = least(RETRY_MAX, p->retry_count),
		.rnr_retry_count = least(RETRY_MAX, p->rnr_retry_count),
		.max_cm_retries = MAX_CM_RETRIES,
		.srq = p->srq,
	};
	struct ib_cm_id *ib;
	int rc;

	if (id->state != CMA_ROUTE_RESOLVED ||
	    p->private_data_len > (id->ud ? CMA_UD_DATA : CMA_CONNECT_DATA) ||
	    (p->private_data_len && !p->private_data))
		return -EINVAL;
	if (id->ud)
		return cma_ud_connect(id, p);
	id->psn = req.starting_psn = new_psn(id->cm);
	cma_data_fill(id, p->private_data, p->private_data_len, data);
	ib = ib_create_cm_id(id->cm->device, conn_handler, id);
	if (IS_ERR(ib))
		return (int)PTR_ERR(ib);
	id->state = CMA_CONNECT;
	id->ib = ib;
	rc = ib_send_cm_req(ib, &req);
	if (rc) {
		id->ib = NULL;
		id->state = CMA_ROUTE_RESOLVED;
		ib_destroy_cm_id(ib);
	}
	return rc;
}

int cma_accept(struct cma_id *id, const struct rdma_conn_param *p)
{
	struct ib_cm_rep_param rep;

	if (id->state != CMA_CONNECT || !id->ib)
		return -EINVAL;
	if (id->ud)
		return p ? cma_ud_reply(id, IB_SIDR_SUCCESS, p) : -EINVAL;
	if (!p)
		return ib_send_cm_rtu(id->ib, NULL, 0);
	rep = (struct ib_cm_rep_param){.qp_num = p->qp_num,
				       .starting_psn = id->psn,
				       .private_data = p->private_data,
				       .private_data_len = p->private_data_len,
				       .responder_resources = p->responder_resources,
				       .initiator_depth = p->initiator_depth,
				       .flow_control = p->flow_control,
				       .rnr_retry_count = least(RETRY_MAX, p->rnr_retry_count),
				       .srq = p->srq};
	return ib_send_cm_rep(id->ib, &rep);
}

int cma_reject(struct cma_id *id, const void *data, uint8_t len)
{
	if (id->state != CMA_CONNECT || !id->ib)
		return -EINVAL;
	if (id->ud)
		return cma_ud_reply(
			id, IB_SIDR_REJECT,
			&(struct rdma_conn_param){.private_data = data, .private_data_len = len});
	return ib_send_cm_rej(id->ib, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, data, len);
}

/* The side that disconnects first sends a DREQ. The side that has received a DREQ answers it. */
int cma_disconnect(struct cma_id *id)
{
	if (!id->ib || (id->state != CMA_CONNECT && id->state != CMA_DISCONNECT))
		return -EINVAL;
	if (ib_send_cm_dreq(id->ib, NULL, 0) == -EINVAL)
		return ib_send_cm_drep(id->ib, NULL, 0);
	return 0;
}

int cma_notify(struct cma_id *id, enum ib_event_type event)
{
	return id->ib && event == IB_EVENT_COMM_EST ? ib_cm_notify(id->ib, event) : -EINVAL;
}

int cma_init_qp_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask)
{
	int rc;

	if (!id->cm || !id->port)
		return -EINVAL;
	if (id->ud) {
		*attr = (struct ib_qp_attr){.qp_state = attr->qp_state,
					    .port_num = (uint8_t)id->port,
					    .qkey = id->qkey};
		*mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY;
		return 0;
	}
	if (!id->ib || id->state == CMA_LISTEN) {
		if (attr->qp_state != IB_QPS_INIT)
			return -EINVAL;
		*attr = (struct ib_qp_attr){.qp_state = IB_QPS_INIT, .port_num = (uint8_t)id->port};
		*mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
		return 0;
	}
	rc = ib_cm_init_qp_attr(id->ib, attr, mask);
	if (!rc && attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = id->psn;
	if (!rc && *mask & IB_QP_TIMEOUT && id->ack_timeout_set)
		attr->timeout = id->ack_timeout;
	return rc;
}
