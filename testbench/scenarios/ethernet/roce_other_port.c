/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drained queue pair gets a path over the other port: GID, VLAN, version of RoCE and what a path may be
 * are those of the port that the path names, not of the one that the queue pair is at. Each port has
 * another GID at the same index, and another VLAN. Paths with a priority and no VLAN, and with the lowest
 * static rate, are among them.
 */
/* behaviours: ROCE-paths IBA-17.2-two-ports */
#include "testbench/services.h"

enum {
	PORTS = 2,
	INDEX = 3,
	RATE_LOWEST = 2, /* IBV_RATE_2_5_GBPS */
	LAST_PSN = 0xffffff,
	LAST_PRIORITY = 7, /* of Ethernet */
	LAST_SL = 15,
	LID = 0x123,
	INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	RTS_MASK = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	MOVE_MASK = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_AV
};

static const struct {
	unsigned vlan, version;
} gids[PORTS + 1] = {{0}, {7, 1}, {9, 2}};

static void join(struct tb *tb, struct tb_end *end, unsigned port)
{
	struct drv_gid gid = {.version = gids[port].version, .vlan = (uint16_t)gids[port].vlan};
	uint8_t mac[MAC_BYTES];
	unsigned index;

	drv_eth_mac(end->dev, port, mac);
	gid_from_mac(mac, gids[port].vlan, gid.raw);
	must(drv_eth_vlan_get(end->dev, port, gids[port].vlan, &index));
	must(drv_eth_gid_set(end->dev, port, INDEX, &gid));
}

static void leave(struct tb *tb, struct tb_end *end, unsigned port)
{
	const int index = drv_eth_vlan_index(end->dev, port, gids[port].vlan);

	must(drv_eth_gid_set(end->dev, port, INDEX, NULL));
	expect_that(index, >=, 0);
	drv_eth_vlan_put(end->dev, port, (unsigned)index);
}

static struct drv_ah_attr global_path(unsigned port, unsigned index)
{
	return (struct drv_ah_attr){.is_global = true,
				    .port_num = (uint8_t)port,
				    .sgid_index = (uint8_t)index,
				    .hop_limit = 7,
				    .dgid = {0xfe, 0x80, [8] = 2, [15] = (uint8_t)port},
				    .dmac = {2, 4, 6, 8, 10, (uint8_t)port}};
}

static struct drv_ah_attr local_path(unsigned port)
{
	return (struct drv_ah_attr){.port_num = (uint8_t)port, .dlid = LID};
}

/* A queue pair at the port, drained. Its peer does not matter. */
static struct drv_qp *drained(struct tb *tb, struct tb_end *end, unsigned port,
			      const struct drv_ah_attr *ah)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = (uint8_t)port,
				   .ah_attr = *ah,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = 5,
				   .rq_psn = LAST_PSN,
				   .sq_psn = LAST_PSN - 1,
				   .timeout = 14,
				   .min_rnr_timer = 31};
	struct drv_qp *qp = new_qp(end);

	if (!still_right())
		return NULL;
	must(drv_qp_modify(qp, &attr, INIT_MASK));
	attr.qp_state = IBV_QPS_RTR;
	must(drv_qp_modify(qp, &attr, RTR_MASK));
	attr.qp_state = IBV_QPS_RTS;
	must(drv_qp_modify(qp, &attr, RTS_MASK));
	attr.qp_state = IBV_QPS_SQD;
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE));
	pass_time(CFG_US(20));
	return qp;
}

static void moves(struct tb *tb, struct drv_qp *qp, const struct drv_ah_attr *ah, bool taken)
{
	struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .port_num = ah->port_num, .ah_attr = *ah};
	/* Linux mlx4_set_path cuts it off on Ethernet */
	const unsigned last_sl = ah->is_global ? LAST_PRIORITY : LAST_SL;
	struct drv_qp_attr before, now;

	must(drv_qp_query(qp, &before));
	if (taken)
		must(drv_qp_modify(qp, &attr, MOVE_MASK));
	else
		must_fail(-EINVAL, drv_qp_modify(qp, &attr, MOVE_MASK));
	must(drv_qp_query(qp, &now));
	expect_equal(now.qp_state, IBV_QPS_SQD);
	expect_equal(now.port_num, taken ? ah->port_num : before.port_num);
	expect_equal(now.ah_attr.is_global, taken ? ah->is_global : before.ah_attr.is_global);
	expect_equal(now.ah_attr.sgid_index, taken ? ah->sgid_index : before.ah_attr.sgid_index);
	expect_equal(now.ah_attr.sl, taken ? ah->sl & last_sl : before.ah_attr.sl);
	expect_equal(now.ah_attr.static_rate, taken ? ah->static_rate : before.ah_attr.static_rate);
}

SCENARIO(roce_other_port, "a queue pair goes from one Ethernet port to another, and back",
	 .of_mlx4 = "Ethernet ports", .any_packets = true,
	 .settings = {"hca.ports=2", "hca.port1.type=eth", "hca.port2.type=eth",
		      "hca.device=cx3pro"})
{
	static const struct {
		const char *name;
		unsigned port, index, sl, rate;
	} rows[] = {
		{"port 2, its VLAN", 2, INDEX, 5, 0},
		{"port 2, no VLAN, a priority", 2, 0, 6, RATE_LOWEST},
		{"port 1, its VLAN", 1, INDEX, 3, RATE_LOWEST + 1},
		{"port 1, no VLAN, the last priority", 1, 0, 7, 0},
		{"port 1, a service level beyond the last priority", 1, 0, 15, 0},
	};
	struct drv_ah_attr ah = global_path(1, 0);
	struct drv_qp *qp;

	ignore_events(a);
	for (unsigned port = 1; port <= PORTS; port++)
		join(tb, a, port);
	qp = drained(tb, a, 1, &ah);
	if (!qp)
		return;
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		ah = global_path(rows[i].port, rows[i].index);
		ah.sl = (uint8_t)rows[i].sl;
		ah.static_rate = (uint8_t)rows[i].rate;
		moves(tb, qp, &ah, true);
	}
	destroy_qp(qp);
	for (unsigned port = 1; port <= PORTS; port++)
		leave(tb, a, port);
}

SCENARIO(roce_and_ib_port,
	 "a queue pair goes from an InfiniBand port to an Ethernet port, and back",
	 .of_mlx4 = "Ethernet ports", .any_packets = true,
	 .settings = {"hca.ports=2", "hca.port1.type=ib", "hca.port2.type=eth",
		      "hca.device=cx3pro"})
{
	struct drv_ah_attr ib = local_path(1), eth = global_path(2, INDEX), wrong;
	struct drv_qp *qp;

	ignore_events(a);
	join(tb, a, 2);
	qp = drained(tb, a, 1, &ib);
	if (!qp)
		return;
	name_row("%s", "no GRH on Ethernet");
	wrong = local_path(2);
	moves(tb, qp, &wrong, false);
	name_row("%s", "no such GID on Ethernet");
	wrong = global_path(2, DRV_ETH_TABLE);
	moves(tb, qp, &wrong, false);
	name_row("%s", "to Ethernet");
	eth.sl = 6;
	moves(tb, qp, &eth, true);
	name_row("%s", "no GRH on InfiniBand");
	ib.sl = 9;
	ib.static_rate = RATE_LOWEST;
	moves(tb, qp, &ib, true);
	name_row("%s", "back to Ethernet");
	moves(tb, qp, &eth, true);
	destroy_qp(qp);
	leave(tb, a, 2);
}
