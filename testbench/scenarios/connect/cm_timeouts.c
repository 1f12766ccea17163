/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody answers. A REQ is repeated max_cm_retries times; then its id goes to idle and a REJ with
 * reason "timeout" goes to the peer. An MRA makes the waits longer. A REP without RTU ends in the
 * same way. A DREQ without DREP ends in TIMEWAIT, and so does the peer's connection when its own
 * DREQ gets no DREP. Who has got the other's DREQ waits for nothing any more. An id may go with the handler that
 * is told of it, while others still wait.
 */
/* behaviours: IBA-12.9-retries IBA-12.9-mra IBA-12.6.7-reject-timeout */
#include "testbench/connect.h"
#include "testbench/kernel_verbs.h"

enum {
	SERVICE = 7,
	ASKERS = 3,
	WAIT_MS = 5,
	CODE = 14,
	RETRIES = 2,
	MRA_CODE = 19,
	LIFE = 10,
	SLOW_LIFE = 17,
	SLOW_CODE = 18
};

#define UNIT_PS UINT64_C(4096000)

/* Nobody answers either of two ids. The second one is given up first, long before the first one. Then the
 * time-wait of the second connection is over before that of the first one. */
static void two_wait(struct tb *tb, struct tb_end *a, const struct sa_path_rec *path)
{
	const uint64_t short_ps = (UNIT_PS << CODE) + 2 * (UNIT_PS << LIFE);
	struct conn *slow = conn_new(a), *fast = conn_new(a), *listener, *peers[2];
	struct sa_path_rec slow_path = *path, fast_path = *path;
	struct ib_cm_counters counters = {0};
	uint64_t sent = tb_now(tb);

	phase("two wait, and the second one not so long");
	slow_path.packet_life_time = SLOW_LIFE;
	fast_path.packet_life_time = LIFE;
	lose_mad(a_to_b, .times = 2);
	conn_request(slow, .service = SERVICE, .path = &slow_path, .response_timeout = SLOW_CODE,
		     .no_retries = true);
	conn_request(fast, .service = SERVICE, .path = &fast_path, .response_timeout = CODE,
		     .no_retries = true);
	expect_cm(fast, IB_CM_REQ_ERROR);
	if (!still_right())
		return;
	expect_that(fast->last.time_ps, >=, sent + short_ps);
	expect_that(fast->last.time_ps, <, sent + short_ps + CFG_MS(1));
	expect_cm(slow, IB_CM_REQ_ERROR);
	expect_that(slow->last.time_ps, >, sent + (UNIT_PS << SLOW_CODE));
	conn_end(slow);
	conn_end(fast);

	listener = conn_listen(a->peer, SERVICE);
	slow = conn_new(a);
	fast = conn_new(a);
	peers[0] = conn_establish(slow, listener, .service = SERVICE, .path = &slow_path);
	peers[1] = conn_establish(fast, listener, .service = SERVICE, .path = &fast_path);
	/* who has listened for them is not needed any more, and nothing waits yet */
	conn_end(listener);
	must(ib_cm_query_counters(ib_device_of(a), &counters));
	expect_equal(counters.ids, 2);
	expect_equal(counters.timewaits, 0);
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		struct conn *c = i ? fast : slow;

		must(ib_send_cm_dreq(c->id, NULL, 0));
		expect_cm(peers[i], IB_CM_DREQ_RECEIVED);
		if (still_right())
			must(ib_send_cm_drep(peers[i]->id, NULL, 0));
		expect_cm(c, IB_CM_DREP_RECEIVED);
	}
	must(ib_cm_query_counters(ib_device_of(a), &counters));
	expect_equal(counters.timewaits, 2);
	expect_cm(fast, IB_CM_TIMEWAIT_EXIT);
	if (!still_right())
		return;
	must(ib_cm_query_counters(ib_device_of(a), &counters));
	expect_equal(counters.timewaits, 1);
	expect_state(slow, IB_CM_TIMEWAIT);
	expect_equal(slow->count, 0);
	expect_cm(slow, IB_CM_TIMEWAIT_EXIT);
	expect_that(slow->last.time_ps, >, fast->last.time_ps + (UNIT_PS << SLOW_LIFE));
	for (unsigned i = 0; i < 2; i++) {
		expect_cm(peers[i], IB_CM_TIMEWAIT_EXIT);
		conn_end(peers[i]);
	}
	conn_end(slow);
	conn_end(fast);
}

static int leaves(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	unsigned *told = id->context;

	*told += event->event == IB_CM_SIDR_REQ_ERROR;
	return -ECONNREFUSED; /* and so the id is destroyed */
}

