// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: the messages of connection management. What a message says must be what its sender was
 * asked to say, field by field, and so must its private data, behind which zeros stand.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/messages.h"
#include "testbench/dsan/hear/wrote.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/mads/connections.h"
#include "testbench/dsan/mads/rejects.h"
#include "testbench/dsan/mads/timeouts.h"
#include "testbench/dsan/mads/told.h"

#include "host_driver/cm/cma_impl.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"
#include "model/sim/units.h"

#include <endian.h>
#include <errno.h>
#include <rdma/ib_cm.h>

#include <string.h>

enum { WRITERS = 18, ACK_TIMEOUT_MAX = 31 };

W(void, cm_set_state, struct cm_id *id, enum ib_cm_state state)
{
	const struct checker *c = checker_of_host(id->ib.device->platform->host);

	if (c)
		connections_state(c, be32toh(id->ib.local_id), state, &id->deadline);
	__real_cm_set_state(id, state);
}

W(int, cm_port_get, struct cm_device *cm, unsigned port, const struct cm_port **out)
{
	struct checker *c = checker_of_host(cm->device->platform->host);
	const int rc = __real_cm_port_get(cm, port, out);

	if (c && !rc && (*out)->valid)
		told_kept_check(c, port, &(*out)->attr);
	return rc;
}

/* Who ends waits for threads, and nobody finds what ends meanwhile. Source: Linux cm_remove_one: the port's work
 * is flushed when nobody can queue any more */
W(void, cm_sa_stop, struct cm_device *cm)
{
	struct checker *c = checker_of_host(cm->device->platform->host);

	if (c && cm->device->cm == cm)
		c->tell(c,
			&(struct breach){
				RULE_freed_in_use, {0}, (const char *)ib_cm_detach + 1, NULL},
			"connection management ends and waits for its threads, and its device "
			"still "
			"leads to it");
	__real_cm_sa_stop(cm);
}

/* Who is told of its end need not answer. */
W(void, ib_destroy_cm_id, struct ib_cm_id *cm_id)
{
	const struct checker *c = checker_of_host(cm_id->device->platform->host);
	const uint32_t id = be32toh(cm_id->local_id);

	handlers_destroy_check((const void *)cm_id, HERE);
	if (c)
		connections_state(c, id, IB_CM_IDLE, NULL);
	__real_ib_destroy_cm_id(cm_id);
	/* its last messages have set a state, too, and the id is freed now */
	if (c)
		connections_state(c, id, IB_CM_IDLE, NULL);
}

/* A newer message may have its place already. */
struct message message_of(const struct ib_cm_id *cm_id, bool answer, unsigned attr,
			  const char *name, int rc)
{
	const struct cm_id *id = (const void *)cm_id;
	const struct smp *mad = answer ? &id->answer : &id->request;

	if (rc || mad_hdr_get_attr_id(smp_hdr_const(mad)) != attr)
		return (struct message){0};
	return (struct message){checker_of_host(cm_id->device->platform->host), mad, name, false};
}

/* The newest message of that kind; `remote` is the communication id of who gets it. */
static struct message message_sent(const struct ib_cm_id *cm_id, unsigned attr, uint32_t remote,
				   const char *name, int rc)
{
	struct checker *c = checker_of_host(cm_id->device->platform->host);
	const struct smp *mad = c ? connections_sent(c, attr) : NULL;
	/* the two ids are at the same offset in all messages; that of a SIDR REP is where the first is */
	const struct cm_rep *rep = (const void *)mad;
	const struct cm_sidr_rep *sidr = (const void *)mad;

	if (rc || !mad ||
	    remote != (attr == CM_ATTR_SIDR_REP ? cm_sidr_rep_get_request_id(sidr)
						: cm_rep_get_remote_comm_id(rep)))
		return (struct message){0};
	return (struct message){c, mad, name, true};
}

static void writers_of(const struct message *m, char *names, size_t size)
{
	const void *pcs[WRITERS];
	const unsigned attr = mad_hdr_get_attr_id(smp_hdr_const(m->mad));

	checker_functions(pcs,
			  m->gone ? connections_writers(m->c, attr, pcs, WRITERS)
				  : heap_writers(m->mad, sizeof(*m->mad), pcs, WRITERS),
			  names, size);
}

