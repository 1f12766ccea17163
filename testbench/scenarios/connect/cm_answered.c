/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that the connection manager gives by itself. A REQ or LAP that comes again while the user
 * takes time gets the MRA again, and the sender counts it once; an MRA that comes after the REP is
 * too late. A LAP for another queue pair or for a GID that no port has is refused without the user.
 * A REP that names a queue pair which is connected already is stale, and so is that connection.
 */
/* behaviours: IBA-12.9-mra IBA-12.9-duplicates IBA-12.8-load-alternate-path IBA-12.9.8.3.1-stale */
#include "model/interface/cm.h"
#include "testbench/connect.h"

enum {
	SERVICE = 7,
	MRA_CODE = 13,                 /* 34 ms */
	MAD_AT = 28,                   /* behind LRH, BTH and DETH */
	REP_QPN_AT = MAD_AT + 38,      /* its low byte */
	LAP_QPN_AT = MAD_AT + 38,      /* its low byte */
	LAP_GID_AT = MAD_AT + 44 + 35, /* the last byte of the receiver's GID */
	APR_LENGTH_AT = MAD_AT + 32
};

/* The next MAD in that direction arrives with these bits of that byte flipped, and right CRCs. */
#define change_mad(direction, at, bits)                                                            \
	corrupt_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, .offset = at, .mask = bits,          \
		     .fix = FAULT_FIX_BOTH)
/* It comes once more, that much later. */
#define repeat_mad(direction, by_ps_)                                                              \
	duplicate_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, .by_ps = by_ps_)

static struct ib_cm_counters counters_of(struct tb *tb, struct tb_end *end)
{
	struct ib_cm_counters counters = {0};

	must(ib_cm_query_counters(ib_device_of(end), &counters));
	return counters;
}

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

/* The MRA that waits is sent when the REQ comes again, and again when it comes a third time. */
static struct conn *request_with_mra(struct tb *tb, struct conn *client, struct conn *listener,
				     const struct sa_path_rec *path)
{
	struct tb_end *a = client->end, *b = listener->end;
	struct conn *server;

	phase("a REQ that comes again");
	duplicate_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_GSI, .copies = 2, .by_ps = CFG_MS(5));
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	if (!still_right())
		return NULL;
	must(ib_send_cm_mra(server->id, IB_CM_MRA_FLAG_DELAY | MRA_CODE, "wait", 4));
	expect_state(server, IB_CM_MRA_REQ_SENT);
	expect_equal(counters_of(tb, b).tx_msgs[IB_CM_MSG_MRA], 0);
	expect_cm(client, IB_CM_MRA_RECEIVED);
	expect_true(!memcmp(client->last.data, "wait", 4));
	repeat_mad(b_to_a, CFG_MS(10)); /* when the REP has come */
	pass_time(CFG_MS(6));
	expect_equal(counters_of(tb, b).tx_msgs[IB_CM_MSG_MRA], 2);
	expect_equal(counters_of(tb, b).rx_duplicates[IB_CM_MSG_REQ], 2);
	expect_equal(counters_of(tb, a).rx_duplicates[IB_CM_MSG_MRA], 1);
	expect_state(client, IB_CM_MRA_REQ_RCVD);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	pass_time(CFG_MS(100));
	expect_equal(counters_of(tb, a).rx_msgs[IB_CM_MSG_MRA], 3);
	expect_equal(counters_of(tb, a).rx_duplicates[IB_CM_MSG_MRA], 1);
	expect_state(client, IB_CM_REP_RCVD);
	to_established(tb, client, server);
	return server;
}

