/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast register. Before it the key gives access to nothing. After it a SEND later in the same list
 * of work requests already uses the key, and the peer may write through it. After a local
 * invalidate the old key is refused, and the region can be registered again over other pages.
 * behaviours: MEM-9
 */
#include "testbench/kernel_verbs.h"
#include "testbench/scenario.h"

#include <errno.h>
#include <string.h>

enum { PAGES = 600, OFFSET = 100, LEN = 512 * 4096 + 300, SHORT = 5000, LATER = 1 << 14 };

/* Its lowest byte is the owner's; the others are the region's number. */
static uint32_t next_key(uint32_t key)
{
	return (key & ~UINT32_C(0xff)) | ((key + 1) & 0xff);
}

/* Each right, without those that it does not need, and a key of the caller's choice. The region is free, and is so again afterwards. */
static void rights(struct tb *tb, struct tb_end *b, struct drv_send_wr reg, struct drv_send_wr inv)
{
	static const unsigned alone[] = {
		IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_MW_BIND,     0,
	};

	for_each_row(i, alone) {
		const uint32_t key = drv_mr_rkey(reg.reg_mr);

		reg.reg_access = alone[i];
		reg.reg_key = (key & ~UINT32_C(0xff)) | ((key + 0x35) & 0xff);
		must(drv_post_send(b->qp[0], &reg, NULL));
		expect_equal(drv_mr_rkey(reg.reg_mr), reg.reg_key);
		expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_REG_MR);
		inv.invalidate_rkey = reg.reg_key;
		must(drv_post_send(b->qp[0], &inv, NULL));
		expect_cqe(b, .wr_id = 3, .opcode = IBV_WC_LOCAL_INV);
	}
}

/* Memory that no other region covers: it is the device's as long as this one has it. The region ends. */
static void of_its_own(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_send_wr reg,
		       struct drv_send_wr inv)
{
	uint8_t *memory = kv_memory(b, 2 * LATER);

	expect_true(memory);
	for (unsigned i = 0; memory && i < 2; i++) {
		uint8_t *at = memory + i * LATER;

		must(drv_mr_fast_set(reg.reg_mr, at, SHORT));
		reg.reg_iova = tb_va(b, at);
		reg.reg_length = SHORT;
		must(drv_post_send(b->qp[0], &reg, NULL));
		expect_cqe(b, .wr_id = 1);
		rdma_write(a, .wr_id = 9, .len = SHORT, .rkey = drv_mr_rkey(reg.reg_mr),
			   .remote_addr = reg.reg_iova);
		expect_cqe(a, .wr_id = 9);
		pass_time(CFG_US(20)); /* an ACK comes before the data is in memory */
		expect_true(!memcmp(at, a->src, SHORT));
		inv.invalidate_rkey = drv_mr_rkey(reg.reg_mr);
		must(drv_post_send(b->qp[0], &inv, NULL));
		expect_cqe(b, .wr_id = 3);
	}
	must(drv_mr_dereg(reg.reg_mr));
	if (memory)
		kv_memory_free(b, memory, 2 * LATER);
}

SCENARIO(frwr, "fast register, use in the same list, local invalidate, register again",
	 .any_packets = true, .memory = 4 << 20)
{
	struct drv_send_wr reg = {.wr_id = 1,
				  .opcode = IBV_WR_REG_MR,
				  .send_flags = IBV_SEND_SIGNALED,
				  .reg_iova = tb_va(b, b->dst) + OFFSET,
				  .reg_length = LEN,
				  .reg_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
	struct drv_send_wr send = {
		.wr_id = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .num_sge = 1};
	struct drv_send_wr inv = {
		.wr_id = 3, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};
	struct drv_sge sge = {.addr = tb_va(b, b->dst) + OFFSET + LEN - 64, .length = 64};
	struct drv_mr *mr = NULL;
	uint32_t old;

	must(drv_mr_alloc_fast(b->pd, PAGES, &mr));
	if (!still_right())
		return;
	phase("before");
	rdma_write(a, .wr_id = 4, .len = 8, .rkey = drv_mr_rkey(mr));
	expect_cqe(a, .wr_id = 4, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("register and send");
	post_recv(a, .wr_id = 5, .len = 64);
	must(drv_mr_fast_set(mr, b->dst + OFFSET, LEN));
	reg.reg_mr = mr;
	reg.reg_key = next_key(drv_mr_rkey(mr));
	reg.next = &send;
	sge.lkey = reg.reg_key;
	send.sg_list = &sge;
	must(drv_post_send(b->qp[0], &reg, NULL));
	expect_equal(drv_mr_rkey(mr), reg.reg_key);
	expect_cqe(b, .wr_id = 1, .opcode = IBV_WC_REG_MR);
	expect_cqe(b, .wr_id = 2);
	expect_cqe(a, .wr_id = 5);
	rdma_write(a, .wr_id = 6, .len = LEN, .dst = OFFSET, .rkey = drv_mr_rkey(mr));
	expect_cqe(a, .wr_id = 6);
	expect_data(b, .len = LEN, .dst = OFFSET);
	rdma_write(a, .wr_id = 7, .len = 8, .dst = OFFSET + LEN - 7, .rkey = drv_mr_rkey(mr));
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("invalidate");
	old = drv_mr_rkey(mr);
	inv.invalidate_rkey = old;
	must(drv_post_send(b->qp[0], &inv, NULL));
	expect_cqe(b, .wr_id = 3, .opcode = IBV_WC_LOCAL_INV);
	rdma_write(a, .wr_id = 8, .len = 8, .dst = OFFSET, .rkey = old);
	expect_cqe(a, .wr_id = 8, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("again, other pages");
	must(drv_mr_fast_set(mr, b->dst + (3 << 20), 4096));
	reg.next = NULL;
	reg.reg_key = 0;
	reg.reg_iova = 1 << 20;
	reg.reg_length = 4096;
	must(drv_post_send(b->qp[0], &reg, NULL));
	expect_cqe(b, .wr_id = 1);
	rdma_write(a, .wr_id = 9, .len = 4096, .rkey = drv_mr_rkey(mr), .remote_addr = 1 << 20);
	expect_cqe(a, .wr_id = 9);
	expect_data(b, .len = 4096, .dst = 3 << 20);
	rdma_write(a, .wr_id = 10, .len = 8, .rkey = old, .remote_addr = 1 << 20);
	expect_cqe(a, .wr_id = 10, .status = IBV_WC_REM_ACCESS_ERR);
	expect_event(b, IBV_EVENT_QP_ACCESS_ERR);
	reconnect(0);

	phase("rights");
	inv.invalidate_rkey = drv_mr_rkey(mr);
	must(drv_post_send(b->qp[0], &inv, NULL));
	expect_cqe(b, .wr_id = 3);
	rights(tb, b, reg, inv);

	phase("more pages than it has");
	must_fail(-EINVAL, drv_mr_fast_set(mr, b->dst, 0));
	must_fail(-EINVAL, drv_mr_fast_set(mr, b->dst, (PAGES + 1) * UINT64_C(4096)));
	must_fail(-ENOMEM, drv_mr_fast_page(mr, PAGES, 4096));
	must_fail(-EINVAL, drv_mr_fast_set(mr, b->dst, (PAGES + 2) * UINT64_C(4096)));
	must_fail(-EINVAL, drv_mr_fast_set(mr, b->dst + OFFSET, PAGES * UINT64_C(4096)));

	phase("memory of its own");
	of_its_own(tb, a, b, reg, inv);
}
