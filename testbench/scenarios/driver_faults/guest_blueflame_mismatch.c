/* SPDX-License-Identifier: Apache-2.0 */
/* A WQE written through BlueFlame carries an index that is not the next one of the queue. The
 * device ignores the written copy and executes the WQE in memory. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

SCENARIO(guest_blueflame_mismatch,
	 "rule blueflame_mismatch: BlueFlame with an index that is not the next one")
{
	struct wqe_ctrl line[BF_UNIT / sizeof(struct wqe_ctrl)];
	struct drv_device *dev = a->dev;

	memset(line, 0, sizeof(line));
	wqe_ctrl_set_bf_qpn(line, drv_qp_num(a->qp[0]));
	wqe_ctrl_set_bf_index(line, 5);
	wqe_ctrl_set_ds(line, 2);
	a->platform->ops->mmio_copy64(a->platform, HCA_BAR_UAR,
				      HCA_BF_OFFSET + (uint64_t)dev->verbs.page * UAR_PAGE_SIZE +
					      dev->verbs.bf_offset,
				      line);
	dev->verbs.bf_offset ^= dev->bf_buf_bytes;
	expect_guest_error(a, blueflame_mismatch);
	rdma_write(a, .wr_id = 8, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64);
}
