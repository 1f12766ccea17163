/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver takes the events of commands from their EQ, and does so with a command that is answered by such
 * an event. Nobody hears of the answer: the driver waits until it gives the device up, and
 * tells its user.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "testbench/harm.h"
#include "testbench/scenarios/driver_faults/reset_end.h"

SCENARIO(guest_answer_unmapped,
	 "rule command_sequence: a command is answered by an event that no EQ takes",
	 .no_qps = true, .stays_up = true, .of_mlx4 = "commands")
{
	struct drv_raw_cmd unmap = {.op = HCR_MAP_EQ,
				    .in_mod =
					    UINT32_C(1) << MAP_EQ_UNMAP_SHIFT | a->dev->eqs[0].eqn,
				    .in_param = UINT64_C(1) << EVENT_CMD,
				    .timeout_ps = CFG_MS(1)};

	must(drv_catas_watch(a->dev, CFG_S(1)));
	must_fail(-ETIMEDOUT, drv_cmd(a->dev, &unmap));
	expect_guest_error(a, command_sequence);
	expect_true(drv_is_dead(a->dev));
	expect_event(a, IBV_EVENT_DEVICE_FATAL);
	reset_end(tb, a, b);
}
