/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTU is lost, and the client's first message arrives before the RTU is sent again. The event
 * "communication established" of the queue pair establishes the connection. The RTU that arrives
 * later has no effect. The server does not repeat its REP meanwhile. Two servers at once hear of it, too.
 */
/* behaviours: IBA-12.9-communication-established */
#include "testbench/connect.h"

#include <errno.h>

enum { SERVICE = 7, RTU_LATE_S = 3, TWO = 2 };

/* Each of two connections is told of, though both have heard of their peer when the thread looks. */
static void two_at_once(struct tb *tb, struct tb_end *a, struct conn *listener,
			const struct sa_path_rec *path)
{
	struct conn *clients[TWO] = {NULL}, *servers[TWO] = {NULL};

	for (unsigned i = 0; i < TWO; i++) {
		clients[i] = conn_new(a);
		conn_request(clients[i], .service = SERVICE, .path = path);
		servers[i] = conn_accept(listener);
		conn_reply(servers[i]);
		expect_cm(clients[i], IB_CM_REP_RECEIVED);
	}
	for (unsigned i = 0; i < TWO && still_right(); i++)
		must(ib_cm_notify(servers[i]->id, IB_EVENT_COMM_EST));
	for (unsigned i = 0; i < TWO; i++)
		expect_cm(servers[i], IB_CM_USER_ESTABLISHED);
	for (unsigned i = 0; i < TWO && still_right(); i++) {
		must(ib_send_cm_rtu(clients[i]->id, NULL, 0));
		conn_disconnect(clients[i], servers[i]);
		conn_end(servers[i]);
		conn_end(clients[i]);
	}
}

SCENARIO(cm_established, "the first message overtakes the RTU", .no_qps = true, .exact = true,
	 .any_packets = true)
{
	struct conn *listener, *client, *server;
	struct ib_cm_counters at_a, at_b;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	conn_request(client, .service = SERVICE, .path = &path);
	server = conn_accept(listener);
	conn_recv(server);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
	delay_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_GSI, .by_ps = CFG_S(RTU_LATE_S));
	if (!still_right())
		return;
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_equal(ib_cm_notify(server->id, IB_EVENT_SQ_DRAINED), -EINVAL);
	conn_send(client);
	expect_cm(server, IB_CM_USER_ESTABLISHED);
	expect_equal(server->comm_est, 1);
	expect_state(server, IB_CM_ESTABLISHED);
	expect_equal(ib_cm_notify(server->id, IB_EVENT_COMM_EST), -EISCONN);
	conn_move(server, IB_QPS_RTS);
	pass_time(CFG_S(RTU_LATE_S));
	must(ib_cm_query_counters(ib_device_of(a), &at_a));
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_a.rx_duplicates[IB_CM_MSG_REP], 0);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_RTU], 1);
	conn_recv(client);
	conn_send(server);
	conn_disconnect(client, server);
	expect_equal(ib_cm_notify(client->id, IB_EVENT_COMM_EST), -EINVAL);
	conn_end(server);
	conn_end(client);
	two_at_once(tb, a, listener, &path);
	conn_end(listener);
}
