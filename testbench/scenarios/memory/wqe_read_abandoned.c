/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A doorbell through another process's UAR page makes the device drop the cached WQEs of the queue,
 * including those whose read has not started yet. A unit that waited for one of them, here a READ
 * response that needs its WQE again, must look for it again instead of waiting for a read that
 * never starts.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/harm.h"

SCENARIO(wqe_read_abandoned, "a wrong doorbell while a READ response waits to read its WQE again",
	 .any_packets = true, .exact = true, .qps = 3, .timeout = 14,
	 .settings = {"hca.doorbell.blueflame=false", "hca.wqe_fetch.entries=1",
		      "hca.wqe_fetch.reads=1"})
{
	struct send_db db = {{0}};

	delay_next(b_to_a, RC_READ_RESP_ONLY, .by_ps = CFG_US(20));
	rdma_read(a, .wr_id = 1, .len = 64);
	pass_time(CFG_US(5));
	rdma_write(a, .wr_id = 2, .len = 64, .qp = 1); /* evicts the WQE of the READ */
	expect_cqe(a, .wr_id = 2);
	late_read(a, "wqe", CFG_US(50));
	rdma_write(a, .wr_id = 3, .len = 64,
		   .qp = 2); /* occupies the only WQE read that may be under way */
	pass_time(CFG_US(30));
	expect_stat(a, wqe_fetch, waits, 1);
	send_db_set_qpn(&db, drv_qp_num(a->qp[0]));
	drv_raw_mmio_write(a->dev, HCA_BAR_UAR,
			   (uint64_t)(a->dev->verbs.page + 7) * UAR_PAGE_SIZE + UAR_SEND_DB, db.b,
			   sizeof(db.b));
	expect_guest_error(a, doorbell_wrong_uar);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 3);
	expect_data(a, .len = 64);
	expect_data(b, .len = 64);
	expect_stat(a, retry, ack_timeouts, 0);
}
