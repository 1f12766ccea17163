/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer, written by hand, gives up in each state: it rejects for a time-out, with or without the
 * communication id that it may not know, or for another reason; and it says so in the name of somebody
 * else. Both sides disconnect at once. A DREQ comes before its RTU, or where there is nothing to end.
 * An MRA makes each message wait, if it is about that message. A REP that comes again gets the answer it had.
 * The answers of a LAP have its number. Two connections cannot have one queue pair of the peer.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12.9-duplicates IBA-12.9-mra IBA-12.9.8.3.1-stale IBA-12.9-timewait */
#include "testbench/scenarios/connect/by_hand.h"

enum { LONG_AGO_MS = 80, LAP_TID = 0x1234, STEPS = 4 };

struct gives_up {
	const char *name;
	bool client;
	enum step step;
	uint32_t local;
	bool names_it;
	enum cm_message of;
	unsigned reason;
	uint64_t ca;
	bool told;
	enum ib_cm_state then;
};

static void gives_up(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	const unsigned late = CM_REASON_TIMEOUT, own = CM_REASON_CONSUMER_DEFINED,
		       stale = CM_REASON_STALE_CONN;
	const enum cm_message req = CM_MESSAGE_REQ, rep = CM_MESSAGE_REP, other = CM_MESSAGE_OTHER;
	const struct gives_up rows[] = {
		{"REQ", 0, ASKED, MINE, 0, other, late, guid, 1, IB_CM_IDLE},
		{"MRA", 0, ASKED_WAITS, MINE, 0, other, late, guid, 1, IB_CM_IDLE},
		{"REP", 0, ANSWERED, MINE, 0, other, late, guid, 1, IB_CM_IDLE},
		{"MRA of the REP", 0, ANSWERED_WAITS, MINE, 0, other, late, guid, 1, IB_CM_IDLE},
		{"RTU", 0, CONNECTED, MINE, 0, other, late, guid, 1, IB_CM_TIMEWAIT},
		{"DREQ", 0, CLOSES, MINE, 1, other, own, 0, 1, IB_CM_TIMEWAIT},
		{"by its id", 0, ANSWERED, MINE, 1, other, late, 0, 1, IB_CM_IDLE},
		{"stale", 0, ANSWERED, MINE, 1, rep, stale, 0, 1, IB_CM_TIMEWAIT},
		{"another CA", 0, ASKED, MINE, 0, other, late, guid + 1, 0, IB_CM_REQ_RCVD},
		{"another id", 0, ASKED, OTHER, 0, other, late, guid, 0, IB_CM_REQ_RCVD},
		{"no time-out", 0, ASKED, MINE, 0, other, own, guid, 0, IB_CM_REQ_RCVD},
		{"another, by its id", 0, ANSWERED, OTHER, 1, other, late, guid, 0, IB_CM_REP_SENT},
		{"before a REP", 1, ASKED, OTHER, 1, other, late, guid, 1, IB_CM_IDLE},
		{"after an MRA", 1, ASKED_WAITS, OTHER, 1, other, late, guid, 1, IB_CM_IDLE},
		{"REQ refused", 1, ASKED, 0, 1, req, own, 0, 1, IB_CM_IDLE},
		{"REQ refused late", 1, ASKED_WAITS, MINE, 1, req, own, 0, 1, IB_CM_IDLE},
		{"REQ is stale", 1, ASKED, 0, 1, req, stale, 0, 1, IB_CM_TIMEWAIT},
		{"another REP", 1, ANSWERED, OTHER, 1, other, late, guid, 0, IB_CM_REP_RCVD},
		{"an old REQ", 1, ANSWERED, MINE, 1, req, own, 0, 0, IB_CM_REP_RCVD},
		{"its REP", 1, ANSWERED, MINE, 1, other, late, guid, 1, IB_CM_IDLE},
		{"its MRA", 1, ANSWERED_WAITS, MINE, 1, other, late, guid, 1, IB_CM_IDLE},
	};
	struct conn *c;

	phase("the peer gives up");
	for_each_row(i, rows) {
		const struct gives_up *r = &rows[i];

		name_row("%s", r->name);
		c = r->client ? client_at(tb, path, r->step) : server_at(tb, listener, r->step);
		if (!still_right())
			return;
		say_gives_up(tb, r->local, r->names_it ? my.theirs : 0, r->of, r->reason, r->ca);
		expect_state(c, r->then);
		expect_equal(c->count, r->told);
		if (r->told) {
			expect_cm(c, IB_CM_REJ_RECEIVED);
			expect_equal(c->last.cm.param.rej_rcvd.reason, r->reason);
			expect_equal(c->last.cm.param.rej_rcvd.ari_length, 8);
			expect_equal(be64_load(c->last.info), r->ca);
			expect_true(!memcmp(c->last.data, "bye", 4));
		}
		/* a rejection gets no answer */
		expect_equal(my.n, my.taken);
		ends(tb, c);
	}
}

