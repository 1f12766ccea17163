/* SPDX-License-Identifier: Apache-2.0 */
/* A port with several LIDs: datagrams and requests to each of them, also from the port itself, arrive. What
 * the port sends to itself does not go over the cable. */
/* behaviours: IBA-4.1.3-own-lids */
#include "testbench/services.h"

enum { AREA = 40, LEN = 64, LIDS = 4, QKEY = 0x11111111 };

SCENARIO(loopback_lids, "a port sends to each of its own LIDs", .loopback = true, .lmc = 2)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = ah_to(b);
	const uint32_t base = a->lid;

	ignore_packets();
	if (!still_right())
		return;
	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	for (unsigned i = 0; i < LIDS && still_right(); i++) {
		name_row("LID base + %u", i);
		ah.dlid = (uint16_t)(base + i);
		recv_on(b, y, .wr_id = 2 * i, .len = AREA + LEN, .dst = 256 * i);
		send_on(a, x, .wr_id = 2 * i + 1, .len = LEN, .src = LEN * i, .ah = &ah,
			.remote_qpn = drv_qp_num(y), .qkey = QKEY);
		expect_cqe(a, .wr_id = 2 * i + 1);
		expect_cqe(b, .wr_id = 2 * i, .on = y);
		expect_data(b, .dst = 256 * i + AREA, .src = LEN * i, .len = LEN);
	}
	expect_stat(a, port1, rcv_pkts, 0);
	destroy_qp(y);
	destroy_qp(x);
}
