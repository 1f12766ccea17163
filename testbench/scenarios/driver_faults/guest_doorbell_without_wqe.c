/* SPDX-License-Identifier: Apache-2.0 */
/* A doorbell for a queue in which nothing was posted. The device reads the next WQE, and its owner bit says that it is not posted. The QP works on. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/mlx4/post.h"
#include "testbench/services.h"

SCENARIO(guest_doorbell_without_wqe, "rule doorbell_without_wqe: a doorbell without a request")
{
	drv_sq_doorbell(a->qp[0]);
	expect_guest_error(a, doorbell_without_wqe);
	rdma_write(a, .wr_id = 8, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .len = 64);
}
