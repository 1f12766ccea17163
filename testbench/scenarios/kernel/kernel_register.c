/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration by work requests. A scatterlist with an offset in its first page and a short last
 * block is one contiguous range for the peer, and the peer's bytes land where the list says. The
 * key is valid from REG_MR to LOCAL_INV, or until the peer's SEND with invalidate; the next
 * registration has another key. A gap in the list would end the mapping (map_test.c tests that).
 * The older forms of registration do the same, and blocks may be larger than a page.
 * behaviours: MEM-9
 */
#include "testbench/kernel_verbs.h"

#include <errno.h>

enum {
	PAGE = 4096,
	PIECES = 4,
	FIRST = 1000, /* offset in the first page */
	LAST = 77,    /* bytes of the last one */
	TOTAL = PAGE - FIRST + 2 * PAGE + LAST,
	ACCESS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
};

static void wait_for(struct tb *tb, struct kv *kv, const struct ib_send_wr *wr,
		     enum ib_wc_opcode opcode)
{
	must(ib_post_send(kv->qp, wr, NULL));
	kv_wait(kv, wr->wr_id, IB_WC_SUCCESS);
	expect_equal(kv->wc.opcode, opcode);
}

/* The peer writes or sends; its completion must have the given status. */
static void peer(struct tb *tb, struct kv *x, enum ib_wr_opcode opcode, uint64_t to, uint32_t rkey,
		 uint32_t len, enum ib_wc_status status)
{
	struct ib_sge sge = kv_sge(x, 0, len);
	struct ib_rdma_wr wr = {.wr = {.wr_id = 50,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = opcode,
				       .send_flags = IB_SEND_SIGNALED,
				       .ex.invalidate_rkey = rkey},
				.remote_addr = to,
				.rkey = rkey};

	must(ib_post_send(x->qp, &wr.wr, NULL));
	kv_wait(x, 50, status);
}

/* Using a stale key breaks the connection, so both ends are connected again. */
static void refused(struct tb *tb, struct kv *x, struct kv *y, uint64_t to, uint32_t rkey)
{
	const struct ib_qp_attr reset = {.qp_state = IB_QPS_RESET};

	peer(tb, x, IB_WR_RDMA_WRITE, to, rkey, 8, IB_WC_REM_ACCESS_ERR);
	must(ib_modify_qp(x->qp, &reset, IB_QP_STATE));
	must(ib_modify_qp(y->qp, &reset, IB_QP_STATE));
	kv_connect(x, y);
}

/* Pages 9, 2, 5, 7 of y's memory in that order, so that no two are contiguous. */
static void scattered(struct kv *y, struct scatterlist sg[PIECES])
{
	static const unsigned pages[PIECES] = {9, 2, 5, 7};

	sg_init_table(sg, PIECES);
	for (unsigned i = 0; i < PIECES; i++)
		sg_set_buf(&sg[i], y->mem + pages[i] * PAGE, i < PIECES - 1 ? PAGE : LAST);
	ib_dma_map_sg(y->device, sg, PIECES, DMA_BIDIRECTIONAL);
}

static void landed(struct tb *tb, struct kv *x, struct kv *y)
{
	kv_same(x->mem, y->mem + 9 * PAGE + FIRST, PAGE - FIRST);
	kv_same(x->mem + PAGE - FIRST, y->mem + 2 * PAGE, PAGE);
	kv_same(x->mem + 2 * PAGE - FIRST, y->mem + 5 * PAGE, PAGE);
	kv_same(x->mem + 3 * PAGE - FIRST, y->mem + 7 * PAGE, LAST);
}

