/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device with few objects, and with another number of each kind. All of a kind are made until no
 * number is left: they are as many as the device's attributes say, and a connection whose objects have
 * the last numbers carries a message. Regions take all translations of one piece of ICM, so that a region
 * of one page has the first one of the next piece.
 */
/* behaviours: IBA-11.2.1.2-limits */
#include "testbench/kernel_verbs.h"

#include <stdlib.h>

enum {
	MOST = 1 << 12,  /* of one kind: the largest table below */
	IN_USE = 16,     /* numbers of a kind that the layers themselves use, at most */
	PIECE = 1 << 15, /* translations of 8 bytes in a piece of ICM of 256 KiB */
	PAGES = 256,     /* of a region */
	OTHERS = 2048,   /* translations that buffers of queues use, at most */
	LEN = 512,
	WR_ID = 7
};

/* What is made of: `x` is an open side of a connection. */
struct kind {
	const char *name;
	void *(*make)(struct kv *x);
	void (*end)(void *object);
	uint32_t (*most)(const struct drv_device_attr *attrs);
};

/* --- the kinds --- */

static void *cq_make(struct kv *x)
{
	return ib_create_cq(x->device, NULL, NULL, NULL, &(struct ib_cq_init_attr){.cqe = 1});
}

static void cq_end(void *cq)
{
	ib_destroy_cq(cq);
}

static uint32_t cqs(const struct drv_device_attr *attrs)
{
	return attrs->max_cq;
}

static void *srq_make(struct kv *x)
{
	return ib_create_srq(x->pd,
			     &(struct ib_srq_init_attr){.attr = {.max_wr = 1, .max_sge = 1}});
}

static void srq_end(void *srq)
{
	ib_destroy_srq(srq);
}

static uint32_t srqs(const struct drv_device_attr *attrs)
{
	return attrs->max_srq;
}

static void *qp_make(struct kv *x)
{
	return ib_create_qp(x->pd, &(struct ib_qp_init_attr){.send_cq = x->cq,
							     .recv_cq = x->cq,
							     .qp_type = IB_QPT_RC,
							     .cap = {.max_send_wr = 1,
								     .max_recv_wr = 1,
								     .max_send_sge = 1,
								     .max_recv_sge = 1}});
}

static void qp_end(void *qp)
{
	ib_destroy_qp(qp);
}

static uint32_t qps(const struct drv_device_attr *attrs)
{
	return attrs->max_qp;
}

static void *mr_make(struct kv *x)
{
	return ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, 1);
}

static void mr_end(void *mr)
{
	ib_dereg_mr(mr);
}

static uint32_t mrs(const struct drv_device_attr *attrs)
{
	return attrs->max_mr;
}

static const struct kind kinds[] = {
	{"CQs", cq_make, cq_end, cqs},
	{"SRQs", srq_make, srq_end, srqs},
	{"QPs", qp_make, qp_end, qps},
	{"MRs", mr_make, mr_end, mrs},
};

/* --- the end of the numbers --- */

/* A new connection, and an SRQ beside it: their numbers are among the last. */
static void message(struct tb *tb, struct tb_end *from, struct tb_end *to)
{
	struct kv x, y;
	struct ib_sge source, target;
	struct ib_srq *srq;

	if (!kv_open(from, &x))
		return;
	srq = kv_made(srq_make(&x));
	if (srq && kv_open(to, &y, .cqe = 8) && kv_connect(&x, &y)) {
		source = kv_sge(&y, 0, LEN);
		target = kv_sge(&x, KV_BYTES / 2, LEN);
		must(ib_post_recv(
			x.qp,
			&(struct ib_recv_wr){.wr_id = WR_ID, .sg_list = &target, .num_sge = 1},
			NULL));
		must(ib_post_send(y.qp,
				  &(struct ib_send_wr){.wr_id = WR_ID,
						       .sg_list = &source,
						       .num_sge = 1,
						       .opcode = IB_WR_SEND,
						       .send_flags = IB_SEND_SIGNALED},
				  NULL));
		kv_wait(&x, WR_ID, IB_WC_SUCCESS);
		kv_wait(&y, WR_ID, IB_WC_SUCCESS);
		kv_same(y.mem, x.mem + KV_BYTES / 2, LEN);
		kv_close(&y);
	}
	if (srq)
		ib_destroy_srq(srq);
	kv_close(&x);
}

/* Makes as many as there are. Then a few go, so that a new connection gets their numbers. */
static void all_of(struct tb *tb, struct tb_end *end, struct kv *x, const struct kind *kind)
{
	const uint32_t most = kind->most(&x->device->attrs);
	void **objects = calloc(MOST, sizeof(*objects));
	unsigned n = 0;

	while (objects && n < MOST) {
		objects[n] = kind->make(x);
		if (IS_ERR(objects[n]))
			break;
		n++;
	}
	expect_that(n, <=, most);
	expect_that(n + IN_USE, >=, most);
	if (n < MOST)
		must_fail(-ENOMEM, (int)PTR_ERR(objects[n]));
	for (unsigned i = 0; i < IN_USE && n; i++)
		kind->end(objects[--n]);
	message(tb, end, end->peer);
	while (n)
		kind->end(objects[--n]);
	free(objects);
}

static void translations(struct tb *tb, struct kv *x)
{
	enum { REGIONS = (PIECE - OTHERS) / PAGES, SINGLES = OTHERS };
	static struct ib_mr *mr[REGIONS + SINGLES];
	unsigned n = 0;

	while (n < ARRAY_SIZE(mr)) {
		mr[n] = kv_made(ib_alloc_mr(x->pd, IB_MR_TYPE_MEM_REG, n < REGIONS ? PAGES : 1));
		if (!mr[n])
			break;
		n++;
	}
	while (n)
		must(ib_dereg_mr(mr[--n]));
}

SCENARIO(kernel_numbers, "all objects of a device that has few, and another number of each kind",
	 .no_qps = true, .any_packets = true, .of_mlx4 = "tables of objects",
	 .settings = {"hca0.log_max_qp=11", "hca0.log_max_srq=9", "hca0.log_max_cq=10",
		      "hca0.log_max_mpt=12", "hca0.log_max_eq=5"})
{
	struct kv x;

	if (!kv_open(a, &x))
		return;
	for_each_row(i, kinds) {
		phase(kinds[i].name);
		all_of(tb, a, &x, &kinds[i]);
	}
	phase("translations");
	translations(tb, &x);
	kv_close(&x);
}
