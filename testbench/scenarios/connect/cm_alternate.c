/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The REQ names an alternate path, and the connection comes to use it. When the first path is gone
 * the queue pairs migrate, the connection managers are told, and a LAP loads the next alternate
 * path. A lost LAP is sent again; a LAP whose APR is lost is answered again; an MRA makes the
 * sender of the LAP wait; a refused LAP changes nothing; an APR answers its own LAP and no later one.
 */
/* behaviours: IBA-12.8-load-alternate-path IBA-12.8-lap-lost */
#include "testbench/connect.h"

#include <errno.h>

enum { SERVICE = 7, MRA_CODE = 18, CODE = 14 };

static void lap(struct tb *tb, struct conn *client, struct conn *server,
		const struct sa_path_rec *path)
{
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	expect_cm(server, IB_CM_LAP_RECEIVED);
}

static void take_path(struct tb *tb, struct conn *client, struct conn *server,
		      const struct sa_path_rec *path)
{
	lap(tb, client, server, path);
	must(ib_send_cm_apr(server->id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
}

static void losses(struct tb *tb, struct tb_end *b, struct conn *client, struct conn *server,
		   const struct sa_path_rec *path)
{
	struct ib_cm_counters at_b;

	phase("LAP lost, APR lost");
	lose_mad(a_to_b);
	lose_mad(b_to_a);
	take_path(tb, client, server, path);
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_b.rx_msgs[IB_CM_MSG_LAP], 2 + 2);
	expect_equal(at_b.tx_msgs[IB_CM_MSG_APR], 2 + 2);
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_LAP], 1);

	phase("MRA, and a refusal");
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	must_fail(-EINVAL, ib_send_cm_lap(client->id, path, NULL, 0));
	expect_cm(server, IB_CM_LAP_RECEIVED);
	must(ib_send_cm_mra(server->id, MRA_CODE, NULL, 0));
	expect_cm(client, IB_CM_MRA_RECEIVED);
	expect_equal(client->id->lap_state, IB_CM_MRA_LAP_RCVD);
	must(ib_send_cm_apr(server->id, IB_CM_APR_REJECT, "why", 3, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
	expect_equal(client->last.cm.param.apr_rcvd.ap_status, IB_CM_APR_REJECT);
	expect_true(!memcmp(client->last.info, "why", 3));
	expect_equal(client->id->lap_state, IB_CM_LAP_IDLE);

	phase("a LAP that nobody answers");
	lap(tb, client, server, path);
	expect_cm(client, IB_CM_LAP_ERROR);
	expect_equal(client->id->lap_state, IB_CM_LAP_IDLE);
	must(ib_send_cm_apr(server->id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0)); /* too late */
	pass_time(CFG_MS(1));
}

/* The server has not answered the first LAP when the second one comes. Its answer is no answer to the
 * second one, which is sent again and answered then. */
static void late_answer(struct tb *tb, struct tb_end *a, struct conn *client, struct conn *server,
			const struct sa_path_rec *path)
{
	struct ib_cm_counters before, after;

	phase("the APR of an earlier LAP");
	lap(tb, client, server, path);
	expect_cm(client, IB_CM_LAP_ERROR);
	must(ib_cm_query_counters(ib_device_of(a), &before));
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	pass_time(CFG_MS(1));
	must(ib_send_cm_apr(server->id, IB_CM_APR_REJECT, NULL, 0, NULL, 0));
	expect_cm(server, IB_CM_LAP_RECEIVED);
	expect_equal(client->id->lap_state, IB_CM_LAP_SENT);
	must(ib_send_cm_apr(server->id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
	expect_equal(client->last.cm.param.apr_rcvd.ap_status, IB_CM_APR_SUCCESS);
	must(ib_cm_query_counters(ib_device_of(a), &after));
	expect_equal(after.rx_duplicates[IB_CM_MSG_APR], before.rx_duplicates[IB_CM_MSG_APR] + 1);
}

/* The connection ends while a LAP is under way: nobody sends the LAP again. */
static void left_alone(struct tb *tb, struct tb_end *a, struct conn *client, struct conn *server,
		       const struct sa_path_rec *path)
{
	struct ib_cm_counters before, after;

	phase("the end, behind a LAP");
	lap(tb, client, server, path);
	must(ib_cm_query_counters(ib_device_of(a), &before));
	must(ib_send_cm_dreq(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREQ_RECEIVED);
	pass_time(CFG_MS(200)); /* longer than the peer may take to answer */
	must(ib_cm_query_counters(ib_device_of(a), &after));
	expect_equal(after.tx_msgs[IB_CM_MSG_LAP], before.tx_msgs[IB_CM_MSG_LAP]);
	must(ib_send_cm_drep(client->id, NULL, 0));
	expect_cm(server, IB_CM_DREP_RECEIVED);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
}

/* The path that has become the primary one is no alternate one any more. */
static void has_migrated(struct tb *tb, struct conn *c, unsigned dlid)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_RTR};
	int mask = 0;

	must(ib_cm_notify(c->id, IB_EVENT_PATH_MIG));
	must(ib_cm_init_qp_attr(c->id, &attr, &mask));
	expect_equal(attr.ah_attr.dlid, dlid);
	expect_equal(mask & IB_QP_ALT_PATH, 0);
	attr.qp_state = IB_QPS_RTS;
	must(ib_cm_init_qp_attr(c->id, &attr, &mask));
	expect_equal(mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE), 0);
	expect_equal(mask & IB_QP_SQ_PSN, IB_QP_SQ_PSN);
}

SCENARIO(cm_alternate, "an alternate path from the REQ, migration, and the next one by LAP",
	 .no_qps = true, .any_packets = true, .lmc = 2)
{
	struct conn *listener, *client, *server;
	struct sa_path_rec path, other;
	struct ib_qp_attr attr = {.path_mig_state = IB_MIG_MIGRATED};

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	if (!still_right())
		return;
	other = path;
	other.packet_life_time = (uint8_t)(path.packet_life_time + 3); /* a longer way */
	other.ib.dlid = htobe16((uint16_t)(b->lid + 1));
	other.ib.slid = htobe16((uint16_t)(a->lid + 1));
	server = conn_establish(client, listener, .service = SERVICE, .path = &path,
				.alternate = &other, .response_timeout = CODE);
	if (!still_right())
		return;
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.alt_ah_attr.dlid, b->lid + 1);
	must(ib_query_qp(server->qp, &attr, 0, NULL));
	expect_equal(attr.alt_ah_attr.dlid, a->lid + 1);
	conn_recv(server);
	conn_send(client); /* both are armed after it */
	must_fail(-EINVAL, ib_cm_notify(listener->id, IB_EVENT_PATH_MIG));

	phase("migrate");
	attr = (struct ib_qp_attr){.path_mig_state = IB_MIG_MIGRATED};
	must(ib_modify_qp(client->qp, &attr, IB_QP_PATH_MIG_STATE));
	conn_recv(server);
	conn_send(client);
	has_migrated(tb, client, b->lid + 1);
	has_migrated(tb, server, a->lid + 1);
	must_fail(-EINVAL, ib_cm_notify(server->id, IB_EVENT_PATH_MIG));

	phase("a path that is refused is not taken");
	lap(tb, client, server, &path);
	must(ib_send_cm_apr(server->id, IB_CM_APR_REJECT, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
	must_fail(-EINVAL, ib_cm_notify(client->id, IB_EVENT_PATH_MIG));
	must_fail(-EINVAL, ib_cm_notify(server->id, IB_EVENT_PATH_MIG));

	phase("the next one");
	take_path(tb, client, server, &path);
	conn_move(client, IB_QPS_RTS);
	conn_move(server, IB_QPS_RTS);
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.alt_ah_attr.dlid, b->lid);
	expect_equal(attr.ah_attr.dlid, b->lid + 1);
	conn_recv(server);
	conn_send(client);
	losses(tb, b, client, server, &path);
	late_answer(tb, a, client, server, &path);
	left_alone(tb, a, client, server, &path);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