void message_fields_check(const struct message *m, const struct said *said, size_t n)
{
	char names[MESSAGE_NAMES_BYTES];

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

void message_bytes_check(const struct message *m, const char *what, const void *is,
			 const void *asked, size_t n, size_t room)
{
	const uint8_t *bytes = is;
	char names[MESSAGE_NAMES_BYTES];
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

/* As code: there and back, and what the own device takes to acknowledge. The next power of two behind the larger
 * one covers the sum. Source: IBA 12.7.34, 9.7.5.1.3 */
static unsigned ack_timeout_of(unsigned device, unsigned life_time)
{
	const unsigned way = life_time + 1, code = (way > device ? way : device) + 1;

	return code < ACK_TIMEOUT_MAX ? code : ACK_TIMEOUT_MAX;
}

/* A wrong one was computed so, or comes from somewhere else. */
static void ack_timeout_check(const struct message *m, unsigned is, unsigned ack_delay,
			      unsigned life_time)
{
	const unsigned asked = ack_timeout_of(ack_delay, life_time);

	if (is != asked && is == cm_ack_timeout(ack_delay, life_time))
		m->c->tell(m->c,
			   &(struct breach){
				   RULE_mad_differs, {0}, (const char *)cm_ack_timeout + 1, NULL},
			   "a %s says local ACK timeout %u; twice the life time %u and the HCA's "
			   "ACK delay %u need %u",
			   m->name, is, life_time, ack_delay, asked);
}

/* Source: IBA 12.6.5; Linux cm_format_req */
static void path_check(const struct message *m, const struct cm_path *is,
		       const struct sa_path_rec *asked, unsigned ack_delay)
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
		{"local ACK timeout", cm_path_get_ack_timeout(is),
		 ack_timeout_of(ack_delay, asked->packet_life_time)},
	};

	ack_timeout_check(m, cm_path_get_ack_timeout(is), ack_delay, asked->packet_life_time);
	message_fields_check(m, said, ARRAY_SIZE(said));
	message_bytes_check(m, "local GID", cm_path_local_gid_cptr(is), asked->sgid.raw,
			    sizeof(asked->sgid), sizeof(asked->sgid));
	message_bytes_check(m, "remote GID", cm_path_remote_gid_cptr(is), asked->dgid.raw,
			    sizeof(asked->dgid), sizeof(asked->dgid));
}

/* --- messages that could not be sent --- */

struct states {
	enum ib_cm_state connection;
	enum ib_cm_lap_state lap;
	bool timewait; /* it has a record of its time-wait */
};

static struct states states_of(const struct ib_cm_id *cm_id)
{
	const struct cm_id *id = (const void *)cm_id;

	return (struct states){cm_id->state, cm_id->lap_state, id->timewait != NULL};
}

/* A call that fails leaves the state as it was, but for those that end a connection. Source: Linux
 * cm_send_rep_locked, ib_send_cm_mra: the state changes behind ib_post_send_mad. With -EINVAL the state
 * was another one than the caller had thought. */
static void unsent_check(const struct ib_cm_id *cm_id, const struct states *before, int rc,
			 const void *pc)
{
	struct checker *c = checker_of_host(cm_id->device->platform->host);
	const struct states now = states_of(cm_id);

	if (c && rc && rc != -EINVAL &&
	    (now.connection != before->connection || now.lap != before->lap))
		c->tell(c, &(struct breach){RULE_not_given_back, {0}, pc, NULL},
			"the call fails with %d, so nothing was sent, and the connection goes from "
			"state %d to %d, that of its path from %d to %d",
			rc, before->connection, now.connection, before->lap, now.lap);
	else if (c && rc && !before->timewait && now.timewait)
		c->tell(c, &(struct breach){RULE_not_given_back, {0}, pc, NULL},
			"the call fails with %d, so nothing was sent, and the connection keeps a "
			"record for its time-wait, with which it cannot begin again",
			rc);
}

