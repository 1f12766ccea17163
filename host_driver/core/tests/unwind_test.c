/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of kernel verbs that allocates or executes commands. Its nth allocation or its nth
 * command fails, for all n. Right after that, everything that the core and the driver hold, and all
 * counts, are as before the call. Functions that give something back do so whatever the device
 * answers. Uses the rig of user verbs.
 */
#include "host_driver/core/include/rdma/rw.h"
#include "host_driver/uverbs/tests/unwind_rig.h"
#include "model/interface/macros.h"

enum { PAGE = 4096, ENTRIES = 6, POOL = 3, CTXS = 2, FLUSHED = 4 };

/* Objects that the cases use. */
static struct {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq, *direct;
	struct ib_qp *qp, *rw_qp; /* rw_qp has contexts of rdma/rw.h */
	struct drv_list pool;
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;
	unsigned done;
} k;

/* Counts of the core that look() does not see. */
struct counts {
	unsigned pd, cq, direct, mrs_used, pool, rw_pool;
	bool softirq;
};

static struct counts counts(void)
{
	return (struct counts){.pd = k.pd->usecnt,
			       .cq = k.cq->usecnt,
			       .direct = k.direct->usecnt,
			       .mrs_used = k.rw_qp->mrs_used + k.qp->mrs_used,
			       .pool = length(&k.pool),
			       .rw_pool = length(&k.rw_qp->rdma_mrs),
			       .softirq = k.dev->softirq};
}

static int made(void *object)
{
	rig.made = object;
	return IS_ERR(object) ? (int)PTR_ERR(object) : 0;
}

/* --- regions --- */

static int pd(void)
{
	return made(ib_alloc_pd(k.dev, 0));
}

static int pd_global(void)
{
	return made(ib_alloc_pd(k.dev, IB_PD_UNSAFE_GLOBAL_RKEY));
}

static void pd_undo(void)
{
	ib_dealloc_pd(rig.made);
}

static int pd_back(void)
{
	return ib_dealloc_pd(rig.made);
}

static int mr(void)
{
	return made(ib_alloc_mr(k.pd, IB_MR_TYPE_MEM_REG, 100));
}

static int dma_mr(void)
{
	return made(ib_get_dma_mr(k.pd, IB_ACCESS_LOCAL_WRITE));
}

static int phys_mr(void)
{
	struct ib_phys_buf buf = {.addr = host_bus(rig.machine.hosts[0], rig.memory), .size = 5000};
	uint64_t iova = 0;

	return made(ib_reg_phys_mr(k.pd, &buf, 1, 0, &iova));
}

static void mr_undo(void)
{
	ib_dereg_mr(rig.made);
}

static int mr_back(void)
{
	return ib_dereg_mr(rig.made);
}

static int list(void)
{
	return made(ib_alloc_fast_reg_page_list(k.dev, 100));
}

static void list_undo(void)
{
	ib_free_fast_reg_page_list(rig.made);
}

static int pool(void)
{
	return ib_mr_pool_init(k.qp, &k.pool, POOL, IB_MR_TYPE_MEM_REG, 10, 0);
}

static void pool_undo(void)
{
	ib_mr_pool_destroy(k.qp, &k.pool);
}

/* --- completion queues --- */

static int cq_of(enum ib_poll_context ctx)
{
	return made(ib_alloc_cq(k.dev, NULL, 100, 0, ctx));
}

static int cq_direct(void)
{
	return cq_of(IB_POLL_DIRECT);
}

static int cq_softirq(void)
{
	return cq_of(IB_POLL_SOFTIRQ);
}

static int cq_work(void)
{
	return cq_of(IB_POLL_WORKQUEUE);
}

static int cq_any(void)
{
	return made(ib_alloc_cq_any(k.dev, NULL, 100, IB_POLL_SOFTIRQ));
}

static void cq_undo(void)
{
	ib_free_cq(rig.made);
}

static int cq_back(void)
{
	ib_free_cq(rig.made);
	return 0;
}

static int cq_modify(void)
{
	return ib_modify_cq(k.cq, 4, 10);
}

/* --- queue pairs --- */

