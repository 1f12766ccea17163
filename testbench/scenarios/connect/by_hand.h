/* SPDX-License-Identifier: Apache-2.0 */
/* For scenarios that are themselves the connection management of a host: they write each message and
 * read each answer. */
#ifndef TESTBENCH_SCENARIOS_CONNECT_BY_HAND_H
#define TESTBENCH_SCENARIOS_CONNECT_BY_HAND_H

#include "model/interface/cm.h"
#include "host_driver/mlx4/mad.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

enum {
	PORT = 1,
	SERVICE = 0x1234,
	PEERS = 0x1235,
	MINE = 0x5a5b5c5d, /* this side's communication id */
	OTHER = 0x6a6b6c6d,
	QPN = 0x456789,
	PSN = 0x123456,
	TID = 0x77,
	CODE = 14, /* 67 ms */
	MRA_CODE = 13,
	KEPT = 32,
	SOON_US = 200,
	LIFE = 10,
	LIFE_LONG = 30
};

static const uint64_t guid = UINT64_C(0x1122334455667788);

static struct {
	struct tb_end *end, *to;
	struct smp came[KEPT];
	unsigned n, taken;
	uint32_t theirs; /* communication id of b's connection */
	uint64_t tid;    /* of b's REQ */
	unsigned sl;     /* of what this side sends */
	unsigned came_sl;
} my;

static inline void came(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
			const struct drv_mad_addr *from, const struct smp *mad)
{
	my.came_sl = from->sl;
	if (my.n < KEPT)
		my.came[my.n++] = *mad;
}

/* --- what this side sends --- */

static inline void to_send(struct smp *smp, enum cm_attr attr)
{
	*smp = mad_of(MAD_CLASS_CM, MAD_METHOD_SEND, attr);
	mad_hdr_set_class_version(smp_hdr(smp), CM_CLASS_VERSION);
	mad_hdr_set_tid(smp_hdr(smp), TID);
}

static inline void send_mad(struct tb *tb, struct tb_end *end, const struct smp *smp)
{
	const struct drv_mad_addr to = {
		.dlid = my.to->lid, .sl = my.sl, .qpn = QPN_GSI, .qkey = QKEY_GSI};

	if (still_right())
		must(drv_mad_send(end->dev, PORT, QPN_GSI, &to, smp));
	pass_time(CFG_US(SOON_US));
}

/* All messages have their two ids at the same places. */
static inline void ids(struct smp *smp, uint32_t local, uint32_t remote)
{
	cm_rep_set_local_comm_id((struct cm_rep *)smp, local);
	cm_rep_set_remote_comm_id((struct cm_rep *)smp, remote);
}

/* Sends a message that has nothing but its ids. */
static inline void say(struct tb *tb, enum cm_attr attr, uint32_t local)
{
	struct smp smp;

	to_send(&smp, attr);
	ids(&smp, local, my.theirs);
	send_mad(tb, my.end, &smp);
}

static inline void say_mra(struct tb *tb, enum cm_message of)
{
	struct smp smp;

	to_send(&smp, CM_ATTR_MRA);
	mad_hdr_set_tid(smp_hdr(&smp), my.tid);
	ids(&smp, MINE, my.theirs);
	cm_mra_set_message_mraed((struct cm_mra *)&smp, of);
	cm_mra_set_service_timeout((struct cm_mra *)&smp, MRA_CODE);
	send_mad(tb, my.end, &smp);
}

static inline void say_rej(struct tb *tb, uint32_t local, enum cm_message of)
{
	struct smp smp;

	to_send(&smp, CM_ATTR_REJ);
	ids(&smp, local, my.theirs);
	cm_rej_set_message_rejected((struct cm_rej *)&smp, of);
	cm_rej_set_reason((struct cm_rej *)&smp, CM_REASON_CONSUMER_DEFINED);
	send_mad(tb, my.end, &smp);
}

static inline uint64_t tid_of(const struct smp *smp)
{
	return mad_hdr_get_tid(smp_hdr_const(smp));
}

