/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads make, use and destroy objects at the same time: more commands than the device takes at
 * once, chunks of ICM that come and go under several threads, and one multicast chain that all of
 * them change. Each command does its own work with its own mailbox, and at the end nothing is left.
 */
/* behaviours: CMD-concurrent */
#include "testbench/harm.h"

enum {
	THREADS = 40,
	ROUNDS = 4,
	QKEY = 0x1234,
	PAGE = 4096,
	CHUNK_QPS =
		512, /* in 256 KiB of the table with the smallest chunks: 16 READs of 32 bytes each */
};

struct worker {
	struct tb_end *end;
	unsigned index;
	const char *wrong; /* the first call that failed */
	int rc;
	bool done;
};

static bool right(struct worker *w, const char *call, int rc)
{
	if (rc && !w->wrong) {
		w->wrong = call;
		w->rc = rc;
	}
	return !w->wrong;
}

#define RIGHT(call) right(w, #call, call)

/* A context that is read back is the thread's own. */
static bool own_context(struct worker *w, struct drv_qp *qp)
{
	struct drv_qp_attr attr;

	return RIGHT(drv_qp_query(qp, &attr)) &&
	       right(w, "its own Q_Key and state",
		     attr.qkey != QKEY + w->index || attr.qp_state != IBV_QPS_RTS);
}

/* Groups that differ in two bytes only: all in one hash bucket, or in few. */
static bool groups(struct worker *w, struct drv_qp *qp)
{
	const uint8_t mgid[DRV_GID_BYTES] = {0xff,
					     0x12,
					     0xa0,
					     0x1b,
					     [13] = (uint8_t)(w->index / 2),
					     [15] = (uint8_t)(w->index / 2)};

	return RIGHT(drv_mcast_attach(qp, mgid, false)) && RIGHT(drv_mcast_detach(qp, mgid));
}

static void round_of(struct worker *w)
{
	struct tb_end *end = w->end;
	struct drv_qp_init init = {
		.type = IBV_QPT_UD,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct drv_cq *cq = NULL;
	struct drv_qp *qp = NULL;
	struct drv_mr *mr = NULL;

	if (RIGHT(drv_cq_create(end->dev, 15, 0, &cq))) {
		init.send_cq = init.recv_cq = cq;
		if (RIGHT(drv_mr_reg(end->pd, end->src + (uint64_t)w->index % 16 * PAGE, PAGE,
				     IBV_ACCESS_LOCAL_WRITE, &mr)) &&
		    RIGHT(drv_qp_create(end->pd, &init, &qp)) &&
		    RIGHT(drv_ud_qp_start(qp, 1, 0, QKEY + w->index, 0)) && own_context(w, qp))
			groups(w, qp);
	}
	if (qp)
		RIGHT(drv_qp_destroy(qp));
	if (mr)
		RIGHT(drv_mr_dereg(mr));
	if (cq)
		RIGHT(drv_cq_destroy(cq));
}

static void worker(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < ROUNDS && !w->wrong; i++)
		round_of(w);
	w->done = true;
}

/* The next queue pairs are the first in their chunks of ICM: numbers are used up until then. */
static void to_next_chunk(struct tb *tb, struct tb_end *a)
{
	uint32_t qpn = 0;

	while (qpn % CHUNK_QPS != CHUNK_QPS - THREADS / 2 && still_right()) {
		struct drv_qp *qp = new_qp(a);

		if (qp)
			qpn = drv_qp_num(qp);
		destroy_qp(qp);
	}
}

SCENARIO(concurrent_commands, "forty threads give commands at the same time")
{
	struct worker workers[THREADS];
	const uint64_t deadline = tb_now(tb) + CFG_S(5);
	bool all = false;

	to_next_chunk(tb, a);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.end = a, .index = i};
		a->platform->ops->thread_start(a->platform, "worker", worker, &workers[i]);
	}
	while (!all && tb_now(tb) < deadline && still_right()) {
		pass_time(CFG_MS(1));
		all = true;
		for (unsigned i = 0; i < THREADS; i++)
			all = all && workers[i].done;
	}
	for_each_row(i, workers) {
		name_row("%s", workers[i].wrong ? workers[i].wrong : "not done");
		expect_equal(workers[i].rc, 0);
		expect_true(workers[i].done);
	}
}
