/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of connect.h. */
#include "model/sim/cfg.h"
#include "testbench/connect.h"
#include "host_driver/cm/cma.h"
#include "testbench/language/tb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

enum {
	PORT = 1,
	LIMIT_S = 100,
	QUEUE = 8,
	SA_TIMEOUT_MS = 100,
	TEXT_CHARS = 200,
	DEPTH = 4,
	NETWORK = 11
};

/* --- start and end --- */

/* Gives each host all addresses of the fabric, as IPv4 and as IPv4-mapped IPv6 addresses. */
static void fill_table(struct tb *tb, const char *here, struct tb_end *at, struct tb_end *of,
		       unsigned port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct ib_device *device = tb_ib_device(tb, here, at);
	uint8_t *b = (uint8_t *)&v4.sin_addr;
	union ib_gid gid;

	b[0] = NETWORK;
	b[2] = (uint8_t)port;
	b[3] = (uint8_t)(of->host_index + 1);
	v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&v6.sin6_addr.s6_addr[12], b, 4);
	if (!tb_go(tb, here))
		return;
	if (of->ethernet) /* the address is the GID */
		memcpy(gid.raw, v6.sin6_addr.s6_addr, sizeof(gid.raw));
	else if (!tb_must(tb, here, "drv_query_gid", drv_query_gid(of->dev, port, 0, gid.raw), 0))
		return;
	if (tb_must(tb, here, "cma_addr_add",
		    cma_addr_add(device, (struct sockaddr *)&v4, &gid, port, at == of), 0))
		tb_must(tb, here, "cma_addr_add",
			cma_addr_add(device, (struct sockaddr *)&v6, &gid, port, at == of), 0);
}

/* The words use the first port, and the second one beside it when it is of the same kind. */
static bool one_kind(const struct tb *tb, unsigned port)
{
	return drv_port_is_ethernet(tb->ends[0].dev, port) == tb->ends[0].ethernet;
}

static unsigned roce_version(const struct tb *tb)
{
	return tb_roce_kind(tb) == ROCE_V1 ? 1 : 2;
}

void tb_start_cm(struct tb *tb, const char *here)
{
	const unsigned a = (unsigned)tb->config->hca[0].hca_ports,
		       b = (unsigned)tb->config->hca[1].hca_ports, ports = a < b ? a : b;

	for (unsigned port = 1; tb_go(tb, here) && port <= ports; port++)
		if (!drv_port_is_ethernet(tb->ends[0].dev, port))
			tb_must(tb, here, "sm_sa_start",
				sm_sa_start(tb->ends[0].dev, port, 0, &tb->sa[port - 1]), 0);
	for (unsigned i = 0; i < TB_ENDS && tb_go(tb, here); i++) {
		struct ib_device *device = tb_ib_device(tb, here, &tb->ends[i]);

		if (device)
			tb_must(tb, here, "ib_cm_attach", ib_cm_attach(device), 0);
		if (tb->ends[i].ethernet && tb_go(tb, here))
			tb_must(tb, here, "cma_set_roce_version",
				cma_set_roce_version(device, roce_version(tb)), 0);
	}
	for (unsigned i = 0; i < TB_ENDS * TB_ENDS; i++)
		for (unsigned port = 1; tb_go(tb, here) && port <= ports && one_kind(tb, port);
		     port++)
			fill_table(tb, here, &tb->ends[i / TB_ENDS], &tb->ends[i % TB_ENDS], port);
}

void tb_stop_cm(struct tb *tb, const char *here, struct tb_end *end)
{
	struct uv_host *uv = tb_uv_host(tb, end);

	if (uv->n_devices && ib_cm_detach(uv->devices[0]))
		tb_fail(tb, here, "no id of connection management left", NULL);
	for (unsigned i = 0; !end->host_index && i < DRV_PORTS_MAX; i++) {
		if (tb->sa[i])
			sm_sa_stop(tb->sa[i]);
		tb->sa[i] = NULL;
	}
}

/* --- paths --- */

struct path_wait {
	struct tb *tb;
	struct sa_path_rec path;
	int status;
	bool done;
};

static void path_came(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	struct path_wait *w = context;

	w->status = status;
	if (!status)
		w->path = *path;
	w->done = true;
	tb_poke(w->tb);
}