/* The DREPs of a DREQ: to whom they go, and that they answer it. */
static void drep_is(struct tb *tb, uint32_t local, uint32_t remote)
{
	const struct smp *smp = next(tb, CM_ATTR_DREP);
	const struct cm_drep *drep = (const struct cm_drep *)smp;

	expect_equal(cm_drep_get_local_comm_id(drep), local);
	expect_equal(cm_drep_get_remote_comm_id(drep), remote);
	expect_equal(tid_of(smp), TID);
}

struct disconnect {
	const char *name;
	enum step step;
	unsigned more; /* of the queue pair's number */
	bool told;
	enum ib_cm_state then;
};

static void disconnect(struct tb *tb, struct conn *listener, const struct disconnect *row)
{
	struct conn *c = server_at(tb, listener, row->step);

	if (!still_right())
		return;
	say_dreq(tb, c->qp->qp_num + row->more);
	expect_equal(c->count, row->told);
	expect_state(c, row->then);
	expect_equal(my.n, my.taken);
	if (row->told) {
		expect_cm(c, IB_CM_DREQ_RECEIVED);
		/* what had been sent before does not come again */
		pass_time(CFG_MS(LONG_AGO_MS));
		expect_equal(my.n, my.taken);
		say_dreq(tb, c->qp->qp_num);
		expect_equal(c->count, 0);
		expect_equal(my.n, my.taken);
		must(ib_send_cm_drep(c->id, NULL, 0));
		drep_is(tb, my.theirs, MINE);
		expect_state(c, IB_CM_TIMEWAIT);
		say_dreq(tb, c->qp->qp_num);
		drep_is(tb, my.theirs, MINE);
		say(tb, CM_ATTR_DREP, MINE);
		expect_equal(c->count, 0);
	}
	ends(tb, c);
}

/* A message of the peer while b waits for a DREP, or behind that. */
struct step_to_end {
	enum cm_attr attr; /* 0: no more */
	uint32_t by;
	enum ib_cm_event_type event; /* if `told`; what is not counts as repeated */
	bool told, answered;
	enum ib_cm_state then;
};

static void close_by(struct tb *tb, struct conn *listener, const struct step_to_end *steps)
{
	struct conn *c = server_at(tb, listener, CLOSES);
	struct ib_cm_counters before = {0}, after = {0};

	for (unsigned i = 0; i < STEPS && steps[i].attr && still_right(); i++) {
		const unsigned kind = steps[i].attr - CM_ATTR_REQ;

		must(ib_cm_query_counters(ib_device_of(my.to), &before));
		if (steps[i].attr == CM_ATTR_DREQ)
			say_dreq(tb, c->qp->qp_num);
		else
			say(tb, steps[i].attr, steps[i].by);
		must(ib_cm_query_counters(ib_device_of(my.to), &after));
		expect_equal(after.rx_duplicates[kind] - before.rx_duplicates[kind],
			     !steps[i].told);
		if (steps[i].told)
			expect_cm(c, steps[i].event);
		if (steps[i].answered)
			drep_is(tb, my.theirs, MINE);
		expect_equal(c->count, 0);
		expect_equal(my.n, my.taken);
		expect_state(c, steps[i].then);
	}
	ends(tb, c);
}

