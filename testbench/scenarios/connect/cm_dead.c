/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device dies under connections in every state in which a message is due. No message can leave any
 * more: each call that sends one fails, and the connection is in the state in which it was. It can
 * still be given up: what asks for a disconnect waits for the end of TIMEWAIT, as if the peer were gone.
 */
/* behaviours: IBA-12.9-active IBA-12.9-passive */
#include "model/engine/base/engine.h"
#include "testbench/connect.h"

enum {
	ON_A = 1,
	ON_B = 2,
	CODE = 14,
	RESET_BIT = 1,
	SETTLE_MS = 10,
	ASK_MS = 100000,
	RESPONSE_MS = 400
};

/* Connections of a that have sent an MRA: of a REQ, of a REP, and of a LAP. The other side of each. */
struct waiting {
	struct conn *asked, *asks, *replied, *replies, *told, *tells;
};

static void ask_for_time(struct tb *tb, struct conn *c, struct conn *other)
{
	if (still_right())
		must(ib_send_cm_mra(c->id, CODE, NULL, 0));
	expect_cm(other, IB_CM_MRA_RECEIVED);
}

static void let_wait(struct tb *tb, struct tb_end *a, struct conn *at_a, struct conn *at_b,
		     const struct sa_path_rec *back, struct waiting *w)
{
	w->asks = conn_new(a->peer);
	conn_request(w->asks, .service = ON_A);
	w->asked = conn_accept(at_a);
	ask_for_time(tb, w->asked, w->asks);
	w->replied = conn_new(a);
	conn_request(w->replied, .service = ON_B);
	w->replies = conn_accept(at_b);
	conn_reply(w->replies);
	expect_cm(w->replied, IB_CM_REP_RECEIVED);
	ask_for_time(tb, w->replied, w->replies);
	w->told = conn_new(a);
	w->tells = conn_establish(w->told, at_b, .service = ON_B);
	if (still_right())
		must(ib_send_cm_lap(w->tells->id, back, NULL, 0));
	expect_cm(w->told, IB_CM_LAP_RECEIVED);
	ask_for_time(tb, w->told, w->tells);
}

static void waiting_fail(struct tb *tb, struct waiting *w, struct ib_cm_rep_param reply)
{
	reply.qp_num = w->asked->qp->qp_num;
	must_fail(-EIO, ib_send_cm_rep(w->asked->id, &reply));
	expect_state(w->asked, IB_CM_MRA_REQ_SENT);
	must_fail(-EIO, ib_send_cm_rtu(w->replied->id, NULL, 0));
	expect_state(w->replied, IB_CM_MRA_REP_SENT);
	must_fail(-EIO, ib_send_cm_apr(w->told->id, IB_CM_APR_REJECT, NULL, 0, NULL, 0));
	expect_equal(w->told->id->lap_state, IB_CM_MRA_LAP_SENT);
	expect_state(w->told, IB_CM_ESTABLISHED);
}

static void waiting_end(struct tb *tb, struct waiting *w)
{
	/* b may have given up */
	w->asks->count = w->replies->count = w->tells->count = 0;
	conn_end(w->asked);
	conn_end(w->replied);
	conn_end(w->told);
	conn_end(w->asks);
	conn_end(w->replies);
	conn_end(w->tells);
}

