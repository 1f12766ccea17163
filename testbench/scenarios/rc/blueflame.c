/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BlueFlame in every form: WQEs of one line up to the whole buffer; longer ones, and lists, for
 * which the driver rings a doorbell; queue pairs that share a page, in turn and from two threads at
 * once. Requests keep their order, and each is sent once.
 */
/* behaviours: BF-forms */
#include "testbench/services.h"

enum { INLINE = 400, LIST = 5, THREAD_SENDS = 40, THREAD_LEN = 200 };

/* One inline request of each length; how many went through BlueFlame. */
static unsigned lengths(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_qp *x,
			uint64_t dst)
{
	unsigned fit = 0;

	for (uint32_t len = 1; len <= INLINE && still_right(); len += 19) {
		const uint64_t before = tb_stat(a, "doorbell", "blueflames");

		send_on(a, x, .opcode = IBV_WR_RDMA_WRITE, .len = len, .src = len, .dst = dst,
			.inlined = true);
		expect_cqe(a);
		expect_data(b, .dst = dst, .src = len, .len = len);
		fit += (unsigned)(tb_stat(a, "doorbell", "blueflames") - before);
	}
	return fit;
}

struct poster {
	struct drv_qp *qp;
	struct drv_send_wr wr;
	int rc;
	bool done;
};

static void post_many(void *arg)
{
	struct poster *p = arg;

	for (unsigned i = 0; i < THREAD_SENDS && !p->rc; i++)
		p->rc = drv_post_send(p->qp, &p->wr, NULL);
	p->done = true;
}

/* Both threads write to the page of their queue pairs at the same time. */
static void two_threads(struct tb *tb, struct tb_end *a, struct tb_end *b,
			struct drv_qp *const *qps, uint64_t dst)
{
	struct drv_sge sge = {(uintptr_t)a->src, THREAD_LEN, 0};
	struct poster posters[2];

	for (unsigned i = 0; i < 2; i++) {
		posters[i] = (struct poster){
			.qp = qps[i],
			.wr = {.opcode = IBV_WR_RDMA_WRITE,
			       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
			       .sg_list = &sge,
			       .num_sge = 1,
			       .remote_addr = tb_va(b, b->dst) + dst + (uint64_t)i * THREAD_LEN,
			       .rkey = drv_mr_rkey(b->mr)}};
		a->platform->ops->thread_start(a->platform, "poster", post_many, &posters[i]);
	}
	pass_time(CFG_US(200));
	for_each_row(i, posters) {
		expect_true(posters[i].done);
		expect_equal(posters[i].rc, 0);
	}
	expect_cqes(a, 2 * THREAD_SENDS);
	expect_data(b, .dst = dst, .len = THREAD_LEN);
	expect_data(b, .dst = dst + THREAD_LEN, .len = THREAD_LEN);
}

static void page_of_a_user(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_uar *uar = NULL;
	struct drv_qp *qps[2], *peers[2];

	must(drv_uar_alloc(a->dev, &uar));
	for (unsigned i = 0; i < 2; i++) {
		qps[i] = new_qp(a, .uar = uar, .cap = {.max_inline_data = INLINE});
		peers[i] = new_qp(b);
		connect_two(qps[i], peers[i]);
	}
	if (!still_right())
		return;
	two_threads(tb, a, b, qps, 12288);
	for (unsigned i = 0; i < 2; i++) {
		destroy_qp(peers[i]);
		destroy_qp(qps[i]);
	}
	must(drv_uar_free(uar));
}

SCENARIO(blueflame, "BlueFlame: all lengths, lists, and two queue pairs of a page",
	 .inline_bytes = INLINE, .any_packets = true)
{
	struct drv_qp *x = new_qp(a, .cap = {.max_inline_data = INLINE}), *y = new_qp(b);
	unsigned first, second;

	connect_two(x, y);
	if (!still_right())
		return;
	first = lengths(tb, a, b, a->qp[0], 0);
	second = lengths(tb, a, b, x, 1024);
	expect_equal(first, second);
	expect_that(first, >, 5);
	expect_that(first, <, INLINE / 19);
	for (unsigned i = 0; i < 6; i++) {
		struct drv_qp *qp = i % 2 ? x : a->qp[0];

		send_on(a, qp, .opcode = IBV_WR_RDMA_WRITE, .len = 8, .src = i, .inlined = true,
			.dst = 2048 + i * 8);
	}
	expect_cqes(a, 6);
	for (unsigned i = 0; i < 6; i++)
		expect_data(b, .dst = 2048 + i * 8, .src = i, .len = 8);
	/* the driver takes a list with one doorbell */
	rdma_write(a, .len = 8, .dst = 4096, .inlined = true, .repeat = LIST);
	expect_cqes(a, LIST);
	expect_data(b, .dst = 4096, .len = 8);
	two_threads(tb, a, b, (struct drv_qp *[]){a->qp[0], x}, 8192);
	page_of_a_user(tb, a, b);
	expect_stat(b, responder, packets, 2 * (INLINE / 19 + 1) + 6 + LIST + 4 * THREAD_SENDS);
	destroy_qp(y);
	destroy_qp(x);
}
