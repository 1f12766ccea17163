/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credits come with every kind of answer: with a READ response, with the answer to an atomic, and with an
 * ACK that is repeated only for them. What has no credit waits, a WRITE with immediate as well as a SEND,
 * until then. A connection forgets them: that to a shared receive queue has none to count, and the next
 * one of the same queue pair begins without any.
 */
/* behaviours: CRED-3 IBA-9.7.7.2.3-limit */
#include "testbench/services.h"

enum { LEN = 8, ONE = 1, QUIET_US = 20, MTU = 256, FIRST = 0xfffffe };

enum answer { OF_ACK, OF_READ, OF_ATOMIC };

/* A request and two messages that take receives: the second of them waits for what the answer says. */
static void bring(struct tb *tb, struct tb_end *a, enum answer by, bool imm)
{
	if (by == OF_ACK)
		post_send(a, .wr_id = 1, .len = LEN);
	else if (by == OF_READ)
		rdma_read(a, .wr_id = 1, .dst = 4096, .len = LEN);
	else
		fetch_add(a, .wr_id = 1, .dst = 4096, .target = 0, .compare = 1);
	if (by == OF_ACK) {
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = FIRST);
		inject(a, RC_ACKNOWLEDGE, .psn = FIRST, .msn = 1, .syndrome = 0);
		expect_cqe(a, .wr_id = 1);
	} else if (by == OF_READ) {
		expect_pkt(a_to_b, RC_READ_REQUEST, .psn = FIRST);
	} else {
		expect_pkt(a_to_b, RC_FETCH_ADD, .psn = FIRST);
	}
	post_send(a, .wr_id = 2, .len = LEN);
	if (imm)
		rdma_write(a, .wr_id = 3, .len = LEN, .with_imm = true);
	else
		post_send(a, .wr_id = 3, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xffffff, .ack_req = 1); /* it asks for credits */
	expect_no_more(CFG_US(QUIET_US));
	if (by == OF_ACK)
		inject(a, RC_ACKNOWLEDGE, .psn = FIRST, .msn = 1, .syndrome = ONE);
	else if (by == OF_READ)
		inject(a, RC_READ_RESP_ONLY, .psn = FIRST, .msn = 1, .syndrome = ONE, .len = LEN);
	else
		inject(a, RC_ATOMIC_ACKNOWLEDGE, .psn = FIRST, .msn = 1, .syndrome = ONE);
	if (imm)
		expect_pkt(a_to_b, RC_WRITE_ONLY_IMM, .psn = 0);
	else
		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0);
	inject(a, RC_ACKNOWLEDGE, .psn = 0, .msn = 3, .syndrome = 0);
	if (by != OF_ACK)
		expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(a, .wr_id = 3);
	ignore_data(a, .dst = 4096, .len = LEN);
}

/* An ACK of what has not left says nothing: only the first packet of a message without a credit has. */
static void not_sent_yet(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	phase("an ACK of a packet that waits");
	move_qp(b->qp[0], IBV_QPS_RESET);
	post_send(a, .wr_id = 1, .len = 2 * MTU);
	expect_pkt(a_to_b, RC_SEND_FIRST, .psn = FIRST, .ack_req = 1);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 1, .syndrome = ONE);
	expect_no_more(CFG_US(QUIET_US));
	inject(a, RC_ACKNOWLEDGE, .psn = FIRST, .msn = 0, .syndrome = ONE);
	expect_pkt(a_to_b, RC_SEND_LAST, .psn = 0xffffff);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xffffff, .msn = 1, .syndrome = 0);
	expect_cqe(a, .wr_id = 1);
	reconnect(0);
}

static void forgotten(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_srq *srq = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .srq = srq), *z = new_qp(b);

	phase("another peer");
	connect_two(x, y);
	recv_srq(b, srq, .wr_id = 1, .len = LEN);
	send_on(a, x, .wr_id = 2, .len = LEN);
	expect_pkt(a_to_b, RC_SEND_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = LEN);
	move_qp(x, IBV_QPS_RESET);
	connect_two(x, z, .timeout = 20);
	move_qp(z, IBV_QPS_RESET);
	send_on(a, x, .wr_id = 3, .len = LEN, .repeat = 3);
	expect_pkt(a_to_b, RC_SEND_ONLY, .qpn = drv_qp_num(z), .psn = FIRST, .ack_req = 1);
	expect_no_more(CFG_US(QUIET_US));
	destroy_qp(z);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(srq);
}

SCENARIO(credits_of_answers, "credits come with each kind of answer, and end with the connection",
	 .timeout = 20, .mtu = IBV_MTU_256)
{
	static const struct {
		const char *name;
		enum answer by;
		bool imm;
	} rows[] = {
		{"a repeated ACK", OF_ACK, false},
		{"a READ response", OF_READ, true},
		{"the answer to an atomic", OF_ATOMIC, false},
	};

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		move_qp(b->qp[0], IBV_QPS_RESET);
		bring(tb, a, rows[i].by, rows[i].imm);
		reconnect(0);
	}
	not_sent_yet(tb, a, b);
	forgotten(tb, a, b);
}
