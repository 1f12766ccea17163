/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection from the path record query to the end of TIMEWAIT. Each side hears what the other
 * said, the queue pairs get the attributes that the messages carry, and messages go both ways. The
 * connection is forgotten after two packet life times and the ACK delay.
 */
/* behaviours: IBA-12.9-active IBA-12.9-passive IBA-12.9-qp-attributes IBA-12.9-timewait */
/* behaviours: IBA-15.2.5.16-path-record */
#include "testbench/connect.h"

enum { SERVICE = 0x1234, ROUND_TRIPS = 5 };

SCENARIO(cm_connect, "REQ, REP, RTU, DREQ, DREP: a connection and its end", .no_qps = true,
	 .any_packets = true)
{
	struct conn *listener, *client, *server;
	struct sa_path_rec path;
	struct ib_qp_attr attr;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	expect_equal(be16toh(path.ib.dlid), b->lid);
	expect_equal(be16toh(path.ib.slid), a->lid);
	expect_equal(path.mtu, IBV_MTU_4096);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path,
				.data = "hello");
	if (!still_right())
		return;
	/* what the REQ said */
	expect_equal(listener->last.cm.param.req_rcvd.remote_qpn, client->qp->qp_num);
	expect_equal(listener->last.cm.param.req_rcvd.starting_psn, CONN_PSN);
	expect_equal(listener->last.cm.param.req_rcvd.retry_count, 7);
	expect_equal(listener->last.cm.param.req_rcvd.rnr_retry_count, 6);
	expect_equal(be16toh(listener->last.path.ib.dlid), a->lid);
	expect_true(!memcmp(listener->last.data, "hello", 6));
	/* what the REP said */
	expect_equal(client->last.cm.param.rep_rcvd.remote_qpn, server->qp->qp_num);
	expect_equal(client->last.cm.param.rep_rcvd.starting_psn, CONN_PSN - 1);
	expect_true(!memcmp(client->last.data, "reply", 6));
	/* the attributes the queue pair got */
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.dest_qp_num, server->qp->qp_num);
	expect_equal(attr.ah_attr.dlid, b->lid);
	expect_equal(attr.path_mtu, IB_MTU_4096);
	expect_equal(attr.rnr_retry, 5);
	expect_equal(attr.retry_cnt, 7);
	must(ib_query_qp(server->qp, &attr, 0, NULL));
	expect_equal(attr.dest_qp_num, client->qp->qp_num);
	expect_equal(attr.rnr_retry, 6);
	for (unsigned i = 0; i < ROUND_TRIPS; i++) {
		conn_recv(server);
		conn_send(client);
		conn_recv(client);
		conn_send(server);
	}
	conn_disconnect(client, server);
	expect_state(client, IB_CM_IDLE);
	expect_state(server, IB_CM_IDLE);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
