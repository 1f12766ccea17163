/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host has no page left, at each place where the driver asks for one in turn, or cannot map
 * memory for the device. Each call that fails gives back what it had taken, and succeeds when there
 * are pages again.
 */
#include "testbench/harm.h"

enum { REGION = 160 << 20, PLACES_MAX = 400 };

/* The host's own operations, and how many more times they give pages or map memory. */
static struct {
	const struct platform_ops *real;
	struct platform_ops ops;
	unsigned left;
} host;

static void *pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	return host.left && host.left-- ? host.real->pages_alloc(p, bytes, bus) : NULL;
}

static uint64_t dma_map(struct platform *p, void *addr, size_t len)
{
	return host.left && host.left-- ? host.real->dma_map(p, addr, len) : 0;
}

struct objects {
	struct drv_cq *cq;
	struct drv_srq *srq;
	struct drv_qp *qp;
	struct drv_mr *mr;
	struct drv_mw *mw;
};

static int make_all(struct tb_end *a, void *memory, uint64_t bus, struct objects *o)
{
	const struct drv_srq_init srq = {.max_wr = 1000, .max_sge = 4};
	struct drv_qp_init qp = {.type = IBV_QPT_RC,
				 .send_cq = a->cq,
				 .recv_cq = a->cq,
				 .cap = {.max_send_wr = 1000,
					 .max_recv_wr = 1000,
					 .max_send_sge = 4,
					 .max_recv_sge = 4}};
	int rc = drv_cq_create(a->dev, 1000, 0, &o->cq);

	if (!rc)
		rc = drv_cq_resize(o->cq, 5000);
	if (!rc)
		rc = drv_srq_create(a->pd, &srq, &o->srq);
	if (!rc)
		rc = drv_qp_create(a->pd, &qp, &o->qp);
	if (!rc)
		rc = drv_mr_reg_iova(a->pd, memory, REGION, bus, 0, &o->mr);
	return rc ? rc : drv_mw_alloc(a->pd, IBV_MW_TYPE_2, &o->mw);
}

static void destroy_all(struct tb *tb, const struct objects *o)
{
	if (o->mw)
		must(drv_mw_free(o->mw));
	if (o->mr)
		must(drv_mr_dereg(o->mr));
	if (o->qp)
		must(drv_qp_destroy(o->qp));
	if (o->srq)
		must(drv_srq_destroy(o->srq));
	if (o->cq)
		must(drv_cq_destroy(o->cq));
}

SCENARIO(out_of_pages, "the host has no page left, at each place in turn: all is given back")
{
	uint64_t bus;
	void *memory = a->platform->ops->pages_alloc(a->platform, REGION, &bus);
	int rc = -ENOMEM;
	unsigned n;

	expect_true(memory);
	host.real = a->platform->ops;
	host.ops = *host.real;
	host.ops.pages_alloc = pages_alloc;
	host.ops.dma_map = dma_map;
	for (n = 0; (rc == -ENOMEM || rc == -EFAULT) && n < PLACES_MAX && still_right(); n++) {
		const size_t used = host_pages_used(a->host), mapped = host_pages_mapped(a->host);
		struct objects o = {0};

		host.left = n;
		a->platform->ops = &host.ops;
		rc = make_all(a, memory, bus, &o);
		a->platform->ops = host.real;
		destroy_all(tb, &o);
		expect_equal(host_pages_used(a->host), used);
		expect_equal(host_pages_mapped(a->host), mapped);
	}
	expect_equal(rc, 0);
	expect_true(n > 10);
	a->platform->ops->pages_free(a->platform, memory, REGION);
}
