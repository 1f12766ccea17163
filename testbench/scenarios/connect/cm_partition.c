/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection in a partition of its own, whose P_Key stands at another index in the table of each
 * port. The REQ carries the P_Key. Each side finds its own index, so its packets have that P_Key.
 * When one side has left the partition, it rejects the next REQ. As a limited member it takes it.
 */
/* behaviours: IBA-12.6.5-partition */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SERVICE = 0x1234, PARTITION = 0x8012, INDEX_A = 1, INDEX_B = 3 };

SCENARIO(cm_partition, "a connection in a partition: each port has its P_Key at another index",
	 .no_qps = true, .any_packets = true,
	 /* the ACK timeout of a's queue pair is that of b's device */
	 .settings = {"hca1.local_ack_delay=18"})
{
	struct conn *listener, *client, *server;
	struct sa_path_rec path;
	struct ib_qp_attr attr;

	write_pkeys(a, 1, 0, PKEY_DEFAULT, [INDEX_A] = PARTITION);
	expect_event(a, IBV_EVENT_PKEY_CHANGE);
	write_pkeys(a, 1, 1, PKEY_DEFAULT, [INDEX_B] = PARTITION);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	ask_path(a, &path);
	path.pkey = htobe16(PARTITION);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path);
	if (!still_right())
		return;
	expect_equal(be16toh(listener->last.path.pkey), PARTITION);
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.pkey_index, INDEX_A);
	must(ib_query_qp(server->qp, &attr, 0, NULL));
	expect_equal(attr.pkey_index, INDEX_B);
	check_packets();
	conn_recv(server);
	conn_send(client);
	expect_pkt(a_to_b, RC_SEND_ONLY, .pkey = PARTITION);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .pkey = PARTITION);
	ignore_packets();
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	client = conn_new(a);
	write_pkeys(a, 1, 1, PKEY_DEFAULT);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	conn_request(client, .service = SERVICE, .path = &path);
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_UNSUPPORTED);
	/* a limited member of the partition of all belongs to it, too */
	write_pkeys(a, 1, 1, PKEY_DEFAULT & ~PKEY_FULL_MEMBER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	path.pkey = htobe16(PKEY_DEFAULT);
	conn_request(client, .service = SERVICE, .path = &path);
	conn_end(conn_accept(listener));
	expect_cm(client, IB_CM_REJ_RECEIVED);
	expect_equal(client->last.cm.param.rej_rcvd.reason, IB_CM_REJ_CONSUMER_DEFINED);
	conn_end(client);
	conn_end(listener);
}
