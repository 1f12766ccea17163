/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a READ or WRITE of a scatterlist, looked at one by one before they are posted.
 * Each has as many entries as its direction allows, or the longest message, or ends the list.
 * Together they name each byte of the list once, in order, and the peer's bytes beside it. With
 * registration each region has its requests in order: an invalidate of its last key if it has been
 * used before, a registration with a new key and the rights that its direction needs, the READ or
 * WRITE. Only the last request has the context's completion, and none has if another chain follows.
 * Two transfers of a queue pair stand side by side. A list that cannot be mapped takes nothing.
 */
#include "host_driver/core/include/rdma/rw.h"
#include "model/interface/macros.h"
#include "testbench/kernel_verbs.h"

enum { PAGE = 4096, SGES = 4, READ_SGES = 3, PIECES = 9, BYTES = 16 * PAGE, FAR = 100, CTXS = 8 };

/* What the device allows. 0: as it is. */
struct limits {
	unsigned read_sges, message, blocks, wrs, sgl_rd;
	bool force_mr;
};

struct both {
	struct kv x, y;
	uint8_t *mem; /* of x, not mapped */
	struct ib_mr *mr;
	struct ib_device *device;
};

struct signal {
	struct ib_cqe cqe;
	unsigned done, wrong;
};

static void signalled(struct ib_cq *cq, struct ib_wc *wc)
{
	struct signal *s = container_of(wc->wr_cqe, struct signal, cqe);

	s->done++;
	s->wrong += wc->status != IB_WC_SUCCESS;
}

static bool both_open(struct tb *tb, struct tb_end *a, struct tb_end *b, struct both *s,
		      const struct limits *l)
{
	struct drv_device_attr *attrs = &s->device->attrs;

	attrs->max_sge_rd = l->read_sges ? l->read_sges : attrs->max_sge_rd;
	attrs->max_message = l->message ? l->message : attrs->max_message;
	attrs->max_fast_reg_page_list_len =
		l->blocks ? l->blocks : attrs->max_fast_reg_page_list_len;
	attrs->max_qp_wr = l->wrs ? l->wrs : attrs->max_qp_wr;
	s->device->max_sgl_rd = l->sgl_rd;
	s->device->rdma_rw_force_mr = l->force_mr;
	if (!kv_open(a, &s->x, .alloc_cq = true, .sges = SGES, .rdma_ctxs = CTXS) ||
	    !kv_open(b, &s->y) || !kv_connect(&s->x, &s->y))
		return false;
	s->mem = kv_memory(a, BYTES);
	s->mr = kv_made(ib_get_dma_mr(s->y.pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
						       IB_ACCESS_REMOTE_READ));
	return s->mem && s->mr;
}

static void both_close(struct tb *tb, struct both *s, const struct drv_device_attr *attrs)
{
	kv_memory_free(s->x.end, s->mem, BYTES);
	must(ib_dereg_mr(s->mr));
	kv_close(&s->y);
	kv_close(&s->x);
	s->device->attrs = *attrs;
	s->device->max_sgl_rd = 0;
	s->device->rdma_rw_force_mr = false;
}

/* --- what the requests say --- */

/* A place in the list, and in the memory of the peer. */
struct place {
	struct scatterlist *sg;
	unsigned at;
	uint64_t far;
};

static void place_move(struct place *p, unsigned bytes)
{
	p->far += bytes;
	while (p->sg && p->at + bytes >= p->sg->length) {
		bytes -= p->sg->length - p->at;
		p->at = 0;
		p->sg = sg_next(p->sg);
	}
	p->at += bytes;
}

static unsigned request_check(struct tb *tb, const struct both *s, const struct ib_rdma_wr *wr,
			      enum dma_data_direction dir, struct place *p)
{
	unsigned bytes = 0;

	expect_equal(wr->wr.opcode, dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ);
	expect_equal(wr->rkey, s->mr->rkey);
	expect_equal(wr->remote_addr, p->far);
	for (int i = 0; i < wr->wr.num_sge; i++)
		bytes += wr->wr.sg_list[i].length;
	expect_that(bytes, <=, s->device->attrs.max_message);
	return bytes;
}

