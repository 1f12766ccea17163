/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request completes only when all of its packets are acknowledged. The scenario plays the peer
 * (whose queue pair is in RESET and silent) and sends one response at a time. Of two requests the
 * first completes while the second is pending, for each operation. An ACK of the first of two
 * packets completes nothing. An ACK of the later request completes both. Old ACKs, and ACKs of
 * packets not yet sent, have no effect.
 */
/* behaviours: REQ-1 RESP-13 DEFECT-send-in-flight-underflow */
#include "testbench/services.h"

enum { MTU = 256, ACK = 31 /* the AETH gives no credits */, WORD = 8192 };

static void ack(struct tb *tb, struct tb_end *a, uint32_t psn, uint32_t msn)
{
	inject(a, RC_ACKNOWLEDGE, .psn = psn & 0xffffff, .syndrome = ACK, .msn = msn);
	pass_time(CFG_US(5));
}

/* Posts two requests of this kind; answers only the first one, then the second. */
static void two(struct tb *tb, struct tb_end *a, uint32_t *psn, struct tb_wr wr, enum bth_opcode op)
{
	const bool read = wr.opcode == IBV_WR_RDMA_READ,
		   fetches = read || wr.len == sizeof(uint64_t);
	static uint32_t msn;

	for (unsigned i = 0; i < 2 && still_right(); i++) {
		wr.wr_id = i;
		tb_post(tb, TB_HERE, a, &wr);
	}
	for (unsigned i = 0; i < 2; i++)
		tb_expect_pkt(tb, TB_HERE, a_to_b, (struct tb_window){0, EVENT_NEVER}, op,
			      &(const struct tb_pkt){TB_PKT_ANY, .psn = (*psn + i) & 0xffffff});
	for (unsigned i = 0; i < 2 && still_right(); i++) {
		expect_empty(a->cq);
		if (!fetches)
			ack(tb, a, *psn, ++msn);
		else if (read)
			inject(a, RC_READ_RESP_ONLY, .psn = *psn, .syndrome = ACK, .msn = ++msn,
			       .len = wr.len);
		else
			inject(a, RC_ATOMIC_ACKNOWLEDGE, .psn = *psn, .syndrome = ACK,
			       .msn = ++msn);
		expect_cqe(a, .wr_id = i);
		*psn = (*psn + 1) & 0xffffff;
	}
	expect_empty(a->cq);
}

SCENARIO(req_completion, "a request completes when its last packet is acknowledged, in order",
	 .mtu = IBV_MTU_256, .timeout = 18)
{
	static const struct {
		struct tb_wr wr;
		enum bth_opcode op;
	} rows[] = {
		{{.opcode = IBV_WR_RDMA_WRITE, .len = 64}, BTH_RC_WRITE_ONLY},
		{{.opcode = IBV_WR_RDMA_WRITE, .len = 64, .with_imm = true}, BTH_RC_WRITE_ONLY_IMM},
		{{.opcode = IBV_WR_SEND, .len = 64}, BTH_RC_SEND_ONLY},
		{{.opcode = IBV_WR_SEND, .len = 64, .with_imm = true}, BTH_RC_SEND_ONLY_IMM},
		{{.opcode = IBV_WR_RDMA_READ, .len = 64}, BTH_RC_READ_REQUEST},
		{{.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .len = 8, .dst = WORD}, BTH_RC_COMPARE_SWAP},
		{{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, .dst = WORD}, BTH_RC_FETCH_ADD},
	};
	uint32_t psn = 0xfffffe;

	move_qp(b->qp[0], IBV_QPS_RESET);
	for_each_row(i, rows)
		two(tb, a, &psn, rows[i].wr, rows[i].op);
	expect_data(a, .len = 64);
	expect_word(a, WORD, 0);

	phase("two packets");
	rdma_write(a, .wr_id = 1, .len = 2 * MTU);
	rdma_write(a, .wr_id = 2, .len = 2 * MTU);
	for (unsigned i = 0; i < 2; i++) {
		expect_pkt(a_to_b, RC_WRITE_FIRST, .psn = psn + 2 * i);
		expect_pkt(a_to_b, RC_WRITE_LAST, .psn = psn + 2 * i + 1, .ack_req = 1);
	}
	ack(tb, a, psn, 14);
	expect_empty(a->cq);
	ack(tb, a, psn + 3, 16);
	expect_cqe(a, .wr_id = 1);
	expect_cqe(a, .wr_id = 2);
	psn += 4;

	phase("old ACKs, and ACKs of the future");
	for (unsigned i = 0; i < 5; i++)
		ack(tb, a, psn - 1 - i, 16);
	ack(tb, a, psn, 17);
	ack(tb, a, psn + 1000, 18);
	rdma_write(a, .wr_id = 3, .len = 8, .repeat = 3);
	for (unsigned i = 0; i < 3; i++)
		expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = psn + i);
	ack(tb, a, psn - 1, 16);
	expect_empty(a->cq);
	ack(tb, a, psn + 2, 19);
	for (unsigned i = 0; i < 3; i++)
		expect_cqe(a, .wr_id = 3 + i);
	expect_stat(a, retry, retransmitted, 0);
}
