/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that others use cannot be destroyed: the driver answers EBUSY and leaves them as they are.
 * When the user is gone, they go as well.
 */
#include "testbench/services.h"

static void doorbell_page(struct tb *tb, struct tb_end *a)
{
	struct drv_uar *uar;
	struct drv_cq *cq;

	must(drv_uar_alloc(a->dev, &uar));
	must(drv_cq_create_on(a->dev, uar, 7, 0, &cq));
	if (!still_right())
		return;
	must_fail(-EBUSY, drv_uar_free(uar));
	must(drv_cq_destroy(cq));
	must(drv_uar_free(uar));
}

static void domain_of_srqs(struct tb *tb, struct tb_end *a)
{
	struct drv_srq_init init = {.max_wr = 10, .max_sge = 1, .cq = new_cq(a, 7, 0)};
	struct drv_srq *srq;

	must(drv_xrcd_alloc(a->dev, &init.xrcd));
	must(drv_srq_create(a->pd, &init, &srq));
	if (!still_right())
		return;
	must_fail(-EBUSY, drv_xrcd_free(init.xrcd));
	must_fail(-EBUSY, drv_cq_destroy(init.cq));
	must(drv_srq_destroy(srq));
	destroy_cq(init.cq);
	must(drv_xrcd_free(init.xrcd));
}

SCENARIO(destroy_in_use, "a CQ, a domain and a doorbell page that others use cannot be destroyed",
	 .any_packets = true)
{
	must_fail(-EBUSY, drv_cq_destroy(a->cq));
	must_fail(-EBUSY, drv_pd_free(a->pd));
	doorbell_page(tb, a);
	domain_of_srqs(tb, a);
	post_recv(b, .len = 64);
	post_send(a, .len = 64);
	expect_cqe(b);
	expect_cqe(a);
	expect_data(b, .len = 64);
}
