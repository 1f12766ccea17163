// SPDX-License-Identifier: Apache-2.0
/* Service id resolution: the QP of a datagram service (12.11). */
#include "host_driver/cm/cm.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <string.h>

enum { CM_RETRIES_MAX = 15 };

#define MS_PS UINT64_C(1000000000)

int ib_send_cm_sidr_req(struct ib_cm_id *cm_id, const struct ib_cm_sidr_req_param *p)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct cm_sidr_req *req = (struct cm_sidr_req *)&id->request;
	struct cm_av av;
	int rc = p->path && p->max_cm_retries <= CM_RETRIES_MAX
			 ? cm_check_data(p->private_data, p->private_data_len,
					 IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE)
			 : -EINVAL;

	if (!rc)
		rc = cm_av_from_path(id->cm, p->path, &av);
	if (!rc && cm_id->state != IB_CM_IDLE)
		rc = -EINVAL;
	if (rc)
		return rc;
	id->av = av;
	id->tid = (uint64_t)cm_local(id) << 32 | CM_ATTR_SIDR_REQ;
	cm_fill_header(&id->request, CM_ATTR_SIDR_REQ, id->tid);
	cm_sidr_req_set_request_id(req, cm_local(id));
	cm_sidr_req_set_pkey(req, be16toh(p->path->pkey));
	cm_sidr_req_set_service_id(req, be64toh(p->service_id));
	if (p->private_data_len)
		memcpy(cm_sidr_req_private_data_ptr(req), p->private_data, p->private_data_len);
	cm_id->service_id = p->service_id;
	cm_set_state(id, IB_CM_SIDR_REQ_SENT);
	rc = cm_post_request(id, p->timeout_ms * MS_PS, p->max_cm_retries);
	if (rc)
		cm_set_state(id, IB_CM_IDLE);
	return rc;
}

/* --- the other side --- */

static void rep_fill(const struct cm_sidr_req *req, uint64_t tid, enum cm_sidr_status status,
		     struct smp *smp)
{
	struct cm_sidr_rep *rep = (struct cm_sidr_rep *)smp;

	cm_fill_header(smp, CM_ATTR_SIDR_REP, tid);
	cm_sidr_rep_set_request_id(rep, cm_sidr_req_get_request_id(req));
	cm_sidr_rep_set_status(rep, status);
	cm_sidr_rep_set_service_id(rep, cm_sidr_req_get_service_id(req));
}

static struct cm_id *same_request(struct cm_device *cm, uint32_t request_id,
				  const struct drv_mad_addr *from)
{
	struct cm_av av;

	cm_av_from_sender(0, from, &av);
	for (struct drv_list *l = cm->ids.next; l != &cm->ids; l = l->next) {
		struct cm_id *id = container_of(l, struct cm_id, link);

		if (id->ib.state == IB_CM_SIDR_REQ_RCVD && id->sidr_request_id == request_id &&
		    cm_av_same_peer(&id->av, &av))
			return id;
	}
	return NULL;
}

static void refuse(struct cm_device *cm, const struct cm_work *work, enum cm_sidr_status status)
{
	struct smp smp;

	rep_fill((const struct cm_sidr_req *)&work->mad, mad_hdr_get_tid(smp_hdr_const(&work->mad)),
		 status, &smp);
	cm_reply(cm, work, &smp);
}

static void to_listener(struct cm_device *cm, struct cm_id *listener, struct cm_work *work)
{
	struct cm_sidr_req *req = (struct cm_sidr_req *)&work->mad;
	struct cm_id *id = cm_id_new(cm, listener->ib.cm_handler, listener->ib.context);
	struct ib_cm_event event = {
		.event = IB_CM_SIDR_REQ_RECEIVED,
		.param.sidr_req_rcvd = {.listen_id = &listener->ib,
					.service_id = htobe64(cm_sidr_req_get_service_id(req)),
					.port = work->port,
					.pkey = (uint16_t)cm_sidr_req_get_pkey(req)},
		.private_data = cm_sidr_req_private_data_ptr(req),
		.private_data_len = IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE};

	if (!id) {
		refuse(cm, work, CM_SIDR_NO_QP);
		return;
	}
	id->ib.service_id = event.param.sidr_req_rcvd.service_id;
	id->sidr_request_id = cm_sidr_req_get_request_id(req);
	id->tid = mad_hdr_get_tid(smp_hdr_const(&work->mad));
	cm_av_from_sender(work->port, &work->from, &id->av);
	cm_set_state(id, IB_CM_SIDR_REQ_RCVD);
	id->listener = listener;
	cm_deliver(id, &event);
}

