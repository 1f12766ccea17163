/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks where connection management sends and where messages come, at each place in turn. A call
 * says -ENOMEM, has sent nothing, and works the next time. A REQ without memory for its connection is
 * rejected for lack of resources, a question for a datagram service is told that there is no queue pair;
 * nothing of either is left. A message without memory for itself is lost, and comes again.
 */
/* behaviours: FAULT-no-memory IBA-12.6.7-reject-reasons IBA-12.11-sidr */
#include "testbench/connect.h"
#include "host_driver/sm/sa.h"
#include "testbench/harm.h"

enum { SERVICE = 7, PORT = 1, TIMEOUT_MS = 10, NTH_MAX = 20, CODE = 12 /* 17 ms */ };

/* Of the allocations after a REQ has left, the first one is for the message, and these are for what it
 * asks for. */
enum { FOR_ID = 2, FOR_RECORD = 3 };

static void counters(struct tb *tb, struct tb_end *end, struct ib_cm_counters *c)
{
	*c = (struct ib_cm_counters){0};
	must(ib_cm_query_counters(ib_device_of(end), c));
}

static void none_came(int status, struct sa_path_rec *path, unsigned n, void *arg)
{
	++*(unsigned *)arg;
}

static void sends(struct tb *tb, struct tb_end *a, struct conn *client, struct conn *listener,
		  const struct sa_path_rec *path)
{
	struct ib_sa_client sa = {0};
	struct ib_sa_query *query = NULL;
	struct ib_cm_counters before, after;
	struct ib_cm_req_param req;
	struct sm_sa *second = NULL;
	unsigned came = 0;

	phase("calls");
	conn_req_param(client, &req, .service = SERVICE, .path = path, .response_timeout = CODE);
	if (!still_right())
		return;
	counters(tb, a, &before);
	for (unsigned i = 0; i < 2; i++) {
		lack_memory(1);
		must_fail(-ENOMEM, ib_send_cm_req(client->id, &req));
		expect_true(lack_memory(0));
		expect_state(client, IB_CM_IDLE);
	}
	pass_time(CFG_MS(1));
	counters(tb, a, &after);
	expect_equal(after.tx_msgs[IB_CM_MSG_REQ], before.tx_msgs[IB_CM_MSG_REQ]);
	expect_equal(listener->count, 0);
	must(ib_send_cm_req(client->id, &req));
	expect_cm(listener, IB_CM_REQ_RECEIVED);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener->last.id);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_CONSUMER_DEFINED);
	if (a->ethernet)
		return;
	ib_sa_register_client(&sa);
	for (unsigned i = 0; i < 2; i++) {
		lack_memory(i ? 0 : 1);
		expect_that(ib_sa_path_rec_get(&sa, ib_device_of(a), PORT, path,
					       IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID,
					       TIMEOUT_MS, GFP_KERNEL, none_came, &came, &query),
			    ==, i ? 2 : -ENOMEM);
		expect_equal(lack_memory(0), !i);
		expect_equal(!query, !i);
		pass_time(CFG_MS(1));
		expect_equal(came, i);
		expect_equal(sa.queries, 0);
	}
	ib_sa_unregister_client(&sa);
	lack_memory(1);
	must_fail(-ENOMEM, sm_sa_start(a->peer->dev, PORT, 0, &second));
	expect_true(lack_memory(0));
	must(sm_sa_start(a->peer->dev, PORT, 0, &second));
	if (second)
		sm_sa_stop(second);
}

static void connections(struct tb *tb, struct tb_end *b, struct conn *listener,
			const struct sa_path_rec *path)
{
	struct ib_cm_counters before, after;
	struct conn *client, *server;
	bool came = true;

	phase("connections");
	counters(tb, b, &before);
	for (unsigned nth = 1; came && still_right(); nth++) {
		name_row("allocation %u", nth);
		client = conn_new(b->peer);
		lack_memory_elsewhere(nth);
		if (nth == FOR_ID || nth == FOR_RECORD) {
			conn_request(client, .service = SERVICE, .path = path,
				     .response_timeout = CODE);
			/* long before it comes again */
			pass_time(CFG_US(100));
			expect_equal(client ? client->count : 0, 1);
			counters(tb, b, &after);
			expect_equal(after.ids, before.ids);
			expect_cm(client, IB_CM_REJ_RECEIVED);
			expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_NO_RESOURCES);
			expect_state(client, IB_CM_IDLE);
		} else {
			server = conn_establish(client, listener, .service = SERVICE, .path = path,
						.response_timeout = CODE);
			conn_disconnect(client, server);
			conn_end(server);
		}
		came = lack_memory_elsewhere(0);
		conn_end(client);
		expect_equal(listener->count, 0);
		counters(tb, b, &after);
		expect_equal(after.ids, before.ids);
		expect_equal(after.timewaits, before.timewaits);
		expect_that(nth, <, NTH_MAX);
	}
}

static void questions(struct tb *tb, struct tb_end *b, struct conn *client, struct conn *listener,
		      const struct sa_path_rec *path)
{
	static const enum ib_cm_sidr_status answers[] = {IB_SIDR_REJECT, IB_SIDR_NO_QP,
							 IB_SIDR_REJECT};
	const struct ib_cm_sidr_req_param ask = {.path = path,
						 .service_id = htobe64(SERVICE),
						 .timeout_ms = TIMEOUT_MS,
						 .max_cm_retries = 1};
	struct ib_cm_counters before, after;

	phase("questions");
	counters(tb, b, &before);
	for_each_row(i, answers) {
		name_row("allocation %u", (unsigned)i + 1);
		if (!still_right())
			return;
		lack_memory_elsewhere(i < 2 ? i + 1 : 0);
		must(ib_send_cm_sidr_req(client->id, &ask));
		if (answers[i] != IB_SIDR_NO_QP) {
			expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
			if (still_right())
				ib_destroy_cm_id(listener->last.id);
		}
		expect_cm(client, IB_CM_SIDR_REP_RECEIVED);
		expect_equal(client->last.cm.param.sidr_rep_rcvd.status, answers[i]);
		expect_equal(lack_memory_elsewhere(0), i < 2);
		counters(tb, b, &after);
		expect_equal(after.ids, before.ids);
		expect_equal(listener->count, 0);
	}
}

SCENARIO(cm_lacks_memory, "connection management finds no memory at each place in turn",
	 .no_qps = true, .any_packets = true)
{
	struct conn *listener, *client;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	if (!still_right())
		return;
	path.packet_life_time = CODE - 2;
	/* what the ports say of themselves is known then */
	conn_request(client, .service = SERVICE + 1, .path = &path);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	sends(tb, a, client, listener, &path);
	connections(tb, b, listener, &path);
	questions(tb, b, client, listener, &path);
	name_row("%s", "");
	conn_end(client);
	conn_end(listener);
}
