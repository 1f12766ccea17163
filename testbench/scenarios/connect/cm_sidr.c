/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query for the queue pair of a datagram service: it succeeds, is refused, names an unknown
 * service, or gets no answer. A lost query is sent again, and the answer is used to send a
 * datagram.
 */
/* behaviours: IBA-12.11-sidr IBA-12.11-sidr-retries */
#include "model/interface/cm.h"
#include "testbench/connect.h"
#include "testbench/services.h"

enum { SERVICE = 7, QKEY = 0x1234, TIMEOUT_MS = 10 };

static void ask_qp(struct tb *tb, struct conn *c, const struct sa_path_rec *path, uint64_t service,
		   unsigned retries)
{
	const struct ib_cm_sidr_req_param p = {.path = path,
					       .service_id = htobe64(service),
					       .timeout_ms = TIMEOUT_MS,
					       .max_cm_retries = (uint8_t)retries};

	if (still_right())
		must(ib_send_cm_sidr_req(c->id, &p));
}

SCENARIO(cm_sidr, "service id resolution, and a datagram to what was found", .any_packets = true)
{
	struct conn *listener, *c;
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct ib_cm_sidr_rep_param found = {
		.qp_num = y ? drv_qp_num(y) : 0, .qkey = QKEY, .status = IB_SIDR_SUCCESS};
	struct ib_cm_counters at_b;
	struct sa_path_rec path;
	struct drv_ah_attr ah;
	uint64_t sent;

	start_cm();
	start_ud(x, QKEY, 100);
	start_ud(y, QKEY, 200);
	listener = conn_listen(b, SERVICE);
	c = conn_new(a);
	ask_path(a, &path);

	phase("found; the question is lost once, the answer too");
	lose_mad(a_to_b);
	lose_mad(b_to_a);
	ask_qp(tb, c, &path, SERVICE, 3);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	pass_time(CFG_MS(TIMEOUT_MS) + CFG_US(50)); /* and what a MAD takes on its way */
	must(ib_cm_query_counters(ib_device_of(b), &at_b));
	expect_equal(at_b.rx_duplicates[IB_CM_MSG_SIDR_REQ], 1);
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	ib_destroy_cm_id(listener->last.id);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED); /* again, as a new one */
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	ib_destroy_cm_id(listener->last.id);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(c->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_SUCCESS);
	recv_on(b, y, .wr_id = 1, .len = 104);
	ah = ah_to(b);
	send_on(a, x, .wr_id = 2, .ah = &ah, .remote_qpn = c->last.cm.param.sidr_rep_rcvd.qpn,
		.qkey = c->last.cm.param.sidr_rep_rcvd.qkey, .len = 64);
	expect_cqe(b, .wr_id = 1, .byte_len = 104, .on = y);
	expect_cqe(a, .wr_id = 2, .on = x);
	ignore_data(b, .len = 104);

	phase("refused: the id goes without an answer");
	ask_qp(tb, c, &path, SERVICE, 0);
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	if (!still_right())
		return;
	ib_destroy_cm_id(listener->last.id);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(c->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_REJECT);
	phase("no such service");
	ask_qp(tb, c, &path, SERVICE + 1, 0);
	expect_cm(c, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(c->last.cm.param.sidr_rep_rcvd.status, IB_SIDR_UNSUPPORTED);
	phase("nobody answers");
	sent = tb_now(tb);
	lose_mad(a_to_b, .times = 3);
	ask_qp(tb, c, &path, SERVICE, 2);
	expect_cm(c, IB_CM_SIDR_REQ_ERROR);
	expect_that(c->last.time_ps, >=, sent + 3 * CFG_MS(TIMEOUT_MS));
	expect_state(c, IB_CM_IDLE);
	conn_end(c);
	conn_end(listener);
	destroy_qp(y);
	destroy_qp(x);
}
