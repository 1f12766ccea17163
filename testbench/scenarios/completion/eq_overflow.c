/* SPDX-License-Identifier: Apache-2.0 */
/* An event queue of eight entries, whose interrupt is masked, takes eight events. The ninth event
 * finds no room: catastrophic error. The other host is not affected. */
/* behaviours: IBA-11.6.3-eq-overflow */
#include "testbench/harm.h"

enum {
	LOG_EQ_SIZE = 3,
	LOG_EQ_LARGEST = 22,
	PAGES_MAX = 20000, /* of the 32768 that such an event queue has, about the last to be had */
	EVENTS = 1 << LOG_EQ_SIZE,
	VECTOR = 1,
	CONTROL = BAR0_MSIX_TABLE + VECTOR * HCA_MSIX_ENTRY_SIZE + 12,
};

SCENARIO(eq_overflow, "an event queue overflows: the device stops", .bare = true)
{
	const struct drv_options options = {.log_eq_size = LOG_EQ_SIZE};
	struct drv_cq *cq;
	struct drv_qp *x, *y;

	ignore_packets();
	must(drv_probe(a->platform, &options, &a->dev));
	bring_up(b);
	activate_ports();
	make_objects(a);
	make_objects(b);
	connect_qps();
	cq = new_cq(a, 64, 0);
	x = new_qp(a, .recv_cq = cq);
	y = new_qp(b);
	connect_two(x, y);
	if (!still_right())
		return;
	recv_on(a, x, .wr_id = 1, .len = 16, .repeat = EVENTS + 1);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, CONTROL, 0x01000000);
	for (unsigned i = 0; i < EVENTS; i++) {
		drv_cq_arm(cq, false);
		send_on(b, y, .len = 16);
		expect_cqe(b);
	}
	expect_no_more(CFG_US(20));
	drv_cq_arm(cq, false);
	send_on(b, y, .len = 16);
	expect_catastrophe(a);
	expect_stat(a, event_queue, overruns, 1);
	expect_data(a, .len = 16);
	expect_cqe(b);
	abandon(a);
	ignore_events(b);
	destroy_qp(y);
	take_down(b);
}

/* The largest event queue is one for which there may be too little memory; one beyond it is wrong. */
SCENARIO(eq_largest, "an event queue as large as there may be, and one that is refused",
	 .bare = true, .of_mlx4 = "event queues")
{
	struct drv_options options = {.log_eq_size = LOG_EQ_LARGEST + 1, .comp_vectors = 1};

	must_fail(-EINVAL, drv_probe(a->platform, &options, &a->dev));
	options.log_eq_size = LOG_EQ_LARGEST;
	lack_memory(PAGES_MAX);
	must_fail(-ENOMEM, drv_probe(a->platform, &options, &a->dev));
	expect_true(lack_memory(0));
}