/* Entries of the list as they are. */
static void as_it_is(struct tb *tb, const struct both *s, const struct ib_rdma_wr *wr,
		     enum dma_data_direction dir, struct place *p)
{
	const int most = dir == DMA_TO_DEVICE ? SGES : READ_SGES;
	const unsigned bytes = request_check(tb, s, wr, dir, p);

	expect_that(wr->wr.num_sge, <=, most);
	for (int i = 0; i < wr->wr.num_sge && p->sg && still_right(); i++) {
		const struct ib_sge *sge = &wr->wr.sg_list[i];

		expect_equal(sge->addr, p->sg->dma_address + p->at);
		expect_equal(sge->lkey, s->x.pd->local_dma_lkey);
		expect_that(sge->length, >, 0);
		expect_that(sge->length, <=, p->sg->length - p->at);
		/* an entry is cut only where the message is full */
		if (sge->length < p->sg->length - p->at)
			expect_equal(bytes, s->device->attrs.max_message);
		place_move(p, sge->length);
	}
	if (p->sg && wr->wr.num_sge < most)
		expect_equal(bytes, s->device->attrs.max_message);
}

/* The requests of one region. Returns the next one. */
static const struct ib_send_wr *of_region(struct tb *tb, const struct both *s,
					  const struct ib_send_wr *wr, bool used,
					  enum dma_data_direction dir, struct place *p)
{
	const struct ib_reg_wr *reg;
	uint32_t old = 0;

	if (used) {
		expect_equal(wr->opcode, IB_WR_LOCAL_INV);
		expect_equal(wr->send_flags, 0);
		old = wr->ex.invalidate_rkey;
		wr = wr->next;
	}
	if (!wr || !wr->next || !still_right())
		return NULL;
	expect_equal(wr->opcode, IB_WR_REG_MR);
	expect_equal(wr->send_flags, 0);
	reg = (const struct ib_reg_wr *)(const void *)wr;
	expect_equal(reg->key, reg->mr->lkey);
	if (used) {
		expect_equal(reg->key >> 8, old >> 8);
		expect_that(reg->key, !=, old);
	}
	expect_equal((unsigned)reg->access, dir == DMA_FROM_DEVICE ? IB_ACCESS_LOCAL_WRITE : 0);
	expect_equal(reg->mr->iova, p->sg->dma_address + p->at);
	expect_that(reg->mr->npages, <=, s->device->attrs.max_fast_reg_page_list_len);
	wr = wr->next;
	expect_equal((uint64_t)wr->num_sge, 1);
	expect_equal(wr->sg_list->addr, reg->mr->iova);
	expect_equal(wr->sg_list->lkey, reg->key);
	expect_equal(wr->sg_list->length, reg->mr->length);
	place_move(p, request_check(tb, s, (const struct ib_rdma_wr *)(const void *)wr, dir, p));
	return wr->next;
}

/* How a list is moved: as it is, or in regions of which the first ones are fresh. */
struct way {
	unsigned requests, regions, fresh;
};

#define AS_IT_IS(n)         ((struct way){(n), 0, 0})
#define REGIONS(n, n_fresh) ((struct way){3 * (n) - (n_fresh), (n), (n_fresh)})

static void look(struct tb *tb, const struct both *s, const struct ib_send_wr *wr,
		 const struct way *way, enum dma_data_direction dir, struct place p,
		 const struct ib_send_wr *end)
{
	const struct ib_send_wr *w = wr;
	unsigned n = 0;

	for (; w && w != end && n <= way->requests; w = w->next)
		n++;
	expect_equal(n, way->requests);
	expect_true(w == end);
	for (n = 0; wr && wr != end && p.sg && still_right(); n++) {
		if (way->regions) {
			wr = of_region(tb, s, wr, n >= way->fresh, dir, &p);
			continue;
		}
		as_it_is(tb, s, (const struct ib_rdma_wr *)(const void *)wr, dir, &p);
		wr = wr->next;
	}
	expect_true(wr == end && !p.sg);
}

/* --- transfers --- */

