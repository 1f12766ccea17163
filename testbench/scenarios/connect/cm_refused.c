/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call of connection management, with right arguments, in each state that a connection and a
 * question for a queue pair pass through. Where the state does not allow it, it gives -EINVAL,
 * sends nothing and changes no state: the connection under which the calls are made is established
 * and ends as always.
 */
/* behaviours: IBA-12.9-active IBA-12.9-passive */
#include "testbench/connect.h"

enum { SERVICE = 7, CODE = 14, NO_QPN = 1 << 24 };

static unsigned sent(struct tb *tb, struct tb_end *end)
{
	struct ib_cm_counters counters = {0};
	unsigned n = 0;

	must(ib_cm_query_counters(ib_device_of(end), &counters));
	for (unsigned i = 0; i < sizeof(counters.tx_msgs) / sizeof(counters.tx_msgs[0]); i++)
		n += (unsigned)counters.tx_msgs[i];
	return n;
}

enum call { REQ, REP, RTU, DREQ, DREP, REJ, MRA, LAP, APR, SIDR_REQ, SIDR_REP, LISTEN, CALLS };

static const char *const call_names[CALLS] = {"REQ",  "REP",      "RTU",      "DREQ",
					      "DREP", "REJ",      "MRA",      "LAP",
					      "APR",  "SIDR_REQ", "SIDR_REP", "listen"};

/* Makes the call with right arguments. */
static int make_call(struct ib_cm_id *id, enum call call, const struct ib_cm_req_param *req)
{
	const struct ib_cm_rep_param rep = {.qp_num = req->qp_num};
	const struct ib_cm_sidr_rep_param found = {.status = IB_SIDR_REJECT};
	const struct ib_cm_sidr_req_param sidr = {
		.path = req->primary_path, .service_id = req->service_id, .timeout_ms = 1};

	switch (call) {
	case REQ:
		return ib_send_cm_req(id, req);
	case REP:
		return ib_send_cm_rep(id, &rep);
	case RTU:
		return ib_send_cm_rtu(id, NULL, 0);
	case DREQ:
		return ib_send_cm_dreq(id, NULL, 0);
	case DREP:
		return ib_send_cm_drep(id, NULL, 0);
	case REJ:
		return ib_send_cm_rej(id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
	case MRA:
		return ib_send_cm_mra(id, CODE, NULL, 0);
	case LAP:
		return ib_send_cm_lap(id, req->primary_path, NULL, 0);
	case APR:
		return ib_send_cm_apr(id, IB_CM_APR_REJECT, NULL, 0, NULL, 0);
	case SIDR_REQ:
		return ib_send_cm_sidr_req(id, &sidr);
	case SIDR_REP:
		return ib_send_cm_sidr_rep(id, &found);
	default:
		return ib_cm_listen(id, htobe64(SERVICE + 1));
	}
}

#define MAY(call) (1u << (call))

/* All calls but those that the state allows. */
static void refused_but(struct tb *tb, struct conn *c, unsigned allowed,
			const struct ib_cm_req_param *req)
{
	const enum ib_cm_state state = c->id->state;
	const unsigned before = sent(tb, c->end);

	for (unsigned call = 0; call < CALLS && still_right(); call++) {
		if (allowed & MAY(call))
			continue;
		name_row("%s in %s", call_names[call], ib_cm_state_name(state));
		expect_equal(make_call(c->id, (enum call)call, req), -EINVAL);
		expect_state(c, state);
	}
	expect_equal(sent(tb, c->end), before);
}

static void attributes(struct tb *tb, struct conn *c, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {.qp_state = state};
	int mask;

	must_fail(-EINVAL, ib_cm_init_qp_attr(c->id, &attr, &mask));
}

static void states(struct tb *tb, struct conn *client, struct conn *listener,
		   const struct ib_cm_req_param *req)
{
	struct conn *server;

	phase("states");
	refused_but(tb, client, MAY(REQ) | MAY(SIDR_REQ) | MAY(LISTEN), req);
	refused_but(tb, listener, 0, req);
	attributes(tb, client, IB_QPS_INIT);
	must(ib_send_cm_req(client->id, req));
	refused_but(tb, client, MAY(REJ), req);
	attributes(tb, client, IB_QPS_RTR);
	attributes(tb, client, IB_QPS_RTS);
	attributes(tb, client, IB_QPS_SQD);
	server = conn_accept(listener);
	if (!still_right())
		return;
	refused_but(tb, server, MAY(REP) | MAY(REJ) | MAY(MRA), req);
	conn_reply(server);
	refused_but(tb, server, MAY(REJ), req);
	expect_cm(client, IB_CM_REP_RECEIVED);
	refused_but(tb, client, MAY(RTU) | MAY(REJ) | MAY(MRA), req);
	must_fail(-EINVAL, ib_send_cm_rtu(client->id, NULL, 1));
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	refused_but(tb, client, MAY(DREQ) | MAY(LAP), req);
	must_fail(-EINVAL, ib_send_cm_lap(client->id, NULL, NULL, 0));
	must_fail(-EINVAL, ib_send_cm_dreq(client->id, NULL, 1));
	must(ib_send_cm_dreq(client->id, NULL, 0));
	refused_but(tb, client, 0, req);
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	refused_but(tb, server, MAY(DREP), req);
	must_fail(-EINVAL, ib_send_cm_drep(server->id, NULL, 1));
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	refused_but(tb, client, 0, req);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);
}

static void datagrams(struct tb *tb, struct conn *asks, struct conn *listener,
		      const struct ib_cm_req_param *req)
{
	struct ib_cm_sidr_req_param right = {.path = req->primary_path,
					     .service_id = htobe64(SERVICE),
					     .timeout_ms = 1000},
				    often = right, nowhere = right, empty = right;
	const struct ib_cm_sidr_rep_param qpn = {.qp_num = NO_QPN}, status = {.status = 6},
					  none = {.private_data_len = 1}, info = {.info_length = 1},
					  found = {.status = IB_SIDR_REJECT};

	phase("datagrams");
	often.max_cm_retries = 16;
	nowhere.path = NULL;
	empty.private_data_len = 1;
	must_fail(-EINVAL, ib_send_cm_sidr_req(asks->id, &often));
	must_fail(-EINVAL, ib_send_cm_sidr_req(asks->id, &nowhere));
	must_fail(-EINVAL, ib_send_cm_sidr_req(asks->id, &empty));
	must(ib_send_cm_sidr_req(asks->id, &right));
	refused_but(tb, asks, 0, req);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	must_fail(-EINVAL, ib_send_cm_sidr_rep(listener->last.id, &qpn));
	must_fail(-EINVAL, ib_send_cm_sidr_rep(listener->last.id, &status));
	must_fail(-EINVAL, ib_send_cm_sidr_rep(listener->last.id, &none));
	must_fail(-EINVAL, ib_send_cm_sidr_rep(listener->last.id, &info));
	expect_equal(listener->last.id->state, IB_CM_SIDR_REQ_RCVD);
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	must_fail(-EINVAL, ib_send_cm_sidr_rep(listener->last.id, &found));
	ib_destroy_cm_id(listener->last.id);
	expect_cm(asks, IB_CM_SIDR_REP_RECEIVED);
}

SCENARIO(cm_refused, "calls of connection management in states that do not allow them",
	 .no_qps = true, .any_packets = true)
{
	struct conn *listener, *client;
	struct ib_cm_req_param req;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	conn_req_param(client, &req, .service = SERVICE, .path = &path);
	if (!still_right())
		return;
	states(tb, client, listener, &req);
	datagrams(tb, client, listener, &req);
	conn_end(client);
	conn_end(listener);
}
