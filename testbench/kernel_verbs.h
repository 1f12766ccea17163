/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For scenarios of kernel verbs. A struct kv is one side of a connection: PD, CQ, queue pair and
 * memory, made with the ib_* functions of host_driver/core. The body makes any other objects itself
 * and destroys them; kv_close() destroys those of the struct kv.
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

/* A member that is 0 has the default in brackets. */
struct kv_setup {
	enum ib_qp_type type; /* [RC] */
	unsigned queue;       /* max requests in each queue [KV_QUEUE] */
	unsigned sges;        /* max entries of a request [4] */
	unsigned inline_bytes;
	unsigned cqe;                  /* [2 * queue + 2] */
	struct ib_cq *cq;              /* an existing CQ to use [a new one] */
	struct ib_cq *recv_cq;         /* an existing CQ for receives [the same CQ as for sends] */
	struct ib_srq *srq;            /* [none: the queue pair has a receive queue of its own] */
	struct ib_pd *pd;              /* an existing PD to use [a new one] */
	unsigned rdma_ctxs;            /* max_rdma_ctxs of ib_qp_cap */
	bool alloc_cq;                 /* create the CQ with ib_alloc_cq() ... */
	enum ib_poll_context poll_ctx; /* ... and this poll context */
};

struct kv {
	struct tb_end *end;
	struct kv_setup setup;
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	uint8_t *mem;         /* KV_BYTES, mapped for DMA and filled with a pattern */
	uint64_t bus;         /* bus address of mem */
	unsigned comp_events; /* completion events of the CQ; not counted with alloc_cq */
	struct ib_wc wc;      /* the completion that kv_wait took */
};

/* clang-format off */
#define kv_open(end, kv, ...) tb_kv_open(tb, TB_HERE, end, kv, &(const struct kv_setup){__VA_ARGS__})
bool tb_kv_open(struct tb *tb, const char *here, struct tb_end *end, struct kv *kv, const struct kv_setup *setup);
/* Moves both queue pairs to RTS. RC and UC queue pairs are connected to each other. With UD, x and y may be the same. */
#define kv_connect(x, y) tb_kv_connect(tb, TB_HERE, x, y)
bool tb_kv_connect(struct tb *tb, const char *here, struct kv *x, struct kv *y);
/* The same for x only: y is only read, for its queue pair number and its end. */
#define kv_start(x, y) tb_kv_start(tb, TB_HERE, x, y)
bool tb_kv_start(struct tb *tb, const char *here, struct kv *x, const struct kv *y);
/* The address of an end: its LID, or on an Ethernet port its GID. */
struct rdma_ah_attr kv_ah_to(const struct tb_end *to);
/* As kv_start(), with this address. The step to RTR must have that result, and is the last one unless it is 0. */
#define kv_start_by(x, y, ah, result) tb_kv_start_by(tb, TB_HERE, x, y, ah, result)
bool tb_kv_start_by(struct tb *tb, const char *here, struct kv *x, const struct kv *y, const struct rdma_ah_attr *ah, int result);
/* Polls for one completion, which is stored in kv->wc and must have that wr_id and status. */
#define kv_wait(kv, wr_id, status) tb_kv_wait(tb, TB_HERE, kv, wr_id, status)
bool tb_kv_wait(struct tb *tb, const char *here, struct kv *kv, uint64_t wr_id, enum ib_wc_status status);
#define kv_close(kv) tb_kv_close(tb, TB_HERE, kv)
void tb_kv_close(struct tb *tb, const char *here, struct kv *kv);
/* Passes on the result of a function that returns ERR_PTR. An error fails the run and becomes NULL. */
#define kv_made(call) tb_kv_made(tb, TB_HERE, #call, call)
void *tb_kv_made(struct tb *tb, const char *here, const char *call, void *object);
/* Sleeps until *counter reaches `want`, for at most 10 s. */
#define kv_until(counter, want) tb_kv_until(tb, TB_HERE, #counter, counter, want)
bool tb_kv_until(struct tb *tb, const char *here, const char *text, const unsigned *counter, unsigned want);
/* The bytes at x and y must become equal within 20 us: posted writes may still be in flight. */
#define kv_same(x, y, len) tb_kv_same(tb, TB_HERE, x, y, len)
void tb_kv_same(struct tb *tb, const char *here, const void *x, const void *y, size_t len);

/* Allocates memory of the end's host, outside the areas, filled with a pattern. It is not mapped for DMA. */
#define kv_memory(end, bytes) tb_kv_memory(tb, TB_HERE, end, bytes)
void *tb_kv_memory(struct tb *tb, const char *here, struct tb_end *end, size_t bytes);
#define kv_memory_free(end, mem, bytes) (end)->platform->ops->user_free((end)->platform, mem, bytes)
/* clang-format on */

/* A gather or scatter entry of kv->mem with the local DMA key. */
static inline struct ib_sge kv_sge(const struct kv *kv, uint64_t offset, uint32_t length)
{
	return (struct ib_sge){
		.addr = kv->bus + offset, .length = length, .lkey = kv->pd->local_dma_lkey};
}

#endif