static void req_check(const struct message *m, const struct ib_cm_req_param *p, unsigned ack_delay)
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

	message_fields_check(m, said, ARRAY_SIZE(said));
	path_check(m, cm_req_primary_const(req), p->primary_path, ack_delay);
	if (p->alternate_path)
		path_check(m, cm_req_alternate_const(req), p->alternate_path, ack_delay);
	MESSAGE_DATA_CHECK(m, cm_req, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_req, struct ib_cm_id *cm_id, const struct ib_cm_req_param *p)
{
	const struct states before = states_of(cm_id);
	struct message m;
	int rc;

	rdma_asks_check(cm_id, "REQ");
	rc = __real_ib_send_cm_req(cm_id, p);
	m = message_of(cm_id, false, CM_ATTR_REQ, "REQ", rc);
	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_req));
	if (m.c)
		req_check(&m, p, ((const struct cm_id *)(const void *)cm_id)->cm->ack_delay);
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

	message_fields_check(m, said, ARRAY_SIZE(said));
	MESSAGE_DATA_CHECK(m, cm_rep, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_rep, struct ib_cm_id *cm_id, const struct ib_cm_rep_param *p)
{
	const struct states before = states_of(cm_id);
	const int rc = __real_ib_send_cm_rep(cm_id, p);
	const struct message m = message_of(cm_id, false, CM_ATTR_REP, "REP", rc);

	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_rep));
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

	message_fields_check(m, said, ARRAY_SIZE(said));
	MESSAGE_DATA_CHECK(m, cm_sidr_req, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_sidr_req, struct ib_cm_id *cm_id, const struct ib_cm_sidr_req_param *p)
{
	const struct states before = states_of(cm_id);
	struct message m;
	int rc;

	rdma_asks_check(cm_id, "SIDR REQ");
	rc = __real_ib_send_cm_sidr_req(cm_id, p);
	m = message_of(cm_id, false, CM_ATTR_SIDR_REQ, "SIDR REQ", rc);
	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_sidr_req));
	if (m.c) {
		sidr_req_check(&m, p);
		timeouts_is(m.c, ((const struct cm_id *)(const void *)cm_id)->timeout_ps,
			    CFG_MS(p->timeout_ms), INSIDE(ib_send_cm_sidr_req));
	}
	return rc;
}

W(int, ib_sa_path_rec_get, struct ib_sa_client *client, struct ib_device *device, uint32_t port,
  const struct sa_path_rec *rec, ib_sa_comp_mask comp_mask, unsigned long timeout_ms, unsigned gfp,
  void (*callback)(int status, struct sa_path_rec *resp, unsigned num_prs, void *context),
  void *context, struct ib_sa_query **query)
{
	const struct checker *c = checker_of_host(device->platform->host);

	if (c)
		timeouts_asked(c, CFG_MS(timeout_ms), INSIDE(ib_sa_path_rec_get));
	return __real_ib_sa_path_rec_get(client, device, port, rec, comp_mask, timeout_ms, gfp,
					 callback, context, query);
}

/* A message that has nothing but private data to say. */
#define ONLY_DATA(type, name, is_answer, attr, text)                                               \
	W(int, name, struct ib_cm_id *cm_id, const void *data, uint8_t len)                        \
	{                                                                                          \
		const int rc = __real_##name(cm_id, data, len);                                    \
		const struct message m = message_of(cm_id, is_answer, attr, text, rc);             \
                                                                                                   \
		if (m.c)                                                                           \
			MESSAGE_DATA_CHECK(&m, type, data, len);                                   \
		return rc;                                                                         \
	}
ONLY_DATA(cm_rtu, ib_send_cm_rtu, true, CM_ATTR_RTU, "RTU")
ONLY_DATA(cm_dreq, ib_send_cm_dreq, false, CM_ATTR_DREQ, "DREQ")
ONLY_DATA(cm_drep, ib_send_cm_drep, true, CM_ATTR_DREP, "DREP")

/* --- alternate paths --- */