SCENARIO(cm_dead, "a device dies under connections: their messages fail, their states stay",
	 .no_qps = true, .any_packets = true, .settings = {"host.catas_poll=1ms"},
	 .of_mlx4 = "error buffer")
{
	struct conn *asked_by, *asked, *replied, *replier, *up, *up_peer, *left, *left_peer, *idle;
	struct conn *told, *teller, *asks_qp;
	const struct ib_cm_sidr_rep_param found = {.status = IB_SIDR_SUCCESS};
	struct ib_cm_sidr_req_param sidr = {.service_id = htobe64(ON_A)};
	struct ib_cm_id *asked_qp;
	struct conn *at_a, *at_b;
	struct ib_cm_rep_param reply = {.responder_resources = 1, .initiator_depth = 1};
	struct ib_cm_req_param request;
	struct ib_cm_counters before = {0}, after = {0};
	struct sa_path_rec path, back;
	struct waiting waiting;

	start_cm();
	at_a = conn_listen(a, ON_A);
	at_b = conn_listen(b, ON_B);
	idle = conn_new(a);
	ask_path(a, &path);
	conn_req_param(idle, &request, .service = ON_B, .path = &path);
	asked_by = conn_new(b);
	conn_request(asked_by, .service = ON_A);
	asked = conn_accept(at_a);
	replied = conn_new(a);
	conn_request(replied, .service = ON_B);
	replier = conn_accept(at_b);
	conn_reply(replier);
	expect_cm(replied, IB_CM_REP_RECEIVED);
	up = conn_new(a);
	up_peer = conn_establish(up, at_b, .service = ON_B);
	left = conn_new(a);
	left_peer = conn_establish(left, at_b, .service = ON_B);
	if (!still_right())
		return;
	told = conn_new(a);
	teller = conn_establish(told, at_b, .service = ON_B);
	asks_qp = conn_new(b);
	ask_path(b, &back);
	if (!still_right())
		return;
	must(ib_send_cm_dreq(left_peer->id, NULL, 0));
	expect_cm(left, IB_CM_DREQ_RECEIVED);
	must(ib_send_cm_lap(teller->id, &back, NULL, 0));
	expect_cm(told, IB_CM_LAP_RECEIVED);
	sidr.path = &back;
	sidr.timeout_ms = ASK_MS;
	must(ib_send_cm_sidr_req(asks_qp->id, &sidr));
	expect_cm(at_a, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	asked_qp = at_a->last.id;
	let_wait(tb, a, at_a, at_b, &back, &waiting);

	ignore_events(b);
	hca_catastrophe(host_hca(a->host), ERR_BUF_INJECTED, 0, "a test");
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	expect_catastrophe(a);
	if (!still_right())
		return;
	must(ib_cm_query_counters(ib_device_of(a), &before));
	must_fail(-EIO, ib_send_cm_req(idle->id, &request));
	expect_state(idle, IB_CM_IDLE);
	reply.qp_num = asked->qp->qp_num;
	must_fail(-EIO, ib_send_cm_rep(asked->id, &reply));
	expect_state(asked, IB_CM_REQ_RCVD);
	must_fail(-EIO, ib_send_cm_mra(asked->id, CODE, NULL, 0));
	expect_state(asked, IB_CM_REQ_RCVD);
	must_fail(-EIO, ib_send_cm_rtu(replied->id, NULL, 0));
	expect_state(replied, IB_CM_REP_RCVD);
	must_fail(-EIO, ib_send_cm_lap(up->id, &path, NULL, 0));
	expect_equal(up->id->lap_state, IB_CM_LAP_UNINIT);
	must_fail(-EIO, ib_send_cm_mra(told->id, CODE, NULL, 0));
	expect_equal(told->id->lap_state, IB_CM_LAP_RCVD);
	must_fail(-EIO, ib_send_cm_apr(told->id, IB_CM_APR_REJECT, NULL, 0, NULL, 0));
	expect_equal(told->id->lap_state, IB_CM_LAP_RCVD);
	sidr.path = &path;
	must_fail(-EIO, ib_send_cm_sidr_req(idle->id, &sidr));
	expect_state(idle, IB_CM_IDLE);
	must_fail(-EIO, ib_send_cm_sidr_rep(asked_qp, &found));
	expect_equal(asked_qp->state, IB_CM_SIDR_REQ_RCVD);
	waiting_fail(tb, &waiting, reply);
	must_fail(-EIO, ib_send_cm_dreq(up->id, NULL, 0));
	expect_state(up, IB_CM_TIMEWAIT);
	must_fail(-EIO, ib_send_cm_drep(left->id, NULL, 0));
	expect_state(left, IB_CM_TIMEWAIT);
	expect_cm(up, IB_CM_TIMEWAIT_EXIT);
	expect_cm(left, IB_CM_TIMEWAIT_EXIT);
	/* what did not leave is not sent again, and does not count */
	pass_time(CFG_MS(RESPONSE_MS));
	must(ib_cm_query_counters(ib_device_of(a), &after));
	expect_true(!memcmp(after.tx_msgs, before.tx_msgs, sizeof(before.tx_msgs)));
	expect_true(!memcmp(after.tx_retries, before.tx_retries, sizeof(before.tx_retries)));

	waiting_end(tb, &waiting);
	conn_end(idle);
	conn_end(asked);
	conn_end(replied);
	conn_end(up);
	conn_end(left);
	conn_end(told);
	ib_destroy_cm_id(asked_qp);
	conn_end(at_a);
	conn_end(asked_by);
	conn_end(replier);
	conn_end(up_peer);
	conn_end(teller);
	conn_end(asks_qp);
	conn_end(left_peer);
	conn_end(at_b);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, RESET_BIT);
	pass_time(CFG_MS(SETTLE_MS));
	ignore_events(a);
	abandon(a);
	take_down(b);
}
