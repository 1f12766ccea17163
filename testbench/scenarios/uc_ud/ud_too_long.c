/* SPDX-License-Identifier: Apache-2.0 */
/* A datagram longer than the MTU never leaves: it ends with a local length error. The QP goes to
 * SQE, and the next request is flushed. A datagram of exactly the MTU arrives. */
/* behaviours: UD-3 */
#include "testbench/services.h"

enum { QKEY = 0x11111111, GRH_AREA = 40, PORT = 1, MTU = 4096 };

SCENARIO(ud_too_long, "a datagram longer than the MTU is refused at the sender")
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	const struct drv_ah_attr ah = ah_to(b);

	start_ud(x, QKEY, 5);
	start_ud(y, QKEY, 0);
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = MTU + GRH_AREA);
	send_on(a, x, .wr_id = 1, .len = MTU, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 5, .len = MTU);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(b, .wr_id = 1, .byte_len = MTU + GRH_AREA);
	expect_data(b, .dst = GRH_AREA, .len = MTU);

	send_on(a, x, .wr_id = 2, .len = MTU + 1, .ah = &ah, .remote_qpn = drv_qp_num(y),
		.qkey = QKEY);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_LOC_LEN_ERR, .on = x);
	send_on(a, x, .wr_id = 3, .len = 8, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_WR_FLUSH_ERR);
	expect_no_more(CFG_US(20));
	destroy_qp(x);
	destroy_qp(y);
}
