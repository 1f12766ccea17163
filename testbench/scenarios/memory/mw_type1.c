/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window of type 1 over part of a region. Accesses inside it succeed; accesses outside it or with
 * other rights fail; after it is bound with length 0 its old key is invalid. The region cannot be
 * freed while a window is bound to it, and can be freed once the window is unbound or freed.
 * behaviours: MEM-7
 */
#include "testbench/scenario.h"

#include <errno.h>

enum { WINDOW_AT = 4096, WINDOW_LEN = 8192 };

SCENARIO(mw_type1, "memory window type 1: bind, use, bounds, rebind to zero length, region held",
	 .any_packets = true)
{
	const struct drv_send_wr bind = {.wr_id = 1,
					 .opcode = IBV_WR_BIND_MW,
					 .send_flags = IBV_SEND_SIGNALED,
					 .bind_addr = tb_va(b, b->dst) + WINDOW_AT,
					 .bind_length = WINDOW_LEN,
					 .bind_access = IBV_ACCESS_REMOTE_WRITE};
	struct drv_send_wr wr = bind;
	struct drv_mw *mw = NULL;
	struct drv_mr *mr = NULL;
	uint32_t old;

	must(drv_mr_reg_iova(b->pd, b->dst, 65536, tb_va(b, b->dst),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, &mr));
	must(drv_mw_alloc(b->pd, IBV_MW_TYPE_1, &mw));
	if (!still_right())
		return;
	wr.bind_mw = mw;
	wr.bind_mr = mr;
	must(drv_post_send(b->qp[0], &wr, NULL));
	expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_BIND_MW);
	must_fail(-EBUSY, drv_mr_dereg(mr));

	phase("inside");
	rdma_write(a, .wr_id = 2, .len = WINDOW_LEN, .dst = WINDOW_AT, .rkey = drv_mw_rkey(mw));
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = WINDOW_LEN, .dst = WINDOW_AT);

	phase("outside");
	rdma_write(a, .wr_id = 3, .len = WINDOW_LEN, .dst = WINDOW_AT + 1, .rkey = drv_mw_rkey(mw));
	expect_cqe(a, .wr_id = 3, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
	rdma_read(a, .wr_id = 4, .len = 8, .rkey = drv_mw_rkey(mw),
		  .remote_addr = tb_va(b, b->dst) + WINDOW_AT);
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);

	phase("rebind");
	reconnect(0);
	old = drv_mw_rkey(mw);
	wr.bind_length = 0;
	wr.bind_mr = NULL; /* none is needed, and none is named */
	must(drv_post_send(b->qp[0], &wr, NULL));
	expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_BIND_MW);
	rdma_write(a, .wr_id = 5, .len = 8, .dst = WINDOW_AT, .rkey = old);
	expect_cqe(a, .wr_id = 5, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);
	rdma_write(a, .wr_id = 6, .len = 8, .dst = WINDOW_AT, .rkey = drv_mw_rkey(mw));
	expect_cqe(a, .wr_id = 6, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);

	phase("free");
	reconnect(0);
	wr.bind_length = 1;
	wr.bind_mr = mr;
	must(drv_post_send(b->qp[0], &wr, NULL));
	expect_cqe(b, .wr_id = 1);
	must_fail(-EBUSY, drv_mr_dereg(mr));
	must(drv_mw_free(mw));
	must(drv_mr_dereg(mr));
}
