/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer, written by hand, gives up in each state: it rejects for a time-out, with or without the
 * communication id that it may not know, or for another reason; and it says so in the name of somebody
 * else. Both sides disconnect at once. A DREQ comes before its RTU, or where there is nothing to end.
 * An MRA makes each message wait, if it is about that message. A REP that comes again gets the answer it had.
 * The answers of a LAP have its number. Two connections cannot have one queue pair of the peer. Lengths of additional information are cut.
 * The attributes of a queue pair are there as soon as its peer is known, and are those of its type.
 * Transports that are none are rejected; of two peers the GUID counts before the queue pair's number.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12.9-duplicates IBA-12.9-mra IBA-12.9.8.3.1-stale IBA-12.9-timewait */
#include "testbench/scenarios/connect/by_hand.h"

enum { INFO_LONG = 100, LONG_AGO_MS = 80, SL = 3, LAP_TID = 0x1234 };

static uint64_t tid_of(const struct smp *smp)
{
	return mad_hdr_get_tid(smp_hdr_const(smp));
}

static void say_gives_up(struct tb *tb, uint32_t local, uint32_t remote, enum cm_message of,
			 unsigned reason, uint64_t ca)
{
	struct smp smp;
	struct cm_rej *rej = (struct cm_rej *)&smp;

	to_send(&smp, CM_ATTR_REJ);
	ids(&smp, local, remote);
	cm_rej_set_message_rejected(rej, of);
	cm_rej_set_reason(rej, reason);
	cm_rej_set_info_length(rej, 8);
	be64_store(cm_rej_ari_ptr(rej), ca);
	memcpy(cm_rej_private_data_ptr(rej), "bye", 4);
	send_mad(tb, my.end, &smp);
}

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

