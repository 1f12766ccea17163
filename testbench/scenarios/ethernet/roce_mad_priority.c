/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Management datagrams with a priority over Ethernet. The frame gets a tag for the priority, and its VLAN
 * is 0, because the GID has none. The answer comes back with the same priority. Source: IEEE 802.1Q 6.9.
 * Traffic class, flow label and hop limit are those that were asked for, in each version of RoCE. Those of the
 * second port have its MAC and its GIDs. An address without a GRH, or from a GID that there is not, is refused.
 */
/* behaviours: IBA-13.5-way-back */
#include "testbench/manage.h"

enum {
	PORT = 1,
	PORT_2 = 2,
	PRIORITY = 5,
	PRIORITIES = 8,
	ANSWER_MS = 100,
	CLASS = 0x30,
	MADS = 200
};

/* Each field of the way has a value of its own. */
static void call(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO),
		   answer = {0};

	to.ah.sl = PRIORITY;
	to.ah.traffic_class = 0x9c;
	to.ah.flow_label = 0xabcde;
	to.ah.hop_limit = 33;
	check_mads();
	must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	expect_equal(mad_hdr_get_method(smp_hdr(&answer)), MAD_METHOD_GET_RESP);
	expect_mad(a_to_b, .vlan = 0, .sl = PRIORITY, .hop_limit = 33, .tclass = 0x9c);
	expect_mad(b_to_a, .vlan = 0, .sl = PRIORITY, .hop_limit = 0xff);
	ignore_mads();
}

SCENARIO(roce_mad_priority, "management datagrams with a priority and no VLAN, over Ethernet",
	 .any_packets = true, .settings = {"hca.port1.type=eth"})
{
	call(tb, a, b);
}

SCENARIO(roce_mad_ipv6, "management datagrams with a priority and a traffic class, over IPv6",
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv6"})
{
	call(tb, a, b);
}

SCENARIO(roce_mad_ipv4, "management datagrams with a priority and a traffic class, over IPv4",
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv4"})
{
	call(tb, a, b);
}

/* More than the send queue takes at once: those that wait keep their way. */
SCENARIO(roce_mad_burst, "more management datagrams at once than a send queue holds, over Ethernet",
	 .any_packets = true, .settings = {"hca.port1.type=eth"})
{
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0);
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};

	check_mads();
	for (unsigned i = 0; i < MADS && still_right(); i++) {
		to.ah.sl = i % PRIORITIES;
		to.ah.traffic_class = i ^ 0x5a;
		to.ah.hop_limit = 1 + i;
		mad_hdr_set_tid(smp_hdr(&mad), i);
		must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	}
	for (unsigned i = 0; i < MADS && still_right(); i++)
		expect_mad(a_to_b, .tid = i, .sl = i % PRIORITIES, .tclass = i ^ 0x5a,
			   .hop_limit = 1 + i);
	ignore_mads();
}

SCENARIO(roce_mad_port_2, "management datagrams of the second Ethernet port", .any_packets = true,
	 .no_qps = true, .settings = {"hca.ports=2", "hca.port1.type=eth", "hca.port2.type=eth"},
	 .of_mlx4 = "second port")
{
	struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI}, bad;
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO),
		   answer = {0};
	uint8_t from[DRV_GID_BYTES];

	to.ah = (struct drv_ah_attr){.is_global = true, .hop_limit = 3};
	must(drv_query_gid(a->dev, PORT_2, 0, from));
	must(drv_query_gid(b->dev, PORT_2, 0, to.ah.dgid));
	drv_eth_mac(b->dev, PORT_2, to.ah.dmac);
	check_mads();
	must(drv_mad_call(a->dev, PORT_2, QPN_GSI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	expect_equal(mad_hdr_get_method(smp_hdr(&answer)), MAD_METHOD_GET_RESP);
	expect_mad(a_to_b, .sgid = from, .dgid = to.ah.dgid, .dmac = (int64_t)mac_load(to.ah.dmac));
	expect_mad(b_to_a, .sgid = to.ah.dgid, .dgid = from);
	bad = to;
	bad.ah.is_global = false;
	must_fail(-EINVAL, drv_mad_send(a->dev, PORT_2, QPN_GSI, &bad, &request));
	bad = to;
	bad.ah.sgid_index = DRV_ETH_TABLE - 1;
	must_fail(-EINVAL, drv_mad_send(a->dev, PORT_2, QPN_GSI, &bad, &request));
	bad.ah.sgid_index = DRV_ETH_TABLE;
	must_fail(-EINVAL, drv_mad_send(a->dev, PORT_2, QPN_GSI, &bad, &request));
	must(drv_mad_call(a->dev, PORT_2, QPN_GSI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	ignore_mads();
}
