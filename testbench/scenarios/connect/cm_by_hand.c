/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario is itself the connection management of host a: it writes each message and reads each
 * answer of b. A table says for every state of a server and of a client what its rejection names, and
 * what comes back when a message comes again, comes from somebody else, or concerns what is over. An MRA
 * that comes again begins the wait anew. A question with the number of another asker is another one. Of
 * two peers of one device the larger queue pair number stays active, and the port belongs to the peer.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12.9-duplicates IBA-12.9-mra IBA-12-peer-to-peer IBA-12.11-sidr */
#include "testbench/scenarios/connect/by_hand.h"

/* --- the phases --- */

static void rejects(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	static const struct {
		const char *name;
		bool client;
		enum step step;
		enum cm_message of;
		bool names_own; /* its communication id */
		bool names_mine;
		enum ib_cm_state then;
	} rows[] = {
		{"server after REQ", false, ASKED, CM_MESSAGE_REQ, false, true, IB_CM_IDLE},
		{"server after MRA", false, ASKED_WAITS, CM_MESSAGE_REQ, true, true, IB_CM_IDLE},
		{"server after REP", false, ANSWERED, CM_MESSAGE_OTHER, true, true, IB_CM_TIMEWAIT},
		{"server after the client's MRA", false, ANSWERED_WAITS, CM_MESSAGE_OTHER, true,
		 true, IB_CM_TIMEWAIT},
		{"client after REQ", true, ASKED, CM_MESSAGE_OTHER, true, false, IB_CM_IDLE},
		{"client after the server's MRA", true, ASKED_WAITS, CM_MESSAGE_OTHER, true, false,
		 IB_CM_IDLE},
		{"client after REP", true, ANSWERED, CM_MESSAGE_REP, true, true, IB_CM_IDLE},
		{"client after its MRA", true, ANSWERED_WAITS, CM_MESSAGE_REP, true, true,
		 IB_CM_IDLE},
	};
	struct conn *c;

	phase("what a rejection names");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		c = rows[i].client ? client_at(tb, path, rows[i].step)
				   : server_at(tb, listener, rows[i].step);
		if (!still_right())
			return;
		must(ib_send_cm_rej(c->id, IB_CM_REJ_NO_RESOURCES, NULL, 0, NULL, 0));
		rej_is(tb, CM_REASON_NO_RESOURCES, rows[i].of, rows[i].names_own ? my.theirs : 0,
		       rows[i].names_mine ? MINE : 0);
		expect_state(c, rows[i].then);
		ends(tb, c);
	}
}

/* A REQ comes a second time. */
static void req_again(struct tb *tb, struct conn *listener)
{
	static const struct {
		const char *name;
		enum step step;
		enum cm_attr answer; /* 0: none */
	} rows[] = {{"after REQ", ASKED, 0},
		    {"after MRA", ASKED_WAITS, CM_ATTR_MRA},
		    {"after REP", ANSWERED, CM_ATTR_REP},
		    {"after the client's MRA", ANSWERED_WAITS, CM_ATTR_REP},
		    {"connected", CONNECTED, 0},
		    {"after DREQ", CLOSES, 0}};
	struct conn *c;
	struct smp smp;

	phase("a REQ that comes again");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		c = server_at(tb, listener, rows[i].step);
		req_fill(tb, &smp, SERVICE, guid, QPN);
		send_mad(tb, my.end, &smp);
		if (rows[i].answer)
			next(tb, rows[i].answer);
		nothing(tb);
		expect_equal(listener->count, 0);
		ends(tb, c);
	}
	name_row("in the time-wait");
	c = server_at(tb, listener, CONNECTED);
	if (!still_right())
		return;
	say_dreq(tb, c->qp->qp_num);
	expect_cm(c, IB_CM_DREQ_RECEIVED);
	must(ib_send_cm_drep(c->id, NULL, 0));
	next(tb, CM_ATTR_DREP);
	expect_state(c, IB_CM_TIMEWAIT);
	send_mad(tb, my.end, &smp);
	rej_is(tb, CM_REASON_STALE_CONN, CM_MESSAGE_REQ, 0, MINE);
	expect_equal(listener->count, 0);
	ends(tb, c);
}

