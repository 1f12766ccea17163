/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device is removed while packets of its queue pairs wait for credits: in its send queues, and before
 * the link. Removal says which objects are left, touches nothing that has gone, and leaves no memory. The
 * peer gives up, and both can come up again.
 */
/* behaviours: HCA-leftovers */
#include "testbench/services.h"

enum { QPS = 2, POSTS = 24, LEN = 4096, ROUNDS = 2 };

SCENARIO(removed_sending, "a device is removed while packets wait for credits", .bare = true,
	 .qps = QPS, .queue = 64, .any_packets = true,
	 .settings = {"hca.link.delay=1ms", "hca.link.rx_buffer=16KiB"})
{
	for (unsigned round = 0; round < ROUNDS && still_right(); round++) {
		struct drv_leftovers left;

		bring_up(a);
		bring_up(b);
		activate_ports();
		make_objects(a);
		make_objects(b);
		connect_qps();
		if (!still_right())
			return;
		for (unsigned q = 0; q < QPS; q++) {
			send_on(a, a->qp[q], .opcode = IBV_WR_RDMA_WRITE, .len = LEN,
				.repeat = POSTS);
			send_on(b, b->qp[q], .opcode = IBV_WR_RDMA_WRITE, .len = LEN,
				.repeat = POSTS);
		}
		pass_time(CFG_US(300));
		ignore_discarded(a);
		ignore_discarded(b);
		ignore_events(a);
		ignore_events(b);
		ignore_data(a, .len = LEN);
		ignore_data(b, .len = LEN);
		left = drv_remove(a->dev);
		expect_equal(left.qps, QPS);
		expect_equal(left.cqs, 1);
		/* they have gone with the device */
		memset(a->qp, 0, sizeof(a->qp));
		a->cq = NULL;
		a->mr = NULL;
		a->pd = NULL;
		a->dev = NULL;
		take_down(a);
		take_down(b);
	}
}