static bool path_done(struct tb *tb, void *arg)
{
	return ((struct path_wait *)arg)->done;
}

/* Over Ethernet nobody but the neighbour is asked. */
static void ask_roce_path(struct tb *tb, const char *here, struct tb_end *end,
			  struct sa_path_rec *path)
{
	struct ib_device *device = tb_ib_device(tb, here, end);
	union ib_gid from, to;

	memcpy(from.raw, end->gid, sizeof(from.raw));
	memcpy(to.raw, end->peer->gid, sizeof(to.raw));
	if (tb_go(tb, here))
		tb_must(tb, here, "cma_roce_path",
			cma_roce_path(device, PORT, &from, &to, roce_version(tb), path), 0);
}

void tb_ask_path(struct tb *tb, const char *here, struct tb_end *end, struct sa_path_rec *path)
{
	struct ib_device *device = tb_ib_device(tb, here, end);
	struct sa_path_rec rec = {.numb_path = 1, .reversible = 1};
	struct ib_sa_client client = {0};
	struct path_wait w = {.tb = tb};
	struct ib_sa_query *query;
	int rc;

	if (end->ethernet) {
		ask_roce_path(tb, here, end, path);
		return;
	}
	if (!tb_go(tb, here) ||
	    !tb_must(tb, here, "ib_query_gid", ib_query_gid(device, PORT, 0, &rec.sgid), 0) ||
	    !tb_must(tb, here, "drv_query_gid",
		     drv_query_gid(end->peer->dev, PORT, 0, rec.dgid.raw), 0))
		return;
	rc = ib_sa_path_rec_get(&client, device, PORT, &rec,
				IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
					IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE,
				SA_TIMEOUT_MS, GFP_KERNEL, path_came, &w, &query);
	tb_must(tb, here, "ib_sa_path_rec_get", rc < 0 ? rc : 0, 0);
	if (rc > 0 && !tb_wait(tb, path_done, &w, tb_now(tb) + CFG_S(LIMIT_S)))
		tb_fail(tb, here, "an answer to a question for a path", "none");
	tb_must(tb, here, "the path", w.status, 0);
	if (!w.status)
		*path = w.path;
}

/* --- ids --- */

static void keep(uint8_t *to, size_t room, void **ptr, size_t len)
{
	if (!*ptr)
		return;
	memcpy(to, *ptr, len < room ? len : room);
	*ptr = to;
}

/* What the event points to is copied beside it. */
static void event_copy(struct conn_event *e, const struct ib_cm_event *event)
{
	struct ib_cm_event *cm = &e->cm;

	*cm = *event;
	keep(e->data, sizeof(e->data), &cm->private_data, cm->private_data_len);
	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		e->path = *event->param.req_rcvd.primary_path;
		cm->param.req_rcvd.primary_path = &e->path;
		if (!event->param.req_rcvd.alternate_path)
			break;
		e->alternate = *event->param.req_rcvd.alternate_path;
		cm->param.req_rcvd.alternate_path = &e->alternate;
		break;
	case IB_CM_LAP_RECEIVED:
		e->path = *event->param.lap_rcvd.alternate_path;
		cm->param.lap_rcvd.alternate_path = &e->path;
		break;
	case IB_CM_REJ_RECEIVED:
		keep(e->info, sizeof(e->info), &cm->param.rej_rcvd.ari,
		     event->param.rej_rcvd.ari_length);
		break;
	case IB_CM_APR_RECEIVED:
		keep(e->info, sizeof(e->info), &cm->param.apr_rcvd.apr_info,
		     event->param.apr_rcvd.info_len);
		break;
	case IB_CM_SIDR_REP_RECEIVED:
		keep(e->info, sizeof(e->info), &cm->param.sidr_rep_rcvd.info,
		     event->param.sidr_rep_rcvd.info_len);
		break;
	default:
		break;
	}
}

/* For a listener, the id is the new one. */
static int handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct conn *c = id->context;
	struct conn_event *e;

	if (c->count == CONN_EVENTS_MAX) {
		tb_failf(c->tb, c->tb->here, "at most %d events of an id that nobody takes",
			 CONN_EVENTS_MAX);
		return -ENOSPC;
	}
	e = &c->events[(c->first + c->count++) % CONN_EVENTS_MAX];
	memset(e, 0, sizeof(*e));
	event_copy(e, event);
	e->id = id;
	e->time_ps = c->end->platform->ops->now_ps(c->end->platform);
	tb_poke(c->tb);
	return 0;
}

