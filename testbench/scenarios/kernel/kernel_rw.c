/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READ and WRITE of whole scatterlists: of one entry; of more entries than one request may have; of
 * a chained list with a start offset; and with registration, where gaps and the size limit of a
 * region cut the list into pieces. The same regions are used again and again, each time under new
 * keys. A device that must register READs of many entries does not register WRITEs. A pool without
 * enough regions returns an error. The answer to the peer may be posted in the same chain. If the
 * chain does not fit into the queue, the regions of requests that were not posted are free for the
 * next transfer, which invalidates those that are still valid and no others. A queue of the smallest
 * size has room for all contexts at once.
 */
#include "host_driver/core/include/rdma/rw.h"
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

#include <stdlib.h>

enum {
	PAGE = 4096,
	SGES = 4,
	LARGE = 300 * PAGE, /* more than a region of 256 pages */
	BYTES = 2 * LARGE,
	ENTRIES = 12,
};

struct transfer {
	struct ib_cqe cqe;
	unsigned done, wrong;
};

/* Both ends of all transfers of this scenario. */
struct both {
	struct kv x, y;
	uint8_t *mem, *far; /* mem: of x, not mapped; far: of y */
	uint64_t far_bus;
	struct ib_mr *mr;
};

static void transfer_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct transfer *t = container_of(wc->wr_cqe, struct transfer, cqe);

	t->done++;
	t->wrong += wc->status != IB_WC_SUCCESS;
}

/* Copies the list's bytes from `offset` on into one buffer. */
static size_t gather(struct scatterlist *sg, unsigned offset, uint8_t *into)
{
	size_t n = 0;

	for (; sg; sg = sg_next(sg)) {
		if (offset >= sg->length) {
			offset -= sg->length;
			continue;
		}
		memcpy(into + n, (uint8_t *)sg->addr + offset, sg->length - offset);
		n += sg->length - offset;
		offset = 0;
	}
	return n;
}

static void move(struct tb *tb, struct both *b, struct scatterlist *sg, unsigned offset,
		 enum dma_data_direction dir, int requests)
{
	struct transfer t = {.cqe = {transfer_done}};
	const uint32_t n = (uint32_t)sg_nents(sg);
	uint8_t *bytes = malloc(BYTES);
	struct ib_send_wr *first;
	struct rdma_rw_ctx ctx;
	int wrs;

	if (!bytes || !still_right())
		return;
	wrs = rdma_rw_ctx_init(&ctx, b->x.qp, 1, sg, n, offset, b->far_bus, b->mr->rkey, dir);
	if (requests)
		expect_equal((uint64_t)wrs, (uint64_t)requests);
	if (wrs < 0 || !still_right())
		return;
	/* the destination must differ from the source beforehand */
	if (dir == DMA_TO_DEVICE)
		memset(b->far, 0, BYTES);
	else
		for (struct scatterlist *s = sg; s; s = sg_next(s))
			memset(s->addr, 0, s->length);
	first = rdma_rw_ctx_wrs(&ctx, b->x.qp, 1, &t.cqe, NULL);
	for (const struct ib_send_wr *wr = first; wr && wrs >= 0; wr = wr->next)
		wrs--;
	expect_equal((unsigned)wrs, 0);
	must(ib_post_send(b->x.qp, first, NULL));
	kv_until(&t.done, 1);
	expect_equal(t.wrong, 0);
	if (dir == DMA_TO_DEVICE)
		kv_same(b->far, bytes, gather(sg, offset, bytes));
	else
		kv_same(bytes, b->far, gather(sg, offset, bytes));
	if (b->x.qp->mrs_used)
		must_fail(-EBUSY, ib_destroy_qp(b->x.qp));
	rdma_rw_ctx_destroy(&ctx, b->x.qp, 1, sg, n, dir);
	expect_equal(b->x.qp->mrs_used, 0);
	for (size_t i = 0; i < BYTES; i++)
		b->far[i] = b->mem[i] = (uint8_t)(i * 31 + i / PAGE);
	free(bytes);
}

