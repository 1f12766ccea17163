/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of one hash bucket stand in a chain of the multicast table. Whichever of them leaves
 * first, the others go on receiving; a group that has left receives nothing; and the places of
 * those that left are used again, so that coming and going does not fill the table.
 */
/* behaviours: IBA-10.5.2-multicast MCG-chain */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, MLID = 0xc001, LEN = 16, GROUPS = 4, ROUNDS = 3 };

/* Their hash, the XOR of their words, is the same: 0 in one round of two. */
static void group_of(unsigned round, unsigned n, uint8_t *mgid)
{
	static const uint8_t first[][DRV_GID_BYTES] = {
		{0xff, 0x12, 0xa0, 0x1b},
		{0xff, 0x12, 0xa0, 0x1b, [10] = 0xff ^ 0xa0, [11] = 0x12 ^ 0x1b},
	};

	memcpy(mgid, first[round % 2], sizeof(first[0]));
	mgid[13] = (uint8_t)n;
	mgid[15] = (uint8_t)n;
}

static void send_to(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
		    struct drv_qp *y, const uint8_t *mgid, unsigned n, bool member)
{
	struct drv_ah_attr ah = {.dlid = MLID, .port_num = 1, .is_global = true};

	memcpy(ah.dgid, mgid, DRV_GID_BYTES);
	if (member)
		recv_on(b, y, .wr_id = n, .len = GRH_AREA + LEN);
	send_on(a, x, .wr_id = 9, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_cqe(a, .wr_id = 9);
	if (member)
		expect_cqe(b, .wr_id = n, .on = y, .byte_len = GRH_AREA + LEN);
	else
		expect_no_more(CFG_US(5));
}

SCENARIO(multicast_chain, "groups of one hash bucket come and go in every order",
	 .any_packets = true)
{
	static const unsigned orders[][GROUPS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	uint8_t mgid[DRV_GID_BYTES];

	start_ud(x, QKEY, 1);
	start_ud(y, QKEY, 1);
	if (!still_right())
		return;
	for (unsigned round = 0; round < ROUNDS; round++)
		for_each_row(i, orders) {
			bool gone[GROUPS] = {false};

			for (unsigned n = 0; n < GROUPS; n++) {
				group_of(round, n, mgid);
				must(drv_mcast_attach(y, mgid, false));
			}
			for (unsigned k = 0; k < GROUPS; k++) {
				name_row("%u groups have left", k + 1);
				group_of(round, orders[i][k], mgid);
				must(drv_mcast_detach(y, mgid));
				gone[orders[i][k]] = true;
				for (unsigned n = 0; n < GROUPS; n++) {
					group_of(round, n, mgid);
					send_to(tb, a, b, x, y, mgid, n, !gone[n]);
				}
			}
		}
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA);
	destroy_qp(y);
	destroy_qp(x);
}
