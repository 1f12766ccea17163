/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interrupt is on its way when the driver resets its device. Its handler runs after the reset and
 * rings the doorbell of an EQ that no longer exists. Memory decoding is off then, so that nothing
 * gets the write, and the driver has done nothing wrong.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(doorbell_in_reset, "an EQ doorbell between a software reset and the restore: no report",
	 .no_qps = true, .stays_up = true)
{
	const uint32_t offset = eq_db_offset(a->dev->eqs[0].eqn);
	struct eq_db db = {0};

	ignore_events(a);
	ignore_events(b);
	eq_db_set_arm(&db, 1);
	drv_raw_mmio_write32(a->dev, HCA_BAR_REGS, BAR0_RESET, 1);
	pass_time(CFG_US(1));
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR, offset, db.b, sizeof(db.b));
	pass_time(CFG_S(1));
	/* after the restore the same doorbell is told */
	a->dev->p->ops->config_write(a->dev->p, 4, 2, 6);
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR, offset, db.b, sizeof(db.b));
	expect_guest_error(a, object_dead);
	abandon(a);
	take_down(b);
}