static void by_request(struct tb *tb, struct kv *x, struct kv *y, struct scatterlist *sg)
{
	struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, PIECES));
	struct ib_reg_wr reg = {
		.wr = {.wr_id = 1, .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED},
		.mr = mr,
		.access = ACCESS};
	struct ib_send_wr inv = {
		.wr_id = 2, .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED};
	struct ib_recv_wr recv = {.wr_id = 3};
	unsigned offset = FIRST;
	uint32_t old;

	if (!mr)
		return;
	expect_equal((uint64_t)ib_map_mr_sg(mr, sg, PIECES, &offset, PAGE), PIECES);
	expect_equal(mr->length, TOTAL);
	expect_equal(offset, 0);
	expect_equal(mr->iova, y->bus + 9 * PAGE + FIRST);
	refused(tb, x, y, mr->iova, mr->rkey);
	reg.key = mr->rkey;
	wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
	peer(tb, x, IB_WR_RDMA_WRITE, mr->iova, mr->rkey, TOTAL, IB_WC_SUCCESS);
	landed(tb, x, y);
	refused(tb, x, y, mr->iova + TOTAL - 7, mr->rkey);
	inv.ex.invalidate_rkey = old = mr->rkey;
	wait_for(tb, y, &inv, IB_WC_LOCAL_INV);
	refused(tb, x, y, mr->iova, old);
	ib_update_fast_reg_key(mr, (uint8_t)ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
	refused(tb, x, y, mr->iova, old);
	/* the peer says that it is done with a SEND that invalidates the key */
	must(ib_post_recv(y->qp, &recv, NULL));
	peer(tb, x, IB_WR_SEND_WITH_INV, 0, mr->rkey, 0, IB_WC_SUCCESS);
	kv_wait(y, 3, IB_WC_SUCCESS);
	expect_equal(y->wc.wc_flags, IB_WC_WITH_INVALIDATE);
	expect_equal(y->wc.ex.invalidate_rkey, mr->rkey);
	refused(tb, x, y, mr->iova, mr->rkey);
	must(ib_dereg_mr(mr));
}

/* A list whose first and last page are as far apart as in a row, and whose others are not. */
static void permuted(struct tb *tb, struct kv *x, struct kv *y)
{
	static const unsigned pages[PIECES] = {4, 6, 5, 7};
	struct ib_phys_buf bufs[PIECES];
	uint64_t iova = UINT64_C(0x321450000000);
	struct ib_mr *mr;

	for (unsigned i = 0; i < PIECES; i++)
		bufs[i] = (struct ib_phys_buf){y->bus + pages[i] * PAGE, PAGE};
	mr = kv_made(ib_reg_phys_mr(y->pd, bufs, PIECES, ACCESS, &iova));
	if (!mr)
		return;
	peer(tb, x, IB_WR_RDMA_WRITE, iova, mr->rkey, PIECES * PAGE, IB_WC_SUCCESS);
	for (unsigned i = 0; i < PIECES; i++)
		kv_same(x->mem + i * PAGE, y->mem + pages[i] * PAGE, PAGE);
	must(ib_dereg_mr(mr));
}

static void older(struct tb *tb, struct kv *x, struct kv *y)
{
	struct ib_phys_buf bufs[2] = {{y->bus + 9 * PAGE + FIRST, PAGE - FIRST},
				      {y->bus + 2 * PAGE, LAST}};
	uint64_t iova = UINT64_C(0x123450000000) + FIRST;
	struct ib_mr *mr = kv_made(ib_reg_phys_mr(y->pd, bufs, 2, ACCESS, &iova));
	struct ib_fast_reg_page_list *list =
		kv_made(ib_alloc_fast_reg_page_list(y->device, PIECES));
	struct ib_mr *fast = kv_made(ib_alloc_fast_reg_mr(y->pd, PIECES));
	struct ib_fast_reg_wr reg = {
		.wr = {.wr_id = 4, .opcode = IB_WR_FAST_REG_MR, .send_flags = IB_SEND_SIGNALED},
		.iova_start = iova,
		.page_list = list,
		.page_shift = 12,
		.page_list_len = 2,
		.length = PAGE - FIRST + LAST,
		.access_flags = ACCESS};
	struct ib_send_wr inv = {
		.wr_id = 4, .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED};

	if (!mr || !list || !fast)
		return;
	expect_equal(mr->iova, iova);
	expect_equal(mr->length, PAGE - FIRST + LAST);
	peer(tb, x, IB_WR_RDMA_WRITE, iova, mr->rkey, PAGE - FIRST + LAST, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + 9 * PAGE + FIRST, PAGE - FIRST);
	kv_same(x->mem + PAGE - FIRST, y->mem + 2 * PAGE, LAST);
	must(ib_dereg_mr(mr));
	list->page_list[0] = y->bus + 4 * PAGE;
	list->page_list[1] = y->bus + 12 * PAGE;
	ib_update_fast_reg_key(fast, 0x5a);
	reg.rkey = fast->rkey;
	wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
	peer(tb, x, IB_WR_RDMA_WRITE, iova, fast->rkey, PAGE - FIRST + LAST, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + 4 * PAGE + FIRST, PAGE - FIRST);
	kv_same(x->mem + PAGE - FIRST, y->mem + 12 * PAGE, LAST);
	inv.ex.invalidate_rkey = fast->rkey;
	wait_for(tb, y, &inv, IB_WC_LOCAL_INV);
	list->page_list[0] = y->bus + 13 * PAGE; /* the list again, with other pages */
	list->page_list[1] = y->bus + 3 * PAGE;
	ib_update_fast_reg_key(fast, 0xa5);
	reg.rkey = fast->rkey;
	wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
	peer(tb, x, IB_WR_RDMA_WRITE, iova, fast->rkey, PAGE - FIRST + LAST, IB_WC_SUCCESS);
	kv_same(x->mem, y->mem + 13 * PAGE + FIRST, PAGE - FIRST);
	kv_same(x->mem + PAGE - FIRST, y->mem + 3 * PAGE, LAST);
	must(ib_dereg_mr(fast));
	ib_free_fast_reg_page_list(list);
}