static void disconnects(struct tb *tb, struct conn *listener)
{
	static const struct disconnect rows[] = {
		{"after REQ", ASKED, 0, false, IB_CM_REQ_RCVD},
		{"after MRA", ASKED_WAITS, 0, false, IB_CM_MRA_REQ_SENT},
		{"before RTU", ANSWERED, 0, true, IB_CM_DREQ_RCVD},
		{"before RTU, after MRA", ANSWERED_WAITS, 0, true, IB_CM_DREQ_RCVD},
		{"another queue pair, before RTU", ANSWERED, 1, false, IB_CM_REP_SENT},
		{"connected", CONNECTED, 0, true, IB_CM_DREQ_RCVD},
		{"another queue pair", CONNECTED, 1, false, IB_CM_ESTABLISHED},
		{"both at once", CLOSES, 0, true, IB_CM_DREQ_RCVD}};
	static const struct step_to_end both[STEPS] =
		{{CM_ATTR_DREQ, MINE, IB_CM_DREQ_RECEIVED, true, false, IB_CM_DREQ_RCVD},
		 {CM_ATTR_DREP, OTHER, 0, false, false, IB_CM_DREQ_RCVD},
		 {CM_ATTR_DREP, MINE, IB_CM_DREP_RECEIVED, true, false, IB_CM_TIMEWAIT},
		 {CM_ATTR_DREP, MINE, 0, false, false, IB_CM_TIMEWAIT}},
					late[STEPS] = {{CM_ATTR_DREP, MINE, IB_CM_DREP_RECEIVED,
							true, false, IB_CM_TIMEWAIT},
						       {CM_ATTR_DREQ, MINE, 0, false, true,
							IB_CM_TIMEWAIT}};

	phase("a DREQ");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		disconnect(tb, listener, &rows[i]);
	}
	name_row("both at once, and both answer");
	close_by(tb, listener, both);
	name_row("it has ended, and the peer ends it");
	close_by(tb, listener, late);
	name_row("for nobody");
	my.n = my.taken = 0;
	my.theirs = OTHER;
	say_dreq(tb, 1);
	drep_is(tb, OTHER, MINE);
}

/* An MRA is about one message. The wait of the REP is 34 and 17 ms then, and not 67 and 17. */
static void waits(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	struct conn *c = client_at(tb, path, ASKED);

	phase("an MRA");
	name_row("%s", "");
	say_mra(tb, CM_MESSAGE_REP);
	say_mra(tb, CM_MESSAGE_OTHER);
	expect_state(c, IB_CM_REQ_SENT);
	expect_equal(c ? c->count : 0, 0);
	ends(tb, c);
	c = server_at(tb, listener, ANSWERED);
	if (!still_right())
		return;
	my.tid = TID;
	say_mra(tb, CM_MESSAGE_REQ);
	say_mra(tb, CM_MESSAGE_OTHER);
	expect_state(c, IB_CM_REP_SENT);
	expect_equal(c->count, 0);
	say_mra(tb, CM_MESSAGE_REP);
	expect_cm(c, IB_CM_MRA_RECEIVED);
	expect_equal(c->last.cm.param.mra_rcvd.service_timeout, MRA_CODE);
	pass_time(CFG_MS(40));
	say_mra(tb, CM_MESSAGE_REP);
	expect_state(c, IB_CM_MRA_REP_RCVD);
	expect_equal(c->count, 0);
	pass_time(CFG_MS(49));
	expect_equal(my.n, my.taken);
	pass_time(CFG_MS(3));
	next(tb, CM_ATTR_REP);
	say(tb, CM_ATTR_RTU, MINE);
	expect_cm(c, IB_CM_RTU_RECEIVED);
	/* of no LAP, and of one */
	say_mra(tb, CM_MESSAGE_OTHER);
	expect_equal(c->count, 0);
	if (still_right())
		must(ib_send_cm_lap(c->id, path, NULL, 0));
	next(tb, CM_ATTR_LAP);
	say_mra(tb, CM_MESSAGE_REP);
	expect_equal(c->id->lap_state, IB_CM_LAP_SENT);
	for (unsigned i = 0; i < 2; i++) {
		say_mra(tb, CM_MESSAGE_OTHER);
		expect_equal(c->id->lap_state, IB_CM_MRA_LAP_RCVD);
		expect_equal(c->count, !i);
		if (!i)
			expect_cm(c, IB_CM_MRA_RECEIVED);
		pass_time(CFG_MS(40));
		expect_equal(my.n, my.taken);
	}
	pass_time(CFG_MS(20));
	next(tb, CM_ATTR_LAP);
	ends(tb, c);
}