/* Messages that name another communication id than the peer's, or what has long been answered. */
static void not_for_it(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	struct conn *c = server_at(tb, listener, ANSWERED), *idle;

	phase("messages of somebody else");
	say(tb, CM_ATTR_RTU, OTHER);
	expect_state(c, IB_CM_REP_SENT);
	say_rej(tb, OTHER, CM_MESSAGE_REP);
	expect_state(c, IB_CM_REP_SENT);
	say(tb, CM_ATTR_RTU, MINE);
	expect_cm(c, IB_CM_RTU_RECEIVED);
	say_rej(tb, OTHER, CM_MESSAGE_OTHER);
	say(tb, CM_ATTR_DREP, MINE);
	expect_state(c, IB_CM_ESTABLISHED);
	nothing(tb);
	ends(tb, c);

	phase("a client's connection that others know");
	c = client_at(tb, path, CONNECTED);
	say_rej(tb, MINE, CM_MESSAGE_REQ); /* an old copy of its REQ was rejected */
	expect_state(c, IB_CM_ESTABLISHED);
	say_rep(tb, OTHER, my.theirs);
	nothing(tb);
	say_rep(tb, MINE, my.theirs);
	next(tb, CM_ATTR_RTU);
	say_rej(tb, OTHER, CM_MESSAGE_OTHER);
	expect_state(c, IB_CM_ESTABLISHED);
	expect_equal(c ? c->count : 0, 0);
	say_rej(tb, MINE, CM_MESSAGE_OTHER);
	expect_cm(c, IB_CM_REJ_RECEIVED);
	expect_state(c, IB_CM_TIMEWAIT);
	ends(tb, c);

	phase("a REP for nobody, a listener, an id that asks nobody");
	my.n = my.taken = 0;
	idle = conn_new(my.to);
	if (!still_right())
		return;
	my.theirs = be32toh(idle->id->local_id);
	say_rep(tb, MINE, my.theirs);
	rej_is(tb, CM_REASON_INVALID_COMM_ID, CM_MESSAGE_REP, my.theirs, MINE);
	say_rep(tb, MINE, be32toh(listener->id->local_id));
	rej_is(tb, CM_REASON_INVALID_COMM_ID, CM_MESSAGE_REP, be32toh(listener->id->local_id),
	       MINE);
	ends(tb, idle);
	say_rep(tb, MINE, my.theirs);
	rej_is(tb, CM_REASON_INVALID_COMM_ID, CM_MESSAGE_REP, my.theirs, MINE);
}

/* The wait of 34 ms begins anew with the second MRA. */
static void mra_again(struct tb *tb, const struct sa_path_rec *path)
{
	struct conn *c = client_at(tb, path, ASKED_WAITS);

	phase("an MRA that comes again");
	pass_time(CFG_MS(25));
	say_mra(tb, CM_MESSAGE_REQ);
	expect_equal(c ? c->count : 0, 0);
	pass_time(CFG_MS(30));
	expect_equal(my.n, my.taken);
	pass_time(CFG_MS(20));
	next(tb, CM_ATTR_REQ);
	ends(tb, c);
}

/* Host a asks twice, and b itself has the same number. When the answer has been lost, a asks anew, and the id that
 * has answered is still there. */
static void questions(struct tb *tb, struct conn *listener)
{
	const struct ib_cm_sidr_rep_param found = {.qp_num = QPN, .status = IB_SIDR_SUCCESS};
	struct ib_cm_id *id;

	phase("questions with the same number");
	my.n = my.taken = 0;
	say_question(tb, my.end, MINE);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	id = listener->last.id;
	say_question(tb, my.end, MINE);
	expect_equal(listener->count, 0);
	say_question(tb, my.to, MINE);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener->last.id);
	must(ib_send_cm_sidr_rep(id, &found));
	next(tb, CM_ATTR_SIDR_REP);
	say_question(tb, my.end, MINE);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener->last.id);
	next(tb, CM_ATTR_SIDR_REP);
	ib_destroy_cm_id(id);
	nothing(tb);
}

