/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All eleven messages of connection management cross the wire: a refused REQ (REJ), one that needs
 * time (MRA), a connection (REQ, REP, RTU) that gets a new alternate path (LAP, APR) and ends
 * (DREQ, DREP), and a query for the queue pair of a datagram service (SIDR_REQ, SIDR_REP).
 * host_driver/cm/tests/tshark_test.c checks how Wireshark decodes them.
 */
/* behaviours: IBA-12.6-messages IBA-12.8-load-alternate-path IBA-12.11-sidr */
#include "testbench/connect.h"

enum { SERVICE = 0x1000, NO_SERVICE = 0x2000, MRA_CODE = 18, QKEY = 0x11223344, QPN = 0x345678 };

SCENARIO(cm_messages, "all messages of connection management, once", .no_qps = true,
	 .any_packets = true, .lmc = 1)
{
	struct ib_cm_sidr_req_param sidr = {.service_id = htobe64(SERVICE),
					    .timeout_ms = 100,
					    .private_data = "who",
					    .private_data_len = 3,
					    .max_cm_retries = 1,
					    .pkey = 0xffff};
	const struct ib_cm_sidr_rep_param found = {.qp_num = QPN,
						   .qkey = QKEY,
						   .status = IB_SIDR_SUCCESS,
						   .info = "more",
						   .info_length = 4};
	struct conn *listener, *client, *server, *asks;
	struct sa_path_rec path, other;
	struct ib_qp_attr attr;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	asks = conn_new(a);
	ask_path(a, &path);
	if (!still_right())
		return;

	conn_request(client, .service = NO_SERVICE, .path = &path);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_INVALID_SERVICE_ID);
	expect_state(client, IB_CM_IDLE);

	conn_request(client, .service = SERVICE, .path = &path, .data = "request");
	server = conn_accept(listener);
	if (!still_right())
		return;
	must(ib_send_cm_mra(server->id, MRA_CODE, "wait", 4));
	expect_cm(client, IB_CM_MRA_RECEIVED);
	expect_equal(client->last.cm.param.mra_rcvd.service_timeout, MRA_CODE);
	conn_reply(server);
	expect_cm(client, IB_CM_REP_RECEIVED);
	conn_move(client, IB_QPS_INIT);
	conn_move(client, IB_QPS_RTR);
	conn_move(client, IB_QPS_RTS);
	must(ib_send_cm_rtu(client->id, "ready", 5));
	expect_cm(server, IB_CM_RTU_RECEIVED);
	expect_true(!memcmp(server->last.data, "ready", 6));
	conn_move(server, IB_QPS_RTS);

	other = path;
	other.ib.dlid = htobe16((uint16_t)(b->lid + 1));
	other.ib.slid = htobe16((uint16_t)(a->lid + 1));
	must(ib_send_cm_lap(client->id, &other, "elsewhere", 9));
	expect_cm(server, IB_CM_LAP_RECEIVED);
	expect_equal(be16toh(server->last.path.ib.dlid), a->lid + 1);
	must(ib_send_cm_apr(server->id, IB_CM_APR_SUCCESS, "ok", 2, "yes", 3));
	expect_cm(client, IB_CM_APR_RECEIVED);
	expect_equal(client->last.cm.param.apr_rcvd.ap_status, IB_CM_APR_SUCCESS);
	conn_move(client, IB_QPS_RTS);
	conn_move(server, IB_QPS_RTS);
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.alt_ah_attr.dlid, b->lid + 1);
	expect_equal(attr.path_mig_state, IB_MIG_REARM);
	must(ib_query_qp(server->qp, &attr, 0, NULL));
	expect_equal(attr.alt_ah_attr.dlid, a->lid + 1);
	conn_disconnect(client, server);

	sidr.path = &path;
	must(ib_send_cm_sidr_req(asks->id, &sidr));
	expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
	must(ib_send_cm_sidr_rep(listener->last.id, &found));
	expect_cm(asks, IB_CM_SIDR_REP_RECEIVED);
	expect_equal(asks->last.cm.param.sidr_rep_rcvd.qpn, QPN);
	expect_equal(asks->last.cm.param.sidr_rep_rcvd.qkey, QKEY);
	ib_destroy_cm_id(listener->last.id);
	conn_end(server);
	conn_end(client);
	conn_end(asks);
	conn_end(listener);
}
