/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs: calls that are wrong in themselves, not beyond a limit. Objects of a kind that does
 * not exist, access without what it needs, buffers that cannot be one range of memory, objects that
 * are in use, requests that no queue pair knows. Each is refused, and a list of requests is posted
 * up to the first that is wrong, which the call names.
 */
/* behaviours: IBA-11.2.1.2-limits */
#include "host_driver/core/include/rdma/mr_pool.h"
#include "host_driver/core/include/rdma/rw.h"
#include "testbench/kernel_verbs.h"

enum {
	PAGE = 4096,
	LEN = 64,
	NO_FLAG = 1 << 20,
	NO_TYPE = 99,
	READ = IB_ACCESS_REMOTE_READ,
	WRITE = IB_ACCESS_REMOTE_WRITE
};

#define HALF_OF_ALL (UINT64_C(1) << 63)

#define must_refuse(call) must_fail(-EINVAL, (int)PTR_ERR(call))

/* --- memory --- */

static void physical(struct tb *tb, struct kv *x)
{
	static const struct {
		const char *name;
		int n;
		uint64_t iova_offset, first_offset, first_size, second_offset;
		unsigned access;
		uint64_t more; /* bytes of the second buffer */
	} rows[] = {{"no buffer", 0, 0, 0, PAGE, 0, 0, 0},
		    {"another offset in the page", 1, 8, 0, LEN, 0, 0, 0},
		    {"a gap before the second buffer", 2, 0, 0, PAGE, 8, 0, 0},
		    {"a gap behind the first buffer", 2, 0, 0, PAGE - 8, 0, 0, 0},
		    {"nothing", 1, 0, 0, 0, 0, 0, 0},
		    {"more than there is", 2, 0, 0, UINT64_MAX - PAGE + 1, 0, 0, 0},
		    {"more than 64 bits say", 2, 0, 0, HALF_OF_ALL, 0, 0, HALF_OF_ALL},
		    {"a remote write without a local one", 1, 0, 0, PAGE, 0, WRITE, 0}};
	struct ib_phys_buf right = {x->bus + 8, LEN};
	uint64_t begins = 8;
	struct ib_mr *mr;

	for_each_row(i, rows) {
		struct ib_phys_buf buf[2] = {{x->bus + rows[i].first_offset, rows[i].first_size},
					     {x->bus + 4 * PAGE + rows[i].second_offset,
					      PAGE - rows[i].second_offset + rows[i].more}};
		uint64_t iova = x->bus + rows[i].iova_offset;

		name_row("%s", rows[i].name);
		must_refuse(ib_reg_phys_mr(x->pd, buf, rows[i].n, (int)rows[i].access, &iova));
	}
	name_row("right");
	mr = kv_made(ib_reg_phys_mr(x->pd, &right, 1, READ, &begins));
	if (mr)
		must(ib_dereg_mr(mr));
}

/* Memory of a process at an address of its own. Source: Linux ib_uverbs_reg_mr */
static void of_process(struct tb *tb, struct kv *x)
{
	const uint64_t iova = UINT64_C(0x987650000000) + 8;
	struct ib_mr *mr;

	must_refuse(ib_reg_user_mr(x->pd, x->mem + 8, 0, iova, READ));
	must_refuse(ib_reg_user_mr(x->pd, x->mem + 8, LEN, UINT64_MAX - LEN + 2, READ));
	must_refuse(ib_reg_user_mr(x->pd, x->mem + 8, LEN, iova, WRITE));
	must_refuse(ib_reg_user_mr(x->pd, x->mem + 8, LEN, iova, NO_FLAG));
	mr = kv_made(ib_reg_user_mr(x->pd, x->mem + 8, LEN, iova, READ));
	if (!mr)
		return;
	expect_equal(mr->iova, iova);
	expect_equal(mr->length, LEN);
	expect_equal(mr->type, IB_MR_TYPE_USER);
	expect_true(mr->pd == x->pd && mr->device == x->device);
	must(ib_dereg_mr(mr));
}

/* What is allocated for the device is zero, whoever had it before. Source: Linux dma_alloc_coherent */
static void coherent(struct tb *tb, struct kv *x)
{
	for (unsigned times = 0; times < 2; times++) {
		uint64_t bus = 0;
		uint8_t *mem = ib_dma_alloc_coherent(x->device, 2 * PAGE, &bus);

		expect_true(mem && bus);
		for (unsigned i = 0; mem && i < 2 * PAGE && still_right(); i++)
			expect_equal(mem[i], 0);
		if (!mem)
			return;
		memset(mem, 0xdd, 2 * PAGE);
		ib_dma_free_coherent(x->device, 2 * PAGE, mem);
	}
}

