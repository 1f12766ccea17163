/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver was told to keep a small table of translations, and regions take all of it. Then each
 * object that needs entries of its own is refused, gives back what it had taken until then, and can be
 * made when a region has gone. In a table of the usual size no object is ever refused for that.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/harm.h"

enum { LOG_MTTS = 12, PAGES = 64, REGIONS_MAX = 1 << LOG_MTTS, ENTRIES = 100 };

static struct {
	struct drv_device *dev;
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_mr *mrs[REGIONS_MAX];
	unsigned n;
} o;

static int make_cq(void)
{
	struct drv_cq *cq;
	int rc = drv_cq_create(o.dev, ENTRIES, 0, &cq);

	return rc ? rc : drv_cq_destroy(cq);
}

static int make_srq(void)
{
	const struct drv_srq_init init = {.max_wr = ENTRIES, .max_sge = 1};
	struct drv_srq *srq;
	int rc = drv_srq_create(o.pd, &init, &srq);

	return rc ? rc : drv_srq_destroy(srq);
}

static int make_qp(void)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = o.cq,
					 .recv_cq = o.cq,
					 .cap = {.max_send_wr = ENTRIES,
						 .max_recv_wr = ENTRIES,
						 .max_send_sge = 1,
						 .max_recv_sge = 1}};
	struct drv_qp *qp;
	int rc = drv_qp_create(o.pd, &init, &qp);

	return rc ? rc : drv_qp_destroy(qp);
}

static int make_fast(void)
{
	struct drv_mr *mr;
	int rc = drv_mr_alloc_fast(o.pd, PAGES / 2, &mr);

	return rc ? rc : drv_mr_dereg(mr);
}

static int make_region(void)
{
	uint8_t *memory;
	struct platform *p = drv_platform(o.dev);
	const size_t bytes = PAGES / 2 * PLATFORM_PAGE_SIZE;
	struct drv_mr *mr;
	int rc;

	memory = p->ops->user_alloc(p, bytes);
	if (!memory)
		return -EIO;
	rc = drv_mr_reg(o.pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE, &mr);
	if (!rc)
		rc = drv_mr_dereg(mr);
	p->ops->user_free(p, memory, bytes);
	return rc;
}

static int (*const makers[])(void) = {make_cq, make_srq, make_qp, make_fast, make_region};

static void all_refused(struct tb *tb, struct tb_end *a)
{
	const size_t used = host_pages_used(a->host), mapped = host_pages_mapped(a->host);

	for_each_row(i, makers) {
		name_row("object %zu", i);
		expect_equal(makers[i](), -ENOMEM);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(host_pages_mapped(a->host), mapped);
	}
}

static void take_all(struct tb *tb, unsigned pages)
{
	while (o.n < REGIONS_MAX && !drv_mr_alloc_fast(o.pd, pages, &o.mrs[o.n]))
		o.n++;
	expect_that(o.n, <, REGIONS_MAX);
}

SCENARIO(mtts_exhausted,
	 "a small table of translations is used up: objects are refused, one by one", .bare = true)
{
	const struct drv_options options = {.log_eq_size = 8, .log_mtts = LOG_MTTS};
	struct drv_leftovers left;

	memset(&o, 0, sizeof(o));
	must(drv_probe(a->platform, &options, &o.dev));
	if (!still_right())
		return;
	must(drv_pd_alloc(o.dev, &o.pd));
	must(drv_cq_create(o.dev, 1, 0, &o.cq));
	for (unsigned pages = PAGES; pages; pages /= 2)
		take_all(tb, pages);
	all_refused(tb, a);
	must(drv_mr_dereg(o.mrs[0]));
	for_each_row(i, makers) {
		name_row("object %zu, with room", i);
		expect_equal(makers[i](), 0);
	}
	for (unsigned i = 1; i < o.n; i++)
		must(drv_mr_dereg(o.mrs[i]));
	must(drv_cq_destroy(o.cq));
	drv_pd_free(o.pd);
	left = drv_remove(o.dev);
	expect_equal(left.mtts, 0);
	expect_equal(left.icm_pages, 0);
	expect_equal(host_pages_used(a->host), 0);
}