/* Source: IBA 12.8.1; Linux 4.x cm_format_lap */
static void lap_check(const struct message *m, const struct cm_id *id,
		      const struct sa_path_rec *path, const void *data, uint8_t len)
{
	const struct cm_lap *lap = (const void *)m->mad;
	const struct cm_lap_path *is = cm_lap_alternate_const(lap);
	const struct said said[] = {
		{"remote QPN", cm_lap_get_remote_qpn(lap), id->remote_qpn},
		{"remote CM response timeout", cm_lap_get_remote_cm_response_timeout(lap),
		 id->response_code},
		{"local LID", cm_lap_path_get_local_lid(is), be16toh(path->ib.slid)},
		{"remote LID", cm_lap_path_get_remote_lid(is), be16toh(path->ib.dlid)},
		{"flow label", cm_lap_path_get_flow_label(is), be32toh(path->flow_label)},
		{"packet rate", cm_lap_path_get_packet_rate(is), path->rate},
		{"traffic class", cm_lap_path_get_traffic_class(is), path->traffic_class},
		{"hop limit", cm_lap_path_get_hop_limit(is), path->hop_limit},
		{"SL", cm_lap_path_get_sl(is), path->sl},
		{"subnet local", cm_lap_path_get_subnet_local(is), path->hop_limit <= 1},
	};

	message_fields_check(m, said, ARRAY_SIZE(said));
	message_bytes_check(m, "local GID", cm_lap_path_local_gid_cptr(is), path->sgid.raw,
			    sizeof(path->sgid), sizeof(path->sgid));
	message_bytes_check(m, "remote GID", cm_lap_path_remote_gid_cptr(is), path->dgid.raw,
			    sizeof(path->dgid), sizeof(path->dgid));
	MESSAGE_DATA_CHECK(m, cm_lap, data, len);
}

W(int, ib_send_cm_lap, struct ib_cm_id *cm_id, const struct sa_path_rec *path, const void *data,
  uint8_t len)
{
	const struct states before = states_of(cm_id);
	const struct message last = message_of(cm_id, false, CM_ATTR_LAP, "LAP", 0);
	const uint64_t last_tid = last.c ? mad_hdr_get_tid(smp_hdr_const(last.mad)) : 0;
	const int rc = __real_ib_send_cm_lap(cm_id, path, data, len);
	const struct message m = message_of(cm_id, false, CM_ATTR_LAP, "LAP", rc);

	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_lap));
	if (!m.c)
		return rc;
	lap_check(&m, (const void *)cm_id, path, data, len);
	if (mad_hdr_get_tid(smp_hdr_const(m.mad)) == last_tid)
		m.c->tell(
			m.c, &(struct breach){RULE_mad_differs, {0}, INSIDE(ib_send_cm_lap), NULL},
			"a LAP has the transaction id of the one before it, so its receiver takes "
			"it for one that came again");
	return rc;
}

W(int, ib_send_cm_apr, struct ib_cm_id *cm_id, enum ib_cm_apr_status status, const void *info,
  uint8_t info_length, const void *data, uint8_t len)
{
	const struct states before = states_of(cm_id);
	const int rc = __real_ib_send_cm_apr(cm_id, status, info, info_length, data, len);
	const struct message m = message_of(cm_id, true, CM_ATTR_APR, "APR", rc);
	const struct cm_apr *apr = (const void *)m.mad;

	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_apr));
	if (!m.c)
		return rc;
	message_fields_check(
		&m,
		(struct said[]){{"status", cm_apr_get_ap_status(apr), status},
				{"info length", cm_apr_get_info_length(apr), info_length}},
		2);
	message_bytes_check(&m, "information", cm_apr_info_cptr(apr), info, info_length,
			    cm_apr_info_size);
	MESSAGE_DATA_CHECK(&m, cm_apr, data, len);
	return rc;
}

/* --- refusals, and requests for time --- */

W(void, cm_issue_rej, struct cm_device *cm, const struct cm_work *work,
  enum ib_cm_rej_reason reason, enum cm_message rejected, const void *ari, uint8_t ari_length)
{
	struct checker *c = checker_of_host(cm->device->platform->host);
	const struct cm_port *port;

	if (c && rejected == CM_MESSAGE_REQ)
		rejects_check(c, cm, (const void *)&work->mad, reason,
			      __real_cm_port_get(cm, work->port, &port) ? 0 : port->attr.active_mtu,
			      HERE);
	__real_cm_issue_rej(cm, work, reason, rejected, ari, ari_length);
}

