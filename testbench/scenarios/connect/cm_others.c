/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices ask the same one at the same time, and what belongs to one of them is not the other's. b
 * connects to itself, too: with the queue pair number that a's queue pair has, which makes nothing stale.
 * While b waits for its peer a, a REQ of b to itself for the same service is not that peer's, and a
 * question of b to itself is not a repeated one of a's.
 */
/* behaviours: IBA-12.9.8.3.1-stale IBA-12-peer-to-peer IBA-12.11-sidr */
#include "testbench/connect.h"

enum { SERVICE = 7, PEERS = 8, QPN = 0x4567, QKEY_A = 0x111, QKEY_B = 0x222, TIMEOUT_MS = 50 };

/* From b to b. */
static struct sa_path_rec path_to_self(const struct tb_end *b, const struct sa_path_rec *to_b)
{
	struct sa_path_rec path = *to_b;

	path.sgid = path.dgid;
	path.ib.slid = path.ib.dlid = htobe16((uint16_t)b->lid);
	return path;
}

static void request(struct tb *tb, struct conn *c, const struct sa_path_rec *path, uint64_t service)
{
	struct ib_cm_req_param req;

	conn_req_param(c, &req, .service = service, .path = path);
	req.qp_num = QPN;
	if (still_right())
		must(ib_send_cm_req(c->id, &req));
}

static void same_qpn(struct tb *tb, struct conn *listener, struct tb_end *a, struct tb_end *b,
		     const struct sa_path_rec *path, const struct sa_path_rec *self)
{
	struct conn *x = conn_new(a), *y = conn_new(b), *of_x, *of_y;

	phase("two connections of queue pairs with the same number");
	request(tb, x, path, SERVICE);
	of_x = conn_accept(listener);
	request(tb, y, self, SERVICE);
	of_y = conn_accept(listener);
	if (!still_right())
		return;
	expect_true(of_x->id != of_y->id);
	expect_true(of_x->last.cm.param.req_rcvd.remote_ca_guid !=
		    of_y->last.cm.param.req_rcvd.remote_ca_guid);
	conn_reply(of_y);
	expect_cm(y, IB_CM_REP_RECEIVED);
	conn_reply(of_x);
	expect_cm(x, IB_CM_REP_RECEIVED);
	must(ib_send_cm_rtu(x->id, NULL, 0));
	expect_cm(of_x, IB_CM_RTU_RECEIVED);
	must(ib_send_cm_rtu(y->id, NULL, 0));
	expect_cm(of_y, IB_CM_RTU_RECEIVED);
	conn_disconnect(x, of_x);
	expect_state(y, IB_CM_ESTABLISHED);
	expect_state(of_y, IB_CM_ESTABLISHED);
	conn_disconnect(of_y, y);
	conn_end(of_x);
	conn_end(of_y);
	conn_end(x);
	conn_end(y);
}

static void no_peer(struct tb *tb, struct tb_end *b, const struct sa_path_rec *back,
		    const struct sa_path_rec *self)
{
	struct conn *x = conn_new(b), *y = conn_new(b);

	phase("a REQ of somebody else than the peer");
	conn_request(x, .service = PEERS, .path = back, .peer_to_peer = true,
		     .response_timeout = 18);
	conn_request(y, .service = PEERS, .path = self);
	expect_cm(y, IB_CM_REJ_RECEIVED);
	if (!still_right())
		return;
	expect_equal(y->last.cm.param.rej_rcvd.reason, IB_CM_REJ_INVALID_SERVICE_ID);
	expect_state(x, IB_CM_REQ_SENT);
	conn_end(x);
	conn_end(y);
}

/* Both questions have the number of the id that asks, and both are answered. */
static void questions(struct tb *tb, struct conn *listener, struct tb_end *a, struct tb_end *b,
		      const struct sa_path_rec *path, const struct sa_path_rec *self)
{
	struct ib_cm_sidr_req_param of_a = {.path = path,
					    .service_id = htobe64(SERVICE),
					    .timeout_ms = TIMEOUT_MS,
					    .private_data = "a asks",
					    .private_data_len = 6,
					    .pkey = 0xffff},
				    of_b = of_a;
	struct ib_cm_sidr_rep_param found = {.qp_num = QPN,
					     .qkey = QKEY_A,
					     .status = IB_SIDR_SUCCESS,
					     .info = "info of a",
					     .info_length = 9,
					     .private_data = "for a",
					     .private_data_len = 5};
	struct conn *x = conn_new(a), *y = conn_new(b);
	struct ib_cm_id *first;

	phase("two questions");
	of_b.path = self;
	of_b.private_data = "b asks";
	if (!still_right())
		return;
	must(ib_send_cm_sidr_req(x->id, &of_a));
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	expect_true(!memcmp(listener->last.data, "a asks", 7));
	expect_equal(be64toh(listener->last.cm.param.sidr_req_rcvd.service_id), SERVICE);
	expect_equal(listener->last.cm.param.sidr_req_rcvd.pkey, 0xffff);
	expect_equal(listener->last.cm.param.sidr_req_rcvd.port, 1);
	expect_true(listener->last.cm.param.sidr_req_rcvd.listen_id == listener->id);
	first = listener->last.id;
	if (still_right())
		must(ib_send_cm_sidr_req(y->id, &of_b));
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	expect_true(!memcmp(listener->last.data, "b asks", 7));
	if (!still_right())
		return;
	must(ib_send_cm_sidr_rep(first, &found));
	expect_cm(x, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(x->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_SUCCESS);
	expect_equal(x->last.cm.param.sidr_rep_rcvd.qpn, QPN);
	expect_equal(x->last.cm.param.sidr_rep_rcvd.qkey, QKEY_A);
	expect_equal(x->last.cm.param.sidr_rep_rcvd.info_len, 9);
	expect_true(!memcmp(x->last.info, "info of a", 10));
	expect_true(!memcmp(x->last.data, "for a", 6));
	expect_state(y, IB_CM_SIDR_REQ_SENT);
	/* who is refused gets no queue pair */
	found.status = IB_SIDR_NO_QP;
	found.qkey = QKEY_B;
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	expect_cm(y, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(y->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_NO_QP);
	expect_equal(y->last.cm.param.sidr_rep_rcvd.qpn, 0);
	expect_equal(y->last.cm.param.sidr_rep_rcvd.qkey, 0);
	ib_destroy_cm_id(first);
	ib_destroy_cm_id(listener->last.id);
	conn_end(x);
	conn_end(y);
}

SCENARIO(cm_others, "two devices ask the same one for connections and queue pairs", .no_qps = true,
	 .any_packets = true)
{
	struct sa_path_rec path, back, self;
	struct conn *listener;

	start_cm();
	listener = conn_listen(b, SERVICE);
	ask_path(a, &path);
	ask_path(b, &back);
	if (!still_right())
		return;
	self = path_to_self(b, &path);
	same_qpn(tb, listener, a, b, &path, &self);
	no_peer(tb, b, &back, &self);
	questions(tb, listener, a, b, &path, &self);
	conn_end(listener);
}