static struct ib_qp *qp_make(struct ib_cq *cq, unsigned ctxs)
{
	struct ib_qp_init_attr init = {.send_cq = cq,
				       .recv_cq = cq,
				       .cap = {.max_send_wr = 8,
					       .max_recv_wr = 8,
					       .max_send_sge = 2,
					       .max_recv_sge = 1,
					       .max_rdma_ctxs = ctxs},
				       .port_num = 1,
				       .qp_type = IB_QPT_RC};

	return ib_create_qp(k.pd, &init);
}

static int qp(void)
{
	return made(qp_make(k.cq, 0));
}

static int qp_contexts(void)
{
	return made(qp_make(k.cq, CTXS));
}

static void qp_undo(void)
{
	ib_destroy_qp(rig.made);
}

static int qp_back(void)
{
	return ib_destroy_qp(rig.made);
}

static void flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	k.done++;
}

static int to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT,
				  .port_num = 1,
				  .path_mtu = IB_MTU_4096,
				  .timeout = 14,
				  .ah_attr = {.dlid = 1, .port_num = 1}};
	int rc = ib_modify_qp(qp, &attr,
			      IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS);

	attr.qp_state = IB_QPS_RTR;
	if (!rc)
		rc = ib_modify_qp(qp, &attr,
				  IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
					  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
					  IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	if (!rc)
		rc = ib_modify_qp(qp, &attr,
				  IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
					  IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
	return rc;
}

static struct ib_cqe flushed_cqe = {flushed};

static int busy_qp(void)
{
	const struct ib_recv_wr recv = {.wr_cqe = &flushed_cqe};
	int rc = made(qp_make(k.direct, 0));

	if (rc || to_rts(rig.made))
		return -1;
	k.done = 0;
	for (unsigned i = 0; i < FLUSHED && !rc; i++)
		rc = ib_post_recv(rig.made, &recv, NULL);
	return rc;
}

/* 0: everything was drained. If the change to the error state fails, nothing is. */
static int drain(void)
{
	ib_drain_qp(rig.made);
	return k.done == FLUSHED ? 0 : -1;
}

/* --- the other objects --- */

static int mw(void)
{
	return made(ib_alloc_mw(k.pd, IB_MW_TYPE_2));
}

static int mw_back(void)
{
	return ib_dealloc_mw(rig.made);
}

static void mw_undo(void)
{
	mw_back();
}

static int srq(void)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 20, .max_sge = 2}};

	return made(ib_create_srq(k.pd, &init));
}

static int srq_back(void)
{
	return ib_destroy_srq(rig.made);
}

static void srq_undo(void)
{
	srq_back();
}

static int xrcd(void)
{
	return made(ib_alloc_xrcd(k.dev));
}

static int xrcd_back(void)
{
	return ib_dealloc_xrcd(rig.made);
}

static void xrcd_undo(void)
{
	xrcd_back();
}

static int ah(void)
{
	const struct rdma_ah_attr attr = {.dlid = 1, .port_num = 1};

	return made(rdma_create_ah(k.pd, &attr, 0));
}

static void ah_undo(void)
{
	rdma_destroy_ah(rig.made, 0);
}

static int resize(void)
{
	return ib_resize_cq(rig.made, 1000);
}

static int to_init(void)
{
	const struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = 1};

	return ib_modify_qp(rig.made, &attr,
			    IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS);
}

/* --- transfers, and other things that map --- */

static int map_sg(void)
{
	return ib_dma_map_sg(k.dev, k.sg, ENTRIES, DMA_TO_DEVICE) == ENTRIES ? 0 : -1;
}

static void map_sg_undo(void)
{
	ib_dma_unmap_sg(k.dev, k.sg, ENTRIES, DMA_TO_DEVICE);
}

static int coherent(void)
{
	uint64_t bus;

	rig.made = ib_dma_alloc_coherent(k.dev, PAGE, &bus);
	return rig.made ? 0 : -1;
}

static void coherent_undo(void)
{
	ib_dma_free_coherent(k.dev, PAGE, rig.made);
}

static int transfer(uint32_t n)
{
	int rc = rdma_rw_ctx_init(&k.ctx, k.rw_qp, 1, k.sg, n, 0, 0, 0, DMA_TO_DEVICE);

	return rc < 0 ? rc : 0;
}

