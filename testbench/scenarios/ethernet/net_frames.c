/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a network interface, as they stand in the peer's memory: the peer has no interface, and
 * a queue pair of its own gets what comes. An address is told to all, by ARP to each host and by neighbour
 * discovery to the group of all nodes; a question goes to all or to the group of the address that it
 * asks for; an answer goes to who has asked and to nobody else. Source: RFC 826, RFC 4861 7.2.
 */
#include "testbench/scenarios/ethernet/frames.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum {
	ROOM = 256,
	ETH = sizeof(struct eth_hdr),
	ARP_BYTES = 64 - FCS_BYTES,
	ND_BYTES = ETH + IPV6_BYTES + sizeof(struct neighbour),
	TO_AT = ETH + 24, /* the destination of an IPv6 header */
	LAST = 0x33
};

static const uint8_t all[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		     all_nodes_mac[MAC_BYTES] = {0x33, 0x33, [5] = 1},
		     all_nodes[DRV_GID_BYTES] = {0xff, 2, [15] = 1};

static struct {
	struct drv_qp *qp;
	uint64_t wr_id;
} sniffer;

static void listen_to(struct tb *tb, struct tb_end *b)
{
	recv_on(b, sniffer.qp, .wr_id = ++sniffer.wr_id, .len = ROOM);
}

/* The frame that came: to which MAC, and with neighbour discovery to which address. */
static void came(struct tb *tb, struct tb_end *b, const uint8_t *mac, const uint8_t *to)
{
	expect_cqe(b, .wr_id = sniffer.wr_id, .on = sniffer.qp,
		   .byte_len = to ? ND_BYTES : ARP_BYTES);
	if (!still_right())
		return;
	expect_equal(mac_load(b->dst), mac_load(mac));
	expect_equal(mac_load(b->dst + MAC_BYTES), mac_load(b->peer->mac));
	if (to)
		expect_true(!memcmp(b->dst + TO_AT, to, DRV_GID_BYTES));
	ignore_data(b, .len = ROOM);
}

static void group_of(const uint8_t *ip, uint8_t *group, uint8_t *mac)
{
	static const uint8_t prefix[DRV_GID_BYTES] = {0xff, 2, [11] = 1, 0xff};

	memcpy(group, prefix, DRV_GID_BYTES);
	memcpy(group + 13, ip + 13, 3);
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

static void told_and_asked(struct tb *tb, struct tb_end *a, struct tb_end *b,
			   const struct net_address *own)
{
	const bool ipv4 = gid_is_ipv4(own->ip);
	uint8_t group[DRV_GID_BYTES], mac[MAC_BYTES], nobody[DRV_GID_BYTES];
	struct note n = {.question = true};
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES] = {0};
	struct net_way way;
	size_t len;

	name_row("%s, told", ipv4 ? "IPv4" : "IPv6");
	listen_to(tb, b);
	must(net_address_add(a->net, own));
	came(tb, b, ipv4 ? all : all_nodes_mac, ipv4 ? NULL : all_nodes);

	name_row("%s, asks", ipv4 ? "IPv4" : "IPv6");
	memcpy(nobody, own->ip, DRV_GID_BYTES);
	nobody[15] ^= 0x0c;
	group_of(nobody, group, mac);
	listen_to(tb, b);
	must_fail(-ETIMEDOUT, net_resolve(a->net, (unsigned)gid_index(a, own, 2), nobody, 0, &way));
	came(tb, b, ipv4 ? all : mac, ipv4 ? NULL : group);

	name_row("%s, answers", ipv4 ? "IPv4" : "IPv6");
	memcpy(n.about, nobody, DRV_GID_BYTES);
	n.about[15] ^= 0x30;
	memcpy(n.other, own->ip, DRV_GID_BYTES);
	memcpy(n.mac, b->mac, MAC_BYTES);
	len = note_write(&n, a->mac, VLAN_NONE, frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	listen_to(tb, b);
	inject_bytes(a, frame, len + FCS_BYTES);
	came(tb, b, b->mac, ipv4 ? NULL : n.about);
	must(net_address_remove(a->net, own->ip, own->vlan));
	/* the question was asked twice more */
	for (unsigned i = 0; i < 2; i++) {
		listen_to(tb, b);
		pass_time(CFG_S(1));
		came(tb, b, ipv4 ? all : mac, ipv4 ? NULL : group);
	}
}

SCENARIO(net_frames, "the frames of an interface: to whom each one goes", .qps = 0,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct net_address ipv4 = ipv4_of(a), ipv6 = {.prefix = 64, .vlan = VLAN_NONE};

	ignore_events(a);
	ignore_events(b);
	ib_device_set_netdev(ib_device_of(b), NULL, 1);
	net_close(b->net);
	sniffer.wr_id = 0;
	sniffer.qp = frames_of(tb, b);
	ipv4.ip[15] = LAST;
	gid_from_mac(a->mac, VLAN_NONE, ipv6.ip);
	ipv6.ip[15] ^= LAST;
	if (!still_right())
		return;
	told_and_asked(tb, a, b, &ipv4);
	told_and_asked(tb, a, b, &ipv6);
	must(drv_eth_receive(b->dev, 1, NULL));
	destroy_qp(sniffer.qp);
	must(net_open(b->dev, 1, &b->net));
	ib_device_set_netdev(ib_device_of(b), b->net, 1);
}
