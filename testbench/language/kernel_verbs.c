/* SPDX-License-Identifier: Apache-2.0 */
/* See kernel_verbs.h. */
#include "testbench/kernel_verbs.h"
#include "testbench/services.h"
#include "testbench/language/tb.h"

#include <inttypes.h>

enum {
	SGES = 4,
	TIMEOUT = 14,
	RETRIES = 7,
	RNR_TIMER = 12,
	READS = 4,
	LIMIT_S = 10,
	STEP_US = 1,
	LANDING_US = 20,
	INIT_MASK = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT,
	RTR_MASK = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
	RTS_MASK = IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
	ALL_ACCESS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
		     IB_ACCESS_REMOTE_ATOMIC,
};

void *tb_kv_made(struct tb *tb, const char *here, const char *call, void *object)
{
	const bool made = tb_must(tb, here, call, IS_ERR(object) ? (int)PTR_ERR(object) : 0, 0);

	return made && !IS_ERR(object) ? object : NULL;
}

/* A pattern in which each byte differs from its neighbours and from the bytes a page away. */
static void pattern(uint8_t *at, size_t bytes, unsigned seed)
{
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);

	for (size_t i = 0; i < bytes; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at[i] = (uint8_t)(x >> 32);
	}
}

void *tb_kv_memory(struct tb *tb, const char *here, struct tb_end *end, size_t bytes)
{
	void *mem;

	if (!tb_go(tb, here))
		return NULL;
	mem = end->platform->ops->user_alloc(end->platform, bytes);
	if (!mem)
		tb_fail(tb, here, "memory of the host", NULL);
	else
		pattern(mem, bytes, 2 + end->index);
	return mem;
}

static void event_came(struct ib_cq *cq, void *context)
{
	struct kv *kv = context;

	kv->comp_events++;
	tb_poke(kv->end->tb);
}

static struct ib_cq *cq_open(struct kv *kv)
{
	const struct ib_cq_init_attr attr = {.cqe = kv->setup.cqe};

	if (kv->setup.alloc_cq)
		return ib_alloc_cq(kv->device, kv, (int)kv->setup.cqe, 0, kv->setup.poll_ctx);
	return ib_create_cq(kv->device, event_came, NULL, kv, &attr);
}

static struct ib_qp *qp_open(struct kv *kv)
{
	const struct kv_setup *s = &kv->setup;
	struct ib_qp_init_attr attr = {
		.send_cq = kv->cq,
		.recv_cq = s->recv_cq ? s->recv_cq : kv->cq,
		.srq = s->srq,
		.cap = {.max_send_wr = s->queue,
			.max_recv_wr = s->srq ? 0 : s->queue,
			.max_send_sge = s->sges,
			.max_recv_sge = s->srq ? 0 : s->sges,
			.max_inline_data = s->inline_bytes,
			.max_rdma_ctxs = s->rdma_ctxs},
		.port_num = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = s->type,
	};

	return ib_create_qp(kv->pd, &attr);
}

bool tb_kv_open(struct tb *tb, const char *here, struct tb_end *end, struct kv *kv,
		const struct kv_setup *setup)
{
	*kv = (struct kv){.end = end, .setup = *setup};
	kv->setup.type = setup->type ? setup->type : IB_QPT_RC;
	kv->setup.queue = setup->queue ? setup->queue : KV_QUEUE;
	kv->setup.sges = setup->sges ? setup->sges : SGES;
	kv->setup.cqe = setup->cqe ? setup->cqe : 2 * kv->setup.queue + 2;
	kv->device = tb_ib_device(tb, here, end);
	kv->mem = kv->device ? tb_kv_memory(tb, here, end, KV_BYTES) : NULL;
	if (!kv->mem)
		return false;
	kv->bus = ib_dma_map_single(kv->device, kv->mem, KV_BYTES, DMA_BIDIRECTIONAL);
	kv->pd = setup->pd ? setup->pd
			   : tb_kv_made(tb, here, "ib_alloc_pd", ib_alloc_pd(kv->device, 0));
	if (!kv->pd)
		return false;
	kv->cq = setup->cq ? setup->cq : tb_kv_made(tb, here, "a CQ", cq_open(kv));
	if (!kv->cq)
		return false;
	kv->qp = tb_kv_made(tb, here, "ib_create_qp", qp_open(kv));
	return kv->qp;
}

struct rdma_ah_attr kv_ah_to(const struct tb_end *to)
{
	const struct drv_ah_attr drv = ah_to(to);
	struct rdma_ah_attr ah = {.dlid = drv.dlid, .port_num = (uint8_t)drv.port_num};

	if (!drv.is_global)
		return ah;
	ah.ah_flags = IB_AH_GRH;
	ah.grh.sgid_index = (uint8_t)drv.sgid_index;
	ah.grh.hop_limit = (uint8_t)drv.hop_limit;
	memcpy(ah.grh.dgid.raw, drv.dgid, sizeof(drv.dgid));
	return ah;
}

bool tb_kv_start(struct tb *tb, const char *here, struct kv *x, const struct kv *y)
{
	const struct rdma_ah_attr ah = kv_ah_to(y->end);

	return tb_kv_start_by(tb, here, x, y, &ah, 0);
}

