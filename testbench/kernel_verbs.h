/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For scenarios of kernel verbs: one side with its PD, CQ, queue pair and memory, made with the
 * ib_* functions of host_driver/core. The body makes what else it needs, and gives back what it has
 * made; kv_close() gives back the rest.
 *
 *	struct kv x, y;
 *
 *	kv_open(a, &x, .cqe = 16);
 *	kv_open(b, &y);
 *	kv_connect(&x, &y);
 *	...
 *	kv_close(&y);
 *	kv_close(&x);
 */
#ifndef TESTBENCH_KERNEL_VERBS_H
#define TESTBENCH_KERNEL_VERBS_H

#include "testbench/process.h"

#include <errno.h>

enum { KV_BYTES = 64 * 1024, KV_QUEUE = 32, KV_QKEY = 0x11111111, KV_PSN = 0xfffffe };

/* Zeros mean what is said in brackets. */
struct kv_setup {
	enum ib_qp_type type; /* [RC] */
	unsigned queue;       /* requests of a queue, each [KV_QUEUE] */
	unsigned sges;        /* of a request [4] */
	unsigned inline_bytes;
	unsigned cqe;                  /* [2 * queue + 2] */
	struct ib_cq *cq;              /* of somebody else, instead of an own one */
	struct ib_cq *recv_cq;         /* of somebody else, for receives [the CQ] */
	struct ib_srq *srq;            /* instead of an own receive queue */
	struct ib_pd *pd;              /* of somebody else */
	unsigned rdma_ctxs;            /* max_rdma_ctxs */
	bool alloc_cq;                 /* the CQ is one of ib_alloc_cq() ... */
	enum ib_poll_context poll_ctx; /* ... with this context */
};

struct kv {
	struct tb_end *end;
	struct kv_setup setup;
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	uint8_t *mem; /* KV_BYTES of a pattern, mapped */
	uint64_t bus;
	unsigned comp_events; /* of the CQ, when it is not of ib_alloc_cq */
	struct ib_wc wc;      /* of kv_wait */
};

/* clang-format off */
#define kv_open(end, kv, ...) tb_kv_open(tb, TB_HERE, end, kv, &(const struct kv_setup){__VA_ARGS__})
bool tb_kv_open(struct tb *tb, const char *here, struct tb_end *end, struct kv *kv, const struct kv_setup *setup);
/* RC and UC: RTS, to each other. UD: RTS, each by itself; x and y may be one. */
#define kv_connect(x, y) tb_kv_connect(tb, TB_HERE, x, y)
bool tb_kv_connect(struct tb *tb, const char *here, struct kv *x, struct kv *y);
/* x only; of y the queue pair and its end are looked at. */
#define kv_start(x, y) tb_kv_start(tb, TB_HERE, x, y)
bool tb_kv_start(struct tb *tb, const char *here, struct kv *x, const struct kv *y);
/* One completion into kv->wc, which must be so; polls memory. */
#define kv_wait(kv, wr_id, status) tb_kv_wait(tb, TB_HERE, kv, wr_id, status)
bool tb_kv_wait(struct tb *tb, const char *here, struct kv *kv, uint64_t wr_id, enum ib_wc_status status);
#define kv_close(kv) tb_kv_close(tb, TB_HERE, kv)
void tb_kv_close(struct tb *tb, const char *here, struct kv *kv);
/* An object as ERR_PTR functions return it: NULL after a failure, which fails the run. */
#define kv_made(call) tb_kv_made(tb, TB_HERE, #call, call)
void *tb_kv_made(struct tb *tb, const char *here, const char *call, void *object);
/* Sleeps until *flag reaches `want`, at most 10 s. */
#define kv_until(counter, want) tb_kv_until(tb, TB_HERE, #counter, counter, want)
bool tb_kv_until(struct tb *tb, const char *here, const char *text, const unsigned *counter, unsigned want);
/* The bytes at two places become equal within 20 us, while writes are on their way. */
#define kv_same(x, y, len) tb_kv_same(tb, TB_HERE, x, y, len)
void tb_kv_same(struct tb *tb, const char *here, const void *x, const void *y, size_t len);

/* Memory of an end's host beside the areas, with a pattern; mapped by nobody. */
#define kv_memory(end, bytes) tb_kv_memory(tb, TB_HERE, end, bytes)
void *tb_kv_memory(struct tb *tb, const char *here, struct tb_end *end, size_t bytes);
#define kv_memory_free(end, mem, bytes) (end)->platform->ops->user_free((end)->platform, mem, bytes)
/* clang-format on */

/* One entry with the reserved key. */
static inline struct ib_sge kv_sge(const struct kv *kv, uint64_t offset, uint32_t length)
{
	return (struct ib_sge){
		.addr = kv->bus + offset, .length = length, .lkey = kv->pd->local_dma_lkey};
}

#endif