static void regions(struct tb *tb, struct kv *x)
{
	static const unsigned sizes[] = {0, PAGE / 2, PAGE + 512, 3 * PAGE};
	struct drv_list pool;
	struct scatterlist sg;
	struct ib_mr *mr = kv_made(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, 2)), *all;

	must_refuse(ib_get_dma_mr(x->pd, WRITE));
	must_refuse(ib_get_dma_mr(x->pd, IB_ACCESS_REMOTE_ATOMIC));
	must_refuse(ib_get_dma_mr(x->pd, NO_FLAG));
	must_refuse(ib_alloc_mr(x->pd, IB_MR_TYPE_DMA, 1));
	must_refuse(ib_alloc_fast_reg_mr(x->pd, 0));
	must_refuse(ib_alloc_fast_reg_page_list(x->device, 0));
	must_refuse(ib_alloc_fast_reg_page_list(
		x->device, (int)x->device->attrs.max_fast_reg_page_list_len + 1));
	must_refuse(ib_alloc_mw(x->pd, (enum ib_mw_type)NO_TYPE));
	drv_list_init(&pool);
	must_fail(-EINVAL, ib_mr_pool_init(x->qp, &pool, 1, IB_MR_TYPE_MEM_REG, 2, 1));
	expect_true(drv_list_empty(&pool));
	all = kv_made(ib_get_dma_mr(x->pd, READ));
	if (!mr || !all)
		return;
	sg_init_table(&sg, 1);
	sg_set_buf(&sg, x->mem, PAGE);
	must_fail(1, ib_dma_map_sg(x->device, &sg, 1, DMA_BIDIRECTIONAL));
	for_each_row(i, sizes) {
		name_row("blocks of %u", sizes[i]);
		must_fail(-EINVAL, ib_map_mr_sg(mr, &sg, 1, NULL, sizes[i]));
	}
	must_fail(-EINVAL, ib_map_mr_sg(all, &sg, 1, NULL, PAGE));
	must_fail(1, ib_map_mr_sg(mr, &sg, 1, NULL, PAGE));
	ib_dma_unmap_sg(x->device, &sg, 1, DMA_BIDIRECTIONAL);
	sg_set_buf(&sg, x->mem + PAGE, PAGE / 4); /* the same list, mapped again */
	must_fail(1, ib_dma_map_sg(x->device, &sg, 1, DMA_BIDIRECTIONAL));
	expect_equal(sg_dma_len(&sg), PAGE / 4);
	must_fail(1, ib_map_mr_sg(mr, &sg, 1, NULL, PAGE));
	expect_equal(mr->length, PAGE / 4);
	ib_dma_unmap_sg(x->device, &sg, 1, DMA_BIDIRECTIONAL);
	must(ib_dereg_mr(all));
	must(ib_dereg_mr(mr));
}

/* --- objects --- */

/* XRC queue pairs have no SRQ of their own, and an SRQ of XRC serves no other queue pairs. */
static void srqs(struct tb *tb, struct kv *x, const struct ib_qp_init_attr *init)
{
	struct ib_srq_init_attr basic = {.attr = {.max_wr = 1, .max_sge = 1}},
				of_xrc = {.srq_type = IB_SRQT_XRC,
					  .attr = {.max_wr = 1, .max_sge = 1},
					  .ext = {.cq = x->cq}};
	struct ib_qp_init_attr wrong = *init;
	struct ib_srq *other = NULL;

	wrong.xrcd = of_xrc.ext.xrc.xrcd = kv_made(ib_alloc_xrcd(x->device));
	wrong.srq = kv_made(ib_create_srq(x->pd, &basic));
	if (still_right())
		other = kv_made(ib_create_srq(x->pd, &of_xrc));
	if (!other)
		return;
	wrong.qp_type = IB_QPT_XRC_TGT;
	must_refuse(ib_create_qp(NULL, &wrong));
	wrong.qp_type = IB_QPT_XRC_INI;
	must_refuse(ib_create_qp(x->pd, &wrong));
	expect_equal(wrong.srq->usecnt, 0);
	must(ib_destroy_srq(wrong.srq));
	wrong.xrcd = NULL;
	wrong.srq = other;
	for (unsigned type = IB_QPT_RC; type <= IB_QPT_UD; type++) {
		name_row("an SRQ of XRC for type %u", type);
		wrong.qp_type = (enum ib_qp_type)type;
		must_refuse(ib_create_qp(x->pd, &wrong));
	}
	expect_equal(other->usecnt, 0);
	must(ib_destroy_srq(other));
	must(ib_dealloc_xrcd(of_xrc.ext.xrc.xrcd));
}