static struct conn *conn_alloc(struct tb *tb, const char *here, struct tb_end *end)
{
	struct conn *c = tb_go(tb, here) ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	c->tb = tb;
	c->end = end;
	return c;
}

struct conn *tb_conn_new(struct tb *tb, const char *here, struct tb_end *end)
{
	struct ib_device *device = tb_ib_device(tb, here, end);
	struct conn *c = conn_alloc(tb, here, end);

	if (!c)
		return NULL;
	c->id = ib_create_cm_id(device, handler, c);
	if (IS_ERR(c->id)) {
		tb_must(tb, here, "ib_create_cm_id", (int)PTR_ERR(c->id), 0);
		free(c);
		return NULL;
	}
	return c;
}

struct conn *tb_conn_listen(struct tb *tb, const char *here, struct tb_end *end, uint64_t service)
{
	struct conn *c = tb_conn_new(tb, here, end);

	if (c)
		tb_must(tb, here, "ib_cm_listen", ib_cm_listen(c->id, htobe64(service)), 0);
	return c;
}

void tb_conn_end(struct tb *tb, const char *here, struct conn *c)
{
	if (!c)
		return;
	if (tb_go(tb, here) && c->count)
		tb_fail(tb, here, "no event that nobody takes",
			ib_cm_event_name(c->events[c->first].cm.event));
	ib_destroy_cm_id(c->id);
	if (c->qp)
		ib_destroy_qp(c->qp);
	if (c->xrcd)
		ib_dealloc_xrcd(c->xrcd);
	if (c->cq)
		ib_destroy_cq(c->cq);
	if (c->pd)
		ib_dealloc_pd(c->pd);
	free(c);
}

/* --- queue pairs --- */

/* The first message of the peer arrived before its RTU: passes this on to the id. */
static void qp_event(struct ib_event *event, void *context)
{
	struct conn *c = context;

	if (event->event != IB_EVENT_COMM_EST)
		return;
	c->comm_est++;
	ib_cm_notify(c->id, IB_EVENT_COMM_EST);
}

static bool make_qp(struct tb *tb, const char *here, struct conn *c, enum ib_qp_type type)
{
	struct ib_device *device = tb_ib_device(tb, here, c->end);
	const struct ib_cq_init_attr cq = {.cqe = 2 * QUEUE};
	struct ib_qp_init_attr init = {.event_handler = qp_event,
				       .qp_context = c,
				       .cap = {.max_send_wr = QUEUE,
					       .max_recv_wr = QUEUE,
					       .max_send_sge = 1,
					       .max_recv_sge = 1},
				       .qp_type = type};

	if (c->qp)
		return true;
	c->pd = ib_alloc_pd(device, 0);
	c->cq = ib_create_cq(device, NULL, NULL, NULL, &cq);
	init.send_cq = init.recv_cq = c->cq;
	if (type == IB_QPT_XRC_TGT) {
		init.xrcd = ib_alloc_xrcd(device);
		if (!tb_must(tb, here, "ib_alloc_xrcd",
			     IS_ERR(init.xrcd) ? (int)PTR_ERR(init.xrcd) : 0, 0))
			return false;
		c->xrcd = init.xrcd;
	}
	c->qp = ib_create_qp(c->pd, &init);
	return tb_must(tb, here, "ib_create_qp", IS_ERR(c->qp) ? (int)PTR_ERR(c->qp) : 0, 0);
}

void tb_conn_move(struct tb *tb, const char *here, struct conn *c, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {.qp_state = state};
	int mask;

	if (!tb_go(tb, here) || !c ||
	    !tb_must(tb, here, "ib_cm_init_qp_attr", ib_cm_init_qp_attr(c->id, &attr, &mask), 0))
		return;
	/* before the REP, ib_cm_init_qp_attr() does not know the PSN that the REP will tell */
	attr.rq_psn = c->psn;
	tb_must(tb, here, "ib_modify_qp", ib_modify_qp(c->qp, &attr, (unsigned)mask), 0);
}