/* The bytes of a list, or the other way round. */
static void copy(struct scatterlist *sg, unsigned offset, uint8_t *flat, bool from_list)
{
	for (; sg; sg = sg_next(sg)) {
		const unsigned skip = offset < sg->length ? offset : sg->length;
		uint8_t *at = (uint8_t *)sg->addr + skip;
		const unsigned n = sg->length - skip;

		memcpy(from_list ? flat : at, from_list ? at : flat, n);
		flat += n;
		offset -= skip;
	}
}

static unsigned bytes_of(struct scatterlist *sg, unsigned offset)
{
	unsigned n = 0;

	for (; sg; sg = sg_next(sg))
		n += sg->length;
	return n - offset;
}

/* An init of a transfer of the whole list to or from the peer's memory. */
static int init(struct both *s, struct rdma_rw_ctx *ctx, struct scatterlist *sg, unsigned offset,
		enum dma_data_direction dir)
{
	return rdma_rw_ctx_init(ctx, s->x.qp, 1, sg, (uint32_t)sg_nents(sg), offset, s->y.bus + FAR,
				s->mr->rkey, dir);
}

static void move(struct tb *tb, struct both *s, struct scatterlist *sg, unsigned offset,
		 enum dma_data_direction dir, struct way way)
{
	struct signal own = {.cqe = {signalled}}, other = {.cqe = {signalled}};
	struct ib_rdma_wr last = {.wr = {.wr_cqe = &other.cqe,
					 .opcode = IB_WR_RDMA_WRITE,
					 .send_flags = IB_SEND_SIGNALED}};
	/* a WRITE has another chain behind it */
	struct ib_send_wr *end = dir == DMA_TO_DEVICE ? &last.wr : NULL, *first;
	struct place begin = {sg, 0, s->y.bus + FAR};
	const unsigned n = bytes_of(sg, offset);
	const struct ib_send_wr *w;
	static uint8_t flat[BYTES];
	struct rdma_rw_ctx ctx;

	expect_equal((uint64_t)init(s, &ctx, sg, offset, dir), way.requests);
	if (!still_right())
		return;
	expect_equal(s->x.qp->mrs_used, way.regions);
	first = rdma_rw_ctx_wrs(&ctx, s->x.qp, 1, &own.cqe, end);
	place_move(&begin, offset);
	begin.far -= offset;
	look(tb, s, first, &way, dir, begin, end);
	for (w = first; still_right() && w != end && w->next != end; w = w->next)
		expect_equal(w->send_flags, 0);
	if (!still_right())
		return;
	expect_equal(w->send_flags, end ? 0 : IB_SEND_SIGNALED);
	if (!end)
		expect_true(w->wr_cqe == &own.cqe);
	for (unsigned i = 0; i < KV_BYTES; i++)
		s->y.mem[i] = (uint8_t)(i * 7 + i / PAGE);
	must(ib_post_send(s->x.qp, first, NULL));
	kv_until(end ? &other.done : &own.done, 1);
	expect_equal(own.wrong + other.wrong, 0);
	expect_equal(own.done, !end);
	copy(sg, offset, flat, true);
	kv_same(flat, s->y.mem + FAR, n);
	rdma_rw_ctx_destroy(&ctx, s->x.qp, 1, sg, (uint32_t)sg_nents(sg), dir);
	expect_equal(s->x.qp->mrs_used, 0);
	for (unsigned i = 0; i < BYTES; i++)
		s->mem[i] = (uint8_t)(i * 31 + i / PAGE);
}

/* Entries that begin and end within pages, of another length each. */
static void ragged(struct both *s, struct scatterlist *sg, unsigned n)
{
	sg_init_table(sg, n);
	for (unsigned i = 0; i < n; i++)
		sg_set_buf(&sg[i], s->mem + (n - i) * PAGE + i * 10, 100 + i * 300);
}

