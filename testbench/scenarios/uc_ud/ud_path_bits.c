/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port with an LMC has several LIDs. A datagram leaves with the one that the path bits of its
 * address name, and reaches every LID of the other port; the completion tells both.
 */
/* behaviours: IBA-4.1.3-path-bits-ud */
#include "testbench/services.h"

enum { LMC = 2, LIDS = 1 << LMC, QKEY = 0x11111111, GRH_AREA = 40, LEN = 32 };

SCENARIO(ud_path_bits, "datagrams leave with the LID of their path bits", .lmc = LMC)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);

	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	for (unsigned bits = 0; bits < LIDS && still_right(); bits++) {
		const unsigned to = LIDS - 1 - bits;
		struct drv_ah_attr ah = ah_to(b);

		ah.dlid = b->lid + to;
		ah.src_path_bits = (uint8_t)bits;
		recv_on(b, y, .wr_id = bits, .len = GRH_AREA + LEN);
		send_on(a, x, .wr_id = 9, .len = LEN, .src = bits, .ah = &ah,
			.remote_qpn = drv_qp_num(y), .qkey = QKEY);
		expect_pkt(a_to_b, UD_SEND_ONLY, .slid = a->lid + bits, .dlid = b->lid + to);
		expect_cqe(a, .wr_id = 9);
		expect_cqe(b, .wr_id = bits, .on = y, .slid = a->lid + bits, .path_bits = to);
		expect_data(b, .dst = GRH_AREA, .src = bits, .len = LEN);
	}
	destroy_qp(y);
	destroy_qp(x);
}