void tb_conn_recv(struct tb *tb, const char *here, struct conn *c)
{
	const struct drv_recv_wr wr = {.wr_id = 1};

	if (tb_go(tb, here) && c)
		tb_must(tb, here, "drv_post_recv", drv_post_recv(c->qp->drv, &wr, NULL), 0);
}

void tb_conn_send(struct tb *tb, const char *here, struct conn *c)
{
	const struct drv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct drv_wc wc;

	if (!tb_go(tb, here) || !c)
		return;
	if (tb_must(tb, here, "drv_post_send", drv_post_send(c->qp->drv, &wr, NULL), 0) &&
	    tb_must(tb, here, "drv_cq_wait", drv_cq_wait(c->cq->drv, tb_now(tb) + CFG_S(LIMIT_S)),
		    0) &&
	    drv_cq_poll(c->cq->drv, 1, &wc) == 1)
		tb_must(tb, here, "the completion", (int)wc.status, 0);
}

/* --- connecting --- */

void tb_conn_req_param(struct tb *tb, const char *here, struct conn *c, const struct conn_req *req,
		       struct ib_cm_req_param *p)
{
	if (!tb_go(tb, here) || !c || !make_qp(tb, here, c, req->type ? req->type : IB_QPT_RC))
		return;
	c->psn = CONN_PSN;
	*p = (struct ib_cm_req_param){
		.primary_path = req->path,
		.alternate_path = req->alternate,
		.service_id = htobe64(req->service),
		.qp_num = c->qp->qp_num,
		.qp_type = c->qp->qp_type,
		.starting_psn = CONN_PSN,
		.private_data = req->data,
		.private_data_len = req->data ? (uint8_t)strlen(req->data) : 0,
		.peer_to_peer = req->peer_to_peer,
		.flow_control = 1,
		.responder_resources = DEPTH,
		.initiator_depth = DEPTH - 1,
		.remote_cm_response_timeout = req->response_timeout,
		.local_cm_response_timeout = req->response_timeout,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.max_cm_retries = req->no_retries ? 0 : req->retries,
	};
}

void tb_conn_request(struct tb *tb, const char *here, struct conn *c, const struct conn_req *req)
{
	struct conn_req r = *req;
	struct sa_path_rec path;
	struct ib_cm_req_param p;

	if (!tb_go(tb, here) || !c)
		return;
	if (!r.path) {
		tb_ask_path(tb, here, c->end, &path);
		r.path = &path;
	}
	tb_conn_req_param(tb, here, c, &r, &p);
	if (tb_go(tb, here))
		tb_must(tb, here, "ib_send_cm_req", ib_send_cm_req(c->id, &p), req->result);
}

struct conn *tb_conn_accept(struct tb *tb, const char *here, struct conn *listener)
{
	struct conn *c;

	tb_expect_cm(tb, here, listener, IB_CM_REQ_RECEIVED);
	c = listener ? conn_alloc(tb, here, listener->end) : NULL;
	if (!c)
		return NULL;
	c->last = listener->last;
	c->psn = CONN_PSN - 1;
	c->id = listener->last.id;
	c->id->context = c;
	if (make_qp(tb, here, c, c->last.cm.param.req_rcvd.qp_type)) {
		tb_conn_move(tb, here, c, IB_QPS_INIT);
		tb_conn_move(tb, here, c, IB_QPS_RTR);
	}
	return c;
}

void tb_conn_reply(struct tb *tb, const char *here, struct conn *c)
{
	struct ib_cm_rep_param p;

	if (!tb_go(tb, here) || !c)
		return;
	p = (struct ib_cm_rep_param){.qp_num = c->qp->qp_num,
				     .starting_psn = c->psn,
				     .private_data = "reply",
				     .private_data_len = 5,
				     .responder_resources =
					     c->last.cm.param.req_rcvd.responder_resources,
				     .initiator_depth = c->last.cm.param.req_rcvd.initiator_depth,
				     .flow_control = 1,
				     .rnr_retry_count = 5};
	tb_must(tb, here, "ib_send_cm_rep", ib_send_cm_rep(c->id, &p), 0);
}

struct conn *tb_conn_establish(struct tb *tb, const char *here, struct conn *client,
			       struct conn *listener, const struct conn_req *req)
{
	struct conn *server;

