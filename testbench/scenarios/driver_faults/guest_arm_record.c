/* SPDX-License-Identifier: Apache-2.0 */
/* A CQ is armed by a doorbell only: the arm record in memory stays as it was. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/services.h"

SCENARIO(guest_arm_record, "rule arm_record: a CQ is armed without its record", .interrupts = true)
{
	struct cq_arm_db db = {{0}};

	cq_arm_db_set_cmd(&db, CQ_ARM_NEXT);
	cq_arm_db_set_cqn(&db, drv_cq_num(a->cq));
	cq_arm_db_set_ci(&db, a->cq->ci);
	cq_arm_db_set_sn(&db, a->cq->arm_sn);
	cq_dbrec_set_arm_sn(a->cq->db.record, a->cq->arm_sn);
	cq_dbrec_set_arm_cmd(a->cq->db.record, CQ_ARM_NONE);
	cq_dbrec_set_arm_ci(a->cq->db.record, a->cq->ci);
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)a->dev->verbs.page * UAR_PAGE_SIZE + UAR_CQ_ARM, db.b,
			   sizeof(db.b));
	expect_guest_error(a, arm_record);
}