/* A REP comes again: what answered it comes again, and nothing else that was said since. */
static void rep_again(struct tb *tb, const struct sa_path_rec *path)
{
	struct conn *c = client_at(tb, path, ANSWERED);
	struct smp smp;

	phase("a REP that comes again");
	name_row("%s", "");
	say_rep(tb, MINE, my.theirs);
	nothing(tb);
	expect_equal(c ? c->count : 0, 0);
	ends(tb, c);
	c = client_at(tb, path, ANSWERED_WAITS);
	say_rep(tb, MINE, my.theirs);
	next(tb, CM_ATTR_MRA);
	nothing(tb);
	ends(tb, c);
	c = client_at(tb, path, CONNECTED);
	if (!still_right())
		return;
	say_rep(tb, MINE, my.theirs);
	next(tb, CM_ATTR_RTU);
	expect_equal(c->count, 0);
	to_send(&smp, CM_ATTR_LAP);
	ids(&smp, MINE, my.theirs);
	cm_lap_set_remote_qpn((struct cm_lap *)&smp, c->qp->qp_num + 1);
	memcpy(cm_lap_path_remote_gid_ptr(cm_lap_alternate((struct cm_lap *)&smp)), path->sgid.raw,
	       sizeof(path->sgid.raw));
	send_mad(tb, my.end, &smp);
	next(tb, CM_ATTR_APR);
	say_rep(tb, MINE, my.theirs);
	nothing(tb);
	must(ib_send_cm_dreq(c->id, NULL, 0));
	next(tb, CM_ATTR_DREQ);
	say_rep(tb, MINE, my.theirs);
	nothing(tb);
	expect_equal(c->count, 0);
	ends(tb, c);
}

/* The queue pair that a REP names is connected here already. */
static void stale(struct tb *tb, const struct sa_path_rec *path)
{
	struct conn *old = client_at(tb, path, CONNECTED), *c;
	const uint32_t first = my.theirs;
	const struct cm_dreq *dreq;

	phase("a queue pair that has a connection");
	name_row("%s", "");
	c = client_at(tb, path, ASKED);
	say_rep(tb, OTHER, my.theirs);
	rej_is(tb, CM_REASON_STALE_CONN, CM_MESSAGE_REP, my.theirs, OTHER);
	dreq = (const struct cm_dreq *)next(tb, CM_ATTR_DREQ);
	expect_equal(cm_dreq_get_local_comm_id(dreq), first);
	expect_equal(cm_dreq_get_remote_comm_id(dreq), MINE);
	expect_equal(cm_dreq_get_remote_qpn(dreq), QPN);
	expect_cm(c, IB_CM_REQ_ERROR);
	if (still_right())
		expect_equal(c->last.cm.param.send_status, IBV_WC_GENERAL_ERR);
	expect_state(c, IB_CM_IDLE);
	expect_state(old, IB_CM_DREQ_SENT);
	expect_equal(old ? old->count : 0, 0);
	ends(tb, c);
	ends(tb, old);
}

/* What answers a LAP has the number of that LAP, and says what it is about. */
static void lap_answers(struct tb *tb, struct conn *listener)
{
	struct conn *c = server_at(tb, listener, CONNECTED);
	const struct cm_mra *mra;
	const struct smp *answer;
	struct cm_path path = {{0}};
	struct smp smp;
	struct cm_lap_path *way = cm_lap_alternate((struct cm_lap *)&smp);

	phase("answers of a LAP");
	if (!still_right())
		return;
	path_fill(tb, &path, PORT);
	to_send(&smp, CM_ATTR_LAP);
	mad_hdr_set_tid(smp_hdr(&smp), LAP_TID);
	ids(&smp, MINE, my.theirs);
	cm_lap_set_remote_qpn((struct cm_lap *)&smp, c->qp->qp_num);
	memcpy(cm_lap_path_local_gid_ptr(way), cm_path_local_gid_ptr(&path), 16);
	memcpy(cm_lap_path_remote_gid_ptr(way), cm_path_remote_gid_ptr(&path), 16);
	cm_lap_path_set_local_lid(way, my.end->lid);
	cm_lap_path_set_remote_lid(way, my.to->lid);
	cm_lap_path_set_packet_rate(way, IB_RATE_10_GBPS);
	cm_lap_path_set_ack_timeout(way, 12);
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_LAP_RECEIVED);
	if (!still_right())
		return;
	must(ib_send_cm_mra(c->id, MRA_CODE, NULL, 0));
	for (unsigned i = 0; i < 2; i++) {
		answer = next(tb, CM_ATTR_MRA);
		mra = (const struct cm_mra *)answer;
		expect_equal(tid_of(answer), LAP_TID);
		expect_equal(cm_mra_get_message_mraed(mra), CM_MESSAGE_OTHER);
		expect_equal(cm_mra_get_service_timeout(mra), MRA_CODE);
		expect_equal(cm_mra_get_local_comm_id(mra), my.theirs);
		expect_equal(cm_mra_get_remote_comm_id(mra), MINE);
		/* it comes again, and is answered again */
		if (!i)
			send_mad(tb, my.end, &smp);
	}
	must(ib_send_cm_apr(c->id, IB_CM_APR_SUCCESS, NULL, 0, NULL, 0));
	for (unsigned i = 0; i < 2; i++) {
		expect_equal(tid_of(next(tb, CM_ATTR_APR)), LAP_TID);
		if (!i)
			send_mad(tb, my.end, &smp);
	}
	expect_equal(c->count, 0);
	/* a new one is told, and its answer has its own number */
	mad_hdr_set_tid(smp_hdr(&smp), LAP_TID + 1);
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_LAP_RECEIVED);
	if (!still_right())
		return;
	must(ib_send_cm_apr(c->id, IB_CM_APR_REJECT, NULL, 0, NULL, 0));
	expect_equal(tid_of(next(tb, CM_ATTR_APR)), LAP_TID + 1);
	ends(tb, c);
}

