/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next queue pair and the next key are the first ones in a chunk of their tables, so chunks must be
 * mapped for them; and no doorbell record is free. The host has no page left, at each place where the driver asks
 * for one in turn. Each call that fails gives back what it had taken: its number, and the chunks that it
 * had mapped for it in other tables. Then the host has single pages only, and the last one is given
 * somewhere within a chunk: the pages that the chunk had already are given back, too.
 */
#include "testbench/harm.h"

enum {
	CHUNK = 256 * 1024,
	CHUNK_QPS = CHUNK / 256, /* contexts; the chunks of their other tables begin there, too */
	CHUNK_KEYS = CHUNK / 64,
	RECORDS = 512, /* in a page */
	PLACES_MAX = 100,
	SINGLES_MAX = 64 * 12, /* pages of all chunks, and a few more */
	SINGLES_STEP = 61
};

/* The host's own operations, how many more times it gives pages, and how many at once. */
static struct {
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned left;
	size_t most;
} host;

static void *pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	if (bytes > host.most)
		return NULL;
	return host.left && host.left-- ? host.real->pages_alloc(p, bytes, bus) : NULL;
}

static const struct drv_qp_cap cap = {
	.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};

static int make_qp(struct tb_end *a, struct drv_qp **qp)
{
	const struct drv_qp_init init = {
		.type = IBV_QPT_RC, .send_cq = a->cq, .recv_cq = a->cq, .cap = cap};

	return drv_qp_create(a->pd, &init, qp);
}

static int make_srq(struct tb_end *a, struct drv_srq **srq)
{
	const struct drv_srq_init init = {.max_wr = 1, .max_sge = 1};

	return drv_srq_create(a->pd, &init, srq);
}

/* Takes numbers until the next one is the first of a chunk. */
static void qps_come_to_chunk(struct tb *tb, struct tb_end *a)
{
	struct drv_qp *qp;
	uint32_t qpn = 0;

	while (still_right() && (qpn + 1) % CHUNK_QPS) {
		must(make_qp(a, &qp));
		qpn = drv_qp_num(qp);
		must(drv_qp_destroy(qp));
	}
}

static void keys_come_to_chunk(struct tb *tb, struct tb_end *a)
{
	struct drv_mw *mw;
	uint32_t left;

	must(drv_mw_alloc(a->pd, IBV_MW_TYPE_2, &mw));
	if (!still_right())
		return;
	left = CHUNK_KEYS - 1 - (drv_mw_rkey(mw) >> 8) % CHUNK_KEYS;
	must(drv_mw_free(mw));
	/* a window that is refused takes a number, too, and fewer commands */
	fail_command(a, HCR_SW2HW_MPT, HCR_STATUS_EXCEED_LIM, left);
	while (still_right() && left--)
		must_fail(-ENOMEM, drv_mw_alloc(a->pd, IBV_MW_TYPE_2, &mw));
}

struct objects {
	struct drv_qp *qp;
	struct drv_srq *srq;
	struct drv_cq *cq;
	struct drv_mw *mw;
	struct drv_mr *mr;
};

static int make_all(struct tb_end *a, struct objects *o)
{
	int rc = make_qp(a, &o->qp);

	if (!rc)
		rc = make_srq(a, &o->srq);
	if (!rc)
		rc = drv_cq_create(a->dev, 1, 0, &o->cq);
	if (!rc)
		rc = drv_mw_alloc(a->pd, IBV_MW_TYPE_2, &o->mw);
	return rc ? rc : drv_mr_alloc_fast(a->pd, 1, &o->mr);
}

static void destroy_all(struct tb *tb, const struct objects *o)
{
	if (o->mr)
		must(drv_mr_dereg(o->mr));
	if (o->mw)
		must(drv_mw_free(o->mw));
	if (o->cq)
		must(drv_cq_destroy(o->cq));
	if (o->srq)
		must(drv_srq_destroy(o->srq));
	if (o->qp)
		must(drv_qp_destroy(o->qp));
}

/* Queue pairs with a doorbell record each, until one more would need another page for its record. */
static unsigned fill_records(struct tb *tb, struct tb_end *a, struct drv_qp *qps[RECORDS])
{
	size_t least = SIZE_MAX, more = 0;
	unsigned n = 0;

	while (n < RECORDS && still_right() && (n < 2 || more != least + 1)) {
		const size_t used = host_pages_used(a->host);

		must(make_qp(a, &qps[n++]));
		more = host_pages_used(a->host) - used;
		least = more < least ? more : least; /* a chunk takes 64 more */
	}
	if (n && still_right())
		must(drv_qp_destroy(qps[--n]));
	return n;
}

/* More pages each time, until all objects are made. Returns how often. */
static unsigned until_made(struct tb *tb, struct tb_end *a, size_t most, unsigned step,
			   unsigned max)
{
	unsigned times = 0;
	int rc = -ENOMEM;

	host.most = most;
	for (unsigned n = 0; rc == -ENOMEM && n < max && still_right(); n += step, times++) {
		const size_t used = host_pages_used(a->host);
		struct objects o = {0};

		host.left = n;
		a->platform->ops = &host.ops;
		rc = make_all(a, &o);
		a->platform->ops = host.real;
		destroy_all(tb, &o);
		expect_equal(host_pages_used(a->host), used);
	}
	expect_equal(rc, 0);
	return times;
}

SCENARIO(out_of_chunks, "no page for the first number of a chunk, at each place in turn")
{
	static struct drv_qp *qps[RECORDS];
	unsigned n, filled;

	filled = fill_records(tb, a, qps);
	qps_come_to_chunk(tb, a);
	keys_come_to_chunk(tb, a);
	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.pages_alloc = pages_alloc;
	n = until_made(tb, a, SIZE_MAX, 1, PLACES_MAX);
	expect_that(n, >=, 8);
	qps_come_to_chunk(tb, a);
	n = until_made(tb, a, PLATFORM_PAGE_SIZE, SINGLES_STEP, SINGLES_MAX);
	expect_that(n, >=, 4);
	while (filled && still_right())
		must(drv_qp_destroy(qps[--filled]));
}