static void objects(struct tb *tb, struct kv *x)
{
	struct ib_qp_init_attr init = {.send_cq = x->cq,
				       .recv_cq = x->cq,
				       .cap = {.max_send_wr = 1, .max_send_sge = 1}},
			       wrong = init;

	must_refuse(ib_alloc_pd(x->device, NO_FLAG));
	must_fail(-EBUSY, ib_dealloc_pd(x->pd));
	must_fail(-EBUSY, ib_destroy_cq(x->cq));
	must_fail(-EBUSY, ib_device_destroy(x->device));
	must_fail(-EINVAL, ib_close_qp(x->qp));
	wrong.qp_type = (enum ib_qp_type)NO_TYPE;
	must_refuse(ib_create_qp(x->pd, &wrong));
	wrong.qp_type = IB_QPT_UD;
	wrong.cap.max_rdma_ctxs = 1;
	must_refuse(ib_create_qp(x->pd, &wrong));
	wrong = init;
	wrong.qp_type = IB_QPT_RC;
	wrong.recv_cq = NULL;
	must_refuse(ib_create_qp(x->pd, &wrong));
	must_refuse(ib_create_qp(NULL, &wrong));
	wrong.qp_type = IB_QPT_XRC_TGT;
	must_refuse(ib_create_qp(x->pd, &wrong));
	srqs(tb, x, &init);
	expect_true(!ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_RESET, (enum ib_qp_type)NO_TYPE, 0));
	expect_true(ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_RESET, IB_QPT_RC, 0));
}

/* Ports are numbered from 1. */
static void ports(struct tb *tb, struct tb_end *a)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT};
	uint8_t wrong[] = {0, 0, UINT8_MAX};
	struct kv x;

	if (!kv_open(a, &x, .alloc_cq = true))
		return;
	wrong[1] = (uint8_t)(x.device->phys_port_cnt + 1);
	for_each_row(i, wrong) {
		attr.port_num = wrong[i];
		name_row("port %u", wrong[i]);
		must_fail(-EINVAL, ib_modify_qp(x.qp, &attr,
						IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
							IB_QP_ACCESS_FLAGS));
	}
	kv_close(&x);
}

/* A CQ in use stays, and works afterwards. */
static void used_cq(struct tb *tb, struct tb_end *a)
{
	struct kv x;

	if (!kv_open(a, &x, .alloc_cq = true))
		return;
	ib_free_cq(x.cq);
	expect_equal(x.cq->usecnt, 2);
	kv_close(&x);
}

static void texts(struct tb *tb)
{
	expect_true(!strcmp(ib_event_msg(IB_EVENT_COMM_EST), "communication established"));
	expect_true(!strcmp(ib_event_msg((enum ib_event_type)NO_TYPE), "unrecognized event"));
	expect_true(!strcmp(ib_wc_status_msg((enum ib_wc_status)NO_TYPE), "unrecognized status"));
}

/* --- requests --- */

/* A right request, then the wrong one: the first is sent, and the second named. */
static void wrong_second(struct tb *tb, struct kv *x, const char *name, struct ib_send_wr *wrong)
{
	struct ib_sge sge = kv_sge(x, 0, LEN);
	struct ib_rdma_wr right = {.wr = {.next = wrong,
					  .wr_id = 7,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IB_WR_RDMA_WRITE,
					  .send_flags = IB_SEND_SIGNALED}};
	const struct ib_send_wr *bad = NULL;

	name_row("%s", name);
	right.remote_addr = x->bus + PAGE;
	right.rkey = x->pd->unsafe_global_rkey;
	must_fail(-EINVAL, ib_post_send(x->qp, &right.wr, &bad));
	expect_true(bad == wrong);
	kv_wait(x, 7, IB_WC_SUCCESS);
	expect_equal(ib_poll_cq(x->cq, 1, &x->wc), 0);
}

static void requests(struct tb *tb, struct kv *x)
{
	struct ib_mr *mr = kv_made(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, 2));
	struct ib_fast_reg_page_list *list = kv_made(ib_alloc_fast_reg_page_list(x->device, 2));
	struct ib_reg_wr reg = {.wr = {.opcode = IB_WR_REG_MR}};
	struct ib_fast_reg_wr fast = {.wr = {.opcode = IB_WR_FAST_REG_MR}, .rkey = 1};
	struct ib_rdma_wr read = {.wr = {.opcode = IB_WR_RDMA_READ_WITH_INV}};
	struct ib_send_wr negative = {.opcode = IB_WR_SEND, .num_sge = -1},
			  unknown = {.opcode = (enum ib_wr_opcode)NO_TYPE};

	if (!mr || !list)
		return;
	reg.key = mr->rkey;
	wrong_second(tb, x, "a registration of nothing", &reg.wr);
	reg.mr = mr;
	reg.key = 0;
	wrong_second(tb, x, "a registration without a key", &reg.wr);
	wrong_second(tb, x, "a registration without a list", &fast.wr);
	fast.page_list = list;
	fast.page_list_len = 3;
	wrong_second(tb, x, "a list longer than it is", &fast.wr);
	fast.page_list_len = 1;
	fast.rkey = 0;
	wrong_second(tb, x, "a list without a key", &fast.wr);
	wrong_second(tb, x, "a READ that invalidates", &read.wr);
	wrong_second(tb, x, "fewer than no entries", &negative);
	wrong_second(tb, x, "another opcode", &unknown);
	ib_free_fast_reg_page_list(list);
	must(ib_dereg_mr(mr));
}

