/* SPDX-License-Identifier: Apache-2.0 */
/* Software switches bus mastering off under a working device. No DMA reaches memory, each attempt
 * is reported, and the driver loses the device. */
#include "testbench/scenario.h"
#include "testbench/scenarios/driver_faults/reset_end.h"

enum { PCI_COMMAND = 4, BUS_MASTER = 4 };

SCENARIO(guest_bus_master_off,
	 "rule bus_master_off: bus mastering is switched off under a live queue pair",
	 .stays_up = true)
{
	const struct platform_ops *ops = a->platform->ops;
	uint32_t command = ops->config_read(a->platform, PCI_COMMAND, 2);

	rdma_write(a, .wr_id = 6, .len = 64); /* the device has cached its tables now */
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 6);
	expect_data(b, .len = 64);
	ops->config_write(a->platform, PCI_COMMAND, 2, command & ~(uint32_t)BUS_MASTER);
	rdma_write(a, .wr_id = 7, .len = 64);
	ignore_events(a);
	pass_time(CFG_US(200)); /* it tries more than once */
	expect_guest_error(a, bus_master_off);
	ops->config_write(a->platform, PCI_COMMAND, 2, command);
	reset_end(tb, a, b);
}
