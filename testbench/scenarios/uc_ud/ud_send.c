/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams with and without a GRH. The first 40 bytes of a receive are reserved for the GRH: they
 * are written only when there is one, and always count in the length. The completion names the
 * sender and its LID, and says whether there was a GRH.
 */
/* behaviours: UD-1 */
#include "testbench/services.h"

enum { QKEY = 0x11111111, GRH_AREA = 40, PORT = 1, SL = 3 };

SCENARIO(ud_send, "datagrams: space for the GRH, source, immediate")
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = {.dlid = b->lid, .sl = SL, .port_num = PORT, .hop_limit = 9};
	uint8_t sgid[DRV_GID_BYTES];

	start_ud(x, QKEY, 0xffffff);
	start_ud(y, QKEY, 0);
	must(drv_query_gid(a->dev, PORT, 0, sgid));
	must(drv_query_gid(b->dev, PORT, 0, ah.dgid));
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = 200);
	send_on(a, x, .wr_id = 7, .len = 101, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 0xffffff, .qpn = drv_qp_num(y), .len = 101);
	expect_cqe(a, .wr_id = 7, .on = x);
	expect_cqe(b, .wr_id = 1, .byte_len = GRH_AREA + 101, .on = y, .src_qp = drv_qp_num(x),
		   .slid = a->lid, .sl = SL, .flags = 0, .pkey_index = 0);
	expect_data(b, .dst = GRH_AREA, .len = 101);

	ah.is_global = true;
	recv_on(b, y, .wr_id = 2, .dst = 1000, .len = 200);
	send_on(a, x, .wr_id = 8, .src = 500, .len = 64, .with_imm = true, .imm = 0x01020304,
		.ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY_IMM, .psn = 0, .len = 64, .imm = 0x01020304);
	expect_cqe(a, .wr_id = 8);
	expect_cqe(b, .wr_id = 2, .byte_len = GRH_AREA + 64, .imm = 0x01020304,
		   .flags = IBV_WC_GRH | IBV_WC_WITH_IMM, .src_qp = drv_qp_num(x));
	expect_data(b, .dst = 1000 + GRH_AREA, .src = 500, .len = 64);
	expect_true(b->dst[1000] >> 4 == 6 && b->dst[1006] == 0x1b && b->dst[1007] == 9);
	expect_true(!memcmp(b->dst + 1008, sgid, DRV_GID_BYTES));
	expect_true(!memcmp(b->dst + 1024, ah.dgid, DRV_GID_BYTES));
	ignore_data(b, .dst = 1000, .len = GRH_AREA);
	destroy_qp(x);
	destroy_qp(y);
}