static void say_found(struct tb *tb, uint32_t number, unsigned version)
{
	struct smp smp;
	struct cm_sidr_rep *rep = (struct cm_sidr_rep *)&smp;

	to_send(&smp, CM_ATTR_SIDR_REP);
	mad_hdr_set_class_version(smp_hdr(&smp), version);
	cm_sidr_rep_set_request_id(rep, number);
	cm_sidr_rep_set_service_id(rep, SERVICE);
	cm_sidr_rep_set_qpn(rep, QPN);
	send_mad(tb, my.end, &smp);
}

static void versions(struct tb *tb, const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_req_param sidr = {
		.path = path, .service_id = htobe64(SERVICE), .timeout_ms = 50};
	struct conn *c = conn_new(my.to);

	phase("an answer of another class version");
	if (!still_right())
		return;
	my.n = my.taken = 0;
	must(ib_send_cm_sidr_req(c->id, &sidr));
	next(tb, CM_ATTR_SIDR_REQ);
	say_found(tb, be32toh(c->id->local_id), CM_CLASS_VERSION + 1);
	expect_state(c, IB_CM_SIDR_REQ_SENT);
	say_found(tb, be32toh(c->id->local_id), CM_CLASS_VERSION);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	conn_end(c);
}

/* A REQ that has the other half of an alternate path has none. */
static void alternates(struct tb *tb, struct conn *listener)
{
	struct conn *server;
	struct smp smp;

	phase("alternate paths");
	my.n = my.taken = 0;
	req_fill(tb, &smp, SERVICE, guid, QPN);
	cm_path_set_remote_lid(cm_req_alternate((struct cm_req *)&smp), my.to->lid);
	send_mad(tb, my.end, &smp);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_true(!listener->last.cm.param.req_rcvd.alternate_path);
	expect_equal(server->id->lap_state, IB_CM_LAP_UNINIT);
	ends(tb, server);
	path_fill(tb, cm_req_alternate((struct cm_req *)&smp), PORT);
	send_mad(tb, my.end, &smp);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_equal(server->id->lap_state, IB_CM_LAP_IDLE);
	ends(tb, server);
}

/* While a LAP is under way nobody knows which path is the alternate one. */
static void migrates(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	struct conn *server = server_at(tb, listener, CONNECTED);
	struct ib_qp_attr attr = {.qp_state = IB_QPS_RTS};
	struct smp smp;
	int mask;

	phase("a migration while a LAP is under way");
	if (!still_right())
		return;
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		if (!i)
			must_fail(-EINVAL, ib_cm_notify(server->id, IB_EVENT_PATH_MIG));
		must(ib_send_cm_lap(server->id, path, NULL, 0));
		to_send(&smp, CM_ATTR_APR);
		mad_hdr_set_tid(smp_hdr(&smp),
				mad_hdr_get_tid(smp_hdr_const(next(tb, CM_ATTR_LAP))));
		if (i) {
			must_fail(-EINVAL, ib_cm_notify(server->id, IB_EVENT_PATH_MIG));
			/* the path of the first one is still to be loaded; Linux cm_init_qp_rts_attr */
			must(ib_cm_init_qp_attr(server->id, &attr, &mask));
			expect_equal(mask, IB_QP_STATE | IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
		}
		ids(&smp, MINE, my.theirs);
		send_mad(tb, my.end, &smp);
		expect_cm(server, IB_CM_APR_RECEIVED);
	}
	must(ib_cm_notify(server->id, IB_EVENT_PATH_MIG));
	expect_equal(be64toh(server->id->service_id), SERVICE);
	ends(tb, server);
}