static int transfer_one(void)
{
	return transfer(1);
}

static void transfer_one_undo(void)
{
	rdma_rw_ctx_destroy(&k.ctx, k.rw_qp, 1, k.sg, 1, DMA_TO_DEVICE);
}

static int transfer_entries(void)
{
	return transfer(ENTRIES);
}

static int transfer_registered(void)
{
	int rc;

	k.dev->rdma_rw_force_mr = true;
	rc = transfer(ENTRIES);
	k.dev->rdma_rw_force_mr = false;
	return rc;
}

static void transfer_undo(void)
{
	rdma_rw_ctx_destroy(&k.ctx, k.rw_qp, 1, k.sg, ENTRIES, DMA_TO_DEVICE);
}

static int device(void)
{
	struct ib_device *d;
	int rc = ib_device_create(rig.drv, "second", NULL, NULL, &d);

	rig.made = rc ? NULL : d;
	return rc;
}

static void device_undo(void)
{
	ib_device_destroy(rig.made);
}

/* --- running them --- */

static const struct {
	const char *name;
	int (*prepare)(void);
	int (*call)(void);
	void (*undo)(void); /* undoes a call that succeeded */
	void (*tidy)(void); /* removes what prepare() has made */
} cases[] = {
	{"ib_alloc_pd", NULL, pd, pd_undo, NULL},
	{"ib_alloc_pd, global key", NULL, pd_global, pd_undo, NULL},
	{"ib_dealloc_pd", pd, pd_back, NULL, NULL},
	{"ib_alloc_mr", NULL, mr, mr_undo, NULL},
	{"ib_get_dma_mr", NULL, dma_mr, mr_undo, NULL},
	{"ib_reg_phys_mr", NULL, phys_mr, mr_undo, NULL},
	{"ib_dereg_mr", mr, mr_back, NULL, NULL},
	{"ib_alloc_fast_reg_page_list", NULL, list, list_undo, NULL},
	{"ib_mr_pool_init", NULL, pool, pool_undo, NULL},
	{"ib_alloc_cq, direct", NULL, cq_direct, cq_undo, NULL},
	{"ib_alloc_cq, softirq", NULL, cq_softirq, cq_undo, NULL},
	{"ib_alloc_cq, workqueue", NULL, cq_work, cq_undo, NULL},
	{"ib_alloc_cq_any", NULL, cq_any, cq_undo, NULL},
	{"ib_free_cq, softirq", cq_softirq, cq_back, NULL, NULL},
	{"ib_free_cq, workqueue", cq_work, cq_back, NULL, NULL},
	{"ib_modify_cq", NULL, cq_modify, NULL, NULL},
	{"ib_create_qp", NULL, qp, qp_undo, NULL},
	{"ib_create_qp, contexts", NULL, qp_contexts, qp_undo, NULL},
	{"ib_destroy_qp", qp_contexts, qp_back, NULL, NULL},
	{"ib_modify_qp", qp, to_init, NULL, qp_undo},
	{"ib_resize_cq", cq_softirq, resize, NULL, cq_undo},
	{"ib_alloc_mw", NULL, mw, mw_undo, NULL},
	{"ib_dealloc_mw", mw, mw_back, NULL, NULL},
	{"ib_create_srq", NULL, srq, srq_undo, NULL},
	{"ib_destroy_srq", srq, srq_back, NULL, NULL},
	{"ib_alloc_xrcd", NULL, xrcd, xrcd_undo, NULL},
	{"ib_dealloc_xrcd", xrcd, xrcd_back, NULL, NULL},
	{"rdma_create_ah", NULL, ah, ah_undo, NULL},
	{"ib_drain_qp", busy_qp, drain, NULL, qp_undo},
	{"ib_dma_map_sg", NULL, map_sg, map_sg_undo, NULL},
	{"ib_dma_alloc_coherent", NULL, coherent, coherent_undo, NULL},
	{"rdma_rw_ctx_init, one", NULL, transfer_one, transfer_one_undo, NULL},
	{"rdma_rw_ctx_init, entries", NULL, transfer_entries, transfer_undo, NULL},
	{"rdma_rw_ctx_init, registered", NULL, transfer_registered, transfer_undo, NULL},
	{"ib_device_create", NULL, device, device_undo, NULL},
};

