/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer-to-peer connection: both sides start, and each sends a REQ for the same service to the
 * other. The side with the larger node GUID stays active, and the other one answers. A side that
 * starts alone is rejected, and repeats its REQ until the other side starts too.
 */
/* behaviours: IBA-12-peer-to-peer */
#include "testbench/connect.h"

enum { SERVICE = 9, CODE = 14 };

static void finish(struct tb *tb, struct conn *active, struct conn *passive)
{
	const struct ib_qp_attr reset = {.qp_state = IB_QPS_RESET};

	expect_cm(passive, IB_CM_REQ_RECEIVED);
	expect_true(!passive->last.cm.param.req_rcvd.listen_id);
	conn_move(passive, IB_QPS_INIT);
	conn_move(passive, IB_QPS_RTR);
	conn_reply(passive);
	expect_cm(active, IB_CM_REP_RECEIVED);
	conn_move(active, IB_QPS_INIT);
	conn_move(active, IB_QPS_RTR);
	conn_move(active, IB_QPS_RTS);
	must(ib_send_cm_rtu(active->id, NULL, 0));
	expect_cm(passive, IB_CM_RTU_RECEIVED);
	conn_move(passive, IB_QPS_RTS);
	conn_recv(passive);
	conn_send(active);
	conn_disconnect(passive, active);
	must(ib_modify_qp(active->qp, &reset, IB_QP_STATE));
	must(ib_modify_qp(passive->qp, &reset, IB_QP_STATE));
}

SCENARIO(cm_peers, "two peers that both start", .no_qps = true, .any_packets = true)
{
	struct conn *x, *y;
	struct sa_path_rec there, back;

	start_cm();
	x = conn_new(a);
	y = conn_new(b);
	ask_path(a, &there);
	ask_path(b, &back);
	if (!still_right())
		return;
	phase("at once");
	conn_request(x, .service = SERVICE, .path = &there, .peer_to_peer = true);
	conn_request(y, .service = SERVICE, .path = &back, .peer_to_peer = true);
	/* b has the larger GUID */
	finish(tb, y, x);
	phase("one after the other");
	conn_request(x, .service = SERVICE, .path = &there, .peer_to_peer = true,
		     .response_timeout = CODE, .retries = 5);
	pass_time(CFG_MS(10));
	expect_state(x, IB_CM_REQ_SENT);
	conn_request(y, .service = SERVICE, .path = &back, .peer_to_peer = true);
	finish(tb, y, x);
	phase("the active one first");
	conn_request(y, .service = SERVICE, .path = &back, .peer_to_peer = true,
		     .response_timeout = CODE, .retries = 5);
	pass_time(CFG_MS(10));
	expect_state(y, IB_CM_REQ_SENT);
	conn_request(x, .service = SERVICE, .path = &there, .peer_to_peer = true,
		     .response_timeout = CODE, .retries = 5);
	finish(tb, y, x);
	conn_end(x);
	conn_end(y);
}