W(int, ib_send_cm_rej, struct ib_cm_id *cm_id, enum ib_cm_rej_reason reason, const void *ari,
  uint8_t ari_length, const void *data, uint8_t len)
{
	const uint32_t remote = be32toh(cm_id->remote_id);
	struct message m;
	int rc;

	wrote_begin();
	rc = __real_ib_send_cm_rej(cm_id, reason, ari, ari_length, data, len);
	m = message_sent(cm_id, CM_ATTR_REJ, remote, "REJ", rc);
	if (m.c) {
		const struct cm_rej *rej = (const void *)m.mad;

		message_fields_check(
			&m,
			(struct said[]){{"reason", cm_rej_get_reason(rej), reason},
					{"info length", cm_rej_get_info_length(rej), ari_length}},
			2);
		message_bytes_check(&m, "information", cm_rej_ari_cptr(rej), ari, ari_length,
				    cm_rej_ari_size);
		MESSAGE_DATA_CHECK(&m, cm_rej, data, len);
	}
	wrote_end();
	return rc;
}

/* Which message the MRA is about. Source: IBA 12.6.6, MessageMRAed */
static unsigned about(const struct ib_cm_id *cm_id)
{
	switch (cm_id->state) {
	case IB_CM_REQ_RCVD:
		return CM_MESSAGE_REQ;
	case IB_CM_REP_RCVD:
		return CM_MESSAGE_REP;
	default:
		return CM_MESSAGE_OTHER;
	}
}

W(int, ib_send_cm_mra, struct ib_cm_id *cm_id, uint8_t service_timeout, const void *data,
  uint8_t len)
{
	const unsigned mraed = about(cm_id);
	const struct states before = states_of(cm_id);
	const int rc = __real_ib_send_cm_mra(cm_id, service_timeout, data, len);
	const struct message m = message_of(cm_id, true, CM_ATTR_MRA, "MRA", rc);
	const struct cm_mra *mra = (const void *)m.mad;

	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_mra));
	if (!m.c)
		return rc;
	message_fields_check(&m,
			     (struct said[]){{"message", cm_mra_get_message_mraed(mra), mraed},
					     {"service timeout", cm_mra_get_service_timeout(mra),
					      service_timeout & ~(unsigned)IB_CM_MRA_FLAG_DELAY}},
			     2);
	MESSAGE_DATA_CHECK(&m, cm_mra, data, len);
	return rc;
}

/* --- what a service id resolves to --- */

static void sidr_rep_check(const struct message *m, const struct ib_cm_id *cm_id,
			   const struct ib_cm_sidr_rep_param *p)
{
	const struct cm_sidr_rep *rep = (const void *)m->mad;
	const bool found = p->status == IB_SIDR_SUCCESS;
	const struct said said[] = {
		{"status", cm_sidr_rep_get_status(rep), p->status},
		{"QPN", cm_sidr_rep_get_qpn(rep), found ? p->qp_num : 0},
		{"Q_Key", cm_sidr_rep_get_qkey(rep), found ? p->qkey : 0},
		{"service ID", cm_sidr_rep_get_service_id(rep), be64toh(cm_id->service_id)},
		{"info length", cm_sidr_rep_get_info_length(rep), p->info_length},
	};

	message_fields_check(m, said, ARRAY_SIZE(said));
	message_bytes_check(m, "information", cm_sidr_rep_info_cptr(rep), p->info, p->info_length,
			    cm_sidr_rep_info_size);
	MESSAGE_DATA_CHECK(m, cm_sidr_rep, p->private_data, p->private_data_len);
}

W(int, ib_send_cm_sidr_rep, struct ib_cm_id *cm_id, const struct ib_cm_sidr_rep_param *p)
{
	const uint32_t request = ((const struct cm_id *)(const void *)cm_id)->sidr_request_id;
	const struct states before = states_of(cm_id);
	struct message m;
	int rc;

	wrote_begin();
	rc = __real_ib_send_cm_sidr_rep(cm_id, p);
	unsent_check(cm_id, &before, rc, INSIDE(ib_send_cm_sidr_rep));
	m = message_sent(cm_id, CM_ATTR_SIDR_REP, request, "SIDR REP", rc);
	if (m.c)
		sidr_rep_check(&m, cm_id, p);
	wrote_end();
	return rc;
}
