/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two virtual lanes send all the time in one direction. A subnet manager writes other weights while they
 * do so, and each lane gets its share of the bytes. A packet counts 5 units of 64 bytes here, and the
 * weights are multiples of that, because the last packet of a turn may use more than the weight left.
 * Then one lane has high priority, with several limits: once the limit is used up, one packet of the other
 * lane may leave.
 * behaviours: IBA-7.6.9.2-weights
 */
#include "testbench/manage.h"

enum table { LOW_TABLE = 1, HIGH_TABLE = 3 };

enum { LANES = 2, MESSAGES = 96, LEN = 16 << 10, SETTLED = 8, NEAR = 3 };

struct lane {
	struct drv_qp *x, *y;
	struct drv_cq *cq;
	unsigned done;
};

static void table_set(struct tb *tb, struct tb_end *a, enum table block, const struct vlarb *table)
{
	struct smp answer;

	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_VLARB,
	    .mod = (unsigned)block << 16, .data = table);
}

static void limit_set(struct tb *tb, struct tb_end *a, unsigned limit)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	info = port_info_to_set(&answer);
	port_info_set_vl_high_limit(&info, limit);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1,
	    .data = &info);
}

/* How many messages have completed on the lane since the last call. */
static unsigned completed(struct tb *tb, struct lane *lane)
{
	struct drv_wc wc[MESSAGES];
	const int n = drv_cq_poll(lane->cq, MESSAGES, wc);

	expect_that(n, >=, 0);
	for (int i = 0; i < n; i++)
		expect_equal(wc[i].status, IBV_WC_SUCCESS);
	lane->done += (unsigned)n;
	return (unsigned)n;
}

/* The two lanes send for a while. Lane 0 gets `share` of `of` messages. */
static void expect_share(struct tb *tb, struct tb_end *a, struct lane *lanes, unsigned share,
			 unsigned of)
{
	unsigned n[LANES] = {0};

	for (unsigned vl = 0; vl < LANES; vl++)
		send_on(a, lanes[vl].x, .opcode = IBV_WR_RDMA_WRITE, .dst = vl * LEN, .len = LEN,
			.repeat = MESSAGES);
	while (still_right() && n[0] < MESSAGES - SETTLED && n[1] < MESSAGES - SETTLED) {
		pass_time(CFG_US(1));
		for (unsigned vl = 0; vl < LANES; vl++)
			n[vl] += completed(tb, &lanes[vl]);
	}
	expect_that((n[0] + NEAR) * of, >=, (n[0] + n[1]) * share);
	expect_that(n[0] * of, <=, (n[0] + n[1]) * share + NEAR * of);
	for (unsigned vl = 0; vl < LANES; vl++)
		for (; still_right() && n[vl] < MESSAGES; n[vl] += completed(tb, &lanes[vl]))
			pass_time(CFG_US(1));
}

SCENARIO(lanes_weighted, "virtual lanes share the link by their weights", .mtu = IBV_MTU_256,
	 .any_packets = true, .settings = {"hca.link.speed=QDR"}, .data_vls = 2)
{
	static const struct {
		const char *name;
		struct vlarb low;
		unsigned share, of; /* of lane 0 */
		struct vlarb high;
		unsigned limit;
	} rows[] = {
		{"3:1", {{0, 150, 1, 50}}, 3, 4, {{0}}, 0},
		{"1:1", {{0, 60, 1, 60}}, 1, 2, {{0}}, 0},
		{"1:7", {{0, 30, 1, 210}}, 1, 8, {{0}}, 0},
		{"1:7 in the other order", {{1, 105, 2, 255, 0, 15}}, 1, 8, {{0}}, 0},
		{"two entries of a lane", {{0, 60, 1, 60, 0, 60}}, 2, 3, {{0}}, 0},
		{"weight 0", {{1, 0, 0, 120, 0, 0, 1, 60}}, 2, 3, {{0}}, 0},
		{"high, limit 0: packets take turns", {{0, 90}}, 1, 2, {{1, 30}}, 0},
		{"high, limit 1: 13 packets reach it", {{0, 90}}, 1, 14, {{1, 30}}, 1},
		{"high, no limit", {{0, 90}}, 0, 1, {{1, 30}}, 255},
		{"high, weights within", {{0, 90}}, 3, 4, {{1, 30, 0, 90}}, 255},
	};
	struct lane lanes[LANES] = {0};

	for (unsigned vl = 0; vl < LANES; vl++) {
		struct lane *l = &lanes[vl];

		l->cq = new_cq(a, MESSAGES, DRV_CQ_POLLED);
		l->x = new_qp(a, .send_cq = l->cq);
		l->y = new_qp(b);
		connect_two(l->x, l->y, .sl = vl);
	}
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		table_set(tb, a, LOW_TABLE, &rows[i].low);
		table_set(tb, a, HIGH_TABLE, &rows[i].high);
		limit_set(tb, a, rows[i].limit);
		expect_share(tb, a, lanes, rows[i].share, rows[i].of);
	}
	for (unsigned vl = 0; vl < LANES; vl++)
		expect_data(b, .dst = vl * LEN, .len = LEN);
	for (unsigned vl = 0; vl < LANES; vl++) {
		destroy_qp(lanes[vl].x);
		destroy_qp(lanes[vl].y);
		destroy_cq(lanes[vl].cq);
	}
}
