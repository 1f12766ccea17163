/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rdma_connect and rdma_accept are given, and what becomes of it at both ends: READs and atomics that
 * each side serves and has under way, retries, SRQs and flow control, with values that differ in all
 * four places. The events say what the other side has given, from the listener's point of view, and the
 * queue pairs have it. What is left to the library is as much as the other side allows.
 */
/* behaviours: IBA-12.9-qp-attributes IBA-A11-ip-cm-service */
#include "testbench/connect.h"

enum { PORT = 6, ALL = RDMA_MAX_RESP_RES, LIMIT = 16 };

/* What a program gives. */
struct given {
	uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count;
	bool srq;
	uint8_t ack_timeout; /* 0: not given */
};

/* What its event says. */
struct heard {
	uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count,
		srq;
	uint32_t qp_num;
	char data[4];
};

struct side {
	const struct given *given;
	const char *says;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct heard heard;
	struct ibv_qp_attr attr; /* as its queue pair has them */
};

static int make_qp(struct side *s)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	const uint8_t timeout = s->given->ack_timeout;

	s->pd = ibv_alloc_pd(s->id->verbs);
	s->cq = ibv_create_cq(s->id->verbs, 4, NULL, NULL, 0);
	s->srq = s->given->srq ? ibv_create_srq(s->pd, &srq) : NULL;
	attr.send_cq = attr.recv_cq = s->cq;
	attr.srq = s->srq;
	if (!s->pd || !s->cq || (s->given->srq && !s->srq))
		return __LINE__;
	if (timeout && rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
				       (void *)&timeout, sizeof(timeout)))
		return __LINE__;
	return rdma_create_qp(s->id, s->pd, &attr) ? __LINE__ : 0;
}

static struct rdma_conn_param param_of(const struct side *s)
{
	return (struct rdma_conn_param){.private_data = s->says,
					.private_data_len = sizeof(s->heard.data),
					.responder_resources = s->given->responder_resources,
					.initiator_depth = s->given->initiator_depth,
					.flow_control = s->given->flow_control,
					.retry_count = s->given->retry_count,
					.rnr_retry_count = s->given->rnr_retry_count,
					/* the library knows better */
					.srq = !s->given->srq,
					.qp_num = 1};
}

static int hears(struct side *s, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;
	const struct rdma_conn_param *p;

	if (rdma_get_cm_event(s->channel, &event))
		return __LINE__;
	p = &event->param.conn;
	if (event->event != wanted || event->status)
		return __LINE__;
	s->heard = (struct heard){.responder_resources = p->responder_resources,
				  .initiator_depth = p->initiator_depth,
				  .flow_control = p->flow_control,
				  .retry_count = p->retry_count,
				  .rnr_retry_count = p->rnr_retry_count,
				  .srq = p->srq,
				  .qp_num = p->qp_num};
	if (p->private_data)
		memcpy(s->heard.data, p->private_data, sizeof(s->heard.data));
	if (wanted == RDMA_CM_EVENT_CONNECT_REQUEST)
		s->id = event->id;
	return rdma_ack_cm_event(event) ? __LINE__ : 0;
}

static int looks(struct side *s)
{
	struct ibv_qp_init_attr init;

	return ibv_query_qp(s->id->qp, &s->attr, ~0, &init) ? __LINE__ : 0;
}

static int leaves(struct side *s)
{
	rdma_destroy_qp(s->id);
	return rdma_destroy_id(s->id) || (s->srq && ibv_destroy_srq(s->srq)) ||
			       ibv_destroy_cq(s->cq) || ibv_dealloc_pd(s->pd)
		       ? __LINE__
		       : 0;
}

/* --- the steps of the server --- */

static int listens(void *arg)
{
	struct side *s = arg;

	s->channel = rdma_create_event_channel();
	return ip_listen(s->channel, PORT, 2, &s->listener) ? __LINE__ : 0;
}

