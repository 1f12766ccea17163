/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message arrives three times. The second and third copy change nothing; a REQ, REP or DREQ
 * that has already been answered is answered again.
 */
/* behaviours: IBA-12.9-duplicates */
#include "testbench/connect.h"

enum { SERVICE = 7, COPIES = 2 };

/* The next message in that direction arrives three times. */
#define repeat_mad(direction)                                                                      \
	duplicate_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, .copies = COPIES,                  \
		       .by_ps = CFG_US(500))

SCENARIO(cm_duplicates, "each message of a connection comes three times", .no_qps = true,
	 .any_packets = true)
{
	struct ib_cm_counters at_a, at_b;
	struct conn *listener, *client, *server;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	repeat_mad(a_to_b);
	conn_request(client, .service = SERVICE, .path = &path);
	server = conn_accept(listener);
	pass_time(CFG_MS(2));
	repeat_mad(b_to_a);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
	pass_time(CFG_MS(2));
	if (!still_right())
		return;
	repeat_mad(a_to_b);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	conn_move(server, IB_QPS_RTS);
	pass_time(CFG_MS(2));
	repeat_mad(a_to_b);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	pass_time(CFG_MS(2));
	repeat_mad(b_to_a);
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	must(ib_cm_query_counters(ib_device_of(a), &at_a));
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_b.rx_msgs[IB_CM_MSG_REQ], 1 + COPIES);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_REQ], COPIES);
	expect_equal(at_a.rx_duplicates[IB_CM_MSG_REP], COPIES);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_RTU], COPIES);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_DREQ], COPIES);
	expect_equal(at_a.rx_duplicates[IB_CM_MSG_DREP], COPIES);
	expect_equal(at_b.ids + at_a.ids, 3);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
