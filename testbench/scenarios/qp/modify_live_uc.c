/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unreliable services do not report a lost packet, so a command that modifies a queue pair must not
 * lose any. There are ten RTS to RTS transitions on the receiver and ten on the sender, and every
 * message arrives in order: UC with messages of three packets, and UD.
 */
/* behaviours: IBA-10.3.1-RTS UC-1 UD-1 */
#include "testbench/services.h"

enum { MTU = 1024, LEN = 3 * MTU, MESSAGES = 100, TIMES = 10, GRH = 40, DATAGRAM = 512 };
enum { QKEY = 0x1111 };

static void modify(struct tb *tb, struct drv_qp *qp, bool datagram)
{
	const struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .qkey = QKEY, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	for (unsigned i = 0; i < TIMES; i++) {
		must(drv_qp_modify(qp, &attr,
				   IBV_QP_STATE | (datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
		pass_time(CFG_NS(300) * i);
	}
}

static void all_arrive(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t byte_len)
{
	for (unsigned i = 0; i < MESSAGES && still_right(); i++) {
		expect_cqe(b, .wr_id = i, .byte_len = byte_len);
		expect_cqe(a, .wr_id = i);
	}
	expect_stat(b, responder, dropped, 0);
}

SCENARIO(modify_live_uc, "an unreliable queue pair is modified under traffic: all messages arrive",
	 .type = IBV_QPT_UC, .mtu = IBV_MTU_1024, .any_packets = true)
{
	const struct drv_ah_attr ah = ah_to(b);
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UD), *v = new_qp(b, .type = IBV_QPT_UD);
	struct drv_qp *const uc[] = {b->qp[0], a->qp[0]}, *const ud[] = {v, u};

	start_ud(u, QKEY, 0);
	start_ud(v, QKEY, 0);
	if (!still_right())
		return;
	for (unsigned side = 0; side < 2; side++) {
		phase(side ? "UC sender" : "UC receiver");
		for (unsigned i = 0; i < MESSAGES; i++)
			recv_on(b, b->qp[0], .wr_id = i, .len = LEN);
		send_on(a, a->qp[0], .len = LEN, .repeat = MESSAGES);
		modify(tb, uc[side], false);
		all_arrive(tb, a, b, LEN);
		expect_data(b, .len = LEN);
		phase(side ? "UD sender" : "UD receiver");
		for (unsigned i = 0; i < MESSAGES; i++)
			recv_on(b, v, .wr_id = i, .dst = LEN, .len = GRH + DATAGRAM);
		send_on(a, u, .len = DATAGRAM, .repeat = MESSAGES, .ah = &ah,
			.remote_qpn = drv_qp_num(v), .qkey = QKEY);
		modify(tb, ud[side], true);
		all_arrive(tb, a, b, GRH + DATAGRAM);
		expect_data(b, .dst = LEN + GRH, .len = DATAGRAM);
	}
	destroy_qp(v);
	destroy_qp(u);
}
