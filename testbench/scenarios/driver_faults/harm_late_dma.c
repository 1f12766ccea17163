/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA completions come late and out of order. The packets of a message still leave in order with
 * the right bytes. A late WQE holds up only its own queue, a late payload write holds back the CQE
 * behind it, and a late interrupt comes after its CQE.
 */
/* behaviours: FAULT-dma-late FAULT-dma-reordered */
#include "testbench/harm.h"

enum { LATE_US = 7, LEN = 3 * 4096 };

SCENARIO(harm_late_dma, "DMA completions late and reordered: order on the wire and in memory holds",
	 .qps = 2, .of_mlx4 = "DMA of payload")
{
	uint64_t begin;

	phase("a payload read is overtaken by those of the packets behind it");
	late_read(a, "payload", CFG_US(LATE_US), .qpn = drv_qp_num(a->qp[0]));
	rdma_write(a, .wr_id = 1, .len = LEN);
	begin = tb_now(tb);
	expect_pkt(a_to_b, RC_WRITE_FIRST, .psn = 0xfffffe);
	expect_that(tb_now(tb) - begin, >, CFG_US(LATE_US));
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(1)), RC_WRITE_MIDDLE, .psn = 0xffffff);
	expect_pkt_after(a_to_b, WINDOW(0, CFG_US(1)), RC_WRITE_LAST, .psn = 0);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = LEN);

	phase("the same at the responder: READ responses in order");
	late_read(b, "payload", CFG_US(LATE_US), .skip = 1);
	rdma_read(a, .wr_id = 2, .len = LEN);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = 1);
	expect_pkt(b_to_a, RC_READ_RESP_FIRST, .psn = 1);
	expect_pkt_after(b_to_a, WINDOW(CFG_US(LATE_US - 2), CFG_US(LATE_US + 2)),
			 RC_READ_RESP_MIDDLE, .psn = 2);
	expect_pkt_after(b_to_a, WINDOW(0, CFG_US(1)), RC_READ_RESP_LAST, .psn = 3);
	expect_cqe(a, .wr_id = 2);
	expect_data(a, .len = LEN);

	phase("a WQE that comes late: the other queue pair goes on");
	ignore_packets();
	late_read(a, "wqe", CFG_US(LATE_US), .qpn = drv_qp_num(a->qp[0]));
	rdma_write(a, .wr_id = 3, .len = 64);
	rdma_write(a, .wr_id = 4, .len = 64, .qp = 1);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(a, .wr_id = 3);

	phase("payload that lands late: the CQE is behind it, and the bytes are there with it");
	late_write(b, "payload", CFG_US(LATE_US));
	post_recv(b, .wr_id = 5, .dst = LEN, .len = 64);
	begin = tb_now(tb);
	post_send(a, .wr_id = 6, .src = 64, .len = 64);
	expect_cqe(b, .wr_id = 5, .byte_len = 64);
	expect_that(tb_now(tb) - begin, >, CFG_US(LATE_US));
	expect_data(b, .dst = LEN, .src = 64, .len = 64);
	expect_cqe(a, .wr_id = 6);

	phase("a CQE that lands late");
	late_write(a, "cqe", CFG_US(LATE_US));
	begin = tb_now(tb);
	rdma_write(a, .wr_id = 7, .len = 64);
	expect_cqe(a, .wr_id = 7);
	expect_that(tb_now(tb) - begin, >, CFG_US(LATE_US));
	expect_stat(a, retry, ack_timeouts, 0);
	check_packets();
}
