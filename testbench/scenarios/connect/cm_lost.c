/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each message of a connection is lost once. A REQ, REP or DREQ is sent again after the peer's
 * response timeout plus two packet life times. If the RTU or DREP was lost, its sender answers the
 * repeated REP or DREQ with another one; it answers the DREQ even when its own TIMEWAIT is already
 * over. Neither side reports any event twice.
 */
/* behaviours: IBA-12.9-retries IBA-12.9-duplicates */
#include "testbench/connect.h"

enum { SERVICE = 7, CODE = 16 };

#define UNIT_PS UINT64_C(4096000)

SCENARIO(cm_lost, "each message of a connection is lost once: all are sent again, in time",
	 .no_qps = true, .any_packets = true)
{
	/* the client's REQ and DREQ wait for the response timeout and two packet life times (12) of
	 * the path */
	const uint64_t client_ps = (UNIT_PS << CODE) + 2 * (UNIT_PS << 12);
	/* the server's REP waits for the response timeout and the ACK timeout in the REQ */
	const uint64_t server_ps = (UNIT_PS << CODE) + (UNIT_PS << 16);
	struct ib_cm_counters at_a, at_b;
	struct conn *listener, *client, *server;
	struct sa_path_rec path;
	uint64_t sent;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);

	phase("REQ");
	lose_mad(a_to_b);
	conn_request(client, .service = SERVICE, .path = &path, .response_timeout = CODE);
	sent = tb_now(tb);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_that(server->last.time_ps, >, sent + client_ps);
	expect_that(server->last.time_ps, <, sent + client_ps + CFG_MS(1));

	phase("REP");
	lose_mad(b_to_a);
	sent = server->last.time_ps; /* when the REQ came */
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	/* the client repeats its REQ before that, and the repeated REQ is answered with the REP */
	expect_that(client->last.time_ps, <, sent + client_ps + CFG_MS(1));
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);

	phase("RTU");
	lose_mad(a_to_b);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	expect_that(server->last.time_ps, >, sent + server_ps);
	conn_move(server, IB_QPS_RTS);

	phase("DREQ");
	lose_mad(a_to_b);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	sent = tb_now(tb);
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	expect_that(server->last.time_ps, >, sent + client_ps);

	phase("DREP");
	lose_mad(b_to_a);
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	expect_that(client->last.time_ps, >, sent + 2 * client_ps);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);

	must(ib_cm_query_counters(ib_device_of(a), &at_a));
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_a.tx_retries[IB_CM_MSG_REQ], 2);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_REQ], 1);
	expect_equal(at_b.tx_retries[IB_CM_MSG_REP], 1);
	expect_equal(at_a.rx_duplicates[IB_CM_MSG_REP], 1);
	expect_equal(at_a.tx_msgs[IB_CM_MSG_RTU], 2);
	expect_equal(at_a.tx_retries[IB_CM_MSG_DREQ], 2);
	expect_equal(at_b.tx_msgs[IB_CM_MSG_DREP], 2);
	expect_equal(at_a.timewaits + at_b.timewaits, 0);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
