/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group with two members at b and two at a, one of which is the sender. Each member gets a copy.
 * The sender gets its own copy too, unless it was attached with loopback blocked; the other member
 * at a still gets one then. After the last member has left, nobody gets anything.
 */
/* behaviours: IBA-10.5.2-multicast */
#include "testbench/services.h"

enum { QKEY = 0x22222222, GRH_AREA = 40, PORT = 1, MLID = 0xc001, LEN = 50 };

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 7};
static const uint8_t other[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [13] = 7, [15] = 0};

#define TAKE(end, at, id)                                                                          \
	expect_cqe(end, .wr_id = id, .on = at, .byte_len = GRH_AREA + LEN, .flags = IBV_WC_GRH,    \
		   .src_qp = drv_qp_num(x));                                                       \
	expect_data(end, .dst = (id)*1000 + GRH_AREA, .len = LEN, .from = a);                      \
	ignore_data(end, .dst = (id)*1000, .len = GRH_AREA)
#define GIVE(end, at, id) recv_on(end, at, .wr_id = id, .dst = (id)*1000, .len = 200)

SCENARIO(ud_multicast, "multicast: a copy to every member, the sender's own included")
{
	struct drv_ah_attr ah = {.dlid = MLID, .port_num = PORT, .is_global = true};
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *z = new_qp(a, .type = IBV_QPT_UD);
	struct drv_qp *y = new_qp(b, .type = IBV_QPT_UD), *w = new_qp(b, .type = IBV_QPT_UD);

	start_ud(x, QKEY, 1);
	start_ud(z, QKEY, 1);
	start_ud(y, QKEY, 1);
	start_ud(w, QKEY, 1);
	if (!still_right())
		return;
	memcpy(ah.dgid, group, sizeof(group));
	must(drv_mcast_attach(y, other,
			      false)); /* falls into the same hash bucket: a chain of two */
	must(drv_mcast_attach(y, group, false));
	must(drv_mcast_attach(w, group, false));
	must(drv_mcast_attach(x, group, false));
	must(drv_mcast_attach(x, group, false)); /* it is a member already */
	must(drv_mcast_attach(z, group, false));
	GIVE(b, y, 1);
	GIVE(b, w, 2);
	GIVE(a, x, 3);
	GIVE(a, z, 4);
	send_on(a, x, .wr_id = 9, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .dlid = MLID, .qpn = 0xffffff, .len = LEN);
	expect_cqe(a, .wr_id = 9, .on = x);
	TAKE(a, x, 3);
	TAKE(a, z, 4);
	TAKE(b, y, 1);
	TAKE(b, w, 2);
	expect_stat(b, multicast, copies, 2);

	must(drv_mcast_detach(x, group));
	must(drv_mcast_attach(x, group, true));
	must(drv_mcast_detach(y, group));
	GIVE(b, y, 5); /* the receive stays unused */
	GIVE(b, w, 6);
	GIVE(a, x, 7); /* the receive stays unused */
	GIVE(a, z, 8);
	send_on(a, x, .wr_id = 10, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .dlid = MLID);
	expect_cqe(a, .wr_id = 10);
	TAKE(a, z, 8);
	TAKE(b, w, 6);

	must(drv_mcast_detach(w, group));
	must(drv_mcast_detach(z, group));
	must(drv_mcast_detach(x, group));
	must(drv_mcast_detach(y, other));
	send_on(a, x, .wr_id = 11, .len = LEN, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .dlid = MLID);
	expect_cqe(a, .wr_id = 11);
	expect_no_more(CFG_US(20));
	expect_stat(b, multicast, unwanted, 1);
	destroy_qp(w);
	destroy_qp(y);
	destroy_qp(z);
	destroy_qp(x);
}
