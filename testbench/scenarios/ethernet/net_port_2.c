/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network interface on the second Ethernet port, beside that of the first one: its addresses, VLAN and
 * MAC are those of its port, and so is the way to a neighbour, with the MTU of the port. A connection by
 * such a path has queue pairs of that port at both ends. When the interface closes, the first port's
 * neighbours are still found.
 */
/* behaviours: IBA-17.2-two-ports */
#include "host_driver/cm/cma.h"
#include "testbench/connect.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { PORT_2 = 2, VLAN = 9, HOSTS = 2, SERVICE = 0x1234, MTU = 1500 };

static struct net_port *nets[HOSTS];

static const uint8_t other_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};

/* 11.0.2.1 of host a or 11.0.2.2 of host b. */
static struct net_address address_of(const struct tb_end *end, uint16_t vlan)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[14] = vlan == VLAN_NONE ? 2 : 3;
	ip.vlan = vlan;
	return ip;
}

static unsigned index_of(const struct tb_end *end, const struct net_address *ip)
{
	return (unsigned)drv_eth_gid_find(end->dev, PORT_2, ip->ip, 2, ip->vlan);
}

static void has(struct tb *tb, struct tb_end *end, const struct net_address *ip)
{
	for (unsigned version = 1; version <= 2; version++) {
		expect_that(drv_eth_gid_find(end->dev, PORT_2, ip->ip, version, ip->vlan), >=, 0);
		expect_that(drv_eth_gid_find(end->dev, 1, ip->ip, version, ip->vlan), <, 0);
	}
	if (ip->vlan == VLAN_NONE)
		return;
	expect_that(drv_eth_vlan_index(end->dev, PORT_2, ip->vlan), >=, 0);
	expect_that(drv_eth_vlan_index(end->dev, 1, ip->vlan), <, 0);
}

static void opened(struct tb *tb, struct tb_end *end)
{
	const struct net_address plain = address_of(end, VLAN_NONE), tagged = address_of(end, VLAN);
	struct drv_eth_config config;
	struct net_way way = {0};
	uint8_t mac[MAC_BYTES];

	ignore_events(end);
	must(drv_port_wait(end->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	drv_eth_get(end->dev, PORT_2, &config);
	config.mtu = MTU;
	must(drv_eth_set(end->dev, PORT_2, &config));
	must(net_open(end->dev, PORT_2, &nets[end->index]));
	ib_device_set_netdev(ib_device_of(end), nets[end->index], PORT_2);
	must(net_address_add(nets[end->index], &plain));
	has(tb, end, &plain);
	must(net_resolve(nets[end->index], index_of(end, &plain), plain.ip, 0, &way));
	drv_eth_mac(end->dev, PORT_2, mac);
	expect_equal(mac_load(way.dmac), mac_load(mac));
	must(net_address_add(nets[end->index], &tagged));
	has(tb, end, &tagged);
}

static void way_is(struct tb *tb, struct tb_end *a, uint16_t vlan, const uint8_t *mac)
{
	const struct net_address own = address_of(a, vlan), theirs = address_of(a->peer, vlan);
	struct net_way way = {0};

	must(net_resolve(nets[a->index], index_of(a, &own), theirs.ip, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(mac));
	expect_equal(way.hop_limit, NET_HOPS);
}

static void resolved(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	uint8_t mac[MAC_BYTES], first[MAC_BYTES];

	drv_eth_mac(b->dev, PORT_2, mac);
	drv_eth_mac(b->dev, 1, first);
	way_is(tb, a, VLAN_NONE, mac);
	way_is(tb, a, VLAN, mac);
	must(net_mac_set(nets[b->index], other_mac));
	pass_time(CFG_US(100));
	way_is(tb, a, VLAN_NONE, other_mac);
	way_is(tb, a, VLAN, other_mac);
	drv_eth_mac(b->dev, 1, mac);
	expect_equal(mac_load(mac), mac_load(first));
	drv_eth_mac(b->dev, PORT_2, mac);
	expect_equal(mac_load(mac), mac_load(other_mac));
}

static void connected(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct net_address from = address_of(a, VLAN_NONE), to = address_of(b, VLAN_NONE);
	struct conn *listener, *client, *server;
	struct sa_path_rec path = {0};
	union ib_gid sgid, dgid;
	struct ib_qp_attr attr = {0};

	memcpy(sgid.raw, from.ip, sizeof(sgid.raw));
	memcpy(dgid.raw, to.ip, sizeof(dgid.raw));
	must(cma_roce_path(ib_device_of(a), PORT_2, &sgid, &dgid, 2, &path));
	expect_equal(path.mtu, IB_MTU_1024);
	expect_equal(mac_load(path.roce.dmac), mac_load(other_mac));
	listener = conn_listen(b, SERVICE);
	client = conn_new(a);
	server = conn_establish(client, listener, .service = SERVICE, .path = &path);
	if (!still_right())
		return;
	expect_equal(listener->last.cm.param.req_rcvd.port, PORT_2);
	expect_equal(listener->last.path.rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	must(ib_query_qp(client->qp, &attr, 0, NULL));
	expect_equal(attr.port_num, PORT_2);
	must(ib_query_qp(server->qp, &attr, 0, NULL));
	expect_equal(attr.port_num, PORT_2);
	conn_recv(server);
	conn_send(client);
	conn_disconnect(client, server);
	conn_end(server);
	conn_end(client);
	conn_end(listener);
}

static void closed(struct tb *tb, struct tb_end *end)
{
	const struct net_address plain = address_of(end, VLAN_NONE), tagged = address_of(end, VLAN);

	ib_device_set_netdev(ib_device_of(end), NULL, PORT_2);
	net_close(nets[end->index]);
	for (unsigned version = 1; version <= 2; version++) {
		expect_that(drv_eth_gid_find(end->dev, PORT_2, plain.ip, version, VLAN_NONE), <, 0);
		expect_that(drv_eth_gid_find(end->dev, PORT_2, tagged.ip, version, VLAN), <, 0);
	}
	expect_that(drv_eth_vlan_index(end->dev, PORT_2, VLAN), <, 0);
}

SCENARIO(net_port_2, "a network interface on the second Ethernet port", .no_qps = true,
	 .any_packets = true, .of_mlx4 = "second port",
	 .settings = {"hca.ports=2", "hca.port2.type=eth", NET_SETTINGS("v2_ipv4")})
{
	struct net_address nobody = ipv4_of(b);
	struct net_way way = {0};

	start_cm();
	phase("opened");
	opened(tb, a);
	opened(tb, b);
	if (!still_right())
		return;
	phase("resolved");
	resolved(tb, a, b);
	phase("connected");
	connected(tb, a, b);
	phase("closed");
	closed(tb, b);
	closed(tb, a);
	/* the first port asks and gets answers as before */
	nobody.ip[15] = 9;
	must(net_address_add(b->net, &nobody));
	must(net_resolve(a->net, a->gid_index, nobody.ip, CFG_S(1), &way));
	expect_equal(mac_load(way.dmac), mac_load(b->mac));
	must(net_address_remove(b->net, nobody.ip, nobody.vlan));
}
