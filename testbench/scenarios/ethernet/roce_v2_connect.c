// SPDX-License-Identifier: Apache-2.0
/*
 * A connection with RoCE v2 between two IPv6 addresses. Each MAD of connection management is then a
 * UDP datagram over IPv6, whose headers the driver writes, and the peer takes none with a wrong one.
 * Its queue pair has each field of the path, and a path of InfiniBand is none. Two addresses of a host
 * are two peers, although neither has a LID.
 */
/* behaviours: IBA-A17-management */
#include "host_driver/cm/cma.h"
#include "host_driver/net/net.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

#include <errno.h>

enum { SERVICE = 0x1234, NUMBER = 0x55, TCLASS = 0x9c, FLOW = 0xabcde, HOPS = 33, SL = 5 };

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

static struct conn *by_way(struct tb *tb, struct conn *client, struct conn *listener)
{
	struct sa_path_rec path, wrong;
	struct ib_cm_req_param req;
	struct ib_qp_attr attr = {0};
	struct conn *server;

	ask_path(client->end, &path);
	path.traffic_class = TCLASS;
	path.flow_label = htobe32(FLOW);
	path.hop_limit = HOPS;
	path.sl = SL;
	wrong = path;
	wrong.rec_type = SA_PATH_REC_TYPE_IB;
	conn_req_param(client, &req, .service = SERVICE, .path = &wrong);
	if (!still_right())
		return NULL;
	must_fail(-EINVAL, ib_send_cm_req(client->id, &req));
	expect_state(client, IB_CM_IDLE);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path,
				.data = "hello");
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.ah_attr.grh.traffic_class, TCLASS);
	expect_equal(attr.ah_attr.grh.flow_label, FLOW);
	expect_equal(attr.ah_attr.sl, SL);
	expect_equal(listener->last.path.traffic_class, TCLASS);
	expect_equal(be32toh(listener->last.path.flow_label), FLOW);
	expect_equal(listener->last.path.hop_limit, HOPS);
	expect_equal(listener->last.path.sl, SL);
	return server;
}

/* The same number of a question from either address of a. From one of them it comes again. */
static void questions(struct tb *tb, struct tb_end *a, struct tb_end *b, struct conn *listener)
{
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct smp smp = mad_of(MAD_CLASS_CM, MAD_METHOD_SEND, CM_ATTR_SIDR_REQ);
	struct cm_sidr_req *req = (struct cm_sidr_req *)&smp;
	struct net_address second = {.prefix = 64, .vlan = VLAN_NONE};
	struct ib_cm_id *ids[2] = {0};

	memcpy(second.ip, a->gid, sizeof(second.ip));
	second.ip[15] ^= 0x20;
	ignore_events(a);

	mad_hdr_set_class_version(smp_hdr(&smp), CM_CLASS_VERSION);
	cm_sidr_req_set_request_id(req, NUMBER);
	cm_sidr_req_set_pkey(req, PKEY_DEFAULT);
	cm_sidr_req_set_service_id(req, SERVICE);
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		if (i) {
			must(net_address_add(a->net, &second));
			to.ah.sgid_index =
				(unsigned)drv_eth_gid_find(a->dev, 1, second.ip, 2, second.vlan);
		}
		must(drv_mad_send(a->dev, 1, QPN_GSI, &to, &smp));
		expect_cm(listener, IB_CM_SIDR_REQ_RECEIVED);
		ids[i] = listener->last.id;
		must(drv_mad_send(a->dev, 1, QPN_GSI, &to, &smp));
		pass_time(CFG_US(200));
		expect_equal(listener->count, 0);
	}
	for (unsigned i = 0; i < 2; i++)
		if (ids[i])
			ib_destroy_cm_id(ids[i]);
	pass_time(CFG_US(200));
	must(net_address_remove(a->net, second.ip, second.vlan));
	pass_time(CFG_US(200));
	check_events(a);
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
	questions(tb, a, b, listener);
	server = by_way(tb, client, listener);
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
