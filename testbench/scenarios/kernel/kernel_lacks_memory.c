/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call of kernel verbs or of connection management allocates some,
 * one after the other; then the firmware refuses each of its commands in turn. The call says -ENOMEM
 * and gives back what it had taken until then. The next one succeeds.
 */
/* behaviours: FAULT-no-memory FAULT-command-status */
#include "host_driver/core/include/rdma/rw.h"
#include "testbench/connect.h"
#include "testbench/harm.h"
#include "testbench/kernel_verbs.h"

enum { ENTRIES = 6, PAGE = 4096, CTXS = 2, PLACES_MAX = 100 };

/* What a call lacks, and at which place. */
struct lack {
	struct tb_end *end;
	bool commands; /* not memory: the firmware refuses commands */
	unsigned twice_nth;
	bool over;
};

static void lack_begin(struct tb *tb, const struct lack *l)
{
	if (l->commands)
		refuse_command(l->end, l->twice_nth / 2, HCR_STATUS_EXCEED_LIM);
	else
		lack_memory(l->twice_nth / 2);
}

static void lack_end(struct tb *tb, struct lack *l, long rc)
{
	l->over = !(l->commands ? refuse_command(l->end, 0, 0) : lack_memory(0));
	if (l->over)
		expect_that(rc, >=, 0);
	else
		expect_equal(rc, -ENOMEM);
	expect_that(++l->twice_nth, <, PLACES_MAX);
}

/* Makes a call that gives 0 or an error, with each place lacking in turn; each twice, as in harm.h. */
#define DO(o, call)                                                                                \
	for (struct lack l_ = {(o)->end, (o)->commands, .twice_nth = 2};                           \
	     still_right() && !l_.over;) {                                                         \
		lack_begin(tb, &l_);                                                               \
		lack_end(tb, &l_, call);                                                           \
	}

/* The same with a call that makes an object. */
#define MAKE(o, object, call) DO(o, IS_ERR((object) = (call)) ? PTR_ERR(object) : 0)

struct all {
	struct tb_end *end;
	struct ib_device *device;
	bool commands;
	struct ib_pd *pd, *global;
	struct ib_cq *cq, *polled, *worked;
	struct ib_xrcd *xrcd;
	struct ib_srq *srq;
	struct ib_qp *rc, *ud, *target, *handle;
};

static void make_queues(struct tb *tb, struct all *o)
{
	const struct ib_cq_init_attr cq = {.cqe = 8};
	struct ib_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_RC,
				       .cap = {.max_send_wr = 4,
					       .max_recv_wr = 4,
					       .max_send_sge = 1,
					       .max_recv_sge = 1,
					       .max_rdma_ctxs = CTXS},
				       .port_num = 1};

	MAKE(o, o->pd, ib_alloc_pd(o->device, 0));
	MAKE(o, o->global, ib_alloc_pd(o->device, IB_PD_UNSAFE_GLOBAL_RKEY));
	MAKE(o, o->cq, ib_create_cq(o->device, NULL, NULL, NULL, &cq));
	MAKE(o, o->polled, ib_alloc_cq(o->device, NULL, 8, 0, IB_POLL_SOFTIRQ));
	MAKE(o, o->worked, ib_alloc_cq_any(o->device, NULL, 8, IB_POLL_WORKQUEUE));
	MAKE(o, o->xrcd, ib_alloc_xrcd(o->device));
	MAKE(o, o->srq, ib_create_srq(o->pd, &srq));
	init.send_cq = init.recv_cq = o->polled;
	o->device->rdma_rw_force_mr = true;
	MAKE(o, o->rc, ib_create_qp(o->pd, &init));
	init.qp_type = IB_QPT_UD;
	init.cap.max_rdma_ctxs = 0;
	MAKE(o, o->ud, ib_create_qp(o->pd, &init));
	init = (struct ib_qp_init_attr){.qp_type = IB_QPT_XRC_TGT, .xrcd = o->xrcd};
	MAKE(o, o->target, ib_create_qp(NULL, &init));
	if (still_right())
		MAKE(o, o->handle, ib_open_qp(o->xrcd, o->target->qp_num, NULL, NULL));
}

static void query_port(struct tb *tb, struct all *o)
{
	struct ib_port_attr port;
	uint8_t own[DRV_GID_BYTES];
	union ib_gid gid;
	uint16_t pkey;

	must(drv_query_gid(o->end->dev, 1, 0, own));
	DO(o, ib_query_port(o->device, 1, &port));
	expect_equal(port.lid, o->end->lid);
	DO(o, ib_query_gid(o->device, 1, 0, &gid));
	expect_true(!memcmp(gid.raw, own, sizeof(own)));
	DO(o, ib_query_pkey(o->device, 1, 0, &pkey));
	expect_equal(pkey, 0xffff);
}

