/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection between two addresses of a VLAN. Each message of connection management carries the tag of
 * the VLAN, although its priority is 0, and so do the packets of the connection.
 */
/* behaviours: IBA-A17-management */
#include "host_driver/cm/cma.h"
#include "testbench/connect.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { VLAN = 5, SERVICE = 0x1234 };

static struct net_address tagged(const struct tb_end *end)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[14] = VLAN;
	ip.vlan = VLAN;
	return ip;
}

static union ib_gid gid_of(const struct tb_end *end)
{
	const struct net_address ip = tagged(end);
	union ib_gid gid;

	memcpy(gid.raw, ip.ip, sizeof(gid.raw));
	return gid;
}

SCENARIO(roce_vlan_connect, "a connection on a VLAN: each message of it is tagged", .no_qps = true,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	const union ib_gid from = gid_of(a), to = gid_of(b);
	struct conn *listener, *client, *server;
	struct sa_path_rec path;

	start_cm();
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		struct tb_end *end = i ? b : a;
		const struct net_address ip = tagged(end);

		must(net_address_add(end->net, &ip));
		expect_event(end, IBV_EVENT_GID_CHANGE);
		expect_event(end, IBV_EVENT_GID_CHANGE);
	}
	if (!still_right())
		return;
	must(cma_roce_path(ib_device_of(a), 1, &from, &to, 2, &path));
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	check_mads();
	server = conn_establish(client, listener, .service = SERVICE, .path = &path);
	expect_mad(a_to_b, .qpn = QPN_GSI, .vlan = VLAN);
	expect_mad(b_to_a, .qpn = QPN_GSI, .vlan = VLAN);
	expect_mad(a_to_b, .qpn = QPN_GSI, .vlan = VLAN);
	ignore_mads();
	if (!still_right())
		return;
	conn_recv(server);
	conn_send(client);
	expect_pkt(a_to_b, RC_SEND_ONLY, .vlan = VLAN);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .vlan = VLAN);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}
