/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a connection whose fields are wrong when they arrive: of another class version, with
 * another method, of an unknown kind, for another queue pair, with a length of the additional
 * information that the message has no room for. Those that cannot be judged are ignored, as if they
 * had been lost, and come again. No driver sends such messages, so a fault on the wire changes one
 * byte of each.
 */
/* behaviours: IBA-12.9-duplicates IBA-12.9-retries IBA-12.11-sidr IBA-12.6.7-reject-reasons */
#include "model/interface/cm.h"
#include "testbench/connect.h"

enum {
	SERVICE = 7,
	CODE = 14,
	TIMEOUT_MS = 20,
	MAD_AT = 28,                 /* behind LRH, BTH and DETH */
	VERSION_AT = MAD_AT + 2,     /* of the class */
	METHOD_AT = MAD_AT + 3,      /* Send becomes Get */
	KIND_AT = MAD_AT + 17,       /* the low byte of the attribute */
	QPN_AT = MAD_AT + 34,        /* the low byte, in a DREQ */
	REJ_LENGTH_AT = MAD_AT + 33, /* in the high seven bits */
	SIDR_LENGTH_AT = MAD_AT + 29,
	OTHER_VERSION = CM_CLASS_VERSION ^ 3,
	SEND_TO_GET = MAD_METHOD_SEND ^ MAD_METHOD_GET,
	RTU_TO_UNKNOWN = CM_ATTR_RTU ^ (CM_ATTR_APR + 1),
	LENGTH_BIT = 0x80
};

/* The next MAD in that direction arrives with these bits of that byte flipped, and right CRCs. */
#define change_mad(direction, at, bits)                                                            \
	corrupt_next(direction, UD_SEND_ONLY, .qpn = QPN_GSI, .offset = at, .mask = bits,          \
		     .fix = FAULT_FIX_BOTH)

static struct ib_cm_counters counters_of(struct tb *tb, struct tb_end *end)
{
	struct ib_cm_counters counters = {0};

	must(ib_cm_query_counters(ib_device_of(end), &counters));
	return counters;
}

static void to_rts(struct tb *tb, struct conn *client)
{
	expect_cm(client, IB_CM_REP_RECEIVED);
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
}

static void move_to_reset(struct tb *tb, struct conn *c)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_RESET};

	if (still_right())
		must(ib_modify_qp(c->qp, &attr, IB_QP_STATE));
}

/* The RTU counts only when it comes again as the answer to the next REP. */
static void ignored(struct tb *tb, struct tb_end *b, struct conn *listener, struct conn *client,
		    const struct sa_path_rec *path)
{
	static const struct {
		const char *name;
		unsigned at, bits;
		bool counted;
	} rows[] = {{"another class version", VERSION_AT, OTHER_VERSION, true},
		    {"another method", METHOD_AT, SEND_TO_GET, false},
		    {"an unknown kind", KIND_AT, RTU_TO_UNKNOWN, false}};
	struct conn *server;
	uint64_t rtus;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		phase(rows[i].name);
		rtus = counters_of(tb, b).rx_msgs[IB_CM_MSG_RTU];
		conn_request(client, .service = SERVICE, .path = path, .response_timeout = CODE);
		server = conn_accept(listener);
		conn_reply(server);
		to_rts(tb, client);
		if (!still_right())
			return;
		change_mad(a_to_b, rows[i].at, rows[i].bits);
		must(ib_send_cm_rtu(client->id, NULL, 0));
		pass_time(CFG_MS(1));
		expect_state(server, IB_CM_REP_SENT);
		expect_equal(counters_of(tb, b).rx_msgs[IB_CM_MSG_RTU], rtus + rows[i].counted);
		expect_cm(server, IB_CM_RTU_RECEIVED);
		expect_equal(counters_of(tb, b).rx_msgs[IB_CM_MSG_RTU], rtus + rows[i].counted + 1);
		conn_move(server, IB_QPS_RTS);
		conn_disconnect(client, server);
		conn_end(server);
		move_to_reset(tb, client);
	}
}

