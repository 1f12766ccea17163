/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What connection management makes of messages of a peer that is written by hand. Lengths of additional
 * information are cut. An answer has the service level of its question, which is not asked again then. The
 * attributes of a queue pair are there as soon as its peer is known, and are those of its type. Transports
 * that are none are rejected; of two peers the GUID counts before the queue pair's number.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12-peer-to-peer IBA-12.9-qp-attributes IBA-12.11-sidr */
#include "testbench/scenarios/connect/by_hand.h"

enum { INFO_LONG = 100, LONG_AGO_MS = 80, SL = 3, OWN = 0x4711 };

/* It asks for a service, and this is what answers it. */
static void asks(struct tb *tb, struct conn *c, const struct ib_cm_sidr_req_param *sidr,
		 struct smp *answer)
{
	must(ib_send_cm_sidr_req(c->id, sidr));
	next(tb, CM_ATTR_SIDR_REQ);
	to_send(answer, CM_ATTR_SIDR_REP);
	cm_sidr_rep_set_request_id((struct cm_sidr_rep *)answer, be32toh(c->id->local_id));
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
	asks(tb, c, &sidr, &smp);
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
	asks(tb, c, &sidr, &smp);
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

static int attributes(struct ib_cm_id *id, enum ib_qp_state state, struct ib_qp_attr *attr,
		      int *mask)
{
	*attr = (struct ib_qp_attr){.qp_state = state, .qkey = OWN};
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
			/* what is refused leaves them as they were */
			if (!knows_peer) {
				must_fail(-EINVAL, attributes(c->id, IB_QPS_RTS, &attr, &mask));
				expect_equal(attr.qkey, OWN);
				expect_equal(mask, 0);
			}
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

SCENARIO(cm_by_hand_told, "what is told of messages of a peer that is written by hand",
	 .no_qps = true, .any_packets = true)
{
	struct sa_path_rec path;
	struct conn *listener;

	by_hand(tb, a, &path);
	if (!still_right())
		return;
	listener = conn_listen(b, SERVICE);
	lengths(tb, listener, &path);
	questions(tb, listener, &path);
	transports(tb, listener);
	life_times(tb, listener);
	known(tb, listener, &path);
	peers(tb, &path);
	name_row("%s", "");
	conn_end(listener);
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_CM);
}
