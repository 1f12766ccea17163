/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window of type 2 is accessible only through the queue pair it is bound on. It is invalidated
 * locally or by the peer's SEND with invalidate, and can be bound only when it is free. With zero
 * based addressing, address 0 is its first byte. A bind gives the rights that it asks for, each alone, and
 * the key that its caller has chosen.
 * behaviours: IBA-10.6.7-type2 IBA-9.4.1-remote-invalidate
 */
#include "testbench/scenario.h"

enum { WINDOW_AT = 4096, WINDOW_LEN = 4096 };

/* The window is free, and is so again afterwards. */
static void rights(struct tb *tb, struct tb_end *b, struct drv_send_wr bind)
{
	static const unsigned alone[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
					 IBV_ACCESS_REMOTE_ATOMIC, 0};
	struct drv_send_wr inv = {
		.wr_id = 2, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};

	for_each_row(i, alone) {
		const uint32_t key = drv_mw_rkey(bind.bind_mw);

		bind.bind_access = alone[i];
		bind.bind_rkey = (key & ~UINT32_C(0xff)) | ((key + 0x35) & 0xff);
		must(drv_post_send(b->qp[0], &bind, NULL));
		expect_equal(drv_mw_rkey(bind.bind_mw), bind.bind_rkey);
		expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_BIND_MW);
		inv.invalidate_rkey = bind.bind_rkey;
		must(drv_post_send(b->qp[0], &inv, NULL));
		expect_cqe(b, .wr_id = 2, .opcode = IBV_WC_LOCAL_INV);
	}
}

SCENARIO(mw_type2, "memory window type 2: one queue pair, zero based, local and remote invalidate",
	 .any_packets = true, .qps = 2, .mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
{
	struct drv_send_wr bind = {.wr_id = 1,
				   .opcode = IBV_WR_BIND_MW,
				   .send_flags = IBV_SEND_SIGNALED,
				   .bind_mr = b->mr,
				   .bind_addr = tb_va(b, b->dst) + WINDOW_AT,
				   .bind_length = WINDOW_LEN,
				   .bind_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED};
	struct drv_send_wr inv = {
		.wr_id = 2, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};
	struct drv_send_wr send = {
		.wr_id = 3, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED};
	struct drv_wc wc = {0};

	must(drv_mw_alloc(b->pd, IBV_MW_TYPE_2, &bind.bind_mw));
	if (!still_right())
		return;
	must(drv_post_send(b->qp[0], &bind, NULL));
	expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_BIND_MW);

	phase("zero based");
	rdma_write(a, .wr_id = 4, .len = WINDOW_LEN - 64, .rkey = drv_mw_rkey(bind.bind_mw),
		   .remote_addr = 64);
	expect_cqe(a, .wr_id = 4);
	expect_data(b, .len = WINDOW_LEN - 64, .dst = WINDOW_AT + 64);
	rdma_write(a, .wr_id = 5, .len = 65, .rkey = drv_mw_rkey(bind.bind_mw),
		   .remote_addr = WINDOW_LEN - 64);
	expect_cqe(a, .wr_id = 5, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("another queue pair");
	rdma_write(a, .wr_id = 6, .len = 8, .qp = 1, .rkey = drv_mw_rkey(bind.bind_mw),
		   .remote_addr = 1);
	expect_cqe(a, .wr_id = 6, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(1);

	phase("bound already");
	must(drv_post_send(b->qp[1], &bind, NULL));
	expect_cqe(b, .wr_id = 1, .status = IBV_WC_MW_BIND_ERR);
	reconnect(1);

	phase("local invalidate");
	/* the driver advanced its copy of the key although the bind was refused */
	inv.invalidate_rkey = drv_mw_rkey(bind.bind_mw) - 1;
	must(drv_post_send(b->qp[0], &inv, NULL));
	expect_cqe(b, .wr_id = 2, .opcode = IBV_WC_LOCAL_INV);
	rdma_write(a, .wr_id = 7, .len = 8, .rkey = inv.invalidate_rkey, .remote_addr = 1);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("rights");
	rights(tb, b, bind);

	phase("remote invalidate");
	must(drv_post_send(b->qp[0], &bind, NULL));
	expect_cqe(b, .wr_id = 1);
	post_recv(b, .wr_id = 8, .repeat = 2);
	send.invalidate_rkey = drv_mw_rkey(bind.bind_mw);
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 3);
	must(drv_cq_wait(b->cq, tb_now(tb) + CFG_MS(1)));
	expect_equal(drv_cq_poll(b->cq, 1, &wc), 1);
	expect_equal(wc.wc_flags, IBV_WC_WITH_INV);
	expect_equal(wc.invalidated_rkey, send.invalidate_rkey);
	/* the window is not bound any more */
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_REM_ACCESS_ERR);
	expect_cqe(b, .wr_id = 9, .status = IBV_WC_LOC_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	must(drv_mw_free(bind.bind_mw));
}
