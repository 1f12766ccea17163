/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an ACK implies that the data of a WRITE are in memory. They may still be on their way, as
 * with real adapters; with responder.ack_landed they are in memory. The write to memory is made
 * late, so the requester's completion comes before it, or with that setting after it. The order
 * holds also behind a READ, with coalesced ACKs, with a duplicate, and with a NAK, which
 * acknowledges the requests before it; and it holds for the ACK of a SEND.
 */
/* behaviours: RESP-9 IBA-o9-20 */
#include "testbench/harm.h"

enum { LATE_US = 30, LEN = 64, MTU = 256 };

/* Returns whether the data of the WRITE to `dst` are in memory when its completion arrives. */
static bool there(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t dst)
{
	bool all;

	late_write(b, "payload", CFG_US(LATE_US));
	rdma_write(a, .wr_id = 1, .len = LEN, .dst = dst);
	expect_cqe(a, .wr_id = 1, .within_ps = CFG_US(2 * LATE_US));
	all = still_right() && !memcmp(b->dst + dst, a->src, LEN);
	pass_time(CFG_US(2 * LATE_US));
	expect_data(b, .dst = dst, .len = LEN);
	return all;
}

static void kinds(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const uint64_t begin = tb_now(tb);

	phase("behind a READ, a message of several packets, a SEND");
	late_write(b, "payload", CFG_US(LATE_US), .skip = 2);
	rdma_read(a, .wr_id = 1, .len = 3 * MTU, .src = 1000);
	rdma_write(a, .wr_id = 2, .len = 3 * MTU, .dst = 4096);
	post_recv(b, .wr_id = 3, .len = LEN, .dst = 8192);
	post_send(a, .wr_id = 3, .len = LEN);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_true(tb_now(tb) - begin > CFG_US(LATE_US));
	expect_cqe(a, .wr_id = 3);
	expect_cqe(b, .wr_id = 3);
	expect_data(a, .len = 3 * MTU, .src = 1000);
	expect_data(b, .len = 3 * MTU, .dst = 4096);
	expect_data(b, .len = LEN, .dst = 8192);

	phase("a NAK behind data that is late");
	late_write(b, "payload", CFG_US(LATE_US));
	rdma_write(a, .wr_id = 4, .len = LEN, .dst = 12288, .unsignaled = true);
	rdma_write(a, .wr_id = 5, .len = LEN, .rkey = drv_mr_rkey(b->mr) ^ 1);
	expect_cqe(a, .wr_id = 5, .status = IBV_WC_REM_ACCESS_ERR);
	expect_true(!memcmp(b->dst + 12288, a->src, LEN));
	expect_data(b, .len = LEN, .dst = 12288);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
}

SCENARIO(ack_landed, "an ACK waits for the data it acknowledges where that is asked for",
	 .mtu = IBV_MTU_256, .any_packets = true, .settings = {"hca.responder.ack_landed=1"})
{
	expect_true(there(tb, a, b, 0));
	kinds(tb, a, b);
	expect_stat(a, retry, ack_timeouts, 0);
}
