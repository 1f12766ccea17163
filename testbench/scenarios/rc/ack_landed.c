/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ACK says of a WRITE's data: on its way to memory, as adapters have it, or there, with
 * responder.ack_landed. The write to memory is late: the completion at the requester comes before or
 * after it. Behind a READ, with coalesced ACKs, a duplicate, and a NAK, which acknowledges what is
 * before it, the order is kept; of a SEND's ACK the same holds.
 */
/* behaviours: RESP-9 IBA-o9-20 */
#include "testbench/harm.h"

enum { LATE_US = 30, LEN = 64, MTU = 256 };

/* Whether the data of the WRITE at `dst` is in memory when its completion has come. */
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
