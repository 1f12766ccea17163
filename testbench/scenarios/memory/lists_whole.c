/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver looks at before it takes anything. A receive with more entries than its queue has is
 * refused, also by an SRQ; a CQ does not shrink below what it holds; rights that no region may have are
 * refused, and the former ones stay. A region of pages that lie the other way round is used across their
 * borders by WRITEs, READs, sends and receives. A message whose second entry has a wrong key moves nothing
 * by its first one.
 */
/* behaviours: IBA-10.6.3-bounds */
#include "testbench/services.h"

enum { PAGE = 4096, PAGES = 3, PART = 100, HELD = 10, ENTRIES = 2 };

/* The bytes of the region's border between its first and its second page. */
static void crosses(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct drv_mr *mr,
		    uint64_t iova)
{
	const uint64_t at = iova + PAGE - PART;
	struct drv_sge sge = {at, 2 * PART, drv_mr_lkey(mr)};
	const struct drv_recv_wr recv = {.wr_id = 3, .sg_list = &sge, .num_sge = 1};
	const struct drv_send_wr send = {.wr_id = 4,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
					 .sg_list = &sge,
					 .num_sge = 1};

	rdma_write(a, .wr_id = 1, .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)at,
		   .len = 2 * PART);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .dst = PAGES * PAGE - PART, .len = PART);
	expect_data(b, .dst = (PAGES - 2) * PAGE, .src = PART, .len = PART);
	rdma_read(a, .wr_id = 2, .rkey = drv_mr_rkey(mr), .remote_addr = (int64_t)at,
		  .len = 2 * PART);
	expect_cqe(a, .wr_id = 2);
	expect_data(a, .len = 2 * PART, .from = a);
	must(drv_post_recv(b->qp[0], &recv, NULL));
	post_send(a, .src = 5000, .len = 2 * PART);
	expect_cqe(a);
	expect_cqe(b, .wr_id = 3, .byte_len = 2 * PART);
	expect_data(b, .dst = PAGES * PAGE - PART, .src = 5000, .len = PART);
	expect_data(b, .dst = (PAGES - 2) * PAGE, .src = 5000 + PART, .len = PART);
	post_recv(a, .wr_id = 5, .dst = 1000, .len = 2 * PART);
	must(drv_post_send(b->qp[0], &send, NULL));
	expect_cqe(b, .wr_id = 4);
	expect_cqe(a, .wr_id = 5, .byte_len = 2 * PART);
	expect_data(a, .dst = 1000, .src = 5000, .len = 2 * PART, .from = a);
}

static void pages_reversed(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const unsigned rights =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	const uint64_t iova = UINT64_C(0x7f0000123000);
	uint64_t pages[PAGES], bus;
	struct drv_mr *mr;

	phase("pages");
	bus = b->platform->ops->dma_map(b->platform, b->dst, PAGES * PAGE);
	for (unsigned i = 0; i < PAGES; i++)
		pages[i] = bus + (PAGES - 1 - i) * PAGE;
	must(drv_mr_reg_pages(b->pd, pages, PAGES, iova, PAGES * PAGE, rights, &mr));
	if (!still_right())
		return;
	crosses(tb, a, b, mr, iova);
	must_fail(-EINVAL, drv_mr_rereg_access(mr, IBV_ACCESS_REMOTE_WRITE));
	must_fail(-EINVAL, drv_mr_rereg_access(mr, IBV_ACCESS_REMOTE_ATOMIC));
	crosses(tb, a, b, mr, iova);
	must(drv_mr_dereg(mr));
	b->platform->ops->dma_unmap(b->platform, bus, PAGES * PAGE);
}