/* Transfers the same list in both directions. */
static void there_and_back(struct tb *tb, struct both *b, struct scatterlist *sg, unsigned offset,
			   int writes, int reads)
{
	move(tb, b, sg, offset, DMA_TO_DEVICE, writes);
	move(tb, b, sg, offset, DMA_FROM_DEVICE, reads);
}

/* Entries of varying size and alignment. */
static void ragged(struct both *b, struct scatterlist *sg)
{
	sg_init_table(sg, ENTRIES);
	for (unsigned i = 0; i < ENTRIES; i++)
		sg_set_buf(&sg[i], b->mem + (ENTRIES - i) * 2 * PAGE + i * 100, 1 + i * 700);
}

/* Whole pages, except the first and the last entry. */
static void regular(struct both *b, struct scatterlist *sg)
{
	sg_init_table(sg, ENTRIES);
	for (unsigned i = 0; i < ENTRIES; i++)
		sg_set_buf(&sg[i], b->mem + (ENTRIES - i) * 2 * PAGE + (i ? 0 : 512),
			   i == ENTRIES - 1 ? 99
			   : i              ? PAGE
					    : PAGE - 512);
}

static bool both_open(struct tb *tb, struct tb_end *a, struct tb_end *b, struct both *s,
		      unsigned ctxs, unsigned queue)
{
	const struct kv_setup setup = {
		.alloc_cq = true, .sges = SGES, .rdma_ctxs = ctxs, .queue = queue};

	if (!tb_kv_open(tb, TB_HERE, a, &s->x, &setup) || !kv_open(b, &s->y) ||
	    !kv_connect(&s->x, &s->y))
		return false;
	s->mem = kv_memory(a, BYTES);
	s->far = kv_memory(b, BYTES);
	s->mr = kv_made(ib_get_dma_mr(s->y.pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
						       IB_ACCESS_REMOTE_READ));
	if (!s->mem || !s->far || !s->mr)
		return false;
	s->far_bus = ib_dma_map_single(s->y.device, s->far, BYTES, DMA_BIDIRECTIONAL);
	return true;
}

static void both_close(struct tb *tb, struct both *s)
{
	ib_dma_unmap_single(s->y.device, s->far_bus, BYTES, DMA_BIDIRECTIONAL);
	kv_memory_free(s->y.end, s->far, BYTES);
	kv_memory_free(s->x.end, s->mem, BYTES);
	must(ib_dereg_mr(s->mr));
	kv_close(&s->y);
	kv_close(&s->x);
}

static void as_they_are(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct scatterlist sg[ENTRIES], head[3];
	struct both s;

	if (!both_open(tb, a, b, &s, 1, 0))
		return;
	sg_init_one(sg, s.mem + 3, LARGE + 5);
	there_and_back(tb, &s, sg, 0, 1, 1);
	there_and_back(tb, &s, sg, 77, 1, 1);
	ragged(&s, sg);
	there_and_back(tb, &s, sg, 0, ENTRIES / SGES, ENTRIES / SGES);
	there_and_back(tb, &s, sg, 701, ENTRIES / SGES,
		       ENTRIES / SGES); /* the offset 701 lies in the second entry */
	sg_init_table(head, 3);
	sg_set_buf(&head[0], s.mem + LARGE, 10);
	sg_set_buf(&head[1], s.mem + LARGE + 100, 20);
	sg_chain(head, 3, sg);
	there_and_back(tb, &s, head, 15, 4, 4);
	both_close(tb, &s);
}

static void registered(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_device *device = ib_device_of(a);
	struct scatterlist sg[ENTRIES];
	struct both s;

	if (!device)
		return;
	device->rdma_rw_force_mr = true;
	if (!both_open(tb, a, b, &s, ENTRIES, 0))
		return;
	sg_init_one(sg, s.mem + 3, LARGE + 5);
	/* two regions: first fresh ones, while the pool still has some */
	there_and_back(tb, &s, sg, 0, 4, 4);
	regular(&s, sg);
	there_and_back(tb, &s, sg, 0, 2, 2);
	ragged(&s, sg);
	/* a gap after each entry, so each needs its own region; the first six were used before */
	move(tb, &s, sg, 0, DMA_TO_DEVICE, 2 * ENTRIES + 6);
	move(tb, &s, sg, 0, DMA_FROM_DEVICE, 3 * ENTRIES);
	device->rdma_rw_force_mr = false;
	device->max_sgl_rd = SGES;
	regular(&s, sg);
	there_and_back(tb, &s, sg, 0, ENTRIES / SGES, 3);
	sg_mark_end(&sg[SGES - 1]);
	there_and_back(tb, &s, sg, 0, 1, 1);
	device->max_sgl_rd = 0;
	both_close(tb, &s);
}

