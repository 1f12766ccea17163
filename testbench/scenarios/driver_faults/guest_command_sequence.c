/* SPDX-License-Identifier: Apache-2.0 */
/* INIT_HCA while the HCA is already initialised, and a QP transition that the QP's state does not
 * allow. Both are refused with a status and reported. */
#include "model/interface/commands.h"
#include "testbench/scenario.h"

SCENARIO(guest_command_sequence,
	 "rules command_sequence and qp_transition: INIT_HCA twice, RTR2RTS of a QP in RTS")
{
	uint8_t box[512] = {0};
	struct drv_raw_cmd init = {.op = HCR_INIT_HCA, .in = box, .in_len = sizeof(box)};
	struct drv_raw_cmd rts = {.op = HCR_RTR2RTS_QP,
				  .in_mod = drv_qp_num(a->qp[0]),
				  .in = box,
				  .in_len = sizeof(box)};

	expect_true(drv_cmd(a->dev, &init) < 0);
	expect_guest_error(a, command_sequence);
	expect_true(drv_cmd(a->dev, &rts) < 0);
	expect_guest_error(a, qp_transition);
	rdma_write(a, .wr_id = 8, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64);
}
