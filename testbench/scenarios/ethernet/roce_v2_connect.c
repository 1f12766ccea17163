// SPDX-License-Identifier: Apache-2.0
/*
 * A connection with RoCE v2 between two IPv6 addresses. Each MAD of connection management is then a
 * UDP datagram over IPv6, whose headers the driver writes, and the peer takes none with a wrong one.
 */
/* behaviours: IBA-A17-management */
#include "testbench/connect.h"

enum { SERVICE = 0x1234 };

SCENARIO(roce_v2_connect, "a connection with RoCE v2 between two IPv6 addresses", .no_qps = true,
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv6"})
{
	struct conn *listener, *client, *server;
	struct ib_qp_attr attr;

	start_cm();
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .data = "hello");
	if (!still_right())
		return;
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_true(!memcmp(attr.ah_attr.grh.dgid.raw, b->gid, sizeof(b->gid)));
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
