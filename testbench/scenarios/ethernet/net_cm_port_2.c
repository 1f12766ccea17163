/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IP address through each of two Ethernet ports. The tables of GIDs differ between
 * the ports and the hosts: where one has an address in RoCE v1 another one has it in v2. The ports have
 * different MTUs, and MACs of their own. The address of the peer says the port. A queue pair is of that port, and
 * has an entry of its table with the own address in the version that connections use; nothing goes over the other port.
 */
/* behaviours: IBA-17.2-two-ports IBA-A11-ip-cm-service */
#include "testbench/scenarios/connect/by_address.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum { PORT_2 = 2, HOSTS = 2, PORTS = 2, MTU_OF_PORT_2 = 2200, VERSION = 2 };

static struct net_port *nets[HOSTS];

/* 11.0.`port`.1 of host a or 11.0.`port`.2 of host b. */
static struct net_address address_of(const struct tb_end *end, unsigned port)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[14] = (uint8_t)port;
	return ip;
}

/* Somebody else's GIDs stand before those of the address. */
static void add_behind(struct tb *tb, struct tb_end *end, unsigned port, struct net_port *net,
		       unsigned others)
{
	const struct net_address own = address_of(end, port);
	struct drv_gid gid = {.version = 1, .vlan = VLAN_NONE};

	memcpy(gid.raw, own.ip, sizeof(gid.raw));
	for (unsigned i = 0; i < others; i++) {
		const unsigned place = end->gid_index - 1 + i;

		gid.raw[12] = (uint8_t)(100 + i);
		must(drv_eth_gid_set(end->dev, port, place, &gid));
	}
	must(net_address_add(net, &own));
}

static void opened(struct tb *tb, struct tb_end *end, unsigned others)
{
	struct drv_eth_config config;

	ignore_events(end);
	must(drv_port_wait(end->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	drv_eth_get(end->dev, PORT_2, &config);
	config.mtu = MTU_OF_PORT_2;
	must(drv_eth_set(end->dev, PORT_2, &config));
	must(net_open(end->dev, PORT_2, &nets[end->index]));
	ib_device_set_netdev(ib_device_of(end), nets[end->index], PORT_2);
	if (still_right())
		add_behind(tb, end, PORT_2, nets[end->index], others);
}

/* The first port of b has its address one place later than that of a. */
static void moved(struct tb *tb, struct tb_end *b)
{
	const struct net_address own = address_of(b, 1);

	must(net_address_remove(b->net, own.ip, own.vlan));
	add_behind(tb, b, 1, b->net, 1);
}

static int index_of(const struct tb_end *end, unsigned port)
{
	return drv_eth_gid_find(end->dev, port, address_of(end, port).ip, VERSION, VLAN_NONE);
}

/* Of the four tables no two have the address at the same place. */
static void tables_differ(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const int places[] = {index_of(a, 1), index_of(b, 1), index_of(a, PORT_2),
			      index_of(b, PORT_2)};

	for (unsigned i = 0; i < HOSTS * PORTS; i++) {
		expect_that(places[i], >, 0);
		for (unsigned k = 0; k < i; k++)
			expect_that(places[i], !=, places[k]);
	}
}

static void connects(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned port)
{
	const struct way route = {.is_global = true,
				  .hop_limit = NET_HOPS,
				  .mtu = port == 1 ? IBV_MTU_4096 : IBV_MTU_2048};
	const char *other = port == 1 ? "port2" : "port1";
	const uint64_t sent_a = tb_stat(a, other, "tx_frames"),
		       sent_b = tb_stat(b, other, "tx_frames");

	name_row("port %u", port);
	if (port == 1)
		connect_both(tb, a, b, &route, IP_A, IP_B);
	else
		connect_both(tb, a, b, &route, "11.0.2.1", "11.0.2.2");
	expect_equal(tb_stat(a, other, "tx_frames"), sent_a);
	expect_equal(tb_stat(b, other, "tx_frames"), sent_b);
}

static void closed(struct tb *tb, struct tb_end *end)
{
	ib_device_set_netdev(ib_device_of(end), NULL, PORT_2);
	net_close(nets[end->index]);
}

SCENARIO(net_cm_port_2, "connections by IP address through two Ethernet ports whose tables differ",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "second port",
	 .settings = {"hca.ports=2", "hca.port2.type=eth", NET_SETTINGS("v2_ipv4")})
{
	start_cm();
	opened(tb, a, 2);
	opened(tb, b, 3);
	if (!still_right())
		return;
	moved(tb, b);
	tables_differ(tb, a, b);
	for (unsigned port = 1; port <= PORTS; port++)
		connects(tb, a, b, port);
	name_row("%s", "");
	closed(tb, b);
	closed(tb, a);
}
