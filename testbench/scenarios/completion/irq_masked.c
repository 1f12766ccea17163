/* SPDX-License-Identifier: Apache-2.0 */
/* An interrupt raised while its MSI-X vector is masked is not lost: its pending bit is set, and the
 * interrupt is delivered once when the vector is unmasked. */
/* behaviours: DEFECT-masked-vector */
#include "testbench/harm.h"

enum { VECTOR = 1, SETTLE_US = 30 };

SCENARIO(irq_masked, "an interrupt raised while its vector is masked comes at the unmasking")
{
	struct drv_cq *cq = new_cq(b, 64, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(b, y, .wr_id = 1, .len = 16, .repeat = 3);
	mask_vector(b, VECTOR, true);
	drv_cq_arm(cq, false);
	send_on(a, x, .len = 16);
	expect_cqe(b, .cq = cq, .wr_id = 1);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 0);
	expect_true(vector_pending(b, VECTOR));
	expect_stat(b, interrupt, masked, 1);
	mask_vector(b, VECTOR, false);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 1);
	expect_true(!vector_pending(b, VECTOR));
	drv_cq_arm(cq, false);
	send_on(a, x, .src = 16, .len = 16);
	pass_time(CFG_US(SETTLE_US));
	expect_equal(drv_cq_events(cq), 2);
	expect_cqe(b, .cq = cq, .wr_id = 2);
	expect_cqes(a, 2);
	expect_data(b, .len = 16);
	expect_data(b, .dst = 16, .src = 16, .len = 16);
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
