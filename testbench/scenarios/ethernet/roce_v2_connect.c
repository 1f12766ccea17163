// SPDX-License-Identifier: Apache-2.0
/*
 * A connection with RoCE v2 between two IPv6 addresses. Each MAD of connection management is then a
 * UDP datagram over IPv6, whose headers the driver writes, and the peer takes none with a wrong one.
 */
/* behaviours: IBA-A17-management */
#include "host_driver/cm/cma.h"
#include "testbench/connect.h"

#include <errno.h>

enum { SERVICE = 0x1234 };

/* Nobody has the address, and there is no such version: the caller's path stays as it is. */
static void no_path(struct tb *tb, struct tb_end *a)
{
	struct sa_path_rec path = {.hop_limit = 77, .mtu = 99};
	union ib_gid own, nobody;

	memcpy(own.raw, a->gid, sizeof(own.raw));
	memcpy(nobody.raw, a->peer->gid, sizeof(nobody.raw));
	nobody.raw[15] ^= 0x40;
	must_fail(-ETIMEDOUT, cma_roce_path(ib_device_of(a), 1, &own, &nobody, 2, &path));
	expect_equal(path.hop_limit, 77);
	expect_equal(path.mtu, 99);
	must_fail(-EINVAL, cma_set_roce_version(ib_device_of(a), 0));
	must_fail(-EINVAL, cma_set_roce_version(ib_device_of(a), 3));
}

SCENARIO(roce_v2_connect, "a connection with RoCE v2 between two IPv6 addresses", .no_qps = true,
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv6"})
{
	struct conn *listener, *client, *server;
	struct ib_qp_attr attr;

	start_cm();
	no_path(tb, a);
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .data = "hello");
	if (!still_right())
		return;
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_true(!memcmp(attr.ah_attr.grh.dgid.raw, b->gid, sizeof(b->gid)));
	/* the path of the request is one of RoCE v2, and has no LIDs */
	expect_equal(listener->last.path.rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	expect_equal(listener->last.path.ib.dlid, 0);
	expect_equal(listener->last.path.ib.slid, 0);
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
