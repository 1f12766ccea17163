/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of an old connection arrive late, after their queue pair has been connected again.
 * Requests with PSNs behind the new ones look like duplicates of requests that never were: memory
 * and receives are not touched, and no atomic or READ result of the old connection is repeated.
 * Requests with PSNs ahead are out of sequence. Responses match no request. Waiting until such
 * packets have died (timewait) is the task of the connection manager, IBA 12.9.8.4. The driver
 * helps by reusing a QPN with different high bits, and all 24 bits are compared.
 * behaviours: BTH-1 IBA-12.9.8.4-stale-packets
 */
#include "testbench/services.h"

enum { OLD = 0x100, NEW = 0x200, LEN = 64 };

static void connect_from(struct tb *tb, struct tb_end *a, struct tb_end *b, uint32_t psn)
{
	struct drv_rc_path to_b = path_to(b, drv_qp_num(b->qp[0]));
	struct drv_rc_path to_a = path_to(a, drv_qp_num(a->qp[0]));

	to_b.sq_psn = to_b.rq_psn = to_a.sq_psn = to_a.rq_psn = psn;
	move_qp(a->qp[0], IBV_QPS_RESET);
	move_qp(b->qp[0], IBV_QPS_RESET);
	must(drv_qp_connect(a->qp[0], &to_b));
	must(drv_qp_connect(b->qp[0], &to_a));
}

/* Repeats every request that the old connection had sent to b. */
static void stale_requests(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const uint64_t va = tb_va(b, b->dst);
	const uint32_t rkey = drv_mr_rkey(b->mr);

	inject(b, RC_FETCH_ADD, .psn = OLD, .va = va, .rkey = rkey, .swap_add = 5);
	inject(b, RC_READ_REQUEST, .psn = OLD + 1, .va = va, .rkey = rkey, .dma_len = 8);
	expect_no_more(CFG_US(20));
	inject(b, RC_WRITE_ONLY, .psn = OLD + 2, .va = va + 8, .rkey = rkey, .dma_len = LEN,
	       .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEW - 1, .msn = 0);
	inject(b, RC_SEND_ONLY, .psn = OLD + 3, .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEW - 1, .msn = 0);
	inject(b, RC_SEND_ONLY, .psn = NEW + 3, .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEW, .nak = NAK_PSN_SEQUENCE);
}

static void stale_answers(struct tb *tb, struct tb_end *a)
{
	inject(a, RC_ACKNOWLEDGE, .psn = OLD + 3, .syndrome = 31, .msn = 4);
	inject(a, RC_ACKNOWLEDGE, .psn = NEW + 1, .syndrome = 31, .msn = 9);
	inject(a, RC_ACKNOWLEDGE, .psn = OLD + 2, .syndrome = 0x60 | NAK_REM_ACCESS);
	inject(a, RC_ATOMIC_ACKNOWLEDGE, .psn = OLD, .syndrome = 31, .msn = 1);
	inject(a, RC_READ_RESP_ONLY, .psn = OLD + 1, .syndrome = 31, .msn = 2, .len = 8);
}

SCENARIO(qp_stale, "packets of the connection before this one do no harm")
{
	connect_from(tb, a, b, OLD);
	set_word(b, 0, 40);
	fetch_add(a, .wr_id = 1, .target = 0, .compare = 2);
	expect_pkt(a_to_b, RC_FETCH_ADD, .psn = OLD);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .psn = OLD);
	expect_cqe(a, .wr_id = 1);
	rdma_read(a, .wr_id = 2, .len = 8, .dst = 8);
	expect_pkt(a_to_b, RC_READ_REQUEST, .psn = OLD + 1);
	expect_pkt(b_to_a, RC_READ_RESP_ONLY, .psn = OLD + 1);
	expect_cqe(a, .wr_id = 2);
	expect_word(a, 0, 40);
	expect_word(b, 0, 42);
	expect_data(a, .dst = 8, .len = 8);

	phase("connected anew");
	connect_from(tb, a, b, NEW);
	post_recv(b, .wr_id = 3, .dst = 1024, .len = LEN);
	stale_requests(tb, a, b);
	pass_time(CFG_US(20)); /* a NAK of b must not meet the SEND that it would be of */
	post_send(a, .wr_id = 4, .len = LEN);
	stale_answers(tb, a);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = NEW);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = NEW, .msn = 1);
	expect_cqe(a, .wr_id = 4);
	expect_cqe(b, .wr_id = 3);
	expect_data(b, .dst = 1024, .len = LEN);
}