	tb_conn_request(tb, here, client, req);
	server = tb_conn_accept(tb, here, listener);
	tb_conn_reply(tb, here, server);
	tb_expect_cm(tb, here, client, IB_CM_REP_RECEIVED);
	tb_conn_move(tb, here, client, IB_QPS_INIT);
	tb_conn_move(tb, here, client, IB_QPS_RTR);
	tb_conn_move(tb, here, client, IB_QPS_RTS);
	if (tb_go(tb, here))
		tb_must(tb, here, "ib_send_cm_rtu", ib_send_cm_rtu(client->id, NULL, 0), 0);
	tb_expect_cm(tb, here, server, IB_CM_RTU_RECEIVED);
	tb_conn_move(tb, here, server, IB_QPS_RTS);
	return server;
}

void tb_conn_disconnect(struct tb *tb, const char *here, struct conn *x, struct conn *y)
{
	if (!tb_go(tb, here) || !x || !y)
		return;
	tb_must(tb, here, "ib_send_cm_dreq", ib_send_cm_dreq(x->id, NULL, 0), 0);
	tb_expect_cm(tb, here, y, IB_CM_DREQ_RECEIVED);
	if (tb_go(tb, here))
		tb_must(tb, here, "ib_send_cm_drep", ib_send_cm_drep(y->id, NULL, 0), 0);
	tb_expect_cm(tb, here, x, IB_CM_DREP_RECEIVED);
	tb_expect_cm(tb, here, x, IB_CM_TIMEWAIT_EXIT);
	tb_expect_cm(tb, here, y, IB_CM_TIMEWAIT_EXIT);
}

/* --- events --- */

static bool has_event(struct tb *tb, void *arg)
{
	return ((struct conn *)arg)->count != 0;
}

void tb_expect_cm(struct tb *tb, const char *here, struct conn *c, enum ib_cm_event_type type)
{
	char expected[TEXT_CHARS];

	if (!tb_go(tb, here) || !c)
		return;
	snprintf(expected, sizeof(expected), "%s at %s", ib_cm_event_name(type), c->end->name);
	if (!tb_wait(tb, has_event, c, tb_now(tb) + CFG_S(LIMIT_S))) {
		tb_fail(tb, here, expected, "nothing comes");
		return;
	}
	c->last = c->events[c->first];
	/* c->last has its own copies: let its pointers point to them */
	event_copy(&c->last, &c->events[c->first].cm);
	c->first = (c->first + 1) % CONN_EVENTS_MAX;
	c->count--;
	if (c->last.cm.event != type)
		tb_fail(tb, here, expected, ib_cm_event_name(c->last.cm.event));
}

/* --- for processes --- */

int ip_listen(struct rdma_event_channel *channel, uint16_t port, int backlog,
	      struct rdma_cm_id **listener)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};

	return !channel || rdma_create_id(channel, listener, NULL, RDMA_PS_TCP) ||
	       rdma_bind_addr(*listener, (struct sockaddr *)&any) ||
	       rdma_listen(*listener, backlog);
}

int ip_resolve(struct rdma_event_channel *channel, const char *to, uint16_t port, void *context,
	       struct rdma_cm_id **id)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, to, &peer.sin_addr);
	return !channel || rdma_create_id(channel, id, context, RDMA_PS_TCP) ||
	       rdma_resolve_addr(*id, NULL, (struct sockaddr *)&peer, IP_TIMEOUT_MS);
}

int ip_make_qp(struct rdma_cm_id *id, struct ibv_cq **cq, int entries)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};

	if (!*cq)
		*cq = ibv_create_cq(id->verbs, entries, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = *cq;
	return *cq ? rdma_create_qp(id, NULL, &attr) : -1;
}

int ip_next(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted,
	    struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int status;

	if (rdma_get_cm_event(channel, &event))
		return IP_OTHER_EVENT;
	status = event->event == wanted ? event->status : IP_OTHER_EVENT;
	if (wanted == RDMA_CM_EVENT_CONNECT_REQUEST)
		*id = event->id;
	rdma_ack_cm_event(event);
	return status;
}

int ip_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		process_sleep_us(1);
	return n != 1 || wc.status;
}
