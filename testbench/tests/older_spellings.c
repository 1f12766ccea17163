/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario file in the style that users wrote before struct tb_wr and struct tb_cqe could express
 * everything. make test compiles and runs it unchanged. Do not modernise it. A change to a public
 * header that breaks this file breaks the files of users.
 */
#include "testbench/connect.h"
#include "testbench/harm.h"
#include "testbench/host.h"
#include "testbench/kernel_verbs.h"
#include "testbench/machine.h"
#include "testbench/manage.h"
#include "testbench/process.h"
#include "testbench/programs.h"
#include "testbench/scenario.h"
#include "testbench/services.h"

enum { QKEY = 0x1234, GRH_AREA = 40, WORD = 512 };

/* Fills structures without the macros: a member that is 0 counts as not given. */
static void by_structure(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			 struct drv_qp *y)
{
	const struct tb_request receive = {.wr_id = 10, .dst = 4096, .len = 32, .repeat = 2};
	struct tb_request request = {.opcode = IBV_WR_SEND, .wr_id = 20, .len = 32, .repeat = 2};
	struct tb_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .wr_id = 30, .dst = 8192, .len = 16};
	const struct tb_wc each[] = {WC(.wr_id = 11, .qp = y), WC(.wr_id = 10, .qp = y)};
	const struct tb_wc sent = WC(.wr_id = 20, .qp = x, .opcode = IBV_WC_SEND);
	struct tb_cqe want = CQE(.wr_id = 30, .qp = 0);

	tb_recv_on(tb, TB_HERE, b, y, NULL, &receive);
	tb_send_on(tb, TB_HERE, a, x, &request);
	tb_expect_wcs_of(tb, TB_HERE, b, each, 2);
	tb_expect_wc(tb, TB_HERE, a, &sent);
	expect_wc(a, .wr_id = 21);
	expect_data(b, .dst = 4096, .len = 32);
	expect_data(b, .dst = 4096 + 32, .len = 32);

	tb_post(tb, TB_HERE, a, &wr);
	tb_expect_cqe(tb, TB_HERE, a, &want);
	expect_data(b, .dst = 8192, .len = 16);
	request.opcode = IBV_WR_RDMA_READ;
	request.wr_id = 31;
	request.dst = 9000;
	request.repeat = 1;
	tb_send_said(tb, TB_HERE, a, x,
		     TB_REQUEST(.opcode = IBV_WR_RDMA_READ, .wr_id = 31, .dst = 9000, .len = 32));
	expect_wc(a, .wr_id = 31, .opcode = IBV_WC_RDMA_READ);
	expect_data(a, .dst = 9000, .len = 32);
}

/* Where an atomic goes at the other end: offset 0 for the connected pair, .dst for any other. */
static void atomics(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x)
{
	set_word(b, 0, 1);
	set_word(b, WORD, 10);
	fetch_add(a, .wr_id = 1, .dst = WORD, .compare = 1);
	expect_cqe(a, .wr_id = 1, .qp = 0, .byte_len = 8);
	expect_word(a, WORD, 1);
	expect_word(b, 0, 2);
	send_on(a, x, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr_id = 2, .dst = WORD, .len = 8,
		.compare = 5);
	expect_wc(a, .wr_id = 2, .qp = x);
	expect_word(a, WORD, 10);
	expect_word(b, WORD, 15);
}

static void datagram(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UD), *v = new_qp(b, .type = IBV_QPT_UD);
	const struct drv_ah_attr ah = {.dlid = b->lid, .port_num = 1};

	start_ud(u, QKEY, 100);
	start_ud(v, QKEY, 100);
	recv_on(b, v, .wr_id = 1, .dst = 16384, .len = 104);
	send_on(a, u, .wr_id = 2, .ah = &ah, .remote_qpn = drv_qp_num(v), .qkey = QKEY, .len = 64,
		.with_imm = true, .imm = 5);
	expect_wc(a, .wr_id = 2, .qp = u);
	expect_wc(b, .wr_id = 1, .byte_len = GRH_AREA + 64, .qp = v, .src_qp = drv_qp_num(u),
		  .imm = 5, .slid = a->lid, .sl = 0, .path_bits = 0, .pkey_index = 0,
		  .flags = IBV_WC_WITH_IMM);
	expect_data(b, .dst = 16384 + GRH_AREA, .len = 64);
	destroy_qp(v);
	destroy_qp(u);
}

SCENARIO(older_spellings, "words of files that were written before", .any_packets = true)
{
	struct drv_cq *cq = new_cq(b, 15, 0);
	struct drv_srq *s = new_srq(b);
	struct drv_qp *x = new_qp(a), *y = new_qp(b), *v = new_qp(a),
		      *w = new_qp(b, .srq = s, .recv_cq = cq);

	connect_two(x, y);
	connect_two(v, w);
	post_recv(b, .wr_id = 1, .dst = 20000, .len = 64);
	post_send(a, .wr_id = 7, .len = 64);
	expect_cqe(a, .wr_id = 7, .opcode = IBV_WC_SEND, .vendor_err = 0);
	expect_cqe(b, .wr_id = 1, .byte_len = 64, .qp = 0);
	expect_data(b, .dst = 20000, .len = 64);

	by_structure(tb, a, b, x, y);
	atomics(tb, a, b, x);
	datagram(tb, a, b);

	/* names a CQ, matches in several orders, accepts any error */
	recv_srq(b, s, .wr_id = 3, .dst = 24000, .len = 16, .repeat = 2);
	send_on(a, v, .wr_id = 4, .len = 16, .repeat = 2);
	expect_wcs_of(b, WC(.cq = cq, .wr_id = 4, .qp = w), WC(.cq = cq, .wr_id = 3, .qp = w));
	expect_wcs_of(a, WC(.qp = v), WC(.wr_id = 4));
	expect_data(b, .dst = 24000, .len = 16);
	expect_data(b, .dst = 24016, .len = 16);
	rdma_write(a, .wr_id = 8, .rkey = 1, .len = 8);
	rdma_write(a, .wr_id = 9, .len = 8);
	expect_cqes_of(a, CQE(.wr_id = 9, .status = IBV_WC_WR_FLUSH_ERR),
		       CQE(.wr_id = 8, .status = ANY_ERROR));
	ignore_events(b);
	expect_empty(cq);

	destroy_qp(w);
	destroy_qp(v);
	destroy_qp(y);
	destroy_qp(x);
	destroy_srq(s);
	destroy_cq(cq);
}