static int is_asked(void *arg)
{
	return hears(arg, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static int accepts(void *arg)
{
	struct side *s = arg;
	struct rdma_conn_param p = param_of(s);
	const int rc = make_qp(s);

	if (rc)
		return rc;
	return rdma_accept(s->id, &p) ? __LINE__ : looks(s);
}

static int accepts_as_asked(void *arg)
{
	struct side *s = arg;
	const int rc = make_qp(s);

	if (rc)
		return rc;
	return rdma_accept(s->id, NULL) ? __LINE__ : looks(s);
}

static int is_connected(void *arg)
{
	return hears(arg, RDMA_CM_EVENT_ESTABLISHED);
}

static int ends(void *arg)
{
	struct side *s = arg;

	return ip_next(s->channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(s->id)
		       ? __LINE__
		       : leaves(s);
}

static int stops(void *arg)
{
	struct side *s = arg;

	if (rdma_destroy_id(s->listener))
		return __LINE__;
	rdma_destroy_event_channel(s->channel);
	return 0;
}

/* --- the steps of the client --- */

static int connects(void *arg)
{
	struct side *s = arg;
	struct rdma_conn_param p = param_of(s);
	int rc;

	s->channel = rdma_create_event_channel();
	if (ip_resolve(s->channel, IP_B, PORT, NULL, &s->id) ||
	    ip_next(s->channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	    ip_next(s->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	rc = make_qp(s);
	if (rc)
		return rc;
	return rdma_connect(s->id, &p) ? __LINE__ : 0;
}

static int is_accepted(void *arg)
{
	const int rc = hears(arg, RDMA_CM_EVENT_ESTABLISHED);

	return rc ? rc : looks(arg);
}

static int disconnects(void *arg)
{
	return rdma_disconnect(((struct side *)arg)->id) ? __LINE__ : 0;
}

static int is_disconnected(void *arg)
{
	struct side *s = arg;
	int rc;

	if (ip_next(s->channel, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return __LINE__;
	rc = leaves(s);
	rdma_destroy_event_channel(s->channel);
	return rc;
}

/* --- the body --- */

/* What a queue pair serves and may have under way. A device may say 1 for none. */
static void has_resources(struct tb *tb, const struct side *s, unsigned served, unsigned under_way)
{
	const unsigned atomics = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		       access = (unsigned)s->attr.qp_access_flags &
				(atomics | IBV_ACCESS_REMOTE_WRITE);

	expect_that(s->attr.max_rd_atomic, >=, under_way);
	expect_that(s->attr.max_rd_atomic, <=, under_way ? under_way : 1);
	expect_that(s->attr.max_dest_rd_atomic, >=, served);
	expect_that(s->attr.max_dest_rd_atomic, <=, served ? served : 1);
	expect_equal(access, (unsigned)IBV_ACCESS_REMOTE_WRITE | (served ? atomics : 0));
}

/* What one side said, as the other one heard it in the event. */
static void is_heard(struct tb *tb, const struct side *by, const struct given *from,
		     unsigned responder_resources, unsigned initiator_depth, const char *data)
{
	const struct heard *h = &by->heard;

	expect_equal(h->responder_resources, initiator_depth);
	expect_equal(h->initiator_depth, responder_resources);
	expect_equal(h->flow_control, from->flow_control);
	expect_equal(h->rnr_retry_count, from->rnr_retry_count > 7 ? 7 : from->rnr_retry_count);
	expect_equal(h->srq, from->srq);
	expect_true(!memcmp(h->data, data, strlen(data) + 1));
}

static void request_heard(struct tb *tb, const struct side *server, const struct given *client,
			  unsigned responder_resources, unsigned initiator_depth)
{
	is_heard(tb, server, client, responder_resources, initiator_depth, "ask");
	expect_equal(server->heard.retry_count, client->retry_count > 7 ? 7 : client->retry_count);
}

static void answer_heard(struct tb *tb, const struct side *client, const struct given *server,
			 unsigned responder_resources, unsigned initiator_depth)
{
	is_heard(tb, client, server, responder_resources, initiator_depth, "yes");
}

SCENARIO(rdma_resources, "READs, atomics and retries that differ at both ends of a connection",
	 .no_qps = true, .any_packets = true)
{
	/* of the server's side: what it serves and has under way, then the client's */
	static const struct {
		const char *name;
		struct given client, server;
		bool as_asked;
		uint8_t asked_served, asked_depth, served, depth;
	} rows[] = {
		{"less than was asked for",
		 {4, 8, 1, 5, 3, true, 0},
		 {2, 1, 0, 0, 6, false, 19},
		 false,
		 4,
		 8,
		 2,
		 1},
		{"the client serves nothing",
		 {0, 4, 0, 9, 0, false, 18},
		 {4, 0, 1, 0, 1, true, 0},
		 false,
		 0,
		 4,
		 4,
		 0},
		{"the server serves nothing",
		 {8, 0, 1, 0, 200, true, 20},
		 {0, 8, 0, 0, 9, true, 21},
		 false,
		 8,
		 0,
		 0,
		 8},
		{"the server asks for nothing",
		 {4, 8, 1, 5, 3, false, 0},
		 {2, 0, 0, 0, 6, true, 0},
		 false,
		 4,
		 8,
		 2,
		 0},
		{"as was asked for", {2, 4, 0, 7, 2, false, 0}, {0}, true, 2, 4, 4, 2},
		{"its own limits, and what was asked for",
		 {ALL, 4, 1, 6, 5, false, 0},
		 {ALL, 2, 1, 0, 0, false, 0},
		 false,
		 LIMIT,
		 4,
		 4,
		 2},
		{"the other way round",
		 {8, ALL, 1, 6, 5, false, 0},
		 {1, ALL, 1, 0, 0, false, 0},
		 false,
		 8,
		 LIMIT,
		 1,
		 8},
	};
	struct side server = {.says = "yes"}, client = {.says = "ask"};
	struct process *x, *y;

	start_cm();
	x = start_worker(a);
	y = start_worker(b);
	run_in(y, listens, &server);
	for_each_row(i, rows) {
		const struct given *c = &rows[i].client, *s = &rows[i].server;

		name_row("%s", rows[i].name);
		client.given = c;
		server.given = s;
		run_in(x, connects, &client);
		run_in(y, is_asked, &server);
		request_heard(tb, &server, c, rows[i].asked_served, rows[i].asked_depth);
		if (rows[i].as_asked)
			run_in(y, accepts_as_asked, &server);
		else
			run_in(y, accepts, &server);
		has_resources(tb, &server, rows[i].served, rows[i].depth);
		expect_equal(server.attr.qp_state, IBV_QPS_RTS);
		expect_equal(server.attr.dest_qp_num, server.heard.qp_num);
		expect_equal(server.attr.retry_cnt, c->retry_count > 7 ? 7 : c->retry_count);
		expect_equal(server.attr.rnr_retry,
			     c->rnr_retry_count > 7 ? 7 : c->rnr_retry_count);
		if (s->ack_timeout)
			expect_equal(server.attr.timeout, s->ack_timeout);
		run_in(x, is_accepted, &client);
		has_resources(tb, &client, rows[i].depth, rows[i].served);
		expect_equal(client.attr.qp_state, IBV_QPS_RTS);
		expect_equal(client.attr.dest_qp_num, client.heard.qp_num);
		expect_equal(client.attr.retry_cnt, c->retry_count > 7 ? 7 : c->retry_count);
		if (rows[i].as_asked)
			expect_equal(client.attr.rnr_retry, 7);
		else
			expect_equal(client.attr.rnr_retry,
				     s->rnr_retry_count > 7 ? 7 : s->rnr_retry_count);
		if (c->ack_timeout)
			expect_equal(client.attr.timeout, c->ack_timeout);
		if (!rows[i].as_asked)
			answer_heard(tb, &client, s, rows[i].served, rows[i].depth);
		/* each sends what the other expects first */
		expect_equal(client.attr.sq_psn, server.attr.rq_psn);
		expect_equal(client.attr.rq_psn, server.attr.sq_psn);
		run_in(y, is_connected, &server);
		run_in(x, disconnects, &client);
		run_in(y, ends, &server);
		run_in(x, is_disconnected, &client);
	}
	run_in(y, stops, &server);
	end_worker(x);
	end_worker(y);
}