static void receives_too_long(struct tb *tb, struct tb_end *b)
{
	struct drv_sge sge[64];
	struct drv_recv_wr good = {.wr_id = 1, .sg_list = sge, .num_sge = 1};
	struct drv_recv_wr wr = {.wr_id = 2, .sg_list = sge};
	struct drv_srq *srq = new_srq(b, .max_wr = 4, .max_sge = ENTRIES);
	struct drv_qp_attr attr = {0};
	const struct drv_recv_wr *bad = NULL;
	uint32_t receives, entries = 0;

	phase("receives");
	if (!still_right())
		return;
	for (unsigned i = 0; i < 64; i++)
		sge[i] = (struct drv_sge){tb_va(b, b->dst), 8, drv_mr_lkey(b->mr)};
	must(drv_qp_query(b->qp[0], &attr));
	wr.num_sge = attr.cap.max_recv_sge + 1;
	must_fail(-EINVAL, drv_post_recv(b->qp[0], &wr, &bad));
	expect_true(bad == &wr);
	drv_srq_size(srq, &receives, &entries);
	wr.num_sge = entries + 1;
	wr.next = &good;
	must_fail(-EINVAL, drv_post_srq_recv(srq, &wr, &bad));
	expect_true(bad == &wr);
	destroy_srq(srq);
}

static void cq_holds(struct tb *tb, struct tb_end *a)
{
	struct drv_cq *cq = new_cq(a, 63, 0);
	struct drv_qp *u = new_qp(a, .type = IBV_QPT_UD, .send_cq = cq);
	const struct drv_ah_attr ah = ah_to(a->peer);

	phase("a CQ");
	start_ud(u, 1, 1);
	for (unsigned i = 0; i < HELD; i++)
		send_on(a, u, .wr_id = i, .len = 8, .ah = &ah, .remote_qpn = 0x123, .qkey = 1);
	pass_time(CFG_US(60));
	must_fail(-EINVAL, drv_cq_resize(cq, HELD - 4));
	for (unsigned i = 0; i < HELD; i++)
		expect_cqe(a, .cq = cq, .wr_id = i);
	must(drv_cq_resize(cq, HELD - 4));
	destroy_qp(u);
	destroy_cq(cq);
}

/* The entries of a receive are checked before the first byte is stored. */
static void second_key_wrong(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_sge sge[ENTRIES] = {
		{tb_va(b, b->dst + 20000), PART, drv_mr_lkey(b->mr)},
		{tb_va(b, b->dst + 21000), PART, drv_mr_lkey(b->mr) ^ 0x55},
	};
	const struct drv_recv_wr recv = {.wr_id = 6, .sg_list = sge, .num_sge = ENTRIES};

	phase("a list");
	must(drv_post_recv(b->qp[0], &recv, NULL));
	post_send(a, .wr_id = 7, .len = 2 * PART);
	expect_cqe(b, .wr_id = 6, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 7, .status = IBV_WC_REM_OP_ERR);
}

/* A receive reaches beyond its region. What a message does not use does not matter; a byte that it does is too much. */
static void entry_too_long(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_sge sge = {tb_va(b, b->dst + 24000), 2 * PART, 0};
	const struct drv_recv_wr recv = {.wr_id = 8, .sg_list = &sge, .num_sge = 1};
	struct drv_mr *mr;

	phase("an entry");
	reconnect(0);
	must(drv_mr_reg_iova(b->pd, b->dst + 24000, PART, sge.addr, IBV_ACCESS_LOCAL_WRITE, &mr));
	if (!still_right())
		return;
	sge.lkey = drv_mr_lkey(mr);
	must(drv_post_recv(b->qp[0], &recv, NULL));
	post_send(a, .wr_id = 9, .len = PART);
	expect_cqe(b, .wr_id = 8, .byte_len = PART);
	expect_cqe(a, .wr_id = 9);
	expect_data(b, .dst = 24000, .len = PART);
	must(drv_post_recv(b->qp[0], &recv, NULL));
	post_send(a, .wr_id = 9, .len = PART + 1);
	expect_cqe(b, .wr_id = 8, .status = IBV_WC_LOC_PROT_ERR);
	expect_cqe(a, .wr_id = 9, .status = IBV_WC_REM_OP_ERR);
	must(drv_mr_dereg(mr));
}

SCENARIO(lists_whole, "what is refused is refused whole; a region of pages the other way round",
	 .any_packets = true, .recv_sges = ENTRIES)
{
	pages_reversed(tb, a, b);
	receives_too_long(tb, b);
	cq_holds(tb, a);
	second_key_wrong(tb, a, b);
	entry_too_long(tb, a, b);
}
