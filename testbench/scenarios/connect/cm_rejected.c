/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every reason for which this implementation rejects a REQ or REP, and the additional information
 * in the REJ: a GID or an MTU that the port does not have, an unknown transport, an unknown
 * version, a rejection by the user, an id destroyed while it connects, a queue pair that still has
 * a connection (stale), a REP for an unknown id.
 */
/* behaviours: IBA-12.6.7-reject-reasons IBA-12.9.8.3.1-stale */
#include "model/interface/cm.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 7, PORT = 1, CODE = 14 };

/* Sends a CM MAD made by hand from one end to the other. */
static void send_mad(struct tb *tb, struct tb_end *end, struct cm_req *req, enum cm_attr attr,
		     unsigned version)
{
	const struct drv_mad_addr to = {
		.dlid = end->peer->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(end->peer)};
	const struct smp mad = mad_of(MAD_CLASS_CM, MAD_METHOD_SEND, attr);

	*cm_req_hdr(req) = *smp_hdr_const(&mad);
	mad_hdr_set_class_version(cm_req_hdr(req), version);
	mad_hdr_set_tid(cm_req_hdr(req), 1);
	must(drv_mad_send(end->dev, PORT, QPN_GSI, &to, req));
}

/* Returns the reason for which the REQ of the connection is rejected. */
static void rejected(struct tb *tb, struct conn *c, enum ib_cm_rej_reason reason,
		     unsigned ari_length)
{
	expect_cm(c, IB_CM_REJ_RECEIVED);
	expect_equal(c->last.cm.param.rej_rcvd.reason, reason);
	expect_equal(c->last.cm.param.rej_rcvd.ari_length, ari_length);
	expect_state(c, IB_CM_IDLE);
}

static void by_the_manager(struct tb *tb, struct tb_end *a, struct tb_end *b, struct conn *client,
			   const struct sa_path_rec *path)
{
	struct sa_path_rec other = *path;
	struct ib_cm_counters at_a;
	struct cm_req req = {0};
	union ib_gid gid;

	phase("a GID that is no port's");
	other.dgid.raw[15] ^= 0x80;
	conn_request(client, .service = SERVICE, .path = &other);
	rejected(tb, client, IB_CM_REJ_INVALID_GID, 16);
	must(drv_query_gid(b->dev, PORT, 0, gid.raw));
	expect_true(!memcmp(client->last.info, gid.raw, sizeof(gid.raw)));
	phase("an alternate GID that is no port's");
	conn_request(client, .service = SERVICE, .path = path, .alternate = &other);
	rejected(tb, client, IB_CM_REJ_INVALID_ALT_GID, 16);
	phase("an MTU that the port has not");
	other = *path;
	other.mtu = IBV_MTU_4096 + 1;
	conn_request(client, .service = SERVICE, .path = &other);
	rejected(tb, client, IB_CM_REJ_INVALID_MTU, 1);
	expect_equal(client->last.info[0], IBV_MTU_4096);
	phase("no such service");
	conn_request(client, .service = SERVICE + 1, .path = path);
	rejected(tb, client, IB_CM_REJ_INVALID_SERVICE_ID, 0);

	phase("RD, another version, a REP for nobody");
	cm_req_set_service_id(&req, SERVICE);
	cm_req_set_transport_type(&req, CM_TRANSPORT_RD);
	send_mad(tb, a, &req, CM_ATTR_REQ, CM_CLASS_VERSION);
	send_mad(tb, a, &req, CM_ATTR_REQ, CM_CLASS_VERSION + 1);
	send_mad(tb, a, &req, CM_ATTR_REP, CM_CLASS_VERSION);
	pass_time(CFG_MS(1));
	must(ib_cm_query_counters(ib_device_of(a), &at_a));
	expect_equal(at_a.rx_msgs[IB_CM_MSG_REJ], 4 + 3);
}

static void by_the_user(struct tb *tb, struct conn *client, struct conn *listener,
			const struct sa_path_rec *path)
{
	struct conn *server;

	phase("the user rejects a REQ");
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	if (!still_right())
		return;
	must(ib_send_cm_rej(server->id, IB_CM_REJ_NO_RESOURCES, "ari", 3, "no", 2));
	rejected(tb, client, IB_CM_REJ_NO_RESOURCES, 3);
	expect_true(!memcmp(client->last.info, "ari", 3));
	expect_true(!memcmp(client->last.data, "no", 3));
	expect_state(server, IB_CM_IDLE);
	conn_end(server);

	phase("its id is destroyed after REQ, MRA, REP");
	for (unsigned step = 0; step < 3 && still_right(); step++) {
		conn_request(client, .service = SERVICE, .path = path);
		server = conn_accept(listener);
		if (step == 1) {
			must(ib_send_cm_mra(server->id, CODE, NULL, 0));
			expect_cm(client, IB_CM_MRA_RECEIVED);
		}
		if (step == 2) {
			conn_reply(server);
			expect_cm(client, IB_CM_REP_RECEIVED);
		}
		conn_end(server);
		rejected(tb, client, IB_CM_REJ_CONSUMER_DEFINED, 0);
	}

	phase("the client rejects a REP");
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	must(ib_send_cm_rej(client->id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0));
	rejected(tb, server, IB_CM_REJ_CONSUMER_DEFINED, 0);
	conn_end(server);
	phase("the client goes while its REQ is under way");
	conn_request(client, .service = SERVICE, .path = path);
	server = conn_accept(listener);
	conn_end(client);
	rejected(tb, server, IB_CM_REJ_TIMEOUT, 8);
	conn_end(server);
}

/* The client forgets its connection and uses its queue pair again. */
static void stale(struct tb *tb, struct tb_end *a, struct conn *listener,
		  const struct sa_path_rec *path)
{
	struct conn *client = conn_new(a), *server, *again = conn_new(a);
	struct ib_cm_req_param p;

	phase("a stale connection");
	server = conn_establish(client, listener, .service = SERVICE, .path = path);
	if (!still_right())
		return;
	conn_req_param(client, &p, .service = SERVICE, .path = path);
	lose_mad(a_to_b);
	ib_destroy_cm_id(client->id); /* its DREQ is lost */
	client->id = ib_create_cm_id(ib_device_of(a), again->id->cm_handler, client);
	must(ib_send_cm_req(again->id, &p));
	expect_cm(again, IB_CM_REJ_RECEIVED);
	expect_equal(again->last.cm.param.rej_rcvd.reason, IB_CM_REJ_STALE_CONN);
	/* both must wait now; the server disconnects by itself */
	expect_state(again, IB_CM_TIMEWAIT);
	expect_cm(server, IB_CM_DREP_RECEIVED);
	expect_cm(again, IB_CM_TIMEWAIT_EXIT);
	expect_cm(server, IB_CM_TIMEWAIT_EXIT);
	conn_end(server);
	must(ib_send_cm_req(again->id, &p));
	server = conn_accept(listener);
	conn_end(server);
	expect_cm(again, IB_CM_REJ_RECEIVED);
	conn_end(again);
	conn_end(client);
}

SCENARIO(cm_rejected, "all that a REQ or REP can be rejected for", .no_qps = true,
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
	by_the_manager(tb, a, b, client, &path);
	by_the_user(tb, client, listener, &path);
	stale(tb, a, listener, &path);
	conn_end(listener);
}