static void lap_with_mra(struct tb *tb, struct conn *client, struct conn *server,
			 const struct sa_path_rec *path)
{
	struct tb_end *a = client->end, *b = server->end;

	phase("a LAP that comes again");
	repeat_mad(a_to_b, CFG_MS(5));
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	expect_cm(server, IB_CM_LAP_RECEIVED);
	must(ib_send_cm_mra(server->id, MRA_CODE, NULL, 0));
	expect_cm(client, IB_CM_MRA_RECEIVED);
	pass_time(CFG_MS(6));
	expect_equal(counters_of(tb, b).rx_duplicates[IB_CM_MSG_LAP], 1);
	expect_equal(counters_of(tb, b).tx_msgs[IB_CM_MSG_MRA], 2 + 2);
	expect_equal(counters_of(tb, a).rx_duplicates[IB_CM_MSG_MRA], 1 + 1);
	expect_equal(server->id->lap_state, IB_CM_MRA_LAP_SENT);
	change_mad(b_to_a, APR_LENGTH_AT, 0x80);
	must(ib_send_cm_apr(server->id, IB_CM_APR_REJECT, "why", 3, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
	expect_equal(client->last.cm.param.apr_rcvd.info_len, IB_CM_APR_INFO_LENGTH);
	expect_true(!memcmp(client->last.info, "why", 4));
}

static void lap_refused(struct tb *tb, struct conn *client, struct conn *server,
			const struct sa_path_rec *path)
{
	static const struct {
		const char *name;
		unsigned at;
		enum ib_cm_apr_status status;
	} rows[] = {{"another queue pair", LAP_QPN_AT, IB_CM_APR_INVALID_QPN_EECN},
		    {"another GID", LAP_GID_AT, IB_CM_APR_INVALID_GID}};

	phase("a LAP that is wrong");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		change_mad(a_to_b, rows[i].at, 1);
		must(ib_send_cm_lap(client->id, path, NULL, 0));
		expect_cm(client, IB_CM_APR_RECEIVED);
		expect_equal(client->last.cm.param.apr_rcvd.ap_status, rows[i].status);
		expect_equal(client->id->lap_state, IB_CM_LAP_IDLE);
		expect_equal(server->id->lap_state, IB_CM_LAP_IDLE);
	}
	must(ib_send_cm_lap(client->id, path, NULL, 0));
	expect_cm(server, IB_CM_LAP_RECEIVED);
	must(ib_send_cm_apr(server->id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0));
	expect_cm(client, IB_CM_APR_RECEIVED);
	expect_equal(client->last.cm.param.apr_rcvd.ap_status, IB_CM_APR_SUCCESS);
}

/* The second server's REP names the queue pair of the first. */
static void stale(struct tb *tb, struct conn *client, struct conn *server, struct conn *listener,
		  const struct sa_path_rec *path)
{
	struct conn *asks = conn_new(client->end), *other;

	phase("a REP of a queue pair that is connected");
	conn_request(asks, .service = SERVICE, .path = path);
	other = conn_accept(listener);
	if (!still_right())
		return;
	change_mad(b_to_a, REP_QPN_AT, (uint8_t)(other->qp->qp_num ^ server->qp->qp_num));
	repeat_mad(a_to_b, CFG_MS(1)); /* the REJ */
	conn_reply(other);
	expect_cm(other, IB_CM_REJ_RECEIVED);
	expect_equal(other->last.cm.param.rej_rcvd.reason, IB_CM_REJ_STALE_CONN);
	expect_state(other, IB_CM_TIMEWAIT);
	expect_cm(asks, IB_CM_REQ_ERROR);
	expect_that(asks->last.cm.param.send_status, !=, IBV_WC_SUCCESS);
	expect_state(asks, IB_CM_IDLE);
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	if (!still_right())
		return;
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	expect_cm(other, IB_CM_TIMEWAIT_EXIT);
	conn_end(other);
	conn_end(asks);
}

SCENARIO(cm_answered, "what connection management answers by itself", .no_qps = true,
	 .any_packets = true, .lmc = 1)
{
	struct conn *listener, *client, *server;
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
	server = request_with_mra(tb, client, listener, &path);
	if (!still_right())
		return;
	lap_with_mra(tb, client, server, &other);
	lap_refused(tb, client, server, &other);
	stale(tb, client, server, listener, &path);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
