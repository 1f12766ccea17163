/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is removed while its peer sends to it without a pause, and while messages of its own are on their way. Nothing is
 * written to memory that it has given back, and it comes up again and works.
 */
#include "testbench/services.h"

enum { N = 30, BYTES = 8192 };

SCENARIO(removed_under_load, "a device is removed under load, and comes up again",
	 .type = IBV_QPT_UC, .any_packets = true)
{
	ignore_events(a);
	ignore_events(b);
	for (unsigned round = 0; round < 2 && still_right(); round++) {
		ignore_data(b, .len = BYTES);
		rdma_write(b, .wr_id = 1, .len = BYTES, .repeat = N);
		rdma_write(a, .wr_id = 1, .len = BYTES, .repeat = N);
		pass_time(CFG_US(20));
		ignore_discarded(a);
		ignore_discarded(b);
		take_down(a);
		pass_time(CFG_MS(1));
		take_down(b);
		bring_up(a);
		bring_up(b);
		activate_ports();
		make_objects(a);
		make_objects(b);
		connect_qps();
		rdma_write(b, .wr_id = 2, .len = BYTES);
		expect_cqe(b, .wr_id = 2);
		expect_data(a, .len = BYTES);
	}
}
