/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event "last WQE reached" means that all receives of a queue pair with an SRQ have completed.
 * It comes after their completions, even when the context of the CQ must be read first.
 */
/* behaviours: IBA-10.2.9-last-wqe */
#include "testbench/harm.h"

enum { LEN = 64, LATE_US = 500 };

SCENARIO(srq_last_wqe, "last WQE reached comes behind the completions it speaks of",
	 .any_packets = true)
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq);
	uint64_t told_ps;

	connect_two(x, y);
	if (!still_right())
		return;
	recv_srq(b, srq, .wr_id = 1, .len = LEN);
	send_on(a, x, .wr_id = 2, .len = LEN);
	evict(b, HCA_CQ, drv_cq_num(b->cq));
	late_read(b, "cqc", CFG_US(LATE_US));
	pass_time(CFG_US(7));
	move_qp(y, IBV_QPS_ERR);
	expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	told_ps = tb_now(tb);
	expect_cqe(b, .wr_id = 1, .byte_len = LEN);
	expect_true(tb_now(tb) - told_ps <
		    CFG_US(1)); /* the completion was there before the event */
	expect_cqe(a, .wr_id = 2);
	expect_data(b, .len = LEN);
	destroy_qp(x);
	destroy_qp(y);
	destroy_srq(srq);
}
