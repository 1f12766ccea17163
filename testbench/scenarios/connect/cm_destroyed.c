/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In each state of a connection one side destroys its id. The other side hears of it at once, as the state
 * demands: by a REJ that says which message is rejected and why, by a DREQ, by a DREP, or not at all. This
 * holds, too, when the REP or RTU before it was lost. Then nothing is sent any more, the time-wait of what
 * was a connection passes, the other side goes on or ends as it is told, and both can connect anew.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12.9-timewait */
#include "testbench/connect.h"

enum { SERVICE = 7, CODE = 14, NOTHING = -1 };

/* How far the two have come. */
enum reached {
	REQUESTED, /* the server has the REQ */
	REQ_MRA,   /* it has answered with an MRA */
	REP_LOST,  /* its REP has not come */
	REQ_MRA_REP_LOST,
	REPLIED, /* the client has the REP */
	REP_MRA, /* it has answered with an MRA */
	RTU_LOST,
	REP_MRA_RTU_LOST,
	ESTABLISHED,
	DREQ_FROM_CLIENT, /* the server has it */
	DREQ_FROM_SERVER,
	LEFT, /* both are in TIMEWAIT */
	LAP_FROM_CLIENT
};

struct row {
	const char *name;
	enum reached reached;
	bool server;             /* it destroys its id, else the client does */
	enum ib_cm_state before; /* in which it does so */
	int event;               /* that the other hears */
	unsigned reason;         /* of a REJ */
	enum ib_cm_state after;  /* in which the other is then */
};

static struct ib_cm_counters counters_of(struct tb *tb, struct tb_end *end)
{
	struct ib_cm_counters counters = {0};

	must(ib_cm_query_counters(ib_device_of(end), &counters));
	return counters;
}

static unsigned sum(const unsigned counts[IB_CM_MSGS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < IB_CM_MSGS; i++)
		n += counts[i];
	return n;
}

/* The rest of a connection that its peer may have used stays for a while. */
static bool has_timewait(enum ib_cm_state state)
{
	return state == IB_CM_REP_SENT || state == IB_CM_MRA_REP_RCVD || state >= IB_CM_ESTABLISHED;
}

/* Neither needs its queue pair. */
static struct conn *reach(struct tb *tb, struct conn *client, struct conn *listener,
			  const struct sa_path_rec *path, enum reached reached)
{
	struct conn *server;

	conn_request(client, .service = SERVICE, .path = path, .response_timeout = CODE + 2);
	server = conn_accept(listener);
	if (!still_right() || reached == REQUESTED)
		return server;
	if (reached == REQ_MRA || reached == REQ_MRA_REP_LOST) {
		must(ib_send_cm_mra(server->id, CODE, NULL, 0));
		expect_cm(client, IB_CM_MRA_RECEIVED);
		if (reached == REQ_MRA)
			return server;
	}
	if (reached == REP_LOST || reached == REQ_MRA_REP_LOST) {
		lose_mad(b_to_a);
		conn_reply(server);
		pass_time(CFG_MS(1));
		return server;
	}
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	if (!still_right() || reached == REPLIED)
		return server;
	if (reached == REP_MRA || reached == REP_MRA_RTU_LOST) {
		must(ib_send_cm_mra(client->id, CODE, NULL, 0));
		expect_cm(server, IB_CM_MRA_RECEIVED);
		if (reached == REP_MRA)
			return server;
	}
	if (reached == RTU_LOST || reached == REP_MRA_RTU_LOST)
		lose_mad(a_to_b);
	must(ib_send_cm_rtu(client->id, NULL, 0));
	if (reached == RTU_LOST || reached == REP_MRA_RTU_LOST) {
		pass_time(CFG_MS(1));
		return server;
	}
	expect_cm(server, IB_CM_RTU_RECEIVED);
	if (reached == DREQ_FROM_CLIENT || reached == LEFT) {
		must(ib_send_cm_dreq(client->id, NULL, 0));
		expect_cm(server, IB_CM_DREQ_RECEIVED);
	}
	if (reached == DREQ_FROM_SERVER) {
		must(ib_send_cm_dreq(server->id, NULL, 0));
		expect_cm(client, IB_CM_DREQ_RECEIVED);
	}
	if (reached == LEFT && still_right()) {
		must(ib_send_cm_drep(server->id, NULL, 0));
		expect_cm(client, IB_CM_DREP_RECEIVED);
	}
	if (reached == LAP_FROM_CLIENT && still_right()) {
		must(ib_send_cm_lap(client->id, path, NULL, 0));
		expect_cm(server, IB_CM_LAP_RECEIVED);
	}
	return server;
}

