/* SPDX-License-Identifier: Apache-2.0 */
/* A CQ is taken back while a QP still completes to it. The device does it, and reports the QP. */
#include "testbench/scenarios/driver_faults/reset_end.h"
#include "model/interface/commands.h"

SCENARIO(guest_object_in_use, "rule object_in_use: HW2SW_CQ while a QP uses the CQ",
	 .stays_up = true)
{
	struct drv_raw_cmd cmd = {.op = HCR_HW2SW_CQ, .op_mod = 1, .in_mod = drv_cq_num(a->cq)};

	must(drv_cmd(a->dev, &cmd));
	expect_guest_error(a, object_in_use);
	reset_end(tb, a, b);
}
