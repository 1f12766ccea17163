/* SPDX-License-Identifier: Apache-2.0 */
/* Software claims to have polled completions that were never made: the CQ arm doorbell carries a
 * consumer index beyond the producer index. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

enum { BEYOND = 5 };

SCENARIO(guest_cq_consumer_index,
	 "rule cq_consumer_index: a CQ is armed with an index beyond its producer's",
	 .interrupts = true)
{
	struct cq_arm_db db = {{0}};
	struct cq_dbrec *record = a->cq->db.record;

	cq_dbrec_set_set_ci(record, a->cq->ci + BEYOND);
	cq_dbrec_set_arm_cmd(record, CQ_ARM_NEXT);
	cq_dbrec_set_arm_ci(record, a->cq->ci + BEYOND);
	cq_dbrec_set_arm_sn(record, a->cq->arm_sn & 3);
	cq_arm_db_set_cmd(&db, CQ_ARM_NEXT);
	cq_arm_db_set_cqn(&db, drv_cq_num(a->cq));
	cq_arm_db_set_ci(&db, a->cq->ci + BEYOND);
	cq_arm_db_set_sn(&db, a->cq->arm_sn & 3);
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)a->dev->verbs.page * UAR_PAGE_SIZE + UAR_CQ_ARM, db.b,
			   sizeof(db.b));
	expect_guest_error(a, cq_consumer_index);
	cq_dbrec_set_set_ci(record, a->cq->ci);
}
