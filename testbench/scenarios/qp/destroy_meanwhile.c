/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object needs what it was made with until its own destruction has ended. While the command that
 * takes it back from the device runs, another thread cannot destroy any of that.
 */
#include "testbench/harm.h"

static int pd_free(void *pd)
{
	return drv_pd_free(pd);
}

static int cq_destroy(void *cq)
{
	return drv_cq_destroy(cq);
}

static int srq_destroy(void *srq)
{
	return drv_srq_destroy(srq);
}

static int qp_destroy(void *qp)
{
	return drv_qp_destroy(qp);
}

static int xrcd_free(void *xrcd)
{
	return drv_xrcd_free(xrcd);
}

static int uar_free(void *uar)
{
	return drv_uar_free(uar);
}

static int mr_dereg(void *mr)
{
	return drv_mr_dereg(mr);
}

static int mw_free(void *mw)
{
	return drv_mw_free(mw);
}

struct thing {
	const char *name;
	int (*destroy)(void *object);
	void *object; /* NULL: there is none */
};

struct destroyer {
	const struct thing *user;
	int rc;
	bool ended;
};

static void destroys(void *arg)
{
	struct destroyer *d = arg;

	d->rc = d->user->destroy(d->user->object);
	d->ended = true;
}

/* The answer of the command comes late; `used` is asked for meanwhile, and goes afterwards. */
static void destroyed(struct tb *tb, struct tb_end *a, const struct thing *user,
		      const struct thing *used, unsigned n)
{
	struct destroyer d = {.user = user};

	if (!still_right())
		return;
	late_write(a, "eqe", CFG_US(500));
	a->platform->ops->thread_start(a->platform, "destroyer", destroys, &d);
	pass_time(CFG_US(100));
	expect_true(!d.ended);
	for (unsigned i = 0; i < n; i++) {
		name_row("%s of a %s", used[i].name, user->name);
		if (used[i].object)
			must_fail(-EBUSY, used[i].destroy(used[i].object));
	}
	for (unsigned i = 0; i < 100 && !d.ended; i++)
		pass_time(CFG_US(100));
	expect_true(d.ended && !d.rc);
	for (unsigned i = 0; i < n && still_right(); i++)
		if (used[i].object)
			must(used[i].destroy(used[i].object));
}

#define destroyed(end, user, ...)                                                                  \
	destroyed(tb, end, user, (const struct thing[]){__VA_ARGS__},                              \
		  sizeof((const struct thing[]){__VA_ARGS__}) / sizeof(struct thing))

static void queue_pair(struct tb *tb, struct tb_end *a)
{
	struct drv_pd *pd;
	struct drv_uar *uar;
	struct drv_qp_init init = {.type = IBV_QPT_RC,
				   .send_cq = new_cq(a, 7, 0),
				   .recv_cq = new_cq(a, 7, 0),
				   .cap = {.max_send_wr = 1, .max_send_sge = 1}};
	struct drv_srq_init srq = {.max_wr = 10, .max_sge = 1};
	struct drv_qp *qp;

	must(drv_pd_alloc(a->dev, &pd));
	must(drv_uar_alloc(a->dev, &uar));
	must(drv_srq_create(pd, &srq, &init.srq));
	init.uar = uar;
	must(drv_qp_create(pd, &init, &qp));
	if (!still_right())
		return;
	must(drv_qp_modify(qp, &(struct drv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1},
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	destroyed(a, (&(struct thing){"queue pair", qp_destroy, qp}),
		  {"CQ of sends", cq_destroy, init.send_cq},
		  {"CQ of receives", cq_destroy, init.recv_cq}, {"SRQ", srq_destroy, init.srq},
		  {"protection domain", pd_free, pd}, {"doorbell page", uar_free, uar});
}

static void shared_receive_queue(struct tb *tb, struct tb_end *a)
{
	struct drv_srq_init init = {.max_wr = 10, .max_sge = 1, .cq = new_cq(a, 7, 0)};
	struct drv_pd *pd;
	struct drv_srq *srq;

	must(drv_pd_alloc(a->dev, &pd));
	must(drv_xrcd_alloc(a->dev, &init.xrcd));
	must(drv_srq_create(pd, &init, &srq));
	destroyed(a, (&(struct thing){"SRQ", srq_destroy, srq}), {"CQ", cq_destroy, init.cq},
		  {"protection domain", pd_free, pd}, {"XRC domain", xrcd_free, init.xrcd});
}

static void region_and_window(struct tb *tb, struct tb_end *a)
{
	struct drv_pd *pd[2];
	struct drv_mr *mr;
	struct drv_mw *mw;

	must(drv_pd_alloc(a->dev, &pd[0]));
	must(drv_pd_alloc(a->dev, &pd[1]));
	must(drv_mr_reg_dma(pd[0], IBV_ACCESS_LOCAL_WRITE, &mr));
	must(drv_mw_alloc(pd[1], IBV_MW_TYPE_1, &mw));
	destroyed(a, (&(struct thing){"memory region", mr_dereg, mr}),
		  {"protection domain", pd_free, pd[0]});
	destroyed(a, (&(struct thing){"memory window", mw_free, mw}),
		  {"protection domain", pd_free, pd[1]});
}

static void completion_queue(struct tb *tb, struct tb_end *a)
{
	struct drv_uar *uar;
	struct drv_cq *cq;

	must(drv_uar_alloc(a->dev, &uar));
	must(drv_cq_create_on(a->dev, uar, 7, 0, &cq));
	destroyed(a, (&(struct thing){"CQ", cq_destroy, cq}), {"doorbell page", uar_free, uar});
}

SCENARIO(destroy_meanwhile,
	 "what an object uses cannot be destroyed while the object is being destroyed",
	 .no_qps = true, .of_mlx4 = "commands")
{
	queue_pair(tb, a);
	shared_receive_queue(tb, a);
	region_and_window(tb, a);
	completion_queue(tb, a);
}
