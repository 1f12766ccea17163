/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CQ holds a completion of a queue pair that the driver does not know, as a device with a defect
 * writes it. The polls return each other completion once, in order; what was found before the unknown one
 * is not lost with it, and it is met only once. Where it is the first, the poll says that something is
 * wrong.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

#include <errno.h>

enum { MESSAGES = 5, LEN = 8, ENTRIES = 15 };

SCENARIO(cq_unknown_qp, "polls go on behind the completion of a queue pair that nobody knows",
	 .any_packets = true, .of_mlx4 = "table of queue pairs")
{
	const uint32_t mask = drv_table_mask(b->dev, DRV_T_QPC);
	struct drv_cq *cq = new_cq(b, ENTRIES, DRV_CQ_POLLED);
	struct drv_qp *x[2], *y[2];
	/* where the unknown one is among the others */
	static const unsigned places[] = {0, 1, MESSAGES - 1, 2};

	for (unsigned i = 0; i < 2; i++) {
		x[i] = new_qp(a);
		y[i] = new_qp(b, .recv_cq = cq);
		connect_two(x[i], y[i]);
	}
	if (!still_right())
		return;
	for_each_row(i, places) {
		const uint32_t qpn = drv_qp_num(y[1]);
		struct drv_wc wc[MESSAGES];
		unsigned found = 0;

		name_row("%u before it", places[i]);
		for (unsigned k = 0; k < MESSAGES; k++) {
			const unsigned of = k == places[i];

			recv_on(b, y[of], .wr_id = 10 * i + k, .len = LEN);
			send_on(a, x[of], .len = LEN);
			expect_cqe(a);
			expect_data(b, .len = LEN);
		}
		pass_time(CFG_US(20));
		b->dev->qp_table[qpn & mask] = NULL;
		if (!places[i])
			expect_equal(drv_cq_poll(cq, MESSAGES, wc), -EINVAL);
		else if (places[i] < MESSAGES - 1)
			expect_equal(found = (unsigned)drv_cq_poll(cq, MESSAGES, wc), places[i]);
		if (still_right())
			expect_equal(drv_cq_poll(cq, MESSAGES, wc + found), MESSAGES - 1 - found);
		b->dev->qp_table[qpn & mask] = y[1];
		for (unsigned k = 0; k < MESSAGES - 1 && still_right(); k++) {
			expect_equal(wc[k].wr_id, 10 * i + k + (k >= places[i]));
			expect_equal(wc[k].qp_num, drv_qp_num(y[0]));
			expect_equal(wc[k].status, IBV_WC_SUCCESS);
		}
		expect_empty(cq);
		must(drv_qp_modify(y[1], &(struct drv_qp_attr){.qp_state = IBV_QPS_RESET},
				   IBV_QP_STATE)); /* forgets its receive */
		move_qp(x[1], IBV_QPS_RESET);
		connect_two(x[1], y[1]);
	}
	for (unsigned i = 0; i < 2; i++) {
		destroy_qp(x[i]);
		destroy_qp(y[i]);
	}
	destroy_cq(cq);
}