static void change_queues(struct tb *tb, struct all *o)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = 1, .qkey = 5};
	union ib_gid group = {.raw = {0xff, 0x12, 0xa0, 0x1b, [15] = 9}};
	struct ib_srq_attr srq = {0};
	struct ib_qp_init_attr init;

	DO(o, ib_modify_qp(o->ud, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_QKEY));
	attr.qp_state = IB_QPS_RTR;
	DO(o, ib_modify_qp(o->ud, &attr, IB_QP_STATE));
	attr.qp_state = IB_QPS_RTS;
	DO(o, ib_modify_qp(o->ud, &attr, IB_QP_STATE | IB_QP_SQ_PSN));
	DO(o, ib_query_qp(o->ud, &attr, IB_QP_STATE | IB_QP_QKEY, &init));
	expect_equal(attr.qp_state, IB_QPS_RTS);
	expect_equal(attr.qkey, 5);
	DO(o, ib_attach_mcast(o->ud, &group, 0xc001));
	DO(o, ib_detach_mcast(o->ud, &group, 0xc001));
	DO(o, ib_modify_srq(o->srq, &srq, IB_SRQ_LIMIT));
	DO(o, ib_query_srq(o->srq, &srq));
	expect_that(srq.max_wr, >=, 4);
	DO(o, ib_modify_cq(o->cq, 4, 16));
	DO(o, ib_resize_cq(o->cq, 40));
	expect_that(o->cq->cqe, >=, 40);
}

static void make_memory(struct tb *tb, struct all *o)
{
	struct tb_end *a = o->end;
	const struct rdma_ah_attr to = kv_ah_to(a);
	struct ib_fast_reg_page_list *list = NULL;
	struct ib_mr *fast = NULL, *dma = NULL, *phys = NULL;
	struct ib_phys_buf buf;
	struct ib_mw *mw = NULL;
	struct ib_ah *ah = NULL;
	uint8_t *mem = kv_memory(a, PAGE);
	uint64_t iova;

	if (!mem)
		return;
	buf = (struct ib_phys_buf){ib_dma_map_single(o->device, mem, PAGE, DMA_BIDIRECTIONAL),
				   PAGE};
	iova = buf.addr;
	MAKE(o, fast, ib_alloc_mr(o->pd, IB_MR_TYPE_MEM_REG, ENTRIES));
	MAKE(o, dma, ib_get_dma_mr(o->pd, IB_ACCESS_LOCAL_WRITE));
	MAKE(o, phys, ib_reg_phys_mr(o->pd, &buf, 1, IB_ACCESS_LOCAL_WRITE, &iova));
	MAKE(o, list, ib_alloc_fast_reg_page_list(o->device, ENTRIES));
	MAKE(o, mw, ib_alloc_mw(o->pd, IB_MW_TYPE_1));
	MAKE(o, ah, rdma_create_ah(o->pd, &to, 0));
	if (!still_right())
		return;
	must(rdma_destroy_ah(ah, 0));
	must(ib_dealloc_mw(mw));
	ib_free_fast_reg_page_list(list);
	must(ib_dereg_mr(phys));
	must(ib_dereg_mr(dma));
	must(ib_dereg_mr(fast));
	ib_dma_unmap_single(o->device, buf.addr, PAGE, DMA_BIDIRECTIONAL);
	kv_memory_free(a, mem, PAGE);
}

/* A transfer with requests of its own, and one with registrations. */
static void make_transfers(struct tb *tb, struct all *o)
{
	struct tb_end *a = o->end;
	uint8_t *mem = kv_memory(a, ENTRIES * PAGE);
	struct scatterlist sg[ENTRIES];
	struct rdma_rw_ctx ctx;

	if (!mem)
		return;
	sg_init_table(sg, ENTRIES);
	for (unsigned i = 0; i < ENTRIES; i++)
		sg_set_buf(&sg[i], mem + i * PAGE, PAGE);
	for (unsigned registers = 0; registers < 2; registers++) {
		o->device->rdma_rw_force_mr = registers;
		DO(o, rdma_rw_ctx_init(&ctx, o->rc, 1, sg, ENTRIES, 0, PAGE, 1, DMA_TO_DEVICE));
		rdma_rw_ctx_destroy(&ctx, o->rc, 1, sg, ENTRIES, DMA_TO_DEVICE);
	}
	expect_equal(o->rc->mrs_used, 0);
	o->device->rdma_rw_force_mr = false;
	kv_memory_free(a, mem, ENTRIES * PAGE);
}

static void make_connections(struct tb *tb, struct all *o)
{
	struct ib_cm_id *id = NULL;

	DO(o, ib_cm_attach(o->device));
	if (!still_right())
		return;
	MAKE(o, id, ib_create_cm_id(o->device, NULL, NULL));
	if (!still_right())
		return;
	ib_destroy_cm_id(id);
	must(ib_cm_detach(o->device));
}

static void destroy_queues(struct tb *tb, struct all *o)
{
	must(ib_close_qp(o->handle));
	must(ib_destroy_qp(o->target));
	must(ib_destroy_qp(o->ud));
	must(ib_destroy_qp(o->rc));
	must(ib_destroy_srq(o->srq));
	must(ib_dealloc_xrcd(o->xrcd));
	ib_free_cq(o->worked);
	ib_free_cq(o->polled);
	must(ib_destroy_cq(o->cq));
	must(ib_dealloc_pd(o->global));
	must(ib_dealloc_pd(o->pd));
}

SCENARIO(kernel_lacks_memory,
	 "each call of kernel verbs lacks memory, or a command, at each place in turn",
	 .no_qps = true, .any_packets = true)
{
	struct all o = {.end = a, .device = ib_device_of(a)};

	for (unsigned commands = 0; commands < 2 && o.device && still_right(); commands++) {
		o.commands = commands;
		query_port(tb, &o);
		make_queues(tb, &o);
		change_queues(tb, &o);
		make_memory(tb, &o);
		make_transfers(tb, &o);
		make_connections(tb, &o);
		destroy_queues(tb, &o);
	}
}
