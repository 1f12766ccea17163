/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of connected queue pairs on one HCA, used in both directions: each writes its own 8
 * bytes to the peer and reads 8 bytes from it. All of them are checked afterwards.
 */
#include "model/sim/cfg.h"
#include "testbench/language/tb.h"
#include "testbench/services.h"

#include <stdlib.h>

enum { WORD = 8, BATCH = 64 };

static void create(struct tb *tb, struct tb_end *end, struct drv_qp **qp, unsigned n)
{
	struct drv_qp_init init = {
		.type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	must(tb_memory_create(end, tb->setup.memory));
	must(drv_pd_alloc(end->dev, &end->pd));
	if (still_right())
		must(drv_mr_reg_iova(end->pd, end->src, 2 * tb->setup.memory, tb_va(end, end->src),
				     tb->setup.mr_access, &end->mr));
	must(drv_cq_create(end->dev, 4 * BATCH, DRV_CQ_POLLED, &end->cq));
	init.send_cq = init.recv_cq = end->cq;
	for (unsigned i = 0; i < n && still_right(); i++)
		must(drv_qp_create(end->pd, &init, &qp[i]));
}

static void connect_all(struct tb *tb, struct tb_end *end, struct drv_qp **qp, struct drv_qp **peer,
			unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i++) {
		const struct drv_rc_path path = path_to(end->peer, drv_qp_num(peer[i]));

		must(drv_qp_connect(qp[i], &path));
	}
}

static void post(struct tb *tb, struct tb_end *end, struct drv_qp *qp, enum ibv_wr_opcode opcode,
		 uint64_t at)
{
	const bool read = opcode == IBV_WR_RDMA_READ;
	const struct drv_sge sge = {.addr = tb_va(end, read ? end->dst : end->src) + at,
				    .length = WORD,
				    .lkey = drv_mr_lkey(end->mr)};
	const struct drv_send_wr wr = {
		.wr_id = at,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.remote_addr = tb_va(end->peer, read ? end->peer->src : end->peer->dst) + at,
		.rkey = drv_mr_rkey(end->peer->mr),
	};

	must(drv_post_send(qp, &wr, NULL));
}

static void use(struct tb *tb, struct tb_end *end, struct drv_qp **qp, enum ibv_wr_opcode opcode,
		unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i += BATCH) {
		unsigned k = n - i < BATCH ? n - i : BATCH;

		for (unsigned j = i; j < i + k && still_right(); j++)
			post(tb, end, qp[j], opcode, (uint64_t)j * WORD);
		expect_cqes(end, k);
	}
}

static void destroy(struct tb *tb, struct tb_end *end, struct drv_qp **qp, unsigned n)
{
	for (unsigned i = 0; i < n && still_right(); i++)
		must(drv_qp_destroy(qp[i]));
}

SCENARIO(many_qps, "thousands of connected queue pairs on one HCA, each used both ways",
	 .no_qps = true, .unobserved = true, .memory = 1 << 20, .settings = {"sim.time_limit=0"})
{
	const unsigned n = (unsigned)tb->config->sim.many_qps;
	struct drv_qp **qp = calloc(2 * (size_t)n, sizeof(struct drv_qp *));

	expect_true(qp != NULL);
	if (!still_right())
		return;
	phase("create");
	create(tb, a, qp, n);
	create(tb, b, qp + n, n);
	phase("connect");
	connect_all(tb, a, qp, qp + n, n);
	connect_all(tb, b, qp + n, qp, n);
	phase("use");
	use(tb, a, qp, IBV_WR_RDMA_WRITE, n);
	expect_data(b, .len = (size_t)n * WORD);
	use(tb, b, qp + n, IBV_WR_RDMA_READ, n);
	expect_data(b, .len = (size_t)n * WORD);
	phase("destroy");
	destroy(tb, a, qp, n);
	destroy(tb, b, qp + n, n);
	free(qp);
}