static inline void say_gives_up(struct tb *tb, uint32_t local, uint32_t remote, enum cm_message of,
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

static inline void say_dreq(struct tb *tb, uint32_t qpn)
{
	struct smp smp;

	to_send(&smp, CM_ATTR_DREQ);
	ids(&smp, MINE, my.theirs);
	cm_dreq_set_remote_qpn((struct cm_dreq *)&smp, qpn);
	send_mad(tb, my.end, &smp);
}

static inline void path_fill(struct tb *tb, struct cm_path *path, unsigned port)
{
	uint8_t gid[16] = {0};

	must(drv_query_gid(my.end->dev, port, 0, gid));
	memcpy(cm_path_local_gid_ptr(path), gid, sizeof(gid));
	must(drv_query_gid(my.to->dev, port, 0, gid));
	memcpy(cm_path_remote_gid_ptr(path), gid, sizeof(gid));
	cm_path_set_local_lid(path, my.end->lid);
	cm_path_set_remote_lid(path, my.to->lid);
	cm_path_set_packet_rate(path, IB_RATE_10_GBPS);
	cm_path_set_subnet_local(path, 1);
	cm_path_set_ack_timeout(path, 12);
}

static inline void req_fill(struct tb *tb, struct smp *smp, uint64_t service, uint64_t ca,
			    uint32_t qpn)
{
	struct cm_req *req = (struct cm_req *)smp;

	to_send(smp, CM_ATTR_REQ);
	cm_req_set_local_comm_id(req, MINE);
	cm_req_set_service_id(req, service);
	cm_req_set_local_ca_guid(req, ca);
	cm_req_set_local_qpn(req, qpn);
	cm_req_set_responder_resources(req, 2);
	cm_req_set_initiator_depth(req, 4);
	cm_req_set_remote_cm_response_timeout(req, CODE);
	cm_req_set_local_cm_response_timeout(req, CODE);
	cm_req_set_starting_psn(req, PSN);
	cm_req_set_retry_count(req, 5);
	cm_req_set_rnr_retry_count(req, 6);
	cm_req_set_max_cm_retries(req, 3);
	cm_req_set_pkey(req, PKEY_DEFAULT);
	cm_req_set_path_mtu(req, IB_MTU_1024);
	cm_req_set_transport_type(req, CM_TRANSPORT_RC);
	path_fill(tb, cm_req_primary(req), PORT);
}

/* --- what comes --- */

/* The next message must be that one. */
static const struct smp *next(struct tb *tb, enum cm_attr attr)
{
	static const struct smp none;

	for (unsigned i = 0; my.taken == my.n && i < SOON_US; i++)
		pass_time(CFG_US(1));
	expect_that(my.n, >, my.taken);
	if (!still_right())
		return &none;
	expect_equal(mad_hdr_get_attr_id(smp_hdr_const(&my.came[my.taken])), attr);
	return &my.came[my.taken++];
}

static inline void nothing(struct tb *tb)
{
	pass_time(CFG_US(SOON_US));
	expect_equal(my.n, my.taken);
}

static inline void rej_is(struct tb *tb, unsigned reason, enum cm_message of, uint32_t local,
			  uint32_t remote)
{
	const struct cm_rej *rej = (const struct cm_rej *)next(tb, CM_ATTR_REJ);

	expect_equal(cm_rej_get_message_rejected(rej), of);
	expect_equal(cm_rej_get_reason(rej), reason);
	expect_equal(cm_rej_get_local_comm_id(rej), local);
	expect_equal(cm_rej_get_remote_comm_id(rej), remote);
}

/* --- b in each state --- */

enum step { ASKED, ASKED_WAITS, ANSWERED, ANSWERED_WAITS, CONNECTED, CLOSES };

/* b is the server, and has gone that far. */
static inline struct conn *server_at(struct tb *tb, struct conn *listener, enum step step)
{
	struct conn *server;
	struct smp smp;

	my.n = my.taken = 0;
	req_fill(tb, &smp, SERVICE, guid, QPN);
	send_mad(tb, my.end, &smp);
	server = conn_accept(listener);
	if (!still_right())
		return server;
	my.theirs = be32toh(server->id->local_id);
	if (step == ASKED_WAITS) {
		must(ib_send_cm_mra(server->id, MRA_CODE, NULL, 0));
		next(tb, CM_ATTR_MRA);
	}
	if (step < ANSWERED)
		return server;
	conn_reply(server);
	next(tb, CM_ATTR_REP);
	if (step == ANSWERED_WAITS) {
		my.tid = TID;
		say_mra(tb, CM_MESSAGE_REP);
		expect_cm(server, IB_CM_MRA_RECEIVED);
	}
	if (step < CONNECTED)
		return server;
	say(tb, CM_ATTR_RTU, MINE);
	expect_cm(server, IB_CM_RTU_RECEIVED);
	if (step == CLOSES && still_right()) {
		must(ib_send_cm_dreq(server->id, NULL, 0));
		next(tb, CM_ATTR_DREQ);
	}
	return server;
}

static inline void say_rep(struct tb *tb, uint32_t local, uint32_t remote)
{
	struct smp smp;
	struct cm_rep *rep = (struct cm_rep *)&smp;

	to_send(&smp, CM_ATTR_REP);
	mad_hdr_set_tid(smp_hdr(&smp), my.tid);
	ids(&smp, local, remote);
	cm_rep_set_local_qpn(rep, QPN);
	cm_rep_set_starting_psn(rep, PSN);
	cm_rep_set_responder_resources(rep, 2);
	cm_rep_set_initiator_depth(rep, 4);
	cm_rep_set_rnr_retry_count(rep, 6);
	cm_rep_set_local_ca_guid(rep, guid);
	send_mad(tb, my.end, &smp);
}

static inline struct conn *client_at(struct tb *tb, const struct sa_path_rec *path, enum step step)
{
	struct conn *client = conn_new(my.to);

	my.n = my.taken = 0;
	conn_request(client, .service = SERVICE, .path = path, .response_timeout = CODE);
	my.tid = mad_hdr_get_tid(smp_hdr_const(next(tb, CM_ATTR_REQ)));
	if (!still_right())
		return client;
	my.theirs = be32toh(client->id->local_id);
	if (step == ASKED_WAITS) {
		say_mra(tb, CM_MESSAGE_REQ);
		expect_cm(client, IB_CM_MRA_RECEIVED);
	}
	if (step < ANSWERED)
		return client;
	say_rep(tb, MINE, my.theirs);
	expect_cm(client, IB_CM_REP_RECEIVED);
	if (!still_right())
		return client;
	if (step == ANSWERED_WAITS) {
		must(ib_send_cm_mra(client->id, MRA_CODE, NULL, 0));
		next(tb, CM_ATTR_MRA);
	}
	if (step < CONNECTED)
		return client;
	must(ib_send_cm_rtu(client->id, NULL, 0));
	next(tb, CM_ATTR_RTU);
	return client;
}

/* Ends whatever there is, and waits until nothing is left of it. */
static inline void ends(struct tb *tb, struct conn *c)
{
	struct ib_cm_counters left = {.timewaits = 1};

	if (!c)
		return;
	c->count = 0;
	conn_end(c);
	for (unsigned i = 0; still_right() && left.timewaits && i < 1000; i++) {
		pass_time(CFG_MS(1));
		must(ib_cm_query_counters(ib_device_of(my.to), &left));
	}
	expect_equal(left.timewaits, 0);
}

static inline void say_question(struct tb *tb, struct tb_end *from, uint32_t number)
{
	struct smp smp;
	struct cm_sidr_req *req = (struct cm_sidr_req *)&smp;

	to_send(&smp, CM_ATTR_SIDR_REQ);
	cm_sidr_req_set_request_id(req, number);
	cm_sidr_req_set_pkey(req, PKEY_DEFAULT);
	cm_sidr_req_set_service_id(req, SERVICE);
	send_mad(tb, from, &smp);
}

/* `end` writes its messages by hand from now on. */
static inline void by_hand(struct tb *tb, struct tb_end *end, struct sa_path_rec *path)
{
	memset(&my, 0, sizeof(my));
	my.end = end;
	my.to = end->peer;
	start_cm();
	ask_path(my.to, path);
	if (!still_right())
		return;
	path->packet_life_time = LIFE; /* two of them: 8.4 ms */
	drv_mad_unserve(end->dev, PORT, MAD_CLASS_CM);
	must(drv_mad_serve(end->dev, PORT, MAD_CLASS_CM, came, NULL));
}

#endif
