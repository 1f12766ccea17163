/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram to a multicast group occupies the port's receive buffer until every member has its
 * copy. So members that are slower than the sender hold the sender back, both the members on the
 * sender's own port and those across the wire.
 * behaviours: IBA-7.9-credits IBA-10.5.2-multicast
 */
#include "testbench/services.h"

enum {
	QKEY = 0x33333333,
	MLID = 0xc002,
	MEMBERS = 24,
	LEN = 4096,
	MESSAGES = 100,
	ROUNDS = 4,
	ROOM = 2 << 20 /* more than a buffer and its copies take */
};

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 9};

static void join(struct tb *tb, struct tb_end *end, struct drv_qp *qp[MEMBERS])
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		qp[i] = new_qp(end, .type = IBV_QPT_UD);
		start_ud(qp[i], QKEY, 1);
		must(drv_mcast_attach(qp[i], group, false));
	}
}

static void leave(struct tb *tb, struct drv_qp *qp[MEMBERS])
{
	for (unsigned i = MEMBERS; i--;) {
		must(drv_mcast_detach(qp[i], group));
		destroy_qp(qp[i]);
	}
}

SCENARIO(multicast_full, "slow members of a multicast group hold its sender back",
	 .unobserved = true)
{
	struct drv_ah_attr ah = {.dlid = MLID, .port_num = 1, .is_global = true};
	const struct hca *x = host_hca(a->host), *y = host_hca(b->host);
	struct drv_qp *near[MEMBERS], *far[MEMBERS];
	size_t before;

	memcpy(ah.dgid, group, sizeof(group));
	join(tb, a, near);
	join(tb, b, far);
	before = hca_footprint(x) + hca_footprint(y);
	for (unsigned n = 0; n < ROUNDS && still_right(); n++) {
		/* no member has a receive: each one looks for a receive and finds none */
		send_on(a, near[0], .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY,
			.repeat = MESSAGES);
		expect_cqes(a, MESSAGES);
	}
	pass_time(CFG_MS(1));
	expect_stat(a, multicast, copies, ROUNDS * MESSAGES * MEMBERS);
	expect_stat(b, multicast, copies, ROUNDS * MESSAGES * MEMBERS);
	expect_stat(b, responder, dropped, ROUNDS * MESSAGES * MEMBERS);
	expect_that(hca_footprint(x) + hca_footprint(y), <, before + ROOM);
	tb_figure(tb, "bytes", (double)(hca_footprint(x) + hca_footprint(y) - before));
	leave(tb, far);
	leave(tb, near);
}
