/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server rejects the alternate path that the REQ names, and accepts the connection. Neither
 * side has an alternate path then: both queue pairs reach RTS without one, and neither id migrates.
 */
/* behaviours: IBA-12.8-load-alternate-path IBA-12.9-qp-attributes */
#include "model/interface/cm.h"
#include "testbench/connect.h"

enum { SERVICE = 7 };

static void to_established(struct tb *tb, struct conn *client, struct conn *server)
{
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
	if (still_right())
		must(ib_send_cm_rtu(client->id, NULL, 0));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	conn_move(server, IB_QPS_RTS);
}

static void without_alternate(struct tb *tb, struct conn *client, struct conn *listener,
			      const struct sa_path_rec *path, const struct sa_path_rec *alternate)
{
	struct ib_cm_rep_param rep = {.failover_accepted = CM_FAILOVER_REJECTED,
				      .rnr_retry_count = 7};
	struct ib_qp_attr attr;
	struct conn *server;

	conn_request(client, .service = SERVICE, .path = path, .alternate = alternate);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_equal(client->id->lap_state, IB_CM_LAP_IDLE);
	rep.qp_num = server->qp->qp_num;
	rep.starting_psn = server->psn;
	must(ib_send_cm_rep(server->id, &rep));
	expect_cm(client, IB_CM_REP_RECEIVED);
	expect_equal(client->last.cm.param.rep_rcvd.failover_accepted, CM_FAILOVER_REJECTED);
	expect_equal(client->id->lap_state, IB_CM_LAP_UNINIT);
	expect_equal(server->id->lap_state, IB_CM_LAP_UNINIT);
	to_established(tb, client, server);
	must_fail(-EINVAL, ib_cm_notify(client->id, IB_EVENT_PATH_MIG));
	must_fail(-EINVAL, ib_cm_notify(server->id, IB_EVENT_PATH_MIG));
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.path_mig_state, IB_MIG_MIGRATED);
	expect_equal(attr.alt_ah_attr.dlid, 0);
	conn_disconnect(client, server);
	conn_end(server);
}

SCENARIO(cm_no_failover, "the alternate path of a REQ is rejected", .no_qps = true,
	 .any_packets = true, .lmc = 1)
{
	struct conn *listener, *client;
	struct sa_path_rec path, other;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	if (!still_right())
		return;
	other = path;
	other.ib.dlid = htobe16((uint16_t)(b->lid + 1));
	other.ib.slid = htobe16((uint16_t)(a->lid + 1));
	without_alternate(tb, client, listener, &path, &other);
	conn_end(client);
	conn_end(listener);
}