/* One buffer is a region, too. Its length says nothing of how many pages it touches. */
static void one_buffer(struct tb *tb, struct kv *x, struct kv *y)
{
	static const struct {
		const char *name;
		unsigned at, size;
	} rows[] = {
		{"a page's length, over a page's edge", 6 * PAGE + FIRST, PAGE},
		{"a few bytes over a page's edge", 7 * PAGE - 4, 8},
		{"within a page", 5 * PAGE + FIRST, 64},
		{"three pages, from the second byte", 9 * PAGE + 1, 2 * PAGE},
	};

	for_each_row(i, rows) {
		struct ib_phys_buf buf = {y->bus + rows[i].at, rows[i].size};
		uint64_t iova = UINT64_C(0x765430000000) + rows[i].at % PAGE;
		struct ib_mr *mr;

		name_row("%s", rows[i].name);
		mr = kv_made(ib_reg_phys_mr(y->pd, &buf, 1, ACCESS, &iova));
		if (!mr)
			return;
		memset(y->mem + rows[i].at, 0xcc, rows[i].size);
		peer(tb, x, IB_WR_RDMA_WRITE, iova, mr->rkey, rows[i].size, IB_WC_SUCCESS);
		kv_same(x->mem, y->mem + rows[i].at, rows[i].size);
		must(ib_dereg_mr(mr));
	}
}

/* Blocks of 16 KiB: the first and last block are partly used; contiguous entries share a block. */
static void large_blocks(struct tb *tb, struct kv *x, struct kv *y)
{
	enum { BLOCK = 4 * PAGE, OFFSET = 3 * PAGE + 100, LEN = 2 * BLOCK };
	struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, 3));
	struct ib_reg_wr reg = {
		.wr = {.wr_id = 5, .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED},
		.mr = mr,
		.access = ACCESS};
	/* the first multiple of BLOCK in this memory */
	uint8_t *mem = y->mem + (BLOCK - y->bus % BLOCK) % BLOCK;
	struct scatterlist sg[2];

	if (!mr)
		return;
	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], mem + OFFSET, 50);
	sg_set_buf(&sg[1], mem + OFFSET + 50, LEN - 50);
	ib_dma_map_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
	expect_equal((uint64_t)ib_map_mr_sg(mr, sg, 2, NULL, BLOCK), 2);
	expect_equal(mr->npages, 3);
	reg.key = mr->rkey;
	wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
	peer(tb, x, IB_WR_RDMA_WRITE, mr->iova, mr->rkey, LEN, IB_WC_SUCCESS);
	kv_same(x->mem, mem + OFFSET, LEN);
	refused(tb, x, y, mr->iova - 1, mr->rkey);
	must(ib_dereg_mr(mr));
	ib_dma_unmap_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
}

