/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If the Q_Key in the work request has its highest bit set, the Q_Key of the sending queue pair is
 * sent instead; otherwise the work request's own Q_Key is sent. A wrong Q_Key is dropped and
 * counted.
 * behaviours: IBA-10.2.5-controlled-qkey
 */
#include "testbench/services.h"

enum { OWN = 0x11111111, OTHER = 0x22222222, HIGH = INT32_MIN, AREA = 40, LEN = 64 };

SCENARIO(ud_own_qkey, "a Q_Key with its high bit set is the sender's own")
{
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_qp *z = new_qp(b, .type = IBV_QPT_UD);

	start_ud(x, OWN, 0);
	start_ud(y, OWN, 0);
	start_ud(z, OTHER, 0);
	recv_on(b, y, .wr_id = 1, .len = AREA + LEN);
	recv_on(b, z, .wr_id = 2, .len = AREA + LEN, .dst = 1024);
	send_on(a, x, .wr_id = 3, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y),
		.qkey = (uint32_t)HIGH | OTHER);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 0);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 1, .on = y);
	expect_data(b, .dst = AREA, .len = LEN);
	send_on(a, x, .wr_id = 4, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(z),
		.qkey = OTHER);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 1);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 2, .on = z);
	expect_data(b, .dst = 1024 + AREA, .len = LEN);
	destroy_qp(x);
	destroy_qp(y);
	destroy_qp(z);
}
