// SPDX-License-Identifier: Apache-2.0
/* Software takes a region back from the device (HW2SW_MPT) and its peer goes on using the key:
 * refused as an access error, reported with its rule. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

SCENARIO(guest_object_after_hw2sw,
	 "rule object_after_hw2sw: a region is used after it was given back to software")
{
	struct drv_raw_cmd take_back = {.op = HCR_HW2SW_MPT, .in_mod = b->mr->index};

	must(drv_cmd(b->dev, &take_back));
	b->mr->hw = false; /* so that the driver does not take it back again */
	rdma_write(a, .wr_id = 7, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .nak = 2);
	expect_guest_error(b, object_after_hw2sw);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
}