static void wrong(const char *name, unsigned nth, const char *what)
{
	static const char *const kinds[KINDS] = {"allocation", "command"};

	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s, %s %u: %s", name, kinds[failure.kind],
			 nth, what);
	rig.wrongs++;
}

static void compare(const char *name, unsigned nth, const struct held *held,
		    const struct counts *count, const char *when)
{
	const struct counts now = counts();
	struct held after;

	look(&after);
	if (memcmp(held, &after, sizeof(after)) || now.pd != count->pd || now.cq != count->cq ||
	    now.direct != count->direct || now.mrs_used != count->mrs_used ||
	    now.pool != count->pool || now.rw_pool != count->rw_pool ||
	    now.softirq != count->softirq)
		wrong(name, nth, when);
}

/* Runs a case in which the nth operation fails. False: there was no nth operation. */
static bool run_nth(size_t i, unsigned nth)
{
	struct held start, before;
	struct counts start_counts = counts(), before_counts;
	void *prepared;
	int rc;

	look(&start);
	if (cases[i].prepare && cases[i].prepare()) {
		wrong(cases[i].name, nth, "is not prepared");
		return false;
	}
	look(&before);
	before_counts = counts();
	prepared = rig.made;
	failure.count = 0;
	failure.nth = nth;
	failure.fired = false;
	failure.armed = true;
	rc = cases[i].call();
	failure.armed = false;
	rig.failures[failure.kind] += failure.fired;
	if (rc && !failure.fired)
		wrong(cases[i].name, nth, "fails by itself");
	if (rc)
		compare(cases[i].name, nth, &before, &before_counts, "right after the failure");
	else if (cases[i].undo)
		cases[i].undo();
	rig.made = prepared;
	if (cases[i].tidy)
		cases[i].tidy();
	compare(cases[i].name, nth, &start, &start_counts, "in the end");
	return failure.fired;
}

static bool core_stand(void)
{
	k.dev = rig.host.devices[0];
	k.pd = ib_alloc_pd(k.dev, 0);
	k.cq = ib_alloc_cq(k.dev, NULL, 100, 0, IB_POLL_WORKQUEUE);
	k.direct = ib_alloc_cq(k.dev, NULL, 100, 0, IB_POLL_DIRECT);
	k.qp = qp_make(k.cq, 0);
	k.dev->rdma_rw_force_mr = true;
	k.rw_qp = qp_make(k.cq, ENTRIES);
	drv_list_init(&k.pool);
	sg_init_table(k.sg, ENTRIES);
	for (unsigned i = 0; i < ENTRIES; i++)
		sg_set_buf(&k.sg[i], (char *)rig.memory + i * 100, 50);
	return !IS_ERR(k.pd) && !IS_ERR(k.cq) && !IS_ERR(k.direct) && !IS_ERR(k.qp) &&
	       !IS_ERR(k.rw_qp);
}

static void run(void)
{
	if (!core_stand())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		/* The pools of queue pairs are made only if regions are forced. Transfers set this
		 * themselves. */
		k.dev->rdma_rw_force_mr =
			cases[i].call == qp_contexts || cases[i].prepare == qp_contexts;
		failure.kind = FAIL_ALLOCATION;
		run_nth(i, 0);
		for (failure.kind = 0; failure.kind < KINDS; failure.kind++)
			for (unsigned nth = 1; nth < NTH_MAX && run_nth(i, nth); nth++)
				;
		rig.cases++;
	}
	ib_destroy_qp(k.rw_qp);
	ib_destroy_qp(k.qp);
	ib_free_cq(k.direct);
	ib_free_cq(k.cq);
	ib_dealloc_pd(k.pd);
}

static void every_failure_leaves_all_as_it_was(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	assert_int_equal(rig.cases, ARRAY_SIZE(cases));
	print_message("%u calls with a failed allocation, %u with a failed command\n",
		      rig.failures[FAIL_ALLOCATION], rig.failures[FAIL_COMMAND]);
	assert_true(rig.failures[FAIL_ALLOCATION] > 120);
	assert_true(rig.failures[FAIL_COMMAND] > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failure_leaves_all_as_it_was),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
