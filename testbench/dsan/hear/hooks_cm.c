// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: the messages of connection management. What a message says must be what its sender was
 * asked to say, field by field, and so must its private data, behind which zeros stand.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/mads/mads.h"

#include "host_driver/cm/cm.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <endian.h>
#include <rdma/ib_cm.h>

#include <string.h>

enum { WRITERS = 18, NAMES_BYTES = 200 };

/* A message as it stands in its id, once it has been sent. */
struct message {
	struct checker *c; /* NULL: nothing is judged */
	const struct smp *mad;
	const char *name;
};

struct said {
	const char *field;
	uint64_t is, asked;
};

/* A newer message may have its place already. */
static struct message message_of(const struct ib_cm_id *cm_id, bool answer, unsigned attr,
				 const char *name, int rc)
{
	const struct cm_id *id = (const void *)cm_id;
	const struct smp *mad = answer ? &id->answer : &id->request;

	if (rc || mad_hdr_get_attr_id(smp_hdr_const(mad)) != attr)
		return (struct message){0};
	return (struct message){checker_of_host(cm_id->device->platform->host), mad, name};
}

static void writers_of(const struct message *m, char *names, size_t size)
{
	const void *pcs[WRITERS];

	checker_functions(pcs, heap_writers(m->mad, sizeof(*m->mad), pcs, WRITERS), names, size);
}

static void fields_check(const struct message *m, const struct said *said, size_t n)
{
	char names[NAMES_BYTES];

	for (size_t i = 0; m->c && i < n; i++) {
		if (said[i].is == said[i].asked)
			continue;
		writers_of(m, names, sizeof(names));
		m->c->tell(m->c, &(struct breach){RULE_mad_differs, {0}, NULL, NULL},
			   "a %s says %s 0x%llx, asked for 0x%llx; it was written by %s", m->name,
			   said[i].field, (unsigned long long)said[i].is,
			   (unsigned long long)said[i].asked, names);
		return;
	}
}

static void bytes_check(const struct message *m, const char *what, const void *is,
			const void *asked, size_t n, size_t room)
{
	const uint8_t *bytes = is;
	char names[NAMES_BYTES];
	size_t at = n;

	if (!m->c)
		return;
	while (at < room && !bytes[at])
		at++;
	if (at == room && (!n || !memcmp(is, asked, n)))
		return;
	writers_of(m, names, sizeof(names));
	m->c->tell(m->c, &(struct breach){RULE_mad_differs, {0}, NULL, NULL},
		   "the %s of a %s is not what was asked for; it was written by %s", what, m->name,
		   names);
}