/* A DREQ for another queue pair ends nothing. */
static void other_qp(struct tb *tb, struct conn *listener, struct conn *client,
		     const struct sa_path_rec *path)
{
	struct conn *server;

	phase("a DREQ for another queue pair");
	server = conn_establish(client, listener, .service = SERVICE, .path = path,
				.response_timeout = CODE);
	if (!still_right())
		return;
	change_mad(a_to_b, QPN_AT, 1);
	must(ib_send_cm_dreq(client->id, NULL, 0));
	pass_time(CFG_MS(1));
	expect_state(server, IB_CM_ESTABLISHED);
	expect_cm(server, IB_CM_DREQ_RECEIVED);
	if (!still_right())
		return;
	must(ib_send_cm_drep(server->id, NULL, 0));
	expect_cm(client, IB_CM_DREP_RECEIVED);
	expect_cm(client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);
	move_to_reset(tb, client);
}

/* Nobody reads more than there is room for. */
static void too_long(struct tb *tb, struct conn *listener, struct conn *client,
		     const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_rep_param found = {
		.qp_num = 1, .status = IB_SIDR_SUCCESS, .info = "info", .info_length = 4};
	struct ib_cm_sidr_req_param sidr = {
		.path = path, .service_id = htobe64(SERVICE), .timeout_ms = TIMEOUT_MS};
	struct conn *server;

	phase("lengths");
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	if (!still_right())
		return;
	change_mad(b_to_a, REJ_LENGTH_AT, LENGTH_BIT | 2 << 1);
	must(ib_send_cm_rej(server->id, IB_CM_REJ_NO_RESOURCES, "why", 3, NULL, 0));
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.ari_length, 64 + 1);
	conn_end(server);
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	if (!still_right())
		return;
	change_mad(b_to_a, REJ_LENGTH_AT, LENGTH_BIT | 16 << 1);
	must(ib_send_cm_rej(server->id, IB_CM_REJ_NO_RESOURCES, "why", 3, NULL, 0));
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.ari_length, IB_CM_REJ_ARI_LENGTH);
	expect_true(!memcmp(client->last.info, "why", 4));
	conn_end(server);
	must(ib_send_cm_sidr_req(client->id, &sidr));
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	change_mad(b_to_a, SIDR_LENGTH_AT, LENGTH_BIT);
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	ib_destroy_cm_id(listener->last.id);
	expect_cm(client, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(client->last.cm.param.sidr_rep_rcvd.info_len, IB_CM_SIDR_REP_INFO_LENGTH);
	expect_true(!memcmp(client->last.info, "info", 5));
}

/* Each question gets one answer, and what comes after it is ignored. */
static void questions(struct tb *tb, struct tb_end *a, struct conn *listener, struct conn *client,
		      const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_rep_param found = {.qp_num = 1, .status = IB_SIDR_SUCCESS};
	struct ib_cm_sidr_req_param sidr = {
		.path = path, .service_id = htobe64(SERVICE), .timeout_ms = TIMEOUT_MS};

	phase("a question of another class version, an answer that comes twice");
	change_mad(a_to_b, VERSION_AT, OTHER_VERSION);
	must(ib_send_cm_sidr_req(client->id, &sidr));
	expect_cm(client, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(client->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_UNSUPPORTED_VERSION);
	must(ib_send_cm_sidr_req(client->id, &sidr));
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	duplicate_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_GSI, .by_ps = CFG_US(100));
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	ib_destroy_cm_id(listener->last.id);
	expect_cm(client, IB_CM_SIDR_REP_RECEIVED);
	pass_time(CFG_MS(1));
	expect_equal(counters_of(tb, a).rx_duplicates[IB_CM_MSG_SIDR_REP], 1);
	expect_state(client, IB_CM_IDLE);
}

SCENARIO(cm_changed, "messages of a connection with wrong fields", .no_qps = true,
	 .any_packets = true)
{
	struct conn *listener, *client;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	if (!still_right())
		return;
	questions(tb, a, listener, client, &path);
	too_long(tb, listener, client, &path);
	ignored(tb, b, listener, client, &path);
	other_qp(tb, listener, client, &path);
	conn_end(client);
	conn_end(listener);
}