/* The peer of a LAP has as long for its answer as it has said in its REQ. */
static void lap_timeout(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	struct conn *c;
	struct smp smp;

	my.n = my.taken = 0;
	req_fill(tb, &smp, SERVICE, guid, QPN);
	cm_req_set_local_cm_response_timeout((struct cm_req *)&smp, CODE + 1);
	send_mad(tb, my.end, &smp);
	c = conn_accept(listener);
	if (!still_right())
		return;
	my.theirs = be32toh(c->id->local_id);
	conn_reply(c);
	next(tb, CM_ATTR_REP);
	say(tb, CM_ATTR_RTU, MINE);
	expect_cm(c, IB_CM_RTU_RECEIVED);
	if (still_right())
		must(ib_send_cm_lap(c->id, path, NULL, 0));
	expect_equal(
		cm_lap_get_remote_cm_response_timeout((const struct cm_lap *)next(tb, CM_ATTR_LAP)),
		CODE + 1);
	ends(tb, c);
}

/* The queue pair has heard of the peer before its RTU came. */
static void established(struct tb *tb, struct conn *listener)
{
	struct conn *c;

	phase("a queue pair that has heard of its peer");
	for (enum step step = ASKED; step <= CONNECTED && still_right(); step++) {
		name_row("step %u", step);
		c = server_at(tb, listener, step);
		if (!still_right())
			return;
		if (step < ANSWERED)
			must_fail(-EINVAL, ib_cm_notify(c->id, IB_EVENT_COMM_EST));
		else if (step == CONNECTED)
			must_fail(-EISCONN, ib_cm_notify(c->id, IB_EVENT_COMM_EST));
		else
			must(ib_cm_notify(c->id, IB_EVENT_COMM_EST));
		if (step == ANSWERED || step == ANSWERED_WAITS) {
			/* at once, whatever else is due */
			pass_time(CFG_US(SOON_US));
			expect_equal(c->count, 1);
			expect_cm(c, IB_CM_USER_ESTABLISHED);
			expect_state(c, IB_CM_ESTABLISHED);
			must_fail(-EISCONN, ib_cm_notify(c->id, IB_EVENT_COMM_EST));
			say(tb, CM_ATTR_RTU, MINE);
			pass_time(CFG_MS(LONG_AGO_MS));
			expect_equal(my.n, my.taken);
		}
		expect_equal(c->count, 0);
		ends(tb, c);
	}
	name_row("%s", "");
}

SCENARIO(cm_by_hand_ends, "the peer of connections, written by hand, ends them in each state",
	 .no_qps = true, .any_packets = true)
{
	struct sa_path_rec path;
	struct conn *listener;

	by_hand(tb, a, &path);
	if (!still_right())
		return;
	listener = conn_listen(b, SERVICE);
	gives_up(tb, listener, &path);
	disconnects(tb, listener);
	waits(tb, listener, &path);
	rep_again(tb, &path);
	stale(tb, &path);
	lap_answers(tb, listener);
	lap_timeout(tb, listener, &path);
	established(tb, listener);
	name_row("%s", "");
	conn_end(listener);
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_CM);
}