#define DATA_CHECK(m, type, data, len)                                                             \
	bytes_check(m, "private data", type##_private_data_cptr((const void *)(m)->mad), data,     \
		    len, type##_private_data_size)

/* Source: IBA 12.6.5; Linux cm_format_req */
static void path_check(const struct message *m, const struct cm_path *is,
		       const struct sa_path_rec *asked)
{
	const bool ib = asked->rec_type == SA_PATH_REC_TYPE_IB;
	const struct said said[] = {
		{"local LID", cm_path_get_local_lid(is),
		 ib ? be16toh(asked->ib.slid) : LID_PERMISSIVE},
		{"remote LID", cm_path_get_remote_lid(is),
		 ib ? be16toh(asked->ib.dlid) : LID_PERMISSIVE},
		{"flow label", cm_path_get_flow_label(is), be32toh(asked->flow_label)},
		{"packet rate", cm_path_get_packet_rate(is), asked->rate},
		{"traffic class", cm_path_get_traffic_class(is), asked->traffic_class},
		{"hop limit", cm_path_get_hop_limit(is), asked->hop_limit},
		{"SL", cm_path_get_sl(is), asked->sl},
		{"subnet local", cm_path_get_subnet_local(is), asked->hop_limit <= 1},
	};

	fields_check(m, said, ARRAY_SIZE(said));
	bytes_check(m, "local GID", cm_path_local_gid_cptr(is), asked->sgid.raw,
		    sizeof(asked->sgid), sizeof(asked->sgid));
	bytes_check(m, "remote GID", cm_path_remote_gid_cptr(is), asked->dgid.raw,
		    sizeof(asked->dgid), sizeof(asked->dgid));
}

static void req_check(const struct message *m, const struct ib_cm_req_param *p)
{
	const struct cm_req *req = (const void *)m->mad;
	const struct said said[] = {
		{"service ID", cm_req_get_service_id(req), be64toh(p->service_id)},
		{"local QPN", cm_req_get_local_qpn(req), p->qp_num},
		{"responder resources", cm_req_get_responder_resources(req),
		 p->responder_resources},
		{"initiator depth", cm_req_get_initiator_depth(req), p->initiator_depth},
		{"remote CM response timeout", cm_req_get_remote_cm_response_timeout(req),
		 p->remote_cm_response_timeout},
		{"local CM response timeout", cm_req_get_local_cm_response_timeout(req),
		 p->local_cm_response_timeout},
		{"end-to-end flow control", cm_req_get_flow_control(req), p->flow_control},
		{"starting PSN", cm_req_get_starting_psn(req), p->starting_psn},
		{"retry count", cm_req_get_retry_count(req), p->retry_count},
		{"RNR retry count", cm_req_get_rnr_retry_count(req), p->rnr_retry_count},
		{"P_Key", cm_req_get_pkey(req), be16toh(p->primary_path->pkey)},
		{"path MTU", cm_req_get_path_mtu(req), p->primary_path->mtu},
		{"max CM retries", cm_req_get_max_cm_retries(req), p->max_cm_retries},
		{"SRQ", cm_req_get_srq(req), p->srq},
	};

	fields_check(m, said, ARRAY_SIZE(said));
	path_check(m, cm_req_primary_const(req), p->primary_path);
	if (p->alternate_path)
		path_check(m, cm_req_alternate_const(req), p->alternate_path);
	DATA_CHECK(m, cm_req, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_req, struct ib_cm_id *cm_id, const struct ib_cm_req_param *p)
{
	const int rc = __real_ib_send_cm_req(cm_id, p);
	const struct message m = message_of(cm_id, false, CM_ATTR_REQ, "REQ", rc);

	if (m.c)
		req_check(&m, p);
	return rc;
}

static void rep_check(const struct message *m, const struct ib_cm_rep_param *p)
{
	const struct cm_rep *rep = (const void *)m->mad;
	const struct said said[] = {
		{"local QPN", cm_rep_get_local_qpn(rep), p->qp_num},
		{"starting PSN", cm_rep_get_starting_psn(rep), p->starting_psn},
		{"responder resources", cm_rep_get_responder_resources(rep),
		 p->responder_resources},
		{"initiator depth", cm_rep_get_initiator_depth(rep), p->initiator_depth},
		{"failover accepted", cm_rep_get_failover_accepted(rep), p->failover_accepted},
		{"end-to-end flow control", cm_rep_get_flow_control(rep), p->flow_control},
		{"RNR retry count", cm_rep_get_rnr_retry_count(rep), p->rnr_retry_count},
		{"SRQ", cm_rep_get_srq(rep), p->srq},
	};

	fields_check(m, said, ARRAY_SIZE(said));
	DATA_CHECK(m, cm_rep, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_rep, struct ib_cm_id *cm_id, const struct ib_cm_rep_param *p)
{
	const int rc = __real_ib_send_cm_rep(cm_id, p);
	const struct message m = message_of(cm_id, false, CM_ATTR_REP, "REP", rc);

	if (m.c)
		rep_check(&m, p);
	return rc;
}

static void sidr_req_check(const struct message *m, const struct ib_cm_sidr_req_param *p)
{
	const struct cm_sidr_req *req = (const void *)m->mad;
	const struct said said[] = {
		{"service ID", cm_sidr_req_get_service_id(req), be64toh(p->service_id)},
		{"P_Key", cm_sidr_req_get_pkey(req), be16toh(p->path->pkey)},
	};

	fields_check(m, said, ARRAY_SIZE(said));
	DATA_CHECK(m, cm_sidr_req, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_sidr_req, struct ib_cm_id *cm_id, const struct ib_cm_sidr_req_param *p)
{
	const int rc = __real_ib_send_cm_sidr_req(cm_id, p);
	const struct message m = message_of(cm_id, false, CM_ATTR_SIDR_REQ, "SIDR REQ", rc);

	if (m.c)
		sidr_req_check(&m, p);
	return rc;
}

/* A message that has nothing but private data to say. */
#define ONLY_DATA(type, name, is_answer, attr, text)                                               \
	W(int, name, struct ib_cm_id *cm_id, const void *data, uint8_t len)                        \
	{                                                                                          \
		const int rc = __real_##name(cm_id, data, len);                                    \
		const struct message m = message_of(cm_id, is_answer, attr, text, rc);             \
                                                                                                   \
		if (m.c)                                                                           \
			DATA_CHECK(&m, type, data, len);                                           \
		return rc;                                                                         \
	}
ONLY_DATA(cm_rtu, ib_send_cm_rtu, true, CM_ATTR_RTU, "RTU")
ONLY_DATA(cm_dreq, ib_send_cm_dreq, false, CM_ATTR_DREQ, "DREQ")
ONLY_DATA(cm_drep, ib_send_cm_drep, true, CM_ATTR_DREP, "DREP")
