// SPDX-License-Identifier: Apache-2.0
/* Datagrams by IP address: a SIDR_REQ asks for the queue pair behind a port number. The answer
 * contains everything that a program needs to send to it. */
#include "host_driver/cm/cma_impl.h"

#include <errno.h>

/* As Linux' cma.c: 2^(20 - 8) ms, about the 4.3 s of a REQ. */
enum { SIDR_TIMEOUT_MS = 4096, MAX_CM_RETRIES = 15 };

static int ah_from_path(const struct cma_id *id, struct ibv_ah_attr *ah)
{
	struct cm_av av;
	int rc = cm_av_from_path(id->cm, &id->path, &av);

	if (!rc)
		uv_ah_from_ib(&av.ah, ah);
	return rc;
}

static void answered(struct cma_id *id, const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_rep_event_param *rep = &event->param.sidr_rep_rcvd;
	union cma_param param = {.ud = {.private_data = event->private_data,
					.private_data_len = event->private_data_len,
					.qp_num = rep->qpn,
					.qkey = rep->qkey}};
	int rc;

	if (rep->status != IB_SIDR_SUCCESS) {
		cma_event(id, NULL, RDMA_CM_EVENT_UNREACHABLE, (int)rep->status, &param);
		return;
	}
	rc = id->qkey == rep->qkey ? ah_from_path(id, &param.ud.ah_attr) : -EINVAL;
	cma_event(id, NULL, rc ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ESTABLISHED, rc, &param);
}

int cma_ud_handler(struct ib_cm_id *ib, const struct ib_cm_event *event)
{
	struct cma_id *id = ib->context;

	if (event->event == IB_CM_SIDR_REQ_ERROR)
		cma_event(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
	else if (event->event == IB_CM_SIDR_REP_RECEIVED)
		answered(id, event);
	return 0;
}

int cma_ud_connect(struct cma_id *id, const struct rdma_conn_param *p)
{
	uint8_t data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE] = {0};
	const struct ib_cm_sidr_req_param req = {
		.path = &id->path,
		.service_id = htobe64(cma_service_id(id, &id->dst)),
		.timeout_ms = SIDR_TIMEOUT_MS,
		.private_data = data,
		.private_data_len = (uint8_t)(sizeof(struct cm_ip) + p->private_data_len),
		.max_cm_retries = MAX_CM_RETRIES,
	};
	struct ib_cm_id *ib = ib_create_cm_id(id->cm->device, cma_ud_handler, id);
	int rc;

	if (IS_ERR(ib))
		return (int)PTR_ERR(ib);
	cma_data_fill(id, p->private_data, p->private_data_len, data);
	id->state = CMA_CONNECT;
	id->ib = ib;
	rc = ib_send_cm_sidr_req(ib, &req);
	if (rc) {
		id->ib = NULL;
		id->state = CMA_ROUTE_RESOLVED;
		ib_destroy_cm_id(ib);
	}
	return rc;
}

int cma_ud_reply(struct cma_id *id, enum ib_cm_sidr_status status, const struct rdma_conn_param *p)
{
	const struct ib_cm_sidr_rep_param rep = {.qp_num = p->qp_num,
						 .qkey = id->qkey,
						 .status = status,
						 .private_data = p->private_data,
						 .private_data_len = p->private_data_len};

	return ib_send_cm_sidr_rep(id->ib, &rep);
}