static void too_small(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_device *device = ib_device_of(a);
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;
	struct both s;

	if (!device)
		return;
	device->rdma_rw_force_mr = true;
	if (!both_open(tb, a, b, &s, ENTRIES - 1, 0))
		return;
	ragged(&s, sg);
	must_fail(-EAGAIN, rdma_rw_ctx_init(&ctx, s.x.qp, 1, sg, ENTRIES, 0, s.far_bus, s.mr->rkey,
					    DMA_TO_DEVICE));
	expect_equal(s.x.qp->mrs_used, 0);
	device->rdma_rw_force_mr = false;
	both_close(tb, &s);
}

/* Transfers data, followed in the same chain by the message that they are there. */
static void answered(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct transfer t = {.cqe = {transfer_done}};
	struct ib_send_wr answer = {
		.wr_cqe = &t.cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED};
	const struct ib_recv_wr recv = {.wr_id = 1};
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;
	uint8_t *bytes = malloc(BYTES);
	struct both s;

	if (!bytes || !both_open(tb, a, b, &s, 1, 0))
		return;
	ragged(&s, sg);
	must(ib_post_recv(s.y.qp, &recv, NULL));
	expect_equal((uint64_t)rdma_rw_ctx_init(&ctx, s.x.qp, 1, sg, ENTRIES, 0, s.far_bus,
						s.mr->rkey, DMA_TO_DEVICE),
		     ENTRIES / SGES);
	must(rdma_rw_ctx_post(&ctx, s.x.qp, 1, NULL, &answer));
	kv_wait(&s.y, 1, IB_WC_SUCCESS);
	expect_true(!memcmp(s.far, bytes, gather(sg, 0, bytes)));
	kv_until(&t.done, 1);
	expect_equal(t.wrong, 0);
	rdma_rw_ctx_destroy(&ctx, s.x.qp, 1, sg, ENTRIES, DMA_TO_DEVICE);
	free(bytes);
	both_close(tb, &s);
}

/* Only `room` requests fit behind others that are not sent yet; the rest does not. Each region is
 * valid, so it has an invalidate, a registration and a WRITE. If the last request that fits is an
 * invalidate, its region needs none in the next transfer. */
static void cut_short(struct tb *tb, struct both *s, unsigned room, unsigned queue)
{
	struct transfer t = {.cqe = {transfer_done}};
	struct ib_rdma_wr fill = {.wr = {.wr_cqe = &t.cqe, .opcode = IB_WR_RDMA_WRITE}};
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;

	ragged(s, sg);
	expect_equal((uint64_t)rdma_rw_ctx_init(&ctx, s->x.qp, 1, sg, ENTRIES, 0, s->far_bus,
						s->mr->rkey, DMA_TO_DEVICE),
		     3 * ENTRIES);
	for (unsigned left = queue - room; left && still_right(); left--) {
		fill.wr.send_flags = left == 1 ? IB_SEND_SIGNALED : 0;
		must(ib_post_send(s->x.qp, &fill.wr, NULL));
	}
	must_fail(-ENOMEM, rdma_rw_ctx_post(&ctx, s->x.qp, 1, &t.cqe, NULL));
	for (unsigned i = 0; i < ENTRIES && still_right(); i++)
		expect_equal(ctx.reg[i].mr->need_inval, room != 3 * i + 1);
	kv_until(&t.done, 1);
	pass_time(CFG_US(50));
	rdma_rw_ctx_destroy(&ctx, s->x.qp, 1, sg, ENTRIES, DMA_TO_DEVICE);
	move(tb, s, sg, 0, DMA_TO_DEVICE, 3 * ENTRIES - (room % 3 == 1));
}

