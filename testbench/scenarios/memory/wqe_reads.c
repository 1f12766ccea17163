/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Send WQEs are read once. A read for an idle queue also fetches the WQEs that follow, so without
 * another doorbell nothing is read again. When more queues need a read than may be under way, each
 * waits only for its own turn and then goes on at once.
 */
#include "testbench/scenario.h"

enum { QPS = 24 };

SCENARIO(wqe_reads, "a read of WQEs for a doorbell, over more queues than reads at a time",
	 .unobserved = true, .qps = QPS,
	 .settings = {"hca.doorbell.blueflame=false", "hca.wqe_fetch.reads=2"})
{
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_cqe(a, .wr_id = 1);
	expect_stat(a, wqe_fetch, reads, 1);
	rdma_write(a, .wr_id = 2, .len = 64);
	expect_cqe(a, .wr_id = 2);
	expect_stat(a, wqe_fetch, reads, 2);
	expect_stat(a, wqe_fetch, waits, 0);
	for (unsigned i = 0; i < QPS; i++)
		rdma_write(a, .wr_id = 10 + i, .len = 4096, .qp = i);
	expect_cqes(a, QPS);
	expect_stat(a, wqe_fetch, reads, 2 + QPS);
	expect_data(b, .len = 4096);
}
