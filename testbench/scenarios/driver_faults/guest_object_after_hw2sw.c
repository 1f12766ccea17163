/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software takes a region back from the device (HW2SW_MPT) and goes on sending from it. The send is
 * refused with a protection error and reported. A peer that uses the key gets a NAK, which is not
 * reported because this host did nothing wrong.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/scenario.h"

SCENARIO(guest_object_after_hw2sw,
	 "rule object_after_hw2sw: a region is used after it was given back to software", .qps = 2)
{
	struct drv_raw_cmd take_back = {.op = HCR_HW2SW_MPT,
					.op_mod = 1 /* no mailbox */,
					.in_mod =
						a->mr->index & drv_table_mask(a->dev, DRV_T_DMPT)};

	must(drv_cmd(a->dev, &take_back));
	a->mr->hw = false; /* so that the driver does not take it back again */
	rdma_write(a, .wr_id = 7, .len = 64);
	expect_guest_error(a, object_after_hw2sw);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_LOC_PROT_ERR);

	rdma_write(b, .wr_id = 8, .len = 64, .qp = 1);
	expect_pkt(b_to_a, RC_WRITE_ONLY, .psn = 0xfffffd);
	expect_pkt(a_to_b, RC_ACKNOWLEDGE, .psn = 0xfffffd, .nak = 2);
	expect_cqe(b, .wr_id = 8, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(a, IBV_EVENT_QP_ACCESS_ERR);
}