/* What is left of the other side ends, too. */
static void finish(struct tb *tb, struct conn *other)
{
	if (other->id->state == IB_CM_DREQ_RCVD)
		must(ib_send_cm_drep(other->id, NULL, 0));
	if (other->id->state == IB_CM_DREQ_SENT)
		expect_cm(other, IB_CM_DREP_RECEIVED);
	if (other->id->state == IB_CM_TIMEWAIT)
		expect_cm(other, IB_CM_TIMEWAIT_EXIT);
	expect_state(other, IB_CM_IDLE);
	conn_end(other);
}

/* The client's queue pair is asked to be connected anew. While the rest of its connection stays at the
 * server, that is refused (12.9.8.3.1). */
static void again(struct tb *tb, struct conn *client, struct conn *listener,
		  const struct sa_path_rec *path, bool stale)
{
	struct conn *other = conn_new(client->end);
	struct ib_cm_req_param req;

	conn_req_param(other, &req, .service = SERVICE, .path = path);
	if (!still_right())
		return;
	req.qp_num = client->qp->qp_num;
	must(ib_send_cm_req(other->id, &req));
	if (!stale)
		conn_end(conn_accept(listener));
	expect_cm(other, IB_CM_REJ_RECEIVED);
	expect_equal(other->last.cm.param.rej_rcvd.reason,
		     stale ? IB_CM_REJ_STALE_CONN : IB_CM_REJ_CONSUMER_DEFINED);
	conn_end(other);
}

static void destroyed(struct tb *tb, struct tb_end *a, struct conn *listener,
		      const struct sa_path_rec *path, const struct row *row)
{
	struct conn *client = conn_new(a);
	struct conn *server = reach(tb, client, listener, path, row->reached);
	struct conn *goes = row->server ? server : client, *stays = row->server ? client : server;
	struct tb_end *end = goes ? goes->end : a;
	struct ib_cm_counters before, after;

	expect_state(goes, row->before);
	before = counters_of(tb, end);
	if (!still_right())
		return;
	conn_end(goes);
	after = counters_of(tb, end);
	expect_equal(sum(after.tx_msgs) - sum(before.tx_msgs), row->event != NOTHING);
	expect_equal(after.ids, before.ids - 1);
	expect_equal(after.timewaits, has_timewait(row->before));
	if (row->event == NOTHING)
		pass_time(CFG_MS(1));
	else
		expect_cm(stays, (enum ib_cm_event_type)row->event);
	expect_state(stays, row->after);
	if (row->event == IB_CM_REJ_RECEIVED)
		expect_equal(stays->last.cm.param.rej_rcvd.reason, row->reason);
	if (row->server)
		again(tb, client, listener, path, has_timewait(row->before));
	/* one message, and none again, however long the other side takes */
	before = counters_of(tb, end);
	pass_time(row->after == IB_CM_DREQ_RCVD ? CFG_S(2) : CFG_MS(1));
	after = counters_of(tb, end);
	expect_equal(sum(after.tx_msgs), sum(before.tx_msgs));
	expect_equal(sum(after.tx_retries), sum(before.tx_retries));
	finish(tb, stays);
	for (unsigned i = 0; i < 50 && counters_of(tb, end).timewaits; i++)
		pass_time(CFG_MS(100));
	expect_equal(counters_of(tb, end).timewaits, 0);
}

