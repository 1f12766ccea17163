/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive list of an SRQ lies in a page that software has unmapped. The SRQ goes to error and
 * reports one event with its own number. The queue pair that wanted a receive answers with a remote
 * operational error and fails, and so does the next queue pair that uses this SRQ. Another SRQ, and
 * queue pairs without an SRQ, go on.
 */
/* behaviours: IBA-11.6.3.4-srq-catastrophe */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(srq_catastrophe,
	 "an SRQ whose receives cannot be read: in error, with an event of its own")
{
	struct drv_srq *bad = new_srq(b), *good = new_srq(b);
	struct drv_qp *x[3], *y[3];
	struct mtt_entry *entry;

	for (unsigned i = 0; i < 3; i++) {
		x[i] = new_qp(a);
		y[i] = new_qp(b, .srq = i < 2 ? bad : good);
		connect_two(x[i], y[i]);
	}
	recv_srq(b, bad, .wr_id = 1, .len = 64, .repeat = 4);
	recv_srq(b, good, .wr_id = 11, .dst = 1000, .len = 64);
	if (!still_right())
		return;
	entry = drv_table_find(&b->dev->tables[DRV_T_MTT], bad->buf.mtt.first, NULL);
	expect_true(entry && mtt_entry_get_present(entry));
	if (!still_right())
		return;
	mtt_entry_set_present(entry, 0);
	for (unsigned i = 0; i < 2; i++) {
		send_on(a, x[i], .wr_id = 20 + i, .len = 64);
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = NAK_REM_OP);
		expect_cqe(a, .wr_id = 20 + i, .on = x[i], .status = IBV_WC_REM_OP_ERR);
		if (!i) {
			expect_guest_error(b, mtt_not_present);
			expect_event(b, IBV_EVENT_SRQ_ERR);
		}
		expect_event(b, IBV_EVENT_QP_FATAL);
		expect_event(b, IBV_EVENT_QP_LAST_WQE_REACHED);
	}
	send_on(a, x[2], .wr_id = 30, .len = 64);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(a, .wr_id = 30);
	expect_cqe(b, .wr_id = 11, .on = y[2]);
	expect_data(b, .dst = 1000, .len = 64);
	rdma_write(a, .wr_id = 31, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 31);
	expect_data(b, .len = 64);
	mtt_entry_set_present(entry, 1);
	for (unsigned i = 0; i < 3; i++) {
		destroy_qp(x[i]);
		destroy_qp(y[i]);
	}
	destroy_srq(bad);
	destroy_srq(good);
}
