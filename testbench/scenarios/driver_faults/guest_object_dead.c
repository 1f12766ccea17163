/* SPDX-License-Identifier: Apache-2.0 */
/* The arm doorbell is rung for a CQ number that never existed. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

SCENARIO(guest_object_dead, "rule object_dead: the arm doorbell names a CQ that does not exist",
	 .no_qps = true)
{
	struct cq_arm_db db = {{0}};

	cq_arm_db_set_cmd(&db, CQ_ARM_NEXT);
	cq_arm_db_set_cqn(&db, 0x1234);
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)a->dev->verbs.page * UAR_PAGE_SIZE + UAR_CQ_ARM, db.b,
			   sizeof(db.b));
	expect_guest_error(a, object_dead);
}