void cm_sidr_req_came(struct cm_device *cm, struct cm_work *work)
{
	const struct cm_sidr_req *req = (const struct cm_sidr_req *)&work->mad;
	struct cm_id *listener = cm_find_listener(cm, cm_sidr_req_get_service_id(req));

	if (mad_hdr_get_class_version(smp_hdr_const(&work->mad)) != CM_CLASS_VERSION)
		refuse(cm, work, CM_SIDR_UNSUPPORTED_VERSION);
	else if (same_request(cm, cm_sidr_req_get_request_id(req), &work->from))
		cm->counters.rx_duplicates[IB_CM_MSG_SIDR_REQ]++;
	else if (!listener)
		refuse(cm, work, CM_SIDR_UNSUPPORTED);
	else
		to_listener(cm, listener, work);
}

int ib_send_cm_sidr_rep(struct ib_cm_id *cm_id, const struct ib_cm_sidr_rep_param *p)
{
	struct cm_id *id = cm_id_of(cm_id);
	struct smp smp;
	struct cm_sidr_rep *rep = (struct cm_sidr_rep *)&smp;
	int rc;

	if (cm_check_data(p->private_data, p->private_data_len, IB_CM_SIDR_REP_PRIVATE_DATA_SIZE) ||
	    cm_check_data(p->info, p->info_length, IB_CM_SIDR_REP_INFO_LENGTH) ||
	    (unsigned)p->status > IB_SIDR_UNSUPPORTED_VERSION || p->qp_num > PSN_MASK ||
	    cm_id->state != IB_CM_SIDR_REQ_RCVD)
		return -EINVAL;
	cm_fill_header(&smp, CM_ATTR_SIDR_REP, id->tid);
	cm_sidr_rep_set_request_id(rep, id->sidr_request_id);
	cm_sidr_rep_set_service_id(rep, be64toh(cm_id->service_id));
	cm_sidr_rep_set_status(rep, p->status);
	if (p->status == IB_SIDR_SUCCESS) {
		cm_sidr_rep_set_qpn(rep, p->qp_num);
		cm_sidr_rep_set_qkey(rep, p->qkey);
	}
	cm_sidr_rep_set_info_length(rep, p->info_length);
	if (p->info_length)
		memcpy(cm_sidr_rep_info_ptr(rep), p->info, p->info_length);
	if (p->private_data_len)
		memcpy(cm_sidr_rep_private_data_ptr(rep), p->private_data, p->private_data_len);
	cm_set_state(id, IB_CM_IDLE);
	rc = cm_post(id->cm, &id->av, &smp);
	if (rc)
		cm_set_state(id, IB_CM_SIDR_REQ_RCVD);
	return rc;
}

void cm_sidr_refuse(struct cm_id *id)
{
	const struct ib_cm_sidr_rep_param param = {.status = IB_SIDR_REJECT};

	ib_send_cm_sidr_rep(&id->ib, &param);
}

void cm_sidr_rep_came(struct cm_device *cm, struct cm_work *work)
{
	struct cm_sidr_rep *rep = (struct cm_sidr_rep *)&work->mad;
	struct cm_id *id = cm_id_find(cm, cm_sidr_rep_get_request_id(rep));
	struct ib_cm_event event = {
		.event = IB_CM_SIDR_REP_RECEIVED,
		.param.sidr_rep_rcvd = {.status =
						(enum ib_cm_sidr_status)cm_sidr_rep_get_status(rep),
					.qkey = cm_sidr_rep_get_qkey(rep),
					.qpn = cm_sidr_rep_get_qpn(rep),
					.info = cm_sidr_rep_info_ptr(rep),
					.info_len = (uint8_t)cm_sidr_rep_get_info_length(rep)},
		.private_data = cm_sidr_rep_private_data_ptr(rep),
		.private_data_len = IB_CM_SIDR_REP_PRIVATE_DATA_SIZE};

	if (event.param.sidr_rep_rcvd.info_len > IB_CM_SIDR_REP_INFO_LENGTH)
		event.param.sidr_rep_rcvd.info_len = IB_CM_SIDR_REP_INFO_LENGTH;
	if (!id || id->ib.state != IB_CM_SIDR_REQ_SENT) {
		cm->counters.rx_duplicates[IB_CM_MSG_SIDR_REP]++;
		return;
	}
	cm_cancel(id);
	cm_set_state(id, IB_CM_IDLE);
	cm_deliver(id, &event);
}
