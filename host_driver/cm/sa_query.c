// SPDX-License-Identifier: Apache-2.0
/* Queries to the subnet administration (SA). One thread sends them, one after the other. */
#include "host_driver/cm/cm.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS_PS UINT64_C(1000000000)

struct ib_sa_query {
	struct drv_list link;
	struct cm_device *cm;
	struct ib_sa_client *client;
	unsigned port;
	int number;
	uint64_t timeout_ps;
	struct sa_mad mad;
	bool canceled;
	void (*callback)(int status, struct sa_path_rec *resp, unsigned num_prs, void *context);
	void *context;
};

/* --- records --- */

static void record_fill(const struct sa_path_rec *rec, struct path_record *r)
{
	memcpy(path_record_dgid_ptr(r), rec->dgid.raw, sizeof(rec->dgid.raw));
	memcpy(path_record_sgid_ptr(r), rec->sgid.raw, sizeof(rec->sgid.raw));
	path_record_set_service_id(r, be64toh(rec->service_id));
	path_record_set_dlid(r, be16toh(rec->ib.dlid));
	path_record_set_slid(r, be16toh(rec->ib.slid));
	path_record_set_raw_traffic(r, rec->ib.raw_traffic);
	path_record_set_flow_label(r, be32toh(rec->flow_label));
	path_record_set_hop_limit(r, rec->hop_limit);
	path_record_set_traffic_class(r, rec->traffic_class);
	path_record_set_reversible(r, rec->reversible);
	path_record_set_numb_path(r, rec->numb_path);
	path_record_set_pkey(r, be16toh(rec->pkey));
	path_record_set_qos_class(r, be16toh(rec->qos_class));
	path_record_set_sl(r, rec->sl);
	path_record_set_mtu_selector(r, rec->mtu_selector);
	path_record_set_mtu(r, rec->mtu);
	path_record_set_rate_selector(r, rec->rate_selector);
	path_record_set_rate(r, rec->rate);
	path_record_set_life_selector(r, rec->packet_life_time_selector);
	path_record_set_life_time(r, rec->packet_life_time);
	path_record_set_preference(r, rec->preference);
}

static void record_take(const struct path_record *r, struct sa_path_rec *rec)
{
	*rec = (struct sa_path_rec){
		.service_id = htobe64(path_record_get_service_id(r)),
		.ib = {.dlid = htobe16((uint16_t)path_record_get_dlid(r)),
		       .slid = htobe16((uint16_t)path_record_get_slid(r)),
		       .raw_traffic = (uint8_t)path_record_get_raw_traffic(r)},
		.flow_label = htobe32(path_record_get_flow_label(r)),
		.hop_limit = (uint8_t)path_record_get_hop_limit(r),
		.traffic_class = (uint8_t)path_record_get_traffic_class(r),
		.reversible = (uint8_t)path_record_get_reversible(r),
		.numb_path = (uint8_t)path_record_get_numb_path(r),
		.pkey = htobe16((uint16_t)path_record_get_pkey(r)),
		.qos_class = htobe16((uint16_t)path_record_get_qos_class(r)),
		.sl = (uint8_t)path_record_get_sl(r),
		.mtu_selector = (uint8_t)path_record_get_mtu_selector(r),
		.mtu = (uint8_t)path_record_get_mtu(r),
		.rate_selector = (uint8_t)path_record_get_rate_selector(r),
		.rate = (uint8_t)path_record_get_rate(r),
		.packet_life_time_selector = (uint8_t)path_record_get_life_selector(r),
		.packet_life_time = (uint8_t)path_record_get_life_time(r),
		.preference = (uint8_t)path_record_get_preference(r),
	};
	memcpy(rec->dgid.raw, path_record_dgid_cptr(r), sizeof(rec->dgid.raw));
	memcpy(rec->sgid.raw, path_record_sgid_cptr(r), sizeof(rec->sgid.raw));
}

/* --- asking --- */