static void disconnects(struct tb *tb, struct conn *listener)
{
	static const struct {
		const char *name;
		enum step step;
		unsigned more; /* of the queue pair's number */
		bool told;
		enum ib_cm_state then;
	} rows[] = {{"after REQ", ASKED, 0, false, IB_CM_REQ_RCVD},
		    {"after MRA", ASKED_WAITS, 0, false, IB_CM_MRA_REQ_SENT},
		    {"before RTU", ANSWERED, 0, true, IB_CM_DREQ_RCVD},
		    {"before RTU, after MRA", ANSWERED_WAITS, 0, true, IB_CM_DREQ_RCVD},
		    {"another queue pair, before RTU", ANSWERED, 1, false, IB_CM_REP_SENT},
		    {"connected", CONNECTED, 0, true, IB_CM_DREQ_RCVD},
		    {"another queue pair", CONNECTED, 1, false, IB_CM_ESTABLISHED},
		    {"both at once", CLOSES, 0, true, IB_CM_DREQ_RCVD}};
	struct ib_cm_counters before, after;
	struct conn *c;

	phase("a DREQ");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		c = server_at(tb, listener, rows[i].step);
		if (!still_right())
			return;
		say_dreq(tb, c->qp->qp_num + rows[i].more);
		expect_equal(c->count, rows[i].told);
		expect_state(c, rows[i].then);
		expect_equal(my.n, my.taken);
		if (rows[i].told) {
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
	name_row("both at once, and both answer");
	c = server_at(tb, listener, CLOSES);
	if (!still_right())
		return;
	say_dreq(tb, c->qp->qp_num);
	expect_cm(c, IB_CM_DREQ_RECEIVED);
	say(tb, CM_ATTR_DREP, OTHER);
	expect_state(c, IB_CM_DREQ_RCVD);
	say(tb, CM_ATTR_DREP, MINE);
	expect_cm(c, IB_CM_DREP_RECEIVED);
	expect_state(c, IB_CM_TIMEWAIT);
	must(ib_cm_query_counters(ib_device_of(my.to), &before));
	say(tb, CM_ATTR_DREP, MINE);
	must(ib_cm_query_counters(ib_device_of(my.to), &after));
	expect_equal(after.rx_duplicates[IB_CM_MSG_DREP], before.rx_duplicates[IB_CM_MSG_DREP] + 1);
	expect_equal(c->count, 0);
	ends(tb, c);
	name_row("it has ended, and the peer ends it");
	c = server_at(tb, listener, CLOSES);
	if (!still_right())
		return;
	say(tb, CM_ATTR_DREP, MINE);
	expect_cm(c, IB_CM_DREP_RECEIVED);
	say_dreq(tb, c->qp->qp_num);
	drep_is(tb, my.theirs, MINE);
	expect_state(c, IB_CM_TIMEWAIT);
	expect_equal(c->count, 0);
	ends(tb, c);
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

/* Additional information is no longer than its field. */
static void lengths(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_req_param sidr = {
		.path = path, .service_id = htobe64(SERVICE), .timeout_ms = 50};
	struct conn *c = server_at(tb, listener, ANSWERED);
	struct smp smp;

	phase("lengths");
	name_row("%s", "");
	to_send(&smp, CM_ATTR_REJ);
	ids(&smp, MINE, my.theirs);
	cm_rej_set_message_rejected((struct cm_rej *)&smp, CM_MESSAGE_REP);
	cm_rej_set_info_length((struct cm_rej *)&smp, INFO_LONG);
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_REJ_RECEIVED);
	expect_equal(c ? c->last.cm.param.rej_rcvd.ari_length : 0, IB_CM_REJ_ARI_LENGTH);
	ends(tb, c);
	c = server_at(tb, listener, CONNECTED);
	if (!still_right())
		return;
	must(ib_send_cm_lap(c->id, path, NULL, 0));
	to_send(&smp, CM_ATTR_APR);
	mad_hdr_set_tid(smp_hdr(&smp), tid_of(next(tb, CM_ATTR_LAP)));
	ids(&smp, MINE, my.theirs);
	cm_apr_set_info_length((struct cm_apr *)&smp, INFO_LONG);
	cm_apr_set_ap_status((struct cm_apr *)&smp, IB_CM_APR_REJECT);
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_APR_RECEIVED);
	expect_equal(c->last.cm.param.apr_rcvd.info_len, IB_CM_APR_INFO_LENGTH);
	expect_equal(c->last.cm.param.apr_rcvd.ap_status, IB_CM_APR_REJECT);
	ends(tb, c);
	c = conn_new(my.to);
	my.n = my.taken = 0;
	if (!still_right())
		return;
	must(ib_send_cm_sidr_req(c->id, &sidr));
	next(tb, CM_ATTR_SIDR_REQ);
	to_send(&smp, CM_ATTR_SIDR_REP);
	cm_sidr_rep_set_request_id((struct cm_sidr_rep *)&smp, be32toh(c->id->local_id));
	cm_sidr_rep_set_info_length((struct cm_sidr_rep *)&smp, INFO_LONG);
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(c->last.cm.param.sidr_rep_rcvd.info_len, IB_CM_SIDR_REP_INFO_LENGTH);
	conn_end(c);
}

/* An answer goes on the service level of its question. One that is answered is not asked again. */
static void questions(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	const struct ib_cm_sidr_req_param sidr = {.path = path,
						  .service_id = htobe64(SERVICE),
						  .timeout_ms = 20,
						  .max_cm_retries = 3};
	struct conn *c;
	struct smp smp;

	phase("questions");
	my.n = my.taken = 0;
	my.sl = SL;
	say_question(tb, my.end, MINE);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener->last.id);
	next(tb, CM_ATTR_SIDR_REP);
	expect_equal(my.came_sl, SL);
	my.sl = 0;
	c = conn_new(my.to);
	if (!still_right())
		return;
	must(ib_send_cm_sidr_req(c->id, &sidr));
	next(tb, CM_ATTR_SIDR_REQ);
	to_send(&smp, CM_ATTR_SIDR_REP);
	cm_sidr_rep_set_request_id((struct cm_sidr_rep *)&smp, be32toh(c->id->local_id));
	send_mad(tb, my.end, &smp);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	pass_time(CFG_MS(LONG_AGO_MS));
	expect_equal(my.n, my.taken);
	expect_equal(c->count, 0);
	/* another answer is one too many */
	send_mad(tb, my.end, &smp);
	expect_equal(c->count, 0);
	conn_end(c);
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

static int attributes(struct ib_cm_id *id, enum ib_qp_state state, struct ib_qp_attr *attr,
		      int *mask)
{
	*attr = (struct ib_qp_attr){.qp_state = state};
	*mask = 0;
	return ib_cm_init_qp_attr(id, attr, mask);
}

