/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments of kernel verbs, at least one for each function that can refuse any. Each call
 * returns the error that its header states, and leaves outputs and everything that is held
 * unchanged. Uses the rig of user verbs.
 */
#include "host_driver/core/include/rdma/rw.h"
#include "host_driver/uverbs/tests/unwind_rig.h"
#include "model/interface/macros.h"

enum { MANY = 1 << 30, QUEUE = 8, PAGE = 4096, BAD = 99 };

static struct ib_device *dev;
static struct ib_pd *pd;
static struct ib_cq *cq;
static struct ib_qp *qp, *ud;
static unsigned checks;

static void check(const char *text, long got, long want)
{
	checks++;
	if (got == want)
		return;
	if (rig.wrongs < CASES_MAX)
		snprintf(rig.wrong[rig.wrongs], TEXT, "%s: %ld instead of %ld", text, got, want);
	rig.wrongs++;
}

#define GIVES(call, want)    check(#call, (long)(call), want)
#define REFUSES(call, error) check(#call, IS_ERR(call) ? PTR_ERR(call) : 0, -(error))

static struct ib_qp *qp_make(enum ib_qp_type type, unsigned ctxs)
{
	struct ib_qp_init_attr init = {.send_cq = cq,
				       .recv_cq = cq,
				       .cap = {.max_send_wr = QUEUE,
					       .max_recv_wr = QUEUE,
					       .max_send_sge = 1,
					       .max_recv_sge = 1,
					       .max_inline_data = 8,
					       .max_rdma_ctxs = ctxs},
				       .port_num = 1,
				       .qp_type = type};

	return ib_create_qp(pd, &init);
}

static void sends(void)
{
	struct ib_sge sge[BAD] = {{0}};
	struct ib_rdma_wr wr = {.wr = {.sg_list = sge, .opcode = IB_WR_RDMA_WRITE}};
	struct ib_ud_wr datagram = {.wr = {.opcode = IB_WR_SEND}};
	struct ib_reg_wr reg = {.wr = {.opcode = IB_WR_REG_MR}};
	struct ib_fast_reg_wr fast = {.wr = {.opcode = IB_WR_FAST_REG_MR}, .rkey = 1};
	struct ib_fast_reg_page_list list = {.max_page_list_len = 1};
	struct ib_mr *user = ib_get_dma_mr(pd, 0);
	const struct ib_send_wr *bad = NULL;

	/* in RESET */
	GIVES(ib_post_send(qp, &wr.wr, &bad), -EINVAL);
	GIVES(bad == &wr.wr, true);
	GIVES(ib_post_send(qp, &wr.wr, NULL), -EINVAL);
	wr.wr.num_sge = -1;
	GIVES(ib_post_send(qp, &wr.wr, NULL), -EINVAL);
	wr.wr.num_sge = 0;
	wr.wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	GIVES(ib_post_send(qp, &wr.wr, NULL), -EINVAL);
	wr.wr.opcode = (enum ib_wr_opcode)BAD;
	GIVES(ib_post_send(qp, &wr.wr, NULL), -EINVAL);
	GIVES(ib_post_send(qp, &reg.wr, NULL), -EINVAL); /* without a region */
	reg.mr = user;
	GIVES(ib_post_send(qp, &reg.wr, NULL), -EINVAL);  /* without a key */
	GIVES(ib_post_send(qp, &fast.wr, NULL), -EINVAL); /* without a page list */
	fast.page_list = &list;
	fast.page_list_len = 2;
	GIVES(ib_post_send(qp, &fast.wr, NULL), -EINVAL);     /* longer than the page list */
	GIVES(ib_post_send(ud, &datagram.wr, NULL), -EINVAL); /* without an address */
	ib_dereg_mr(user);
}