static void completions(struct tb *tb, struct kv *x)
{
	must_fail(-EINVAL, ib_poll_cq(x->cq, -1, &x->wc));
	must_fail(0, ib_poll_cq(x->cq, 0, &x->wc));
	must_fail(-EINVAL, ib_req_notify_cq(x->cq, 0));
	must_fail(-EINVAL, ib_req_notify_cq(x->cq, IB_CQ_REPORT_MISSED_EVENTS));
	must_fail(-EINVAL,
		  ib_req_notify_cq(x->cq, (enum ib_cq_notify_flags)(IB_CQ_NEXT_COMP | NO_FLAG)));
}

/* --- contexts of READ and WRITE --- */

/* How many contexts a transfer of so many pages needs: none for none, one up to what one can do. */
static void factor(struct tb *tb, struct ib_device *device)
{
	struct ib_qp_init_attr many = {.cap = {.max_send_wr = 9, .max_rdma_ctxs = UINT32_MAX - 7}};

	/* the room for all contexts is more than the device has */
	rdma_rw_init_qp(device, &many);
	expect_equal(many.cap.max_send_wr, device->attrs.max_qp_wr);
	for (unsigned forced = 0; forced < 2; forced++) {
		unsigned most;

		name_row("%s", forced ? "registered" : "as entries");
		device->rdma_rw_force_mr = forced;
		expect_equal(rdma_rw_mr_factor(device, 1, 0), 0);
		for (most = 1; rdma_rw_mr_factor(device, 1, most + 1) == 1 && most < PAGE; most++)
			;
		expect_that(most, <=,
			    forced ? device->attrs.max_fast_reg_page_list_len
				   : device->attrs.max_sge_rd);
		expect_equal(rdma_rw_mr_factor(device, 1, 1), 1);
		expect_equal(rdma_rw_mr_factor(device, 1, 3 * most), 3);
		expect_equal(rdma_rw_mr_factor(device, 1, 3 * most + 1), 4);
	}
	device->rdma_rw_force_mr = false;
}

static void contexts(struct tb *tb, struct kv *x)
{
	struct rdma_rw_ctx ctx;
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_set_buf(&sg, x->mem, LEN);
	must_fail(-EINVAL, rdma_rw_ctx_init(&ctx, x->qp, 0, &sg, 1, 0, 0, 0, DMA_TO_DEVICE));
	must_fail(-EINVAL, rdma_rw_ctx_init(&ctx, x->qp, x->device->phys_port_cnt + 1u, &sg, 1, 0,
					    0, 0, DMA_TO_DEVICE));
	must_fail(-EINVAL, rdma_rw_ctx_init(&ctx, x->qp, 1, &sg, 0, 0, 0, 0, DMA_TO_DEVICE));
	must_fail(-EINVAL, rdma_rw_ctx_init(&ctx, x->qp, 1, &sg, 1, 0, 0, 0, DMA_BIDIRECTIONAL));
	must_fail(-EINVAL, rdma_rw_ctx_init(&ctx, x->qp, 1, &sg, 1, LEN, 0, 0, DMA_TO_DEVICE));
}

SCENARIO(kernel_refused, "kernel verbs refuse what is wrong in itself", .no_qps = true,
	 .any_packets = true)
{
	struct ib_pd *pd = kv_made(ib_alloc_pd(ib_device_of(a), IB_PD_UNSAFE_GLOBAL_RKEY));
	struct kv x;

	if (!pd || !kv_open(a, &x, .pd = pd) || !kv_connect(&x, &x))
		return;
	physical(tb, &x);
	of_process(tb, &x);
	coherent(tb, &x);
	regions(tb, &x);
	objects(tb, &x);
	ports(tb, a);
	used_cq(tb, a);
	texts(tb);
	requests(tb, &x);
	completions(tb, &x);
	factor(tb, x.device);
	contexts(tb, &x);
	kv_close(&x);
	must(ib_dealloc_pd(pd));
}