/* Blocks of any size: the memory lies somewhere in its block, wherever that begins. */
static void huge_blocks(struct tb *tb, struct kv *x, struct kv *y)
{
	enum { LEN = 2 * PAGE };
	static const unsigned logs[] = {13, 20, 21, 22, 27, 31};

	for_each_row(i, logs) {
		struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, 2));
		struct ib_reg_wr reg = {
			.wr = {.wr_id = 5, .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED},
			.mr = mr,
			.access = ACCESS};
		struct scatterlist sg;

		name_row("2^%u bytes", logs[i]);
		if (!mr)
			return;
		memset(y->mem + FIRST, 0xdd, LEN);
		sg_init_table(&sg, 1);
		sg_set_buf(&sg, y->mem + FIRST, LEN);
		ib_dma_map_sg(y->device, &sg, 1, DMA_BIDIRECTIONAL);
		expect_equal((uint64_t)ib_map_mr_sg(mr, &sg, 1, NULL, 1u << logs[i]), 1);
		reg.key = mr->rkey;
		wait_for(tb, y, &reg.wr, IB_WC_REG_MR);
		peer(tb, x, IB_WR_RDMA_WRITE, mr->iova, mr->rkey, LEN, IB_WC_SUCCESS);
		kv_same(x->mem, y->mem + FIRST, LEN);
		must(ib_dereg_mr(mr));
		ib_dma_unmap_sg(y->device, &sg, 1, DMA_BIDIRECTIONAL);
	}
}

/* Two entries are one range if they adjoin, or if the first ends a block and the second begins one. */
static void gaps(struct tb *tb, struct kv *y)
{
	enum { BLOCK = 4 * PAGE };
	static const struct {
		const char *name;
		unsigned at, len, next, next_len, mapped, block;
	} rows[] = {
		{"they adjoin in a page", 100, 50, 150, 50, 2, PAGE},
		{"they adjoin at a page's end", 100, PAGE - 100, PAGE, 50, 2, PAGE},
		{"a page, and another one", 3 * PAGE, PAGE, PAGE, PAGE, 2, PAGE},
		{"a page's end, and the begin of another", 3 * PAGE + 100, PAGE - 100, PAGE, 50, 2,
		 PAGE},
		{"the first ends in a page", 3 * PAGE, 100, 5 * PAGE, PAGE, 1, PAGE},
		{"the second begins in a page", 3 * PAGE, PAGE, 5 * PAGE + 100, 50, 1, PAGE},
		{"both", 3 * PAGE, 100, 5 * PAGE + 100, 50, 1, PAGE},
		{"the second lies before the first", 3 * PAGE + 100, 50, 3 * PAGE, 50, 1, PAGE},
		{"larger blocks", PAGE, 3 * PAGE, 2 * BLOCK, PAGE, 2, BLOCK},
		{"a page's end in a block", BLOCK, PAGE, 2 * BLOCK, PAGE, 1, BLOCK},
		{"a page's begin in a block", 0, BLOCK, BLOCK + PAGE, PAGE, 1, BLOCK},
		{"pages at the same place of their blocks", 0, PAGE, BLOCK + PAGE, PAGE, 1, BLOCK},
		{"they adjoin at a page's end in a block", 0, PAGE, PAGE, PAGE, 2, BLOCK},
	};
	struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, PIECES));
	uint8_t *mem = y->mem + (BLOCK - y->bus % BLOCK) % BLOCK;
	struct scatterlist sg[2];

	for_each_row(i, rows) {
		if (!mr)
			return;
		name_row("%s", rows[i].name);
		sg_init_table(sg, 2);
		sg_set_buf(&sg[0], mem + rows[i].at, rows[i].len);
		sg_set_buf(&sg[1], mem + rows[i].next, rows[i].next_len);
		ib_dma_map_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
		expect_equal((uint64_t)ib_map_mr_sg(mr, sg, 2, NULL, rows[i].block),
			     rows[i].mapped);
		expect_equal(mr->length, rows[i].len + (rows[i].mapped - 1) * rows[i].next_len);
		ib_dma_unmap_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
	}
	must(ib_dereg_mr(mr));
}

/* A list with an entry that cannot be mapped is not mapped at all. */
static void unmappable(struct tb *tb, struct kv *y)
{
	struct scatterlist sg[PIECES];

	for (unsigned bad = 0; bad < PIECES; bad++) {
		name_row("entry %u is empty", bad);
		sg_init_table(sg, PIECES);
		for (unsigned i = 0; i < PIECES; i++)
			sg_set_buf(&sg[i], y->mem + (size_t)i * PAGE, i == bad ? 0 : PAGE);
		expect_equal(ib_dma_map_sg(y->device, sg, PIECES, DMA_BIDIRECTIONAL), 0);
	}
}