static void entries(struct tb *tb, struct both *s)
{
	static const struct {
		const char *name;
		unsigned n, offset;
		unsigned writes, reads;
	} rows[] = {
		{"one entry", 1, 0, 1, 1},
		{"all but a byte of one entry skipped", 1, 99, 1, 1},
		{"as many entries as a READ has", READ_SGES, 0, 1, 1},
		{"as many entries as a WRITE has", SGES, 0, 1, 2},
		{"one more", SGES + 1, 0, 2, 2},
		{"one more, and the first is skipped", SGES + 1, 100, 1, 2},
		{"all", PIECES, 0, 3, 3},
		{"all but the last byte are skipped", PIECES, 100 * 9 + 300 * 36 - 1, 1, 1},
	};
	struct scatterlist sg[PIECES];

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		ragged(s, sg, rows[i].n);
		move(tb, s, sg, rows[i].offset, DMA_TO_DEVICE, AS_IT_IS(rows[i].writes));
		move(tb, s, sg, rows[i].offset, DMA_FROM_DEVICE, AS_IT_IS(rows[i].reads));
	}
}

/* Messages of 1000 bytes: an entry of 2500 is cut twice, and small ones share a message. */
static void messages(struct tb *tb, struct both *s)
{
	static const unsigned lengths[] = {2500, 400, 600, 1, 999, 1000, 1001};
	enum { N = sizeof(lengths) / sizeof(lengths[0]) };
	struct scatterlist sg[N];

	sg_init_table(sg, N);
	for (unsigned i = 0; i < N; i++)
		sg_set_buf(&sg[i], s->mem + i * PAGE + 50, lengths[i]);
	/* 1000, 1000, 500+400+100, 500+1+499, 500+500, 500+500, 501 */
	move(tb, s, sg, 0, DMA_TO_DEVICE, AS_IT_IS(7));
	move(tb, s, sg, 0, DMA_FROM_DEVICE, AS_IT_IS(7));
	/* 500+400+100, 500+1+499, 500+500, 500+500, 501 */
	move(tb, s, sg, 2000, DMA_TO_DEVICE, AS_IT_IS(5));
	sg_init_one(sg, s->mem + 5, 3000);
	move(tb, s, sg, 0, DMA_FROM_DEVICE, AS_IT_IS(3));
	sg_init_one(sg, s->mem + 5, 3001);
	move(tb, s, sg, 0, DMA_TO_DEVICE, AS_IT_IS(4));
}

/* Regions of two blocks. Whoever took one puts it at the end of the pool, so the first CTXS are fresh. */
static void regions(struct tb *tb, struct both *s)
{
	struct scatterlist sg[PIECES];

	/* pages, and the last one in part: two in a region */
	sg_init_table(sg, 5);
	for (unsigned i = 0; i < 5; i++)
		sg_set_buf(&sg[i], s->mem + 2 * i * PAGE, i == 4 ? 77 : PAGE);
	move(tb, s, sg, 0, DMA_TO_DEVICE, REGIONS(3, 3));
	move(tb, s, sg, 100, DMA_FROM_DEVICE, REGIONS(3, 3));
	/* a gap behind each: two regions are fresh, and two were used */
	ragged(s, sg, 4);
	move(tb, s, sg, 0, DMA_FROM_DEVICE, REGIONS(4, 2));
}

static void list_refused(struct tb *tb, struct both *s, bool registered)
{
	struct scatterlist sg[PIECES];
	struct rdma_rw_ctx ctx;

	for (unsigned bad = 0; bad < SGES; bad++) {
		name_row("entry %u is empty", bad);
		ragged(s, sg, SGES);
		sg[bad].length = 0;
		must_fail(-ENOMEM, init(s, &ctx, sg, 0, DMA_TO_DEVICE));
		expect_equal(s->x.qp->mrs_used, 0);
	}
	if (!registered)
		return;
	name_row("%s", "more regions than there are");
	ragged(s, sg, PIECES);
	must_fail(-EAGAIN, init(s, &ctx, sg, 0, DMA_TO_DEVICE));
	expect_equal(s->x.qp->mrs_used, 0);
}