/* In the error state every correct request may be posted; all are flushed. */
static void sends_posted(void)
{
	const struct ib_qp_attr error = {.qp_state = IB_QPS_ERR},
				reset = {.qp_state = IB_QPS_RESET};
	struct ib_qp_attr init = {.qp_state = IB_QPS_INIT, .port_num = 1};
	struct ib_sge sge[BAD] = {{.length = 9, .addr = (uintptr_t)&init}};
	struct ib_rdma_wr wr[3] = {{.wr = {.next = &wr[1].wr, .opcode = IB_WR_RDMA_WRITE}},
				   {.wr = {.next = &wr[2].wr,
					   .sg_list = sge,
					   .num_sge = BAD,
					   .opcode = IB_WR_RDMA_WRITE}},
				   {.wr = {.opcode = IB_WR_RDMA_WRITE}}};
	struct ib_reg_wr reg = {.wr = {.opcode = IB_WR_REG_MR}, .key = 1};
	struct ib_mr *all = ib_get_dma_mr(pd, 0);
	const struct ib_send_wr *bad = NULL;
	struct ib_recv_wr recv[2] = {{.next = &recv[1]}, {.sg_list = sge, .num_sge = BAD}};
	const struct ib_recv_wr *bad_recv = NULL;
	unsigned n = 0;

	reg.mr = all;
	GIVES(ib_modify_qp(qp, &init,
			   IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS),
	      0);
	GIVES(ib_modify_qp(qp, &error, IB_QP_STATE), 0);
	/* too many entries in the second request */
	GIVES(ib_post_send(qp, &wr[0].wr, &bad), -EINVAL);
	GIVES(bad == &wr[1].wr, true);
	wr[1].wr.num_sge = 1;
	wr[1].wr.send_flags = IB_SEND_INLINE;
	sge[0].length = 2000;
	GIVES(ib_post_send(qp, &wr[1].wr, NULL), -EINVAL); /* too many inline bytes */
	GIVES(ib_post_send(qp, &reg.wr, NULL), -EINVAL);   /* not a region for REG_MR */
	while (n < BAD * BAD && !ib_post_send(qp, &wr[2].wr, &bad))
		n++;
	GIVES(ib_post_send(qp, &wr[2].wr, &bad), -ENOMEM);
	GIVES(n >= QUEUE - 1, true); /* one place was taken by the first request of the list */
	GIVES(ib_post_recv(qp, &recv[0], &bad_recv), -EINVAL);
	GIVES(bad_recv == &recv[1], true);
	for (n = 1; n < QUEUE; n++)
		GIVES(ib_post_recv(qp, &(const struct ib_recv_wr){0}, NULL), 0);
	GIVES(ib_post_recv(qp, &(const struct ib_recv_wr){0}, NULL), -ENOMEM);
	GIVES(ib_modify_qp(qp, &reset, IB_QP_STATE), 0);
	GIVES(ib_post_recv(qp, &(const struct ib_recv_wr){0}, NULL), -EINVAL);
	ib_dereg_mr(all);
}

static void receives(void)
{
	struct ib_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ib_srq *srq = ib_create_srq(pd, &init);
	struct ib_sge sge[BAD] = {{0}};
	struct ib_recv_wr wr = {.sg_list = sge, .num_sge = -1};
	const struct ib_recv_wr *bad = NULL;
	unsigned n = 0;

	GIVES(ib_post_recv(qp, &wr, NULL), -EINVAL);
	GIVES(ib_post_srq_recv(srq, &wr, &bad), -EINVAL);
	GIVES(bad == &wr, true);
	wr.num_sge = BAD;
	GIVES(ib_post_srq_recv(srq, &wr, NULL), -EINVAL);
	wr.num_sge = 0;
	while (n < BAD && !ib_post_srq_recv(srq, &wr, NULL))
		n++;
	GIVES(n, init.attr.max_wr);
	GIVES(ib_post_srq_recv(srq, &wr, NULL), -ENOMEM);
	ib_destroy_srq(srq);
}