/* A region takes as many blocks as it was made for, in whatever entries they come. */
static void used_up(struct tb *tb, struct kv *y)
{
	struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, PIECES));
	uint8_t *mem = y->mem + (PAGE - y->bus % PAGE) % PAGE;

	for (unsigned each = 1; mr && each <= PIECES + 1; each++) {
		struct scatterlist sg[PIECES + 1];
		const unsigned n = PIECES / each; /* entries that fit */
		unsigned offset = 0;

		name_row("entries of %u pages", each);
		sg_init_table(sg, n + 1);
		for (unsigned i = 0; i <= n; i++)
			sg_set_buf(&sg[i], mem + (size_t)i * each * PAGE, each * PAGE);
		ib_dma_map_sg(y->device, sg, (int)n + 1, DMA_BIDIRECTIONAL);
		expect_equal((uint64_t)ib_map_mr_sg(mr, sg, (int)n + 1, &offset, PAGE), n);
		expect_equal(mr->length, PIECES * PAGE);
		expect_equal(offset, PIECES % each * PAGE);
		ib_dma_unmap_sg(y->device, sg, (int)n + 1, DMA_BIDIRECTIONAL);
	}
	must(ib_dereg_mr(mr));
}

static int no_page(struct ib_mr *mr, uint64_t addr)
{
	return -EDOM;
}

/* An offset may skip a whole entry, and no more. A list of which no block is taken is an error. */
static void offsets(struct tb *tb, struct kv *y)
{
	struct ib_mr *mr = kv_made(ib_alloc_mr(y->pd, IB_MR_TYPE_MEM_REG, PIECES));
	struct scatterlist sg[2];
	unsigned offset = FIRST;

	if (!mr)
		return;
	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], y->mem, FIRST);
	sg_set_buf(&sg[1], y->mem + FIRST, PAGE);
	ib_dma_map_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
	expect_equal((uint64_t)ib_map_mr_sg(mr, sg, 2, &offset, PAGE), 2);
	expect_equal(mr->iova, y->bus + FIRST);
	expect_equal(mr->length, PAGE);
	offset = FIRST + 1;
	must_fail(-EINVAL, ib_map_mr_sg(mr, sg, 2, &offset, PAGE));
	must_fail(-EINVAL, ib_map_mr_sg(mr, sg, 0, NULL, PAGE));
	offset = LAST;
	must_fail(-EDOM, ib_sg_to_pages(mr, sg, 2, &offset, no_page));
	expect_equal(mr->length, 0);
	expect_equal(offset, LAST);
	ib_dma_unmap_sg(y->device, sg, 2, DMA_BIDIRECTIONAL);
	must(ib_dereg_mr(mr));
}

static void window(struct tb *tb, struct kv *y)
{
	struct ib_mr *mr = kv_made(ib_get_dma_mr(y->pd, ACCESS | IB_ACCESS_MW_BIND));
	struct ib_mw *mw = kv_made(ib_alloc_mw(y->pd, IB_MW_TYPE_1));
	struct drv_send_wr bind = {.wr_id = 6,
				   .opcode = IBV_WR_BIND_MW,
				   .send_flags = IBV_SEND_SIGNALED,
				   .bind_addr = y->bus,
				   .bind_length = PAGE,
				   .bind_access = IBV_ACCESS_REMOTE_WRITE};

	if (!mr || !mw)
		return;
	bind.bind_mw = mw->drv;
	bind.bind_mr = mr->drv;
	must(drv_post_send(y->qp->drv, &bind, NULL));
	kv_wait(y, 6, IB_WC_SUCCESS);
	must_fail(-EBUSY, ib_dereg_mr(mr));
	must(ib_dealloc_mw(mw));
	must(ib_dereg_mr(mr));
}

SCENARIO(kernel_register, "kernel verbs: REG_MR over a scatterlist, invalidates, the older forms",
	 .no_qps = true, .any_packets = true)
{
	struct scatterlist sg[PIECES];
	struct kv x, y;

	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_connect(&x, &y))
		return;
	ignore_events(b); /* events of the accesses that the peer is refused */
	scattered(&y, sg);
	by_request(tb, &x, &y, sg);
	permuted(tb, &x, &y);
	older(tb, &x, &y);
	one_buffer(tb, &x, &y);
	large_blocks(tb, &x, &y);
	huge_blocks(tb, &x, &y);
	gaps(tb, &y);
	unmappable(tb, &y);
	used_up(tb, &y);
	offsets(tb, &y);
	window(tb, &y);
	ib_dma_unmap_sg(y.device, sg, PIECES, DMA_BIDIRECTIONAL);
	kv_close(&y);
	kv_close(&x);
}
