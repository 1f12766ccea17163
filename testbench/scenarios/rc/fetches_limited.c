/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs and atomics on their way, together, are at most as many as the requester may have; what stands
 * behind the one that waits waits with it, and each whole answer lets one more go. A fence counts before
 * READs and atomics, too. A responder takes as many as it has promised at a time, and refuses one more. What
 * it has answered does not count, even if it was asked again.
 */
/* behaviours: IBA-10.8.3.3-fence IBA-11.2.4.2-fetches */
#include "testbench/services.h"

enum { MTU = 256, LEN = 2 * MTU, FIRST = 100, QUIET_US = 20, PROMISED = 2, LARGE = 32 << 10 };

static void answer_read(struct tb *tb, struct tb_end *a, struct drv_qp *x, uint32_t psn)
{
	inject(a, RC_READ_RESP_FIRST, .qpn = drv_qp_num(x), .psn = psn, .len = MTU);
	expect_no_more(CFG_US(QUIET_US)); /* half an answer is none */
	inject(a, RC_READ_RESP_LAST, .qpn = drv_qp_num(x), .psn = psn + 1, .len = MTU, .src = MTU);
}

static void answer_atomic(struct tb *tb, struct tb_end *a, struct drv_qp *x, uint32_t psn)
{
	inject(a, RC_ATOMIC_ACKNOWLEDGE, .qpn = drv_qp_num(x), .psn = psn, .original = psn);
}

/* y answers nothing; the scenario does. */
static void connect_silent(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			   struct drv_qp *y)
{
	connect_two(x, y, .x_psn = FIRST, .x_rd_atomic = 2, .x_dest_rd_atomic = 8,
		    .y_dest_rd_atomic = 8, .timeout = 20);
	move_qp(y, IBV_QPS_RESET);
}

#define READ(id, ...)                                                                              \
	send_on(a, x, .wr_id = id, .opcode = IBV_WR_RDMA_READ, .len = LEN, __VA_ARGS__)
#define ADD(id, ...)                                                                               \
	send_on(a, x, .wr_id = id, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .dst = 8192, .len = 8,   \
		.compare = 1, __VA_ARGS__)
#define WRITE(id) send_on(a, x, .wr_id = id, .opcode = IBV_WR_RDMA_WRITE, .len = 8)

static void requester(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	connect_silent(tb, a, b, x, y);
	phase("two on their way");
	READ(1);
	ADD(2);
	READ(3);
	WRITE(4);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = FIRST + 2);
	expect_no_more(CFG_US(QUIET_US));
	answer_read(tb, a, x, FIRST);
	expect_cqe(a, .wr_id = 1, .byte_len = LEN);
	expect_data(a, .len = LEN);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST + 3);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = FIRST + 5);
	answer_atomic(tb, a, x, FIRST + 2);
	expect_cqe(a, .wr_id = 2);
	expect_word(a, 8192, FIRST + 2);
	answer_read(tb, a, x, FIRST + 3);
	inject(a, RC_ACKNOWLEDGE, .qpn = drv_qp_num(x), .psn = FIRST + 5, .msn = 4);
	expect_cqe(a, .wr_id = 3);
	expect_cqe(a, .wr_id = 4);

	phase("fences");
	READ(5);
	READ(6, .fence = true);
	ADD(7, .fence = true);
	WRITE(8);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST + 6);
	expect_no_more(CFG_US(QUIET_US));
	answer_read(tb, a, x, FIRST + 6);
	expect_cqe(a, .wr_id = 5);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST + 8);
	expect_no_more(CFG_US(QUIET_US));
	answer_read(tb, a, x, FIRST + 8);
	expect_cqe(a, .wr_id = 6);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = FIRST + 10);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = FIRST + 11); /* it has no fence */
	answer_atomic(tb, a, x, FIRST + 10);
	inject(a, RC_ACKNOWLEDGE, .qpn = drv_qp_num(x), .psn = FIRST + 11, .msn = 8);
	expect_cqe(a, .wr_id = 7);
	expect_cqe(a, .wr_id = 8);
	expect_word(a, 8192, FIRST + 10);

	phase("a new connection does not count those of the one before");
	READ(9);
	ADD(10);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST + 12);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = FIRST + 14);
	move_qp(x, IBV_QPS_RESET);
	connect_silent(tb, a, b, x, y);
	READ(11);
	ADD(12);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = FIRST + 2);
	answer_read(tb, a, x, FIRST);
	expect_cqe(a, .wr_id = 11);
	answer_atomic(tb, a, x, FIRST + 2);
	expect_cqe(a, .wr_id = 12);
	expect_word(a, 8192, FIRST + 2);
	destroy_qp(y);
	destroy_qp(x);
}

static void responder(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	const uint32_t packets = LARGE / MTU, rkey = drv_mr_rkey(b->mr);

	phase("the responder's promise");
	connect_two(x, y, .x_psn = FIRST, .y_dest_rd_atomic = PROMISED);
	ignore_packets();
	for (unsigned i = 0; i < PROMISED; i++)
		inject(b, RC_READ_REQUEST, .qpn = drv_qp_num(y), .psn = FIRST + i * packets,
		       .va = tb_va(b, b->src), .rkey = rkey, .dma_len = LARGE);
	pass_time(CFG_MS(1));
	expect_stat(b, responder, read_responses, PROMISED * packets);
	for (unsigned i = PROMISED; i <= 2 * PROMISED; i++)
		inject(b, RC_READ_REQUEST, .qpn = drv_qp_num(y), .psn = FIRST + i * packets,
		       .va = tb_va(b, b->src), .rkey = rkey, .dma_len = LARGE);
	expect_event(b, IBV_EVENT_QP_REQ_ERR);
	pass_time(CFG_MS(1));
	destroy_qp(y);
	destroy_qp(x);
}

/* The requester's timer was too early: it has the first answer by now, and asks for the next. */
static void repeats(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	const struct {
		uint32_t psn, len;
	} reads[] = {
		{FIRST, MTU}, {FIRST + 1, LARGE}, {FIRST, MTU}, {FIRST + 1 + LARGE / MTU, MTU}};
	const uint64_t before = tb_stat(b, "responder", "read_responses");

	phase("a repeat that waits behind a long answer is none of those that count");
	connect_two(x, y, .x_psn = FIRST, .y_dest_rd_atomic = PROMISED);
	for_each_row(i, reads) {
		inject(b, RC_READ_REQUEST, .qpn = drv_qp_num(y), .psn = reads[i].psn,
		       .va = tb_va(b, b->src), .rkey = drv_mr_rkey(b->mr), .dma_len = reads[i].len);
		if (!i)
			pass_time(CFG_US(QUIET_US));
	}
	pass_time(CFG_MS(1));
	/* who asks for the next has no use for the repeat: it may be left out */
	expect_that(tb_stat(b, "responder", "read_responses") - before, >=, LARGE / MTU + 2);
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(fetches_limited, "READs and atomics at a time: the requester's limit, and the responder's",
	 .mtu = IBV_MTU_256)
{
	requester(tb, a, b);
	responder(tb, a, b);
	repeats(tb, a, b);
}
