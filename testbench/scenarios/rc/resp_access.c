/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses that a remote peer may not make: with an unknown key, with an old variant of a
 * key, before and behind the region, across the end of the address space, without the region's
 * permission, without the queue pair's permission, in another PD. In each case there is a NAK
 * (access error; or invalid request for an operation that the QP does not permit), memory does not
 * change, the responder gets an event and the requester an error.
 */
/* behaviours: RESP-7 MEM-3 DEFECT-bounds-wrap */
#include "testbench/services.h"

enum { PAGE = 4096 };

#define REFUSED(verb, ...)                                                                         \
	verb(a, .wr_id = 7, .len = 8, __VA_ARGS__);                                                \
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);                                \
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);                                                  \
	reconnect(0)

static const unsigned rights[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
				  IBV_ACCESS_REMOTE_ATOMIC};

/* A queue pair that gives one right gives no other, whatever its region gives. */
static void of_queue_pair(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned only)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						     IBV_WR_ATOMIC_FETCH_AND_ADD};
	struct drv_qp *x = new_qp(a), *y = new_qp(b);

	for (unsigned i = 0; i < 3; i++) {
		const bool right = rights[i] == only;

		connect_two(x, y, .y_access = only);
		send_on(a, x, .wr_id = i, .opcode = opcodes[i], .dst = PAGE, .len = 8);
		expect_cqe(a, .wr_id = i,
			   .status = right ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR);
		if (!right)
			expect_event(b, IBV_EVENT_QP_REQ_ERR);
		if (right && opcodes[i] == IBV_WR_RDMA_WRITE)
			expect_data(b, .dst = PAGE, .len = 8);
		if (right && opcodes[i] != IBV_WR_RDMA_WRITE)
			ignore_data(a, .dst = PAGE, .len = 8);
		if (right && opcodes[i] == IBV_WR_ATOMIC_FETCH_AND_ADD)
			ignore_data(b, .dst = PAGE, .len = 8);
		move_qp(x, IBV_QPS_RESET);
		move_qp(y, IBV_QPS_RESET);
	}
	destroy_qp(y);
	destroy_qp(x);
}

SCENARIO(resp_access, "remote access that is not allowed is refused")
{
	struct drv_mr *read_only = NULL, *write_only = NULL, *foreign = NULL;
	const uint64_t dst = tb_va(b, b->dst);
	struct drv_pd *pd = NULL;

	ignore_packets();
	must(drv_pd_alloc(b->dev, &pd));
	must(drv_mr_reg_iova(pd, b->dst, PAGE, dst,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &foreign));
	must(drv_mr_reg_iova(b->pd, b->dst, PAGE, dst, IBV_ACCESS_REMOTE_READ, &read_only));
	must(drv_mr_reg_iova(b->pd, b->dst, PAGE, dst,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &write_only));
	if (!still_right())
		return;
	REFUSED(rdma_write, .rkey = drv_mr_rkey(b->mr) + (100 << 8));
	REFUSED(rdma_write, .rkey = drv_mr_rkey(b->mr) ^ 1);
	REFUSED(rdma_read, .rkey = drv_mr_rkey(b->mr) ^ 0x80);
	REFUSED(rdma_write, .rkey = drv_mr_rkey(write_only), .remote_addr = dst - 1);
	REFUSED(rdma_write, .rkey = drv_mr_rkey(write_only), .remote_addr = dst + PAGE - 7);
	REFUSED(rdma_write, .rkey = drv_mr_rkey(write_only), .remote_addr = UINT64_MAX - 3);
	REFUSED(rdma_write, .rkey = drv_mr_rkey(read_only));
	REFUSED(rdma_read, .rkey = drv_mr_rkey(write_only), .remote_addr = dst);
	REFUSED(fetch_add, .rkey = drv_mr_rkey(write_only), .remote_addr = dst);
	REFUSED(rdma_write, .rkey = drv_mr_rkey(foreign));
	rdma_write(a, .wr_id = 8, .len = 8, .dst = PAGE - 8, .rkey = drv_mr_rkey(write_only));
	expect_cqe(a, .wr_id = 8);
	expect_data(b, .dst = PAGE - 8, .len = 8);
	for_each_row(i, rights)
		of_queue_pair(tb, a, b, rights[i]);
	must(drv_mr_dereg(write_only));
	must(drv_mr_dereg(read_only));
	must(drv_mr_dereg(foreign));
	must(drv_pd_free(pd));
}
