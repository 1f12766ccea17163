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
	must(drv_mr_dereg(write_only));
	must(drv_mr_dereg(read_only));
	must(drv_mr_dereg(foreign));
	must(drv_pd_free(pd));
}