/* Each of them is gone when its handler has returned, and the others are told in their turn. */
static void ids_leave(struct tb *tb, struct tb_end *a, const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_req_param ask = {
		.path = path, .service_id = htobe64(SERVICE), .timeout_ms = WAIT_MS};
	struct ib_cm_counters counters = {0};
	unsigned told = 0;

	phase("ids go with their handlers");
	lose_mad(a_to_b, .times = ASKERS);
	for (unsigned i = 0; i < ASKERS && still_right(); i++) {
		struct ib_cm_id *id = kv_made(ib_create_cm_id(ib_device_of(a), leaves, &told));

		if (id)
			must(ib_send_cm_sidr_req(id, &ask));
	}
	pass_time(CFG_MS(2 * WAIT_MS));
	expect_equal(told, ASKERS);
	must(ib_cm_query_counters(ib_device_of(a), &counters));
	expect_equal(counters.ids, 0);
}

SCENARIO(cm_timeouts, "REQ, REP and DREQ that nobody answers", .no_qps = true, .any_packets = true)
{
	const uint64_t turn_ps = 2 * (UNIT_PS << 12), response_ps = (UNIT_PS << CODE) + turn_ps;
	struct conn *listener, *client, *server;
	struct sa_path_rec path;
	uint64_t sent;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);

	phase("a REQ is never answered");
	conn_request(client, .service = SERVICE, .path = &path, .response_timeout = CODE,
		     .retries = RETRIES);
	sent = tb_now(tb);
	server = conn_accept(listener);
	expect_cm(client, IB_CM_REQ_ERROR);
	if (!still_right())
		return;
	expect_equal(client->last.cm.param.send_status, IBV_WC_RESP_TIMEOUT_ERR);
	expect_that(client->last.time_ps, >, sent + (RETRIES + 1) * response_ps - CFG_US(100));
	expect_that(client->last.time_ps, <, sent + (RETRIES + 1) * response_ps + CFG_MS(1));
	expect_state(client, IB_CM_IDLE);
	expect_cm(server, IB_CM_REJ_RECEIVED);
	expect_equal(server->last.cm.param.rej_rcvd.reason, IB_CM_REJ_TIMEOUT);
	expect_equal(server->last.cm.param.rej_rcvd.ari_length, 8);
	expect_state(server, IB_CM_IDLE);
	conn_end(server);

	phase("an MRA asks for time");
	conn_request(client, .service = SERVICE, .path = &path, .response_timeout = CODE,
		     .no_retries = true);
	server = conn_accept(listener);
	if (!still_right())
		return;
	must(ib_send_cm_mra(server->id, MRA_CODE, NULL, 0));
	expect_cm(client, IB_CM_MRA_RECEIVED);
	sent = client->last.time_ps;
	expect_cm(client, IB_CM_REQ_ERROR);
	expect_that(client->last.time_ps, >=, sent + (UNIT_PS << MRA_CODE) + turn_ps);
	expect_cm(server, IB_CM_REJ_RECEIVED);
	conn_end(server);

	phase("a REP is never answered");
	conn_request(client, .service = SERVICE, .path = &path, .response_timeout = CODE,
		     .no_retries = true);
	server = conn_accept(listener);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	expect_cm(server, IB_CM_REP_ERROR);
	expect_state(server, IB_CM_IDLE);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	if (!still_right())
		return;
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_TIMEOUT);
	expect_state(client, IB_CM_IDLE);
	conn_end(server);
	conn_end(client);

	phase("a DREQ is never answered");
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path,
				.response_timeout = CODE, .no_retries = true);
	lose_mad(a_to_b);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	expect_cm(client, IB_CM_DREQ_ERROR);
	expect_state(client, IB_CM_TIMEWAIT);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	conn_end(client);
	expect_state(server, IB_CM_ESTABLISHED);
	must(ib_send_cm_dreq(server->id, NULL, 0));
	expect_cm(server, IB_CM_DREP_RECEIVED); /* of an id that is gone */
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);

	phase("both send a DREQ, and neither waits any longer");
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path,
				.response_timeout = CODE, .no_retries = true);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	must(ib_send_cm_dreq(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREQ_RECEIVED);
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	pass_time(2 * response_ps);
	expect_state(client, IB_CM_DREQ_RCVD);
	expect_state(server, IB_CM_DREQ_RCVD);
	must(ib_send_cm_drep(client->id, NULL, 0));
	expect_cm(server, IB_CM_DREP_RECEIVED);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
	two_wait(tb, a, &path);
	ids_leave(tb, a, &path);
}
