/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams over a second port that is an Ethernet port, whatever the first one is: addresses, VLAN and
 * tag are those of the second port, also where the address handle names no port. The completion says
 * what the frame said. So do management datagrams.
 */
/* behaviours: IBA-17.2-two-ports */
#include "testbench/manage.h"

enum {
	PORT_2 = 2,
	VLAN = 9,
	SL = 5,
	INDEX = 6,
	QKEY = 0x11111111,
	GRH_AREA = 40,
	LEN = 32,
	MADS = 3,
	SENDS = 15, /* that take 32 slots */
	ROUNDS = 8  /* with five rows: each slot has others, too */
};

static void join(struct tb *tb, struct tb_end *end, struct drv_gid *gid)
{
	uint8_t mac[6];
	unsigned index;

	drv_eth_mac(end->dev, PORT_2, mac);
	*gid = (struct drv_gid){.version = 1, .vlan = VLAN};
	gid_from_mac(mac, VLAN, gid->raw);
	must(drv_port_wait(end->dev, PORT_2, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1)));
	must(drv_eth_vlan_get(end->dev, PORT_2, VLAN, &index));
	must(drv_eth_gid_set(end->dev, PORT_2, INDEX, gid));
}

static void leave(struct tb *tb, struct tb_end *end)
{
	must(drv_eth_gid_set(end->dev, PORT_2, INDEX, NULL));
	drv_eth_vlan_put(end->dev, PORT_2, (unsigned)drv_eth_vlan_index(end->dev, PORT_2, VLAN));
}

/* QP1 of that port: its requests have the headers of Ethernet, whatever those of the first port have. */
static void management(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_gid *gid)
{
	struct drv_mad_addr to = {.qpn = QPN_GSI,
				  .qkey = QKEY_GSI,
				  .ah = {.is_global = true,
					 .hop_limit = 9,
					 .port_num = PORT_2,
					 .sgid_index = INDEX,
					 .sl = SL}};
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO),
		   answer;

	name_row("management");
	memcpy(to.ah.dgid, gid->raw, sizeof(to.ah.dgid));
	drv_eth_mac(b->dev, PORT_2, to.ah.dmac);
	for (unsigned i = 0; i < MADS && still_right(); i++) {
		memset(&answer, 0, sizeof(answer));
		must(drv_mad_call(a->dev, PORT_2, QPN_GSI, &to, &request, &answer, CFG_MS(100)));
		expect_equal(mad_hdr_get_method(smp_hdr(&answer)), MAD_METHOD_GET_RESP);
	}
}

SCENARIO(roce_port_2, "datagrams over a second port, which is an Ethernet port",
	 .of_mlx4 = "Ethernet ports", .any_packets = true,
	 .settings = {"hca.ports=2", "hca.port2.type=eth"})
{
	static const struct {
		const char *name;
		unsigned index, sl;
		unsigned vlan;
	} rows[] = {
		{"a VLAN and a priority", INDEX, SL, VLAN},
		{"a VLAN", INDEX, 0, VLAN},
		{"a priority", 0, SL, 0},
		{"no tag", 0, 0, VLAN_NONE},
		{"the last priority", INDEX, 7, VLAN},
	};
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD, .cap = {.max_send_wr = SENDS}),
		      *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = {
		.is_global = true, .hop_limit = 9, .dlid = 0x123}; /* no LID there */
	struct drv_gid own, gid;
	uint8_t mac[6];

	ignore_events(a);
	ignore_events(b);
	join(tb, a, &own);
	join(tb, b, &gid);
	must(drv_ud_qp_start(x, PORT_2, 0, QKEY, 0));
	must(drv_ud_qp_start(y, PORT_2, 0, QKEY, 0));
	if (!still_right())
		return;
	drv_eth_mac(a->dev, PORT_2, mac);
	drv_eth_mac(b->dev, PORT_2, ah.dmac);
	for (unsigned round = 0; round < ROUNDS; round++)
		for_each_row(i, rows) {
			struct drv_wc wc = {0};

			name_row("%s", rows[i].name);
			ah.sgid_index = rows[i].index;
			ah.sl = rows[i].sl;
			ah.port_num = i % 2 ? 0 : PORT_2; /* 0: the queue pair's */
			memcpy(ah.dgid, gid.raw, sizeof(ah.dgid));
			if (!rows[i].index)
				must(drv_query_gid(b->dev, PORT_2, 0, ah.dgid));
			recv_on(b, y, .wr_id = i, .len = GRH_AREA + LEN);
			send_on(a, x, .wr_id = 9, .len = LEN, .ah = &ah,
				.remote_qpn = drv_qp_num(y), .qkey = QKEY);
			expect_cqe(a, .wr_id = 9, .on = x);
			pass_time(CFG_US(20));
			expect_equal(drv_cq_poll(b->cq, 1, &wc), 1);
			expect_equal(wc.status, IBV_WC_SUCCESS);
			expect_equal(wc.vlan, rows[i].vlan);
			expect_equal(wc.sl, rows[i].sl);
			expect_true(!memcmp(wc.smac, mac, sizeof(mac)));
			expect_equal(wc.slid, 0);
			expect_equal(wc.dlid_path_bits, 0);
			expect_data(b, .dst = GRH_AREA, .len = LEN);
			ignore_data(b, .len = GRH_AREA);
		}
	management(tb, a, b, &gid);
	destroy_qp(y);
	destroy_qp(x);
	leave(tb, a);
	leave(tb, b);
}
