/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTU is lost, and the client's first message arrives before the RTU is sent again. The event
 * "communication established" of the queue pair establishes the connection. The RTU that arrives
 * later has no effect. The server does not repeat its REP meanwhile.
 */
/* behaviours: IBA-12.9-communication-established */
#include "testbench/connect.h"

#include <errno.h>

enum { SERVICE = 7, RTU_LATE_S = 3 };

SCENARIO(cm_established, "the first message overtakes the RTU", .no_qps = true, .any_packets = true)
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
	conn_end(listener);
}