/* Whether each side knows in each state what its queue pair needs. Source: Linux cm_init_qp_rtr_attr and
 * its neighbours */
static void known(struct tb *tb, struct conn *listener, const struct sa_path_rec *path)
{
	struct ib_qp_attr attr;
	struct conn *c;
	int mask;

	phase("attributes in each state");
	for (unsigned i = 0; i < 2; i++)
		for (enum step step = ASKED; step <= CONNECTED + !i && still_right(); step++) {
			const bool knows_peer = i ? step >= ANSWERED : step < CLOSES;

			name_row("%s, step %u", i ? "client" : "server", step);
			c = i ? client_at(tb, path, step) : server_at(tb, listener, step);
			if (!still_right())
				return;
			must_fail(step == CLOSES ? -EINVAL : 0,
				  attributes(c->id, IB_QPS_INIT, &attr, &mask));
			must_fail(knows_peer ? 0 : -EINVAL,
				  attributes(c->id, IB_QPS_RTR, &attr, &mask));
			must_fail(knows_peer ? 0 : -EINVAL,
				  attributes(c->id, IB_QPS_RTS, &attr, &mask));
			must_fail(-EINVAL, attributes(c->id, IB_QPS_ERR, &attr, &mask));
			ends(tb, c);
		}
	name_row("%s", "");
}

/* A target of XRC answers READs and has an ACK timeout, but sends none of its own. */
static void type_is(struct tb *tb, struct ib_cm_id *id, int type)
{
	const int answers = IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
		  sends = IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	struct ib_qp_attr attr;
	int mask;

	must(attributes(id, IB_QPS_RTR, &attr, &mask));
	expect_equal(mask & answers, type == IB_QPT_UC ? 0 : answers);
	if (mask & answers)
		expect_equal(attr.max_dest_rd_atomic, 4);
	must(attributes(id, IB_QPS_RTS, &attr, &mask));
	expect_equal(mask & sends, type == IB_QPT_RC ? sends : 0);
	expect_equal(mask & IB_QP_TIMEOUT, type == IB_QPT_UC ? 0 : IB_QP_TIMEOUT);
	if (mask & IB_QP_TIMEOUT)
		expect_equal(attr.timeout, 12);
}

/* The life time of a path follows from its ACK timeout, of which 0 means none. */
static void life_times(struct tb *tb, struct conn *listener)
{
	static const uint8_t timeouts[] = {0, 1, 2, 31};
	struct ib_qp_attr attr;
	struct smp smp;
	int mask;

	phase("life times");
	for_each_row(i, timeouts) {
		name_row("ACK timeout %u", timeouts[i]);
		my.n = my.taken = 0;
		req_fill(tb, &smp, SERVICE, guid, QPN);
		cm_path_set_ack_timeout(cm_req_primary((struct cm_req *)&smp), timeouts[i]);
		send_mad(tb, my.end, &smp);
		expect_cm(listener, IB_CM_REQ_RECEIVED);
		if (!still_right())
			return;
		expect_equal(listener->last.path.packet_life_time,
			     timeouts[i] ? timeouts[i] - 1 : 0);
		must(attributes(listener->last.id, IB_QPS_RTS, &attr, &mask));
		expect_equal(attr.timeout, timeouts[i]);
		my.theirs = be32toh(listener->last.id->local_id);
		ib_destroy_cm_id(listener->last.id);
		rej_is(tb, CM_REASON_CONSUMER_DEFINED, CM_MESSAGE_REQ, 0, MINE);
	}
	name_row("%s", "");
}