SCENARIO(cm_destroyed, "ids of connections are destroyed in each state", .no_qps = true,
	 .any_packets = true)
{
	static const struct row rows[] = {
		{"client", REQUESTED, false, IB_CM_REQ_SENT, IB_CM_REJ_RECEIVED, IB_CM_REJ_TIMEOUT,
		 IB_CM_IDLE},
		{"server", REQUESTED, true, IB_CM_REQ_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", REQ_MRA, false, IB_CM_MRA_REQ_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_TIMEOUT, IB_CM_IDLE},
		{"server", REQ_MRA, true, IB_CM_MRA_REQ_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", REP_LOST, false, IB_CM_REQ_SENT, IB_CM_REJ_RECEIVED, IB_CM_REJ_TIMEOUT,
		 IB_CM_IDLE},
		{"server", REP_LOST, true, IB_CM_REP_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", REQ_MRA_REP_LOST, false, IB_CM_MRA_REQ_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_TIMEOUT, IB_CM_IDLE},
		{"server", REQ_MRA_REP_LOST, true, IB_CM_REP_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", REPLIED, false, IB_CM_REP_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"server", REPLIED, true, IB_CM_REP_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", REP_MRA, false, IB_CM_MRA_REP_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"server", REP_MRA, true, IB_CM_MRA_REP_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_IDLE},
		{"client", RTU_LOST, false, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"server", RTU_LOST, true, IB_CM_REP_SENT, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_TIMEWAIT},
		{"client", REP_MRA_RTU_LOST, false, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"server", REP_MRA_RTU_LOST, true, IB_CM_MRA_REP_RCVD, IB_CM_REJ_RECEIVED,
		 IB_CM_REJ_CONSUMER_DEFINED, IB_CM_TIMEWAIT},
		{"client", ESTABLISHED, false, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"server", ESTABLISHED, true, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"client", LAP_FROM_CLIENT, false, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"server", LAP_FROM_CLIENT, true, IB_CM_ESTABLISHED, IB_CM_DREQ_RECEIVED, 0,
		 IB_CM_DREQ_RCVD},
		{"client", DREQ_FROM_CLIENT, false, IB_CM_DREQ_SENT, NOTHING, 0, IB_CM_DREQ_RCVD},
		{"server", DREQ_FROM_CLIENT, true, IB_CM_DREQ_RCVD, IB_CM_DREP_RECEIVED, 0,
		 IB_CM_TIMEWAIT},
		{"client", DREQ_FROM_SERVER, false, IB_CM_DREQ_RCVD, IB_CM_DREP_RECEIVED, 0,
		 IB_CM_TIMEWAIT},
		{"server", DREQ_FROM_SERVER, true, IB_CM_DREQ_SENT, NOTHING, 0, IB_CM_DREQ_RCVD},
		{"client", LEFT, false, IB_CM_TIMEWAIT, NOTHING, 0, IB_CM_TIMEWAIT},
		{"server", LEFT, true, IB_CM_TIMEWAIT, NOTHING, 0, IB_CM_TIMEWAIT}};
	struct conn *listener;
	struct sa_path_rec path;

	start_cm();
	listener = conn_listen(b, SERVICE);
	ask_path(a, &path);
	for_each_row(i, rows) {
		name_row("the %s in %s", rows[i].name, ib_cm_state_name(rows[i].before));
		destroyed(tb, a, listener, &path, &rows[i]);
	}
	expect_equal(counters_of(tb, a).ids, 0);
	expect_equal(counters_of(tb, b).ids, 1);
	expect_equal(counters_of(tb, a).timewaits, 0);
	expect_equal(counters_of(tb, b).timewaits, 0);
	conn_end(listener);
}