/* Two transfers at a time share the pool. The queue pair stays until both have ended. */
static void side_by_side(struct tb *tb, struct both *s)
{
	struct scatterlist one[3], two[5], three[1];
	struct signal first = {.cqe = {signalled}}, second = {.cqe = {signalled}};
	struct rdma_rw_ctx x, y, z;

	ragged(s, one, 3);
	ragged(s, two, 5);
	ragged(s, three, 1);
	expect_equal((uint64_t)init(s, &x, one, 0, DMA_TO_DEVICE), 3 * 3);
	expect_equal((uint64_t)init(s, &y, two, 0, DMA_TO_DEVICE), 5 * 3);
	expect_equal(s->x.qp->mrs_used, 8);
	must_fail(-EAGAIN, init(s, &z, three, 0, DMA_TO_DEVICE));
	expect_equal(s->x.qp->mrs_used, 8);
	if (!still_right())
		return;
	must(rdma_rw_ctx_post(&y, s->x.qp, 1, &second.cqe, NULL));
	must(rdma_rw_ctx_post(&x, s->x.qp, 1, &first.cqe, NULL));
	kv_until(&second.done, 1);
	kv_until(&first.done, 1);
	rdma_rw_ctx_destroy(&x, s->x.qp, 1, one, 3, DMA_TO_DEVICE);
	expect_equal(s->x.qp->mrs_used, 5);
	must_fail(-EBUSY, ib_destroy_qp(s->x.qp));
	expect_equal((uint64_t)init(s, &z, three, 0, DMA_TO_DEVICE), 3);
	rdma_rw_ctx_destroy(&z, s->x.qp, 1, three, 1, DMA_TO_DEVICE);
	rdma_rw_ctx_destroy(&y, s->x.qp, 1, two, 5, DMA_TO_DEVICE);
	expect_equal(s->x.qp->mrs_used, 0);
	expect_equal(first.wrong + second.wrong, 0);
}

/* The send queue has room for all contexts, and for not many more: three requests with a region, else
 * one. */
static void room(struct tb *tb, struct both *s, const struct limits *l)
{
	const bool registered = l->force_mr || l->sgl_rd;
	struct ib_qp_init_attr made;
	struct ib_qp_attr got;

	must(ib_query_qp(s->x.qp, &got, IB_QP_CAP, &made));
	if (registered && !l->wrs)
		expect_that(got.cap.max_send_wr, >=, KV_QUEUE + CTXS * 3);
	else
		expect_that(got.cap.max_send_wr, <, KV_QUEUE + CTXS * 3);
	expect_that(got.cap.max_send_wr, >=, l->wrs ? l->wrs : KV_QUEUE + CTXS);
	expect_equal(drv_list_empty(&s->x.qp->rdma_mrs), !registered);
}

SCENARIO(kernel_rw_requests, "kernel verbs: each request of a READ or WRITE of a scatterlist",
	 .no_qps = true, .any_packets = true)
{
	static const struct {
		const char *name;
		struct limits l;
	} ways[] = {{"entries", {.read_sges = READ_SGES}},
		    {"messages", {.read_sges = READ_SGES, .message = 1000}},
		    {"regions", {.blocks = 2, .force_mr = true}},
		    {"regions of long READs", {.blocks = 2, .read_sges = READ_SGES, .sgl_rd = 2}},
		    {"few requests", {.wrs = KV_QUEUE + 5, .force_mr = true}}};
	struct both s = {.device = ib_device_of(a)};
	struct scatterlist sg[PIECES];
	struct drv_device_attr attrs;

	if (!s.device)
		return;
	attrs = s.device->attrs;
	for_each_row(i, ways) {
		phase(ways[i].name);
		if (!both_open(tb, a, b, &s, &ways[i].l))
			return;
		room(tb, &s, &ways[i].l);
		list_refused(tb, &s, i == 2);
		if (i == 0)
			entries(tb, &s);
		if (i == 1)
			messages(tb, &s);
		if (i == 2) {
			regions(tb, &s);
			side_by_side(tb, &s);
		}
		if (i == 3) {
			ragged(&s, sg, 3);
			move(tb, &s, sg, 0, DMA_TO_DEVICE, AS_IT_IS(1));
			move(tb, &s, sg, 0, DMA_FROM_DEVICE, REGIONS(3, 3));
			/* the first entry is skipped, and the others are no long list */
			move(tb, &s, sg, 100, DMA_FROM_DEVICE, AS_IT_IS(1));
		}
		both_close(tb, &s, &attrs);
	}
}
