/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a connection that a scenario can choose: path bits, service level, GRH, the
 * peer's access rights, outstanding READs; also a connection within one port. The cable is pulled
 * and plugged.
 */
#include "testbench/services.h"

enum { LMC = 2, X_BITS = 1, Y_BITS = 3, SL = 2 };

SCENARIO(words_connect, "connections with paths of their own, within a port, and without a cable",
	 .lmc = LMC, .timeout = 16)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b), *u = new_qp(a), *v = new_qp(a);

	connect_two(x, y, .x_path_bits = X_BITS, .y_path_bits = Y_BITS, .sl = SL, .grh = true,
		    .y_access = IBV_ACCESS_REMOTE_READ, .x_rd_atomic = 1, .y_dest_rd_atomic = 2,
		    .x_psn = 100, .mtu = IBV_MTU_1024);
	send_on(a, x, .opcode = IBV_WR_RDMA_READ, .wr_id = 1, .len = 64, .repeat = 2);
	for (unsigned i = 0; i < 2; i++) { /* one at a time */
		expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 100 + i, .slid = a->lid + X_BITS,
			   .dlid = b->lid + Y_BITS, .sl = SL, .grh = 1);
		expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = 100 + i, .slid = b->lid + Y_BITS,
			   .dlid = a->lid + X_BITS);
	}
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_data(a, .len = 64);
	send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .nak = NAK_INVALID_REQ);
	expect_cqe(a, .wr_id = 3, .status = ANY_ERROR);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
	destroy_qp(y);
	destroy_qp(x);

	connect_ends(a, u, a, v);
	send_on(a, u, .opcode = IBV_WR_RDMA_WRITE, .to = a, .wr_id = 4, .dst = 4096, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .dlid = a->lid, .slid = a->lid);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 4);
	expect_data(a, .from = a, .dst = 4096, .len = 64);
	destroy_qp(v);
	destroy_qp(u);

	ignore_packets();
	ignore_events(a);
	ignore_events(b);
	pull_cable(1);
	rdma_write(a, .wr_id = 5, .len = 64);
	pass_time(CFG_MS(5));
	plug_cable(1);
	must(sm_run(a->dev, 1, &(const struct sm_options){.lid = 1, .lmc = LMC}, NULL));
	expect_cqe(a, .wr_id = 5);
	expect_data(b, .len = 64);
}