static int ask(struct ib_sa_query *q, struct sa_path_rec *path)
{
	struct cm_device *cm = q->cm;
	const struct cm_port *port;
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct sa_mad answer;
	int rc = cm_port_get(cm, q->port, &port);

	if (rc)
		return -EIO;
	to.dlid = port->attr.sm_lid;
	to.sl = port->attr.sm_sl;
	rc = -ETIMEDOUT;
	for (unsigned i = 0; i < IB_SA_TRIES && rc == -ETIMEDOUT && !q->canceled && !cm->stop; i++)
		rc = drv_mad_call(cm->device->drv, q->port, QPN_GSI, &to, &q->mad, &answer,
				  q->timeout_ps);
	if (q->canceled || cm->stop)
		return -ECANCELED;
	if (rc)
		return rc == -ETIMEDOUT ? rc : -EIO;
	if (mad_hdr_get_status(sa_mad_hdr(&answer)))
		return -EINVAL;
	record_take((const struct path_record *)(const void *)sa_mad_data_cptr(&answer), path);
	return 0;
}

static void answer(struct ib_sa_query *q)
{
	struct sa_path_rec path;
	int rc = q->canceled ? -ECANCELED : ask(q, &path);

	/* the query can be canceled only until here */
	drv_list_del(&q->link);
	q->callback(rc, rc ? NULL : &path, !rc, q->context);
	q->client->queries--;
	free(q);
}

static void thread(void *arg)
{
	struct cm_device *cm = arg;

	while (!cm->stop || !drv_list_empty(&cm->queries)) {
		if (drv_list_empty(&cm->queries))
			cm->p->ops->waitq_wait(cm->p, cm->sa_waitq, CM_NEVER);
		else
			answer(container_of(cm->queries.next, struct ib_sa_query, link));
	}
	cm_thread_ends(cm);
}

int cm_sa_start(struct cm_device *cm)
{
	cm_thread_start(cm, "sa", thread);
	return 0;
}

void cm_sa_stop(struct cm_device *cm)
{
	cm->p->ops->waitq_wake_all(cm->p, cm->sa_waitq);
}

/* --- for users --- */

void ib_sa_register_client(struct ib_sa_client *client)
{
	client->queries = 0;
}

void ib_sa_unregister_client(struct ib_sa_client *client)
{
	client->queries = 0;
}

int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device, uint32_t port_num,
		       const struct sa_path_rec *rec, ib_sa_comp_mask comp_mask,
		       unsigned long timeout_ms, unsigned gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp, unsigned num_prs,
					void *context),
		       void *context, struct ib_sa_query **query)
{
	struct cm_device *cm = cm_of(device);
	struct ib_sa_query *q;
	struct mad_hdr *hdr;

	if (!cm)
		return -ENODEV;
	if (!port_num || port_num > device->phys_port_cnt)
		return -EINVAL;
	q = drv_calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	*q = (struct ib_sa_query){.cm = cm,
				  .client = client,
				  .port = port_num,
				  .number = ++cm->last_query,
				  .timeout_ps = timeout_ms * MS_PS,
				  .callback = callback,
				  .context = context};
	hdr = sa_mad_hdr(&q->mad);
	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, MAD_CLASS_SUBN_ADM);
	mad_hdr_set_class_version(hdr, SA_CLASS_VERSION);
	mad_hdr_set_method(hdr, MAD_METHOD_GET);
	mad_hdr_set_attr_id(hdr, SA_ATTR_PATH_RECORD);
	sa_mad_set_rmpp_version(&q->mad, 1);
	sa_mad_set_component_mask(&q->mad, comp_mask);
	record_fill(rec, (struct path_record *)(void *)sa_mad_data_ptr(&q->mad));
	client->queries++;
	drv_list_add(&cm->queries, &q->link);
	cm->p->ops->waitq_wake_all(cm->p, cm->sa_waitq);
	*query = q;
	return q->number;
}

void ib_sa_cancel_query(int number, struct ib_sa_query *query)
{
	if (query->number == number)
		query->canceled = true;
}
