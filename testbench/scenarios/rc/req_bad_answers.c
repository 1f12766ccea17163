/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses that do not match their request: READ data with a wrong length or at a wrong place in
 * the message, data for an atomic, the result of an atomic for a READ. The request ends with a bad
 * response error, nothing is written, and the requests behind it are flushed. Data in response to a
 * SEND are ignored.
 * behaviours: IBA-9.9.2.1-bad-response
 */
#include "testbench/services.h"

enum { MTU = 1024, GOOD = 31 };

struct answer {
	enum bth_opcode opcode;
	uint32_t len;
};

/* Wrong first responses to a READ of 2.5 packets. */
static const struct answer to_read[] = {
	{BTH_RC_READ_RESP_FIRST, MTU - 4}, {BTH_RC_READ_RESP_FIRST, 2 * MTU},
	{BTH_RC_READ_RESP_ONLY, MTU},      {BTH_RC_READ_RESP_LAST, MTU / 2},
	{BTH_RC_ATOMIC_ACKNOWLEDGE, 0},
};

static void answer(struct tb *tb, struct tb_end *a, uint32_t psn, const struct answer *with)
{
	tb_inject(tb, TB_HERE, a, with->opcode,
		  &(const struct tb_inject){TB_INJECT_ANY, .psn = psn, .syndrome = GOOD, .msn = 1,
					    .len = with->len});
}

static void refused(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_BAD_RESP_ERR);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_WR_FLUSH_ERR);
	reconnect(0);
	move_qp(b->qp[0], IBV_QPS_RESET);
}

SCENARIO(req_bad_answers, "answers that fit no request: bad response, nothing written",
	 .mtu = IBV_MTU_1024, .any_packets = true)
{
	const struct answer data = {BTH_RC_READ_RESP_ONLY, 8};
	const struct answer first = {BTH_RC_READ_RESP_FIRST, MTU};
	const struct answer last[] = {{BTH_RC_READ_RESP_LAST, MTU / 2 + 4},
				      {BTH_RC_READ_RESP_MIDDLE, MTU / 2}};

	move_qp(b->qp[0], IBV_QPS_RESET);
	for_each_row(i, to_read) {
		rdma_read(a, .wr_id = 1, .len = 2 * MTU + MTU / 2);
		rdma_write(a, .wr_id = 2, .len = 8);
		pass_time(CFG_US(10));
		answer(tb, a, 0xfffffe, &to_read[i]);
		refused(tb, a, b);
	}
	phase("the last one is too long, or says that it is not the last");
	for_each_row(i, last) {
		rdma_read(a, .wr_id = 1, .len = MTU + MTU / 2);
		rdma_write(a, .wr_id = 2, .len = 8);
		pass_time(CFG_US(10));
		answer(tb, a, 0xfffffe, &first);
		answer(tb, a, 0xffffff, &last[i]);
		refused(tb, a, b);
	}
	ignore_data(a, .len = MTU); /* data of a response that was right */

	phase("READ data for an atomic");
	fetch_add(a, .wr_id = 1, .compare = 1);
	rdma_write(a, .wr_id = 2, .len = 8);
	pass_time(CFG_US(10));
	answer(tb, a, 0xfffffe, &data);
	refused(tb, a, b);

	phase("READ data for a WRITE is nothing");
	rdma_write(a, .wr_id = 3, .len = 8);
	pass_time(CFG_US(10));
	answer(tb, a, 0xfffffe, &data);
	pass_time(CFG_US(10));
	expect_empty(a->cq);
	inject(a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .syndrome = GOOD, .msn = 1);
	expect_cqe(a, .wr_id = 3);
}
