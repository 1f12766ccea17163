/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams whose GRH says a wrong PayLen are taken: the LRH says how long a packet is, and the
 * receiver of IBA 9.6.1.2 does not look at PayLen. Linux's ib_qib leaves the immediate out of the
 * PayLen of its datagrams.
 */
/* behaviours: IBA-9.6.1.2-pay-len */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, MLID = 0xc001, MULTICAST_QPN = 0xffffff, LEN = 48 };
enum { BEHIND_GRH = 12 + 8 + 4 + LEN + 4 }; /* BTH, DETH, immediate, payload, ICRC */

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, [15] = 1};

static void datagram(struct tb *tb, struct tb_end *b, struct drv_qp *qp, uint64_t wr_id,
		     int64_t pay_len)
{
	recv_on(b, qp, .wr_id = wr_id, .len = GRH_AREA + LEN);
	inject(b, UD_SEND_ONLY_IMM, .dlid = MLID, .dgid = group, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .imm = 0x12345678, .len = LEN, .pay_len = pay_len);
	expect_cqe(b, .wr_id = wr_id, .on = qp, .byte_len = GRH_AREA + LEN, .imm = 0x12345678,
		   .flags = IBV_WC_GRH | IBV_WC_WITH_IMM);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA);
}

SCENARIO(ud_grh_pay_len, "a wrong PayLen in the GRH of a datagram: taken, LRH has the length")
{
	struct drv_qp *y = new_qp(b, .type = IBV_QPT_UD);

	start_ud(y, QKEY, 1);
	if (!still_right())
		return;
	must(drv_mcast_attach(y, group, false));
	datagram(tb, b, y, 1, BEHIND_GRH);
	datagram(tb, b, y, 2, BEHIND_GRH - 4);
	datagram(tb, b, y, 3, 0);
	datagram(tb, b, y, 4, 0xffff);
	expect_stat(b, port1, rcv_errors, 0);
	must(drv_mcast_detach(y, group));
	destroy_qp(y);
}
