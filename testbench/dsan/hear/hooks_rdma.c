// SPDX-License-Identifier: Apache-2.0
/*
 * As hooks.c: connections by IP address. Their messages say what the program asked for, behind the header of
 * annex A11. What a program leaves to the library is what the other side or the device allows. A listener
 * counts the requests that wait for its program.
 */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/entered.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/messages.h"
#include "testbench/dsan/mads/timeouts.h"

#include "host_driver/cm/cma_impl.h"
#include "host_driver/cm/rdma_lib.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"
#include "model/sim/units.h"

#include <string.h>

enum { RETRIES_MAX = 7, BACKLOG_MAX = 1024 };

/* --- addresses --- */

static bool is_zero(const struct sockaddr_storage *address)
{
	static const struct sockaddr_in6 zero;
	const struct sockaddr_in6 *ip = (const void *)address;

	return address->ss_family == AF_INET
		       ? !((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr
		       : !memcmp(&ip->sin6_addr, &zero.sin6_addr, sizeof(zero.sin6_addr));
}

/* Source: Linux cma_resolve_addr and addr_handler: an id that was bound to any address gets the one that leads to
 * the peer */
W(int, cma_resolve_addr, struct cma_id *id, const struct sockaddr *src, const struct sockaddr *dst,
  int timeout_ms)
{
	struct checker *c = checker_of_host(id->channel->process->host->platform->host);
	const int rc = __real_cma_resolve_addr(id, src, dst, timeout_ms);

	if (c && !rc && id->state != CMA_IDLE && id->state != CMA_ADDR_BOUND && is_zero(&id->src))
		c->tell(c,
			&(struct breach){RULE_event_differs, {0}, INSIDE(cma_resolve_addr), NULL},
			"an id has resolved the address of its peer, and its own address is 0");
	return rc;
}

W(int, cma_roce_resolve_addr, struct cma_id *id, int timeout_ms)
{
	struct checker *c = checker_of_host(id->cm->device->platform->host);
	const int rc = __real_cma_roce_resolve_addr(id, timeout_ms);

	if (c && !rc && timeout_ms >= 0)
		timeouts_is(c, id->resolve_within_ps, CFG_MS(timeout_ms),
			    INSIDE(cma_roce_resolve_addr));
	return rc;
}

/* --- what the program leaves to the library --- */

/* READs and atomics that the running call of a program is to offer. */
static struct depths {
	const struct cma_id *id; /* NULL: none runs */
	unsigned responder_resources, initiator_depth;
	const void *pc;
} depths;

/* Source: rdma-core rdma_connect, rdma_accept: RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH, which also stand for no
 * parameters, are as many as the device or the connection request allows */
static void depths_ask(const struct cma_id *id, const struct rdma_conn_param *param,
		       unsigned responder_resources, unsigned initiator_depth, const void *pc)
{
	depths = (struct depths){id, responder_resources, initiator_depth, pc};
	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		depths.responder_resources = param->responder_resources;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		depths.initiator_depth = param->initiator_depth;
}

static void depths_check(const struct cma_id *id, const struct rdma_conn_param *p)
{
	struct checker *c = checker_of_host(id->channel->process->host->platform->host);

	if (!c || id->ud || depths.id != id ||
	    (p->responder_resources == depths.responder_resources &&
	     p->initiator_depth == depths.initiator_depth))
		return;
	c->tell(c, &(struct breach){RULE_mad_differs, {0}, depths.pc, NULL},
		"a program is to serve %u READs and have %u under way, and its library says %u and "
		"%u",
		depths.responder_resources, depths.initiator_depth, p->responder_resources,
		p->initiator_depth);
}

W(int, rdma_connect, struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	const struct cma_id *k = LIB_ID(id)->kernel;
	int rc;

	if (k->cm)
		depths_ask(k, param, k->cm->device->attrs.max_dest_rd_atomic,
			   k->cm->device->attrs.max_rd_atomic, INSIDE(rdma_connect));
	rc = __real_rdma_connect(id, param);
	depths.id = NULL;
	return rc;
}

W(int, rdma_accept, struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	const struct cma_id *k = LIB_ID(id)->kernel;
	int rc;

	depths_ask(k, param, k->responder_resources, k->initiator_depth, INSIDE(rdma_accept));
	rc = __real_rdma_accept(id, param);
	depths.id = NULL;
	return rc;
}

/* --- the messages --- */

static const void *address_of(const struct sockaddr_storage *a, size_t *bytes)
{
	*bytes = a->ss_family == AF_INET ? 4 : 16;
	return a->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
				       : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;
}

static void address_check(const struct message *m, const char *what, const uint8_t is[16],
			  const struct sockaddr_storage *a)
{
	uint8_t asked[16] = {0};
	size_t bytes;
	const void *from = address_of(a, &bytes);

	memcpy(asked + sizeof(asked) - bytes, from, bytes);
	message_bytes_check(m, what, is, asked, sizeof(asked), sizeof(asked));
}

/* The header before the private data. Source: IBA annex A11; Linux cma_format_hdr */
static void header_check(const struct message *m, const struct cma_id *id, const uint8_t *data,
			 size_t room, const struct rdma_conn_param *p)
{
	const struct cm_ip *ip = (const void *)data;
	const struct said said[] = {
		{"major version", cm_ip_get_major(ip), 0},
		{"minor version", cm_ip_get_minor(ip), 0},
		{"IP version", cm_ip_get_ipv(ip), id->src.ss_family == AF_INET ? 4 : 6},
		{"source port", cm_ip_get_src_port(ip), cma_port(&id->src)},
	};

	message_fields_check(m, said, ARRAY_SIZE(said));
	address_check(m, "source address", cm_ip_src_cptr(ip), &id->src);
	address_check(m, "destination address", cm_ip_dst_cptr(ip), &id->dst);
	message_bytes_check(m, "private data", data + sizeof(*ip), p->private_data,
			    p->private_data_len, room - sizeof(*ip));
}

/* The field has three bits. Source: Linux cma_connect_ib: min_t(u8, 7, conn_param->retry_count) */
static unsigned retries(unsigned asked)
{
	return asked < RETRIES_MAX ? asked : RETRIES_MAX;
}

static void cma_req_check(const struct message *m, const struct cma_id *id,
			  const struct rdma_conn_param *p)
{
	const struct cm_req *req = (const void *)m->mad;
	const struct said said[] = {
		{"service ID", cm_req_get_service_id(req),
		 (uint64_t)id->ps << 16 | cma_port(&id->dst)},
		{"local QPN", cm_req_get_local_qpn(req), p->qp_num},
		{"responder resources", cm_req_get_responder_resources(req),
		 p->responder_resources},
		{"initiator depth", cm_req_get_initiator_depth(req), p->initiator_depth},
		{"end-to-end flow control", cm_req_get_flow_control(req), p->flow_control},
		{"starting PSN", cm_req_get_starting_psn(req), id->psn},
		{"retry count", cm_req_get_retry_count(req), retries(p->retry_count)},
		{"RNR retry count", cm_req_get_rnr_retry_count(req), retries(p->rnr_retry_count)},
		{"SRQ", cm_req_get_srq(req), !!p->srq},
	};

	message_fields_check(m, said, ARRAY_SIZE(said));
	header_check(m, id, cm_req_private_data_cptr(req), cm_req_private_data_size, p);
}

int __real_cma_connect(struct cma_id *id, const struct rdma_conn_param *p);

/* The id whose program asks for a connection. NULL: none does. */
static const struct cma_id *asks;

void rdma_asks_check(const struct ib_cm_id *cm_id, const char *message)
{
	struct checker *c = checker_of_host(cm_id->device->platform->host);

	if (c && asks && cm_id->context == asks &&
	    (asks->state != CMA_CONNECT || asks->ib != cm_id))
		c->tell(c, &(struct breach){RULE_mad_differs, {0}, INSIDE(cma_connect), NULL},
			"a %s leaves before its id of rdma_cm counts as one that connects: an "
			"answer that comes at once is dropped",
			message);
}

/* Source: Linux rdma_connect: cma_comp_exch(ROUTE_RESOLVED, CONNECT) before cma_connect_ib, cma_resolve_ib_udp */
W(int, cma_connect, struct cma_id *id, const struct rdma_conn_param *p)
{
	struct message m;
	int rc;

	asks = id;
	rc = __real_cma_connect(id, p);
	asks = NULL;
	if (rc || !id->ib)
		return rc;
	depths_check(id, p);
	m = id->ud ? message_of(id->ib, false, CM_ATTR_SIDR_REQ, "SIDR REQ", rc)
		   : message_of(id->ib, false, CM_ATTR_REQ, "REQ", rc);
	if (m.c && id->ud)
		header_check(&m, id, cm_sidr_req_private_data_cptr((const void *)m.mad),
			     cm_sidr_req_private_data_size, p);
	else if (m.c)
		cma_req_check(&m, id, p);
	return rc;
}

static void cma_rep_check(const struct message *m, const struct cma_id *id,
			  const struct rdma_conn_param *p)
{
	const struct cm_rep *rep = (const void *)m->mad;
	const struct said said[] = {
		{"local QPN", cm_rep_get_local_qpn(rep), p->qp_num},
		{"starting PSN", cm_rep_get_starting_psn(rep), id->psn},
		{"responder resources", cm_rep_get_responder_resources(rep),
		 p->responder_resources},
		{"initiator depth", cm_rep_get_initiator_depth(rep), p->initiator_depth},
		{"end-to-end flow control", cm_rep_get_flow_control(rep), p->flow_control},
		{"RNR retry count", cm_rep_get_rnr_retry_count(rep), retries(p->rnr_retry_count)},
		{"SRQ", cm_rep_get_srq(rep), !!p->srq},
	};

	message_fields_check(m, said, ARRAY_SIZE(said));
	MESSAGE_DATA_CHECK(m, cm_rep, p->private_data, p->private_data_len);
}

/* Behind a REP or RTU the peer may send, and behind a DREQ it does no more: the queue pair that the library cares for
 * is ready before. Source: rdma-core rdma_accept, ucma_process_conn_resp, rdma_disconnect */
static void qp_check(const struct cma_id *id, enum ibv_qp_state state, const void *pc)
{
	struct checker *c = checker_of_host(id->channel->process->host->platform->host);
	const struct lib_id *lib = id->user;

	if (c && lib && lib->own_qp && lib->rdma.qp && lib->rdma.qp->state != state)
		c->tell(c, &(struct breach){RULE_mad_differs, {0}, pc, NULL},
			"a message about a connection leaves, and the queue pair of its id is in "
			"state "
			"%d, not in %d",
			lib->rdma.qp->state, state);
}

W(int, cma_disconnect, struct cma_id *id)
{
	qp_check(id, IBV_QPS_ERR, HERE);
	return __real_cma_disconnect(id);
}

W(int, cma_accept, struct cma_id *id, const struct rdma_conn_param *p)
{
	struct message m;
	int rc;

	if (!id->ud)
		qp_check(id, IBV_QPS_RTS, HERE);
	rc = __real_cma_accept(id, p);
	if (rc || !id->ib || id->ud || !p)
		return rc;
	depths_check(id, p);
	m = message_of(id->ib, false, CM_ATTR_REP, "REP", rc);
	if (m.c)
		cma_rep_check(&m, id, p);
	return rc;
}

/* --- the backlog of a listener --- */

/* A request counts from its event until the program takes it. Source: Linux ucma_event_handler, ucma_get_event:
 * ctx->backlog */
static void backlog_check(const struct cma_id *listener, const void *pc)
{
	const struct drv_list *events = &listener->channel->uv->events;
	struct checker *c = checker_of_host(listener->channel->process->host->platform->host);
	char names[ENTERED_CHARS];
	unsigned waiting = 0;

	for (const struct drv_list *l = events->next; l != events; l = l->next)
		waiting += container_of(l, const struct cma_event, link)->listener == listener;
	if (!c || listener->pending == waiting)
		return;
	entered_format(names);
	c->tell(c, &(struct breach){RULE_event_differs, {0}, pc, NULL},
		"a listener counts %u requests that wait for its program, and %u do: its backlog "
		"is "
		"another one from now on; these ran last: %s",
		listener->pending, waiting, names);
}

void rdma_backlogs_check(const struct uv_process *process, const void *pc)
{
	const struct cma_process *p = process->rdma;

	for (const struct drv_list *l = p ? p->ids.next : NULL; l && l != &p->ids; l = l->next) {
		const struct cma_id *id = container_of(l, const struct cma_id, link);

		if (id->state == CMA_LISTEN && !id->destroying)
			backlog_check(id, pc);
	}
}

/* Source: Linux ucma_listen: cmd.backlog > 0 && cmd.backlog < max_backlog, which is 1024 */
W(int, cma_listen, struct cma_id *id, int backlog)
{
	const unsigned asked =
		backlog > 0 && backlog < BACKLOG_MAX ? (unsigned)backlog : BACKLOG_MAX;
	struct checker *c = checker_of_host(id->channel->process->host->platform->host);
	const int rc = __real_cma_listen(id, backlog);

	if (c && !rc && id->backlog != asked)
		c->tell(c, &(struct breach){RULE_event_differs, {0}, INSIDE(cma_listen), NULL},
			"a listener with backlog %d keeps %u requests, not %u", backlog,
			id->backlog, asked);
	return rc;
}

void rdma_held_up_check(const struct ib_cm_id *cm_id, enum ib_cm_state alone, const void *pc)
{
	struct checker *c = checker_of_host(cm_id->device->platform->host);
	char names[ENTERED_CHARS];

	if (!c || cm_id->state != alone)
		return;
	entered_format(names);
	c->tell(c, &(struct breach){RULE_mad_lost, {0}, pc, NULL},
		"a program is told of a message that it must answer, and its host is not ready to "
		"ask "
		"the peer for time: a slow program is given up; these ran last: %s",
		names);
}

W(int, cma_listen_handler, struct ib_cm_id *ib, const struct ib_cm_event *event)
{
	const struct cma_id *listener = ib->context;
	const int rc = __real_cma_listen_handler(ib, event);

	backlog_check(listener, INSIDE(cma_listen_handler));
	if (!rc && !listener->ud)
		rdma_held_up_check(ib, IB_CM_REQ_RCVD, INSIDE(cma_listen_handler));
	return rc;
}

W(struct cma_event *, cma_take, struct cma_channel *channel)
{
	struct cma_event *e = __real_cma_take(channel);

	if (e && e->listener)
		backlog_check(e->listener, INSIDE(cma_take));
	return e;
}

W(void, cma_migrate, struct cma_id *id, struct cma_channel *channel)
{
	__real_cma_migrate(id, channel);
	rdma_backlogs_check(channel->process, INSIDE(cma_migrate));
}