static void completions(void)
{
	struct ib_wc wc = {.wr_id = BAD};

	GIVES(ib_poll_cq(cq, -1, &wc), -EINVAL);
	GIVES(ib_poll_cq(cq, 1, &wc), 0);
	GIVES(wc.wr_id, BAD);
	GIVES(ib_req_notify_cq(cq, (enum ib_cq_notify_flags)0), -EINVAL);
	GIVES(ib_req_notify_cq(cq, IB_CQ_REPORT_MISSED_EVENTS), -EINVAL);
	GIVES(ib_req_notify_cq(cq, (enum ib_cq_notify_flags)(IB_CQ_NEXT_COMP | 8)), -EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, 0, 0, IB_POLL_DIRECT), EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, -5, 0, IB_POLL_SOFTIRQ), EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, MANY, 0, IB_POLL_SOFTIRQ), EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, 1, -1, IB_POLL_DIRECT), EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, 1, BAD, IB_POLL_DIRECT), EINVAL);
	REFUSES(ib_alloc_cq(dev, NULL, 1, 0, (enum ib_poll_context)BAD), EINVAL);
	REFUSES(ib_alloc_cq_any(dev, NULL, 0, IB_POLL_DIRECT), EINVAL);
	ib_free_cq(cq); /* has no effect, because queue pairs use it */
	GIVES(ib_destroy_cq(cq), -EBUSY);
	GIVES(strcmp(ib_wc_status_msg((enum ib_wc_status)BAD), "unrecognized status"), 0);
}

static void mapping(void)
{
	static char elsewhere[16];
	struct scatterlist sg[2];
	uint64_t bus;

	GIVES(ib_dma_map_single(dev, elsewhere, 16, DMA_TO_DEVICE) == DMA_MAPPING_ERROR, true);
	GIVES(ib_dma_map_single(dev, rig.memory, 0, DMA_TO_DEVICE) == DMA_MAPPING_ERROR, true);
	GIVES(ib_dma_map_single(dev, rig.memory, 16, DMA_NONE) == DMA_MAPPING_ERROR, true);
	GIVES(ib_dma_mapping_error(dev, DMA_MAPPING_ERROR), 1);
	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], rig.memory, 16);
	sg_set_buf(&sg[1], elsewhere, 16);
	GIVES(ib_dma_map_sg(dev, sg, 2, DMA_TO_DEVICE), 0);
	GIVES(ib_dma_map_sg(dev, sg, 0, DMA_TO_DEVICE), 0);
	GIVES(ib_dma_alloc_coherent(dev, (size_t)1 << 50, &bus) == NULL, true);
}

static void regions(void)
{
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 2), *all = ib_get_dma_mr(pd, 0);
	struct scatterlist sg = {.end = true, .dma_address = 4 * PAGE, .dma_length = 100};
	const unsigned remote = IB_ACCESS_REMOTE_WRITE;
	struct ib_phys_buf buf[2] = {{PAGE, PAGE}, {PAGE * 3, 1}};
	uint64_t iova = 0, odd = 1;
	struct drv_list pool;
	unsigned offset = 101;

	REFUSES(ib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, 1), EINVAL);
	REFUSES(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 0), EINVAL);
	REFUSES(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 512), EINVAL);
	GIVES(ib_map_mr_sg(all, &sg, 1, NULL, PAGE), -EINVAL);
	GIVES(ib_map_mr_sg(mr, &sg, 1, NULL, 2048), -EINVAL);
	GIVES(ib_map_mr_sg(mr, &sg, 1, NULL, 3 * PAGE), -EINVAL);
	GIVES(ib_map_mr_sg(mr, &sg, 0, NULL, PAGE), -EINVAL);
	GIVES(ib_map_mr_sg(mr, &sg, 1, &offset, PAGE), -EINVAL);
	GIVES(offset, 101);
	REFUSES(ib_alloc_fast_reg_mr(pd, 0), EINVAL);
	REFUSES(ib_alloc_fast_reg_mr(pd, 512), EINVAL);
	REFUSES(ib_alloc_fast_reg_page_list(dev, 0), EINVAL);
	REFUSES(ib_alloc_fast_reg_page_list(dev, 512), EINVAL);
	REFUSES(ib_reg_phys_mr(pd, buf, 0, 0, &iova), EINVAL);
	REFUSES(ib_reg_phys_mr(pd, buf, 2, 0, &odd), EINVAL);
	REFUSES(ib_reg_phys_mr(pd, buf, 2, (int)remote, &iova), EINVAL);
	buf[0].size = 100; /* ends inside a page */
	REFUSES(ib_reg_phys_mr(pd, buf, 2, 0, &iova), EINVAL);
	buf[0].size = PAGE;
	buf[1].addr++; /* begins inside a page */
	REFUSES(ib_reg_phys_mr(pd, buf, 2, 0, &iova), EINVAL);
	buf[0].size = UINT64_MAX;
	REFUSES(ib_reg_phys_mr(pd, buf, 1, 0, &iova), EINVAL);
	REFUSES(ib_get_dma_mr(pd, remote), EINVAL);
	drv_list_init(&pool);
	GIVES(ib_mr_pool_init(qp, &pool, 2, IB_MR_TYPE_SG_GAPS, 1, 0), -EINVAL);
	GIVES(ib_mr_pool_init(qp, &pool, 2, IB_MR_TYPE_MEM_REG, 1, 1), -EINVAL);
	GIVES(drv_list_empty(&pool), true);
	GIVES(ib_mr_pool_get(qp, &pool) == NULL, true);
	REFUSES(ib_alloc_pd(dev, 1 << 4), EINVAL);
	GIVES(ib_dealloc_pd(pd), -EBUSY);
	ib_dereg_mr(all);
	ib_dereg_mr(mr);
}