bool tb_kv_start_by(struct tb *tb, const char *here, struct kv *x, const struct kv *y,
		    const struct rdma_ah_attr *ah, int result)
{
	const enum ib_qp_type type = x->setup.type;
	const bool ud = type == IB_QPT_UD, rc = type == IB_QPT_RC;
	const bool requester = rc || type == IB_QPT_XRC_INI;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qkey = KV_QKEY,
		.qp_access_flags = ALL_ACCESS,
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = y->qp->qp_num,
		.rq_psn = KV_PSN,
		.sq_psn = KV_PSN,
		.max_rd_atomic = READS,
		.max_dest_rd_atomic = READS,
		.min_rnr_timer = RNR_TIMER,
		.timeout = TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RETRIES,
		.ah_attr = *ah,
	};
	const unsigned init = INIT_MASK | (ud ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS);
	const unsigned rtr =
		ud ? IB_QP_STATE
		   : RTR_MASK | (rc ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0);
	const unsigned rts = IB_QP_STATE | IB_QP_SQ_PSN | (requester ? RTS_MASK : 0);

	if (!tb_go(tb, here) || !tb_must(tb, here, "to INIT", ib_modify_qp(x->qp, &attr, init), 0))
		return false;
	attr.qp_state = IB_QPS_RTR;
	if (!tb_must(tb, here, "to RTR", ib_modify_qp(x->qp, &attr, rtr), result) || result)
		return false;
	attr.qp_state = IB_QPS_RTS;
	return tb_must(tb, here, "to RTS", ib_modify_qp(x->qp, &attr, rts), 0);
}

bool tb_kv_connect(struct tb *tb, const char *here, struct kv *x, struct kv *y)
{
	return tb_kv_start(tb, here, x, y) && (x == y || tb_kv_start(tb, here, y, x));
}

bool tb_kv_wait(struct tb *tb, const char *here, struct kv *kv, uint64_t wr_id,
		enum ib_wc_status status)
{
	const uint64_t deadline = tb_now(tb) + CFG_S(LIMIT_S);
	char expected[96], got[96];
	int n = 0;

	if (!tb_go(tb, here))
		return false;
	while (!(n = ib_poll_cq(kv->cq, 1, &kv->wc)) && !drv_cq_wait(kv->cq->drv, deadline))
		;
	if (n == 1 && kv->wc.wr_id == wr_id && kv->wc.status == status)
		return true;
	snprintf(expected, sizeof(expected), "completion at %s: wr_id %" PRIu64 ", %s",
		 kv->end->name, wr_id, ib_wc_status_msg(status));
	if (n == 1)
		snprintf(got, sizeof(got), "wr_id %" PRIu64 ", %s, vendor_err %u", kv->wc.wr_id,
			 ib_wc_status_msg(kv->wc.status), kv->wc.vendor_err);
	else
		snprintf(got, sizeof(got), n ? "ib_poll_cq gives %d" : "none in time", n);
	tb_fail(tb, here, expected, got);
	return false;
}

void tb_kv_close(struct tb *tb, const char *here, struct kv *kv)
{
	if (!tb_go(tb, here))
		return;
	tb_must(tb, here, "ib_destroy_qp", ib_destroy_qp(kv->qp), 0);
	if (!kv->setup.cq && kv->setup.alloc_cq)
		ib_free_cq(kv->cq);
	else if (!kv->setup.cq)
		tb_must(tb, here, "ib_destroy_cq", ib_destroy_cq(kv->cq), 0);
	if (!kv->setup.pd)
		tb_must(tb, here, "ib_dealloc_pd", ib_dealloc_pd(kv->pd), 0);
	if (!kv->mem)
		return;
	ib_dma_unmap_single(kv->device, kv->bus, KV_BYTES, DMA_BIDIRECTIONAL);
	kv_memory_free(kv->end, kv->mem, KV_BYTES);
}

struct wish {
	const unsigned *counter;
	unsigned want;
};

static bool has_come(struct tb *tb, void *arg)
{
	const struct wish *w = arg;

	return *w->counter >= w->want;
}

bool tb_kv_until(struct tb *tb, const char *here, const char *text, const unsigned *counter,
		 unsigned want)
{
	const uint64_t deadline = tb_now(tb) + CFG_S(LIMIT_S);
	struct wish wish = {counter, want};
	char expected[96], got[32];

	while (tb_go(tb, here) && !has_come(tb, &wish) && tb_now(tb) < deadline)
		tb_pass_time(tb, here, CFG_US(STEP_US));
	if (!tb_right(tb) || has_come(tb, &wish))
		return tb_right(tb);
	snprintf(expected, sizeof(expected), "%s reaches %u", text, want);
	snprintf(got, sizeof(got), "%u", *counter);
	tb_fail(tb, here, expected, got);
	return false;
}

struct pair {
	const void *x, *y;
	size_t len;
};

static bool is_same(struct tb *tb, void *arg)
{
	const struct pair *p = arg;

	return !memcmp(p->x, p->y, p->len);
}

void tb_kv_same(struct tb *tb, const char *here, const void *x, const void *y, size_t len)
{
	struct pair pair = {x, y, len};

	if (tb_go(tb, here) && !tb_wait_polling(tb, is_same, &pair, CFG_US(LANDING_US)))
		tb_fail(tb, here, "equal bytes at both places", "they differ");
}