/* This side has b's GUID, so the queue pair numbers decide. */
static void peers(struct tb *tb, const struct sa_path_rec *path)
{
	static const struct {
		const char *name;
		int qpn; /* beyond b's */
		unsigned port;
		bool passive, rejected;
	} rows[] = {{"of a larger queue pair", 1, PORT, true, false},
		    {"of a smaller queue pair", -1, PORT, false, false},
		    {"through another port", 1, PORT + 1, false, true}};
	struct conn *c;
	struct smp smp;

	phase("peers");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		c = conn_new(my.to);
		my.n = my.taken = 0;
		conn_request(c, .service = PEERS, .path = path, .response_timeout = CODE,
			     .retries = 5, .peer_to_peer = true);
		next(tb, CM_ATTR_REQ);
		if (!still_right())
			return;
		req_fill(tb, &smp, PEERS, ib_device_of(my.to)->attrs.node_guid,
			 (uint32_t)((int)c->qp->qp_num + rows[i].qpn));
		path_fill(tb, cm_req_primary((struct cm_req *)&smp), rows[i].port);
		send_mad(tb, my.end, &smp);
		if (rows[i].passive)
			expect_cm(c, IB_CM_REQ_RECEIVED);
		if (rows[i].rejected)
			rej_is(tb, CM_REASON_INVALID_SERVICE_ID, CM_MESSAGE_REQ, 0, MINE);
		nothing(tb);
		expect_state(c, rows[i].passive ? IB_CM_REQ_RCVD : IB_CM_REQ_SENT);
		expect_equal(c->count, 0);
		/* who is active goes on asking */
		pass_time(CFG_MS(80));
		if (!rows[i].passive)
			next(tb, CM_ATTR_REQ);
		expect_equal(my.n, my.taken);
		ends(tb, c);
	}
}

/* A REQ comes through one port, and asks for a connection by the other one, to which the connection belongs.
 * Source: Linux cm_format_req_event */
static void by_other_port(struct tb *tb, struct conn *listener)
{
	struct conn *server;
	struct smp smp;

	phase("a path of the other port");
	my.n = my.taken = 0;
	req_fill(tb, &smp, SERVICE, guid, QPN);
	path_fill(tb, cm_req_primary((struct cm_req *)&smp), PORT + 1);
	send_mad(tb, my.end, &smp);
	server = conn_accept(listener);
	if (!still_right())
		return;
	expect_equal(server->last.cm.param.req_rcvd.port, PORT + 1);
	ends(tb, server);
}

/* What has been asked is known when it comes again, though its listener has gone meanwhile. */
static void listener_gone(struct tb *tb, struct conn *listener)
{
	struct conn *server = server_at(tb, listener, ASKED);
	struct ib_cm_sidr_rep_param found = {.qp_num = QPN, .status = IB_SIDR_SUCCESS};
	struct ib_cm_id *id;
	struct smp smp;

	phase("asked again, and nobody listens any more");
	say_question(tb, my.end, OTHER);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	id = listener->last.id;
	conn_end(listener);
	say_question(tb, my.end, OTHER);
	req_fill(tb, &smp, SERVICE, guid, QPN);
	send_mad(tb, my.end, &smp);
	nothing(tb);
	must(ib_send_cm_sidr_rep(id, &found));
	expect_equal(cm_sidr_rep_get_status((const void *)next(tb, CM_ATTR_SIDR_REP)),
		     CM_SIDR_SUCCESS);
	ib_destroy_cm_id(id);
	conn_reply(server);
	next(tb, CM_ATTR_REP);
	ends(tb, server);
}

static void ack_timeouts(struct tb *tb, struct sa_path_rec path)
{
	struct conn *c = conn_new(my.to);
	const struct cm_req *req;

	phase("the largest ACK timeout");
	my.n = my.taken = 0;
	path.packet_life_time = LIFE_LONG;
	conn_request(c, .service = SERVICE, .path = &path);
	req = (const struct cm_req *)next(tb, CM_ATTR_REQ);
	expect_equal(cm_path_get_ack_timeout(cm_req_primary_const(req)), LIFE_LONG + 1);
	ends(tb, c);
}

SCENARIO(cm_by_hand, "one side of connections is written by hand", .no_qps = true,
	 .any_packets = true, .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct sa_path_rec path;
	struct conn *listener;

	by_hand(tb, a, &path);
	if (!still_right())
		return;
	listener = conn_listen(b, SERVICE);
	rejects(tb, listener, &path);
	req_again(tb, listener);
	not_for_it(tb, listener, &path);
	mra_again(tb, &path);
	questions(tb, listener);
	versions(tb, &path);
	alternates(tb, listener);
	migrates(tb, listener, &path);
	peers(tb, &path);
	by_other_port(tb, listener);
	ack_timeouts(tb, path);
	listener_gone(tb, listener);
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_CM);
}