static void transports(struct tb *tb, struct conn *listener)
{
	static const struct {
		unsigned type, extended;
		int qp_type; /* -1: rejected */
	} rows[] = {{CM_TRANSPORT_RC, 0, IB_QPT_RC},
		    {CM_TRANSPORT_UC, 0, IB_QPT_UC},
		    {CM_TRANSPORT_EXTENDED, CM_EXTENDED_XRC, IB_QPT_XRC_TGT},
		    {CM_TRANSPORT_EXTENDED, 0, -1},
		    {CM_TRANSPORT_EXTENDED, CM_EXTENDED_XRC + 1, -1},
		    {CM_TRANSPORT_RD, 0, -1},
		    {CM_TRANSPORT_RD, CM_EXTENDED_XRC, -1}};
	struct smp smp;

	phase("transports");
	for_each_row(i, rows) {
		struct cm_req *req = (struct cm_req *)&smp;

		my.n = my.taken = 0;
		req_fill(tb, &smp, SERVICE, guid, QPN);
		cm_req_set_transport_type(req, rows[i].type);
		cm_req_set_extended_transport(req, rows[i].extended);
		send_mad(tb, my.end, &smp);
		if (rows[i].qp_type < 0) {
			rej_is(tb, CM_REASON_INVALID_TRANSPORT, CM_MESSAGE_REQ, 0, MINE);
			expect_equal(listener->count, 0);
			continue;
		}
		expect_cm(listener, IB_CM_REQ_RECEIVED);
		if (!still_right())
			return;
		expect_equal((int)listener->last.cm.param.req_rcvd.qp_type, rows[i].qp_type);
		type_is(tb, listener->last.id, rows[i].qp_type);
		my.theirs = be32toh(listener->last.id->local_id);
		ib_destroy_cm_id(listener->last.id);
		rej_is(tb, CM_REASON_CONSUMER_DEFINED, CM_MESSAGE_REQ, 0, MINE);
	}
}

/* Of peers the GUID counts before the queue pair's number, and a peer is asked before a listener. What a
 * peer hears of its REQ is for nothing only if the other one has not begun yet. */
static void peers(struct tb *tb, const struct sa_path_rec *path)
{
	static const struct {
		const char *name;
		int ca, qpn; /* beyond b's */
		bool listens, passive;
	} rows[] = {{"a larger GUID", 1, -1, false, true},
		    {"a smaller GUID", -1, 1, false, false},
		    {"where somebody listens", 1, 1, true, true}};
	struct conn *c, *listener = NULL;
	struct smp smp;

	phase("peers");
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		if (rows[i].listens)
			listener = conn_listen(my.to, PEERS);
		c = conn_new(my.to);
		my.n = my.taken = 0;
		conn_request(c, .service = PEERS, .path = path, .response_timeout = CODE,
			     .retries = 5, .peer_to_peer = true);
		next(tb, CM_ATTR_REQ);
		if (!still_right())
			return;
		req_fill(tb, &smp, PEERS,
			 ib_device_of(my.to)->attrs.node_guid + (uint64_t)(int64_t)rows[i].ca,
			 (uint32_t)((int)c->qp->qp_num + rows[i].qpn));
		send_mad(tb, my.end, &smp);
		expect_state(c, rows[i].passive ? IB_CM_REQ_RCVD : IB_CM_REQ_SENT);
		if (rows[i].passive)
			expect_cm(c, IB_CM_REQ_RECEIVED);
		expect_equal(c->count, 0);
		if (listener) {
			expect_equal(listener->count, 0);
			conn_end(listener);
		}
		ends(tb, c);
	}
	name_row("rejected");
	c = conn_new(my.to);
	my.n = my.taken = 0;
	conn_request(c, .service = PEERS, .path = path, .response_timeout = CODE, .retries = 5,
		     .peer_to_peer = true);
	next(tb, CM_ATTR_REQ);
	if (!still_right())
		return;
	my.theirs = be32toh(c->id->local_id);
	say_gives_up(tb, 0, my.theirs, CM_MESSAGE_REQ, CM_REASON_INVALID_SERVICE_ID, 0);
	expect_state(c, IB_CM_REQ_SENT);
	expect_equal(c->count, 0);
	pass_time(CFG_MS(LONG_AGO_MS));
	next(tb, CM_ATTR_REQ);
	say_gives_up(tb, 0, my.theirs, CM_MESSAGE_REQ, CM_REASON_CONSUMER_DEFINED, 0);
	expect_cm(c, IB_CM_REJ_RECEIVED);
	expect_state(c, IB_CM_IDLE);
	pass_time(CFG_MS(LONG_AGO_MS));
	expect_equal(my.n, my.taken);
	ends(tb, c);
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
	lengths(tb, listener, &path);
	questions(tb, listener, &path);
	established(tb, listener);
	transports(tb, listener);
	life_times(tb, listener);
	known(tb, listener, &path);
	peers(tb, &path);
	name_row("%s", "");
	conn_end(listener);
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_CM);
}
