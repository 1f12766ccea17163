/* SPDX-License-Identifier: Apache-2.0 */
/* A doorbell for a live queue pair comes through a UAR page that is not its own, as if one process
 * rang the doorbell of another's queue. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/scenario.h"

SCENARIO(guest_doorbell_wrong_uar,
	 "rule doorbell_wrong_uar: a send doorbell through another UAR page")
{
	struct send_db db = {{0}};

	send_db_set_qpn(&db, drv_qp_num(a->qp[0]));
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)(a->dev->verbs.page + 7) * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			   sizeof(db.b));
	expect_guest_error(a, doorbell_wrong_uar);
	rdma_write(a, .wr_id = 8, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64);
}
