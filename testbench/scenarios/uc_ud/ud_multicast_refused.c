/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of four members of the group one has no matching P_Key, one has another Q_Key, and one has no
 * receive; only the fourth gets its copy. Invalid multicast packets (no GRH, a unicast GID, an
 * opcode of a connected service) are dropped.
 */
/* behaviours: IBA-10.5.2-multicast IBA-9.6.1-multicast */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, MLID = 0xc001, MULTICAST_QPN = 0xffffff, LEN = 48 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, [15] = 1};
static const uint8_t unicast[DRV_GID_BYTES] = {0xfe, 0x80, [15] = 1};

SCENARIO(ud_multicast_refused, "multicast: members that may not have it get nothing")
{
	struct drv_qp *y = new_qp(b, .type = IBV_QPT_UD), *w = new_qp(b, .type = IBV_QPT_UD),
		      *v = new_qp(b, .type = IBV_QPT_UD);

	start_ud(y, QKEY, 1);
	start_ud(w, QKEY + 1, 1);
	start_ud(v, QKEY, 1);
	if (!still_right())
		return;
	must(drv_mcast_attach(v, group, false));
	must(drv_mcast_attach(w, group, false));
	must(drv_mcast_attach(y, group, false));
	recv_on(b, y, .wr_id = 1, .len = 200);
	recv_on(b, w, .wr_id = 2, .dst = 1000, .len = 200);
	inject(b, UD_SEND_ONLY, .dlid = MLID, .dgid = group, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .pkey = 0x8001, .len = LEN);
	inject(b, UD_SEND_ONLY, .dlid = MLID, .qpn = MULTICAST_QPN, .qkey = QKEY, .len = LEN);
	inject(b, UD_SEND_ONLY, .dlid = MLID, .dgid = unicast, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .len = LEN);
	inject(b, UD_SEND_ONLY, .dlid = b->lid, .dgid = group, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .len = LEN);
	inject(b, UD_SEND_ONLY, .dlid = 0xffff, .dgid = group, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .len = LEN);
	inject(b, UD_SEND_ONLY, .dlid = MLID, .dgid = group, .qpn = drv_qp_num(y), .qkey = QKEY,
	       .len = LEN);
	inject(b, RC_SEND_ONLY, .dlid = MLID, .dgid = group, .qpn = MULTICAST_QPN, .len = LEN);
	expect_no_more(CFG_US(20));
	expect_stat(b, multicast, packets, 1);
	inject(b, UD_SEND_ONLY, .dlid = MLID, .dgid = group, .qpn = MULTICAST_QPN, .qkey = QKEY,
	       .len = LEN);
	expect_cqe(b, .wr_id = 1, .on = y, .byte_len = GRH_AREA + LEN, .flags = IBV_WC_GRH);
	expect_data(b, .dst = GRH_AREA, .len = LEN);
	ignore_data(b, .len = GRH_AREA);
	expect_no_more(CFG_US(20));
	must(drv_mcast_detach(y, group));
	must(drv_mcast_detach(w, group));
	must(drv_mcast_detach(v, group));
	destroy_qp(v);
	destroy_qp(w);
	destroy_qp(y);
}