/* Each entry of the list is registered. */
static bool registered_open(struct tb *tb, struct tb_end *a, struct tb_end *b, struct both *s,
			    struct scatterlist *sg, struct ib_qp_attr *attr)
{
	struct ib_device *device = ib_device_of(a);

	if (!device)
		return false;
	device->rdma_rw_force_mr = true;
	if (!both_open(tb, a, b, s, ENTRIES, 0) || ib_query_qp(s->x.qp, attr, 0, NULL))
		return false;
	ragged(s, sg);
	return true;
}

static void registered_close(struct tb *tb, struct tb_end *a, struct both *s)
{
	both_close(tb, s);
	ib_device_of(a)->rdma_rw_force_mr = false;
}

static void full(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct scatterlist sg[ENTRIES];
	struct ib_qp_attr attr;
	struct both s;

	if (!registered_open(tb, a, b, &s, sg, &attr))
		return;
	move(tb, &s, sg, 0, DMA_TO_DEVICE, 2 * ENTRIES);
	for (unsigned room = 0; room < 3 * ENTRIES && still_right(); room++)
		cut_short(tb, &s, room, attr.cap.max_send_wr);
	registered_close(tb, a, &s);
}

/* Nothing of it could be posted. It is posted again when there is room. */
static void posted_again(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct transfer t = {.cqe = {transfer_done}};
	struct ib_rdma_wr fill = {.wr = {.wr_cqe = &t.cqe, .opcode = IB_WR_RDMA_WRITE}};
	static uint8_t bytes[BYTES];
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;
	struct ib_qp_attr attr;
	struct both s;

	if (!registered_open(tb, a, b, &s, sg, &attr))
		return;
	expect_equal((uint64_t)rdma_rw_ctx_init(&ctx, s.x.qp, 1, sg, ENTRIES, 0, s.far_bus,
						s.mr->rkey, DMA_TO_DEVICE),
		     2 * ENTRIES);
	for (unsigned left = attr.cap.max_send_wr; left && still_right(); left--) {
		fill.wr.send_flags = left == 1 ? IB_SEND_SIGNALED : 0;
		must(ib_post_send(s.x.qp, &fill.wr, NULL));
	}
	must_fail(-ENOMEM, rdma_rw_ctx_post(&ctx, s.x.qp, 1, &t.cqe, NULL));
	for (unsigned i = 0; i < ENTRIES; i++) /* it never was valid */
		expect_true(!ctx.reg[i].mr->need_inval);
	kv_until(&t.done, 1);
	memset(s.far, 0, BYTES);
	must(rdma_rw_ctx_post(&ctx, s.x.qp, 1, &t.cqe, NULL));
	kv_until(&t.done, 2);
	expect_equal(t.wrong, 0);
	kv_same(s.far, bytes, gather(sg, 0, bytes));
	rdma_rw_ctx_destroy(&ctx, s.x.qp, 1, sg, ENTRIES, DMA_TO_DEVICE);
	registered_close(tb, a, &s);
}

/* Each context needs a region whose older key is invalidated first: the queue has room for that. */
static void all_at_once(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_device *device = ib_device_of(a);
	struct scatterlist sg[ENTRIES];
	struct both s;

	if (!device)
		return;
	device->rdma_rw_force_mr = true;
	for (unsigned ctxs = 3; ctxs <= ENTRIES && both_open(tb, a, b, &s, ctxs, 1); ctxs *= 2) {
		ragged(&s, sg);
		sg_mark_end(&sg[ctxs - 1]);
		move(tb, &s, sg, 0, DMA_TO_DEVICE, 2 * (int)ctxs);
		there_and_back(tb, &s, sg, 0, 3 * (int)ctxs, 3 * (int)ctxs);
		both_close(tb, &s);
	}
	device->rdma_rw_force_mr = false;
}

SCENARIO(kernel_rw, "kernel verbs: READ and WRITE of scatterlists, as they are and registered",
	 .no_qps = true, .any_packets = true)
{
	as_they_are(tb, a, b);
	registered(tb, a, b);
	too_small(tb, a, b);
	answered(tb, a, b);
	full(tb, a, b);
	posted_again(tb, a, b);
	all_at_once(tb, a, b);
}
