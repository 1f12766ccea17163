/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows after an MRA or a loss: both sides can load their queue pairs while one waits; an MRA that
 * was lost is sent again when the REP comes again; a server that has had an MRA but never an RTU gives up and
 * says so; a DREQ that comes again in the time-wait is answered; a REJ ends a connection that waits for its
 * DREP.
 */
/* behaviours: IBA-12.9-retries IBA-12.9-timewait IBA-12.6.7-reject-reasons */
#include "testbench/connect.h"

enum { SERVICE = 9, CODE = 12, MRA_CODE = 14 };

static void loads(struct tb *tb, struct conn *c, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {.qp_state = state};
	int mask = 0;

	if (still_right())
		must(ib_cm_init_qp_attr(c->id, &attr, &mask));
}

static struct conn *accepted(struct tb *tb, struct conn *client, struct conn *listener,
			     const struct sa_path_rec *path)
{
	struct conn *server;

	conn_request(client, .service = SERVICE, .path = path, .response_timeout = CODE);
	server = conn_accept(listener);
	if (!still_right())
		return server;
	must(ib_send_cm_mra(server->id, MRA_CODE, NULL, 0));
	loads(tb, server, IB_QPS_INIT);
	loads(tb, server, IB_QPS_RTR);
	loads(tb, server, IB_QPS_RTS);
	expect_cm(client, IB_CM_MRA_RECEIVED);
	loads(tb, client, IB_QPS_INIT);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	return server;
}

/* The client's MRA is lost once. */
static void client_waits(struct tb *tb, struct conn *client, struct conn *server)
{
	if (!still_right())
		return;
	lose_mad(a_to_b);
	must(ib_send_cm_mra(client->id, MRA_CODE, NULL, 0));
	loads(tb, client, IB_QPS_INIT);
	loads(tb, client, IB_QPS_RTR);
	loads(tb, client, IB_QPS_RTS);
	expect_cm(server, IB_CM_MRA_RECEIVED);
	expect_state(server, IB_CM_MRA_REP_RCVD);
	loads(tb, server, IB_QPS_RTS);
}

SCENARIO(cm_after_mra, "what follows after an MRA or a lost message", .no_qps = true,
	 .any_packets = true, .settings = {"hca0.local_ack_delay=18", "hca1.local_ack_delay=16"})
{
	struct conn *listener, *client, *server;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);

	phase("the RTU never comes");
	server = accepted(tb, client, listener, &path);
	client_waits(tb, client, server);
	expect_cm(server, IB_CM_REP_ERROR);
	expect_state(server, IB_CM_IDLE);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_TIMEOUT);
	expect_state(client, IB_CM_IDLE);
	conn_end(server);

	phase("the DREP is lost");
	server = accepted(tb, client, listener, &path);
	client_waits(tb, client, server);
	if (!still_right())
		return;
	must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	lose_mad(b_to_a);
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	expect_state(server, IB_CM_TIMEWAIT);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);

	phase("a REJ instead of the DREP");
	server = accepted(tb, client, listener, &path);
	if (!still_right())
		return;
	lose_mad(a_to_b, .times = 2);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	must(ib_send_cm_dreq(client->id, NULL, 0));
	pass_time(CFG_US(100));
	must(ib_send_cm_rej(server->id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_state(client, IB_CM_TIMEWAIT);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