static void transfers(void)
{
	struct scatterlist sg;
	struct rdma_rw_ctx ctx;

	sg_init_one(&sg, rig.memory, 100);
	REFUSES(qp_make(IB_QPT_UD, 1), EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 1, 0, 0, 0, DMA_BIDIRECTIONAL), -EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, 0, &sg, 1, 0, 0, 0, DMA_TO_DEVICE), -EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, BAD, &sg, 1, 0, 0, 0, DMA_TO_DEVICE), -EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 0, 0, 0, 0, DMA_TO_DEVICE), -EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 1, 100, 0, 0, DMA_TO_DEVICE), -EINVAL);
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 2, 0, 0, 0, DMA_TO_DEVICE), -EINVAL);
	dev->rdma_rw_force_mr = true;
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 1, 0, 0, 0, DMA_TO_DEVICE), -EAGAIN);
	GIVES(rdma_rw_mr_factor(dev, 1, 600), 3);
	dev->rdma_rw_force_mr = false;
	sg.length = 0;
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 1, 0, 0, 0, DMA_TO_DEVICE), -ENOMEM);
	sg.length = 100;
	GIVES(rdma_rw_ctx_init(&ctx, qp, 1, &sg, 1, 0, 0, 0, DMA_TO_DEVICE), 1);
	GIVES(rdma_rw_ctx_post(&ctx, qp, 1, NULL, NULL), -EINVAL); /* in RESET */
	rdma_rw_ctx_destroy(&ctx, qp, 1, &sg, 1, DMA_TO_DEVICE);
	/* these return at once: there is nothing to drain, or it is not possible */
	ib_drain_qp(qp);
	ib_drain_srq(qp);
}

static void run(void)
{
	static void (*const groups[])(void) = {sends,   sends_posted, receives, completions,
					       mapping, regions,      transfers};
	struct held before, after;

	dev = rig.host.devices[0];
	pd = ib_alloc_pd(dev, 0);
	cq = ib_alloc_cq(dev, NULL, 500, 0, IB_POLL_DIRECT);
	qp = qp_make(IB_QPT_RC, 0);
	ud = qp_make(IB_QPT_UD, 0);
	/* A first round: it makes what the driver keeps for later use. */
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		groups[i]();
	look(&before);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		char when[32];

		groups[i]();
		look(&after);
		snprintf(when, sizeof(when), "held after group %zu", i);
		check(when, memcmp(&before, &after, sizeof(after)), 0);
	}
	ib_destroy_qp(ud);
	ib_destroy_qp(qp);
	ib_free_cq(cq);
	ib_dealloc_pd(pd);
}

static void wrong_arguments_are_refused(void **state)
{
	assert_true(rig.set_up);
	for (unsigned i = 0; i < rig.wrongs && i < CASES_MAX; i++)
		print_error("%s\n", rig.wrong[i]);
	assert_int_equal(rig.wrongs, 0);
	assert_true(checks > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(nothing_is_left),
	};

	return rig_main(run, tests, ARRAY_SIZE(tests));
}
