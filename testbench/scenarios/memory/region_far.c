/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses far from a region, with lengths that it has. Where address and length are added, the sum may
 * wrap and lie in the region again, or below its end. All are refused: WRITEs, READs and atomics of the
 * peer, and entries of lists of sends, receives and READs. A region of the last bytes of all addresses,
 * whose end is 2^64, takes what is within.
 */
/* behaviours: IBA-10.6.3-bounds */
#include "model/interface/macros.h"
#include "testbench/services.h"

enum { PAGE = 4096, LEN = 2 * PAGE, ATOMIC = 8 };

static const uint64_t LOW = UINT64_C(0x10000), MIDDLE = UINT64_C(0x7f0000123000),
		      HIGH = UINT64_C(0xffff800000000000), LAST = UINT64_C(0) - LEN;
static const uint64_t HALF = UINT64_C(1) << 63;

/* What a request at that address with that length gets. */
static void reach(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		  uint64_t va, unsigned len, enum ibv_wc_status status)
{
	const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
					      IBV_WR_ATOMIC_FETCH_AND_ADD};

	for (unsigned i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const bool atomic = opcodes[i] == IBV_WR_ATOMIC_FETCH_AND_ADD;

		if (atomic && (va % ATOMIC || len < ATOMIC))
			continue;
		tb_post(tb, TB_HERE, a,
			&(const struct tb_wr){TB_WR_DEFAULTS, .opcode = opcodes[i],
					      .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)va,
					      .len = atomic ? ATOMIC : len});
		expect_cqe(a, .status = status);
		if (status == IBV_WC_SUCCESS)
			continue;
		expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
		reconnect(0);
	}
}

static void far(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t iova)
{
	struct drv_mr *mr;

	must(drv_mr_reg_iova(b->pd, b->dst, LEN, iova,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
			     &mr));
	if (!still_right())
		return;
	reach(tb, a, b, mr, iova, LEN, IBV_WC_SUCCESS);
	reach(tb, a, b, mr, iova + LEN - ATOMIC, ATOMIC, IBV_WC_SUCCESS);
	reach(tb, a, b, mr, iova + HALF, 16, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, iova - 16, 16, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, iova - 16, 32, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, iova + LEN - 12, 16, IBV_WC_REM_ACCESS_ERR);
	reach(tb, a, b, mr, iova + (UINT64_C(1) << 32), 16, IBV_WC_REM_ACCESS_ERR);
	if (iova == LAST) {
		reach(tb, a, b, mr, 0, 16, IBV_WC_REM_ACCESS_ERR);
	} else {
		reach(tb, a, b, mr, UINT64_C(0) - 16, 16, IBV_WC_REM_ACCESS_ERR);
		reach(tb, a, b, mr, UINT64_C(0) - 16, 32, IBV_WC_REM_ACCESS_ERR);
		reach(tb, a, b, mr, UINT64_C(0) - LEN + 8, LEN, IBV_WC_REM_ACCESS_ERR);
	}
	must(drv_mr_dereg(mr));
}

/* Addresses of the side that posts: a SEND's, a READ's and a receive's. */
static void local(struct tb *tb, struct tb_end *a, struct tb_end *b, uint64_t va, unsigned len)
{
	struct drv_sge sge = {va, len, drv_mr_lkey(a->mr)};
	struct drv_send_wr send = {.wr_id = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .remote_addr = tb_va(b, b->src),
				   .rkey = drv_mr_rkey(b->mr)};
	const struct drv_recv_wr recv = {.wr_id = 2, .sg_list = &sge, .num_sge = 1};

	post_recv(b, .len = len);
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_LOC_PROT_ERR);
	reconnect(0);
	send.opcode = IBV_WR_RDMA_READ;
	must(drv_post_send(a->qp[0], &send, NULL));
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_LOC_PROT_ERR);
	reconnect(0);
	must(drv_post_recv(a->qp[0], &recv, NULL));
	post_send(b, .wr_id = 3, .len = len);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(b, .wr_id = 3, .status = IBV_WC_REM_OP_ERR);
	reconnect(0);
}

SCENARIO(region_far, "addresses far from a region, whose sum with the length wraps",
	 .any_packets = true)
{
	const uint64_t iovas[] = {LOW, MIDDLE, HIGH, LAST};
	const uint64_t begin = tb_va(a, a->src);

	for_each_row(i, iovas) {
		name_row("region at 0x%llx", (unsigned long long)iovas[i]);
		far(tb, a, b, iovas[i]);
	}
	local(tb, a, b, UINT64_C(0) - 16, 32);
	local(tb, a, b, UINT64_C(0) - 32, 32);
	local(tb, a, b, begin + HALF, 32);
	local(tb, a, b, begin - (UINT64_C(1) << 32), 32);
	ignore_data(a, .len = LEN);
	ignore_data(b, .len = LEN);
}
