/* SPDX-License-Identifier: Apache-2.0 */
/* Many messages at a time: requests or bytes per second. */
#include "model/sim/cfg.h"
#include "testbench/perf/world.h"

#include <stdlib.h>

enum {
	/* defaults that saturate the HCA */
	THREADS = 8,
	THREADS_MAX = 256,
	QPS_A_THREAD = 2,
	QPS_OF_MANY = 4,            /* per thread of the many machines */
	WINDOW_ALL = 64,            /* for all threads together: the HCA holds no more */
	WINDOW_ALL_UNRELIABLE = 32, /* enough where only the HCA itself takes time */
	WINDOW_LISTS = 4,           /* per queue pair, where a doorbell announces several */
	MANY_BATCH = 16,            /* WQEs per doorbell of the many machines */
	RECEIVES = 512,
	CQ_MODERATION = 100, /* as perftest: signalled requests are this far apart */
	WARM = 8000,
	COUNT = 24000,
	WARM_A_QP = 16,
	BANDWIDTH_BYTES = 24 << 20, /* bytes to move, but at least this many messages */
	BANDWIDTH_MESSAGES = 400,
	TAKE = 16,
};

static bool is_inlined(const struct perf_world *world)
{
	const struct perf_params *p = world->p;

	return p->inlined == 1 || (p->inlined && p->size <= p->inlined);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* --- one HCA as requester --- */

static bool is_inbound(const struct perf_world *world)
{
	return !strcmp(world->point->workload_name, "in_rate");
}

static unsigned batch_of(const struct perf_world *world)
{
	if (world->p->batch)
		return (unsigned)world->p->batch;
	return is_inbound(world) ? MANY_BATCH : 1;
}

static unsigned at_least(unsigned value, unsigned least)
{
	return value > least ? value : least;
}

static unsigned at_most(unsigned value, unsigned most)
{
	return value < most ? value : most;
}

/* Default window of a thread with this many queue pairs. */
static unsigned window_of(const struct perf_world *world, unsigned qps)
{
	const struct perf_params *p = world->p;
	const unsigned threads = p->threads ? (unsigned)p->threads : THREADS,
		       most = at_least(WINDOW_ALL / threads, 1),
		       enough = WINDOW_ALL_UNRELIABLE / threads;
	unsigned window = p->window ? (unsigned)p->window : most;

	/* one for each queue pair, so that a queue pair waiting for its context does not stop the
	 * others */
	if (!p->window && p->transport != IBV_QPT_RC)
		window = at_most(at_least(enough, qps), most);
	/* keep each queue pair busy while its next list is being posted */
	if (!p->window && p->batch > 1)
		window = WINDOW_LISTS * (unsigned)p->batch * (qps ? qps : 1);
	return window < p->batch ? (unsigned)p->batch : window;
}

/*
 * Every window-th request is signalled. After posting it the thread waits for the signalled request
 * before it, so up to two windows are in flight. The thread goes round its queue pairs. With a
 * given window it posts one window at a time to each, as rw-allsig of rdma_bench does (its two
 * processes per CPU are two queue pairs here); else it posts one list at a time. A signalled
 * request frees only requests on its own queue pair. So in the latter case the round begins `step`
 * further with each window, and the signalled requests go round as well.
 */
static void requester_thread(void *arg)
{
	struct perf_thread *t = arg;
	struct perf_world *world = t->world;
	const unsigned batch = batch_of(world),
		       window = (window_of(world, t->qp_count) + batch - 1) / batch;
	const bool in_a_row = world->p->window;
	unsigned step = 0, at = 0;

	while (common_divisor(window + step, t->qp_count) != 1)
		step++;
	for (uint64_t lists = 1;; lists++) {
		const bool signaled = lists % window == 0;
		struct drv_qp *qp = t->qps[at];

		perf_post(t, &(struct perf_request){
				     .op = world->p->op,
				     .size = (uint32_t)world->p->size,
				     .inlined = is_inlined(world),
				     .signaled = signaled,
				     .qp = qp,
				     .ah = &t->ah,
				     .remote_qpn = t->peer ? drv_qp_num(t->peer->qps[at]) : 0,
				     .batch = batch,
			     });
		if (signaled && lists > window) {
			perf_take(t, t->send_cq, 1);
			perf_count(world, (uint64_t)window * batch);
		}
		if (in_a_row)
			at = (at + signaled) % t->qp_count;
		else
			at = (at + 1 + (signaled ? step : 0)) % t->qp_count;
	}
}

static void receiver_thread(void *arg)
{
	struct perf_thread *t = arg;
	struct perf_world *world = t->world;
	struct drv_wc wc[TAKE];

	for (;;) {
		int got;

		perf_must(world, drv_cq_wait(t->recv_cq, UINT64_MAX), "drv_cq_wait");
		got = drv_cq_poll(t->recv_cq, TAKE, wc);
		perf_must(world, got, "drv_cq_poll");
		for (unsigned i = 0; i < t->qp_count; i++) {
			unsigned mine = 0;

			for (int k = 0; k < got; k++)
				mine += wc[k].qp_num == drv_qp_num(t->qps[i]);
			if (mine)
				perf_receives_post(t, t->qps[i], mine);
		}
	}
}

/* What hca0 has accepted: for services without acknowledgements. */
static uint64_t accepted(struct perf_world *world)
{
	const uint64_t mtu = world->p->mtu ? world->p->mtu : world->tb->config->hca[0].link_mtu;
	const uint64_t packets = world->p->size > mtu ? (world->p->size + mtu - 1) / mtu : 1;

	return perf_stat(world, 0, "responder", "packets") / packets;
}

/* What hca0 has sent: a thread gets completions only for its signalled requests. */
static uint64_t sent(struct perf_world *world)
{
	return perf_stat(world, 0, "requester", "completed");
}

struct plan {
	unsigned threads, qps;
	struct perf_shape shape;
};

static struct plan plan_of(const struct perf_world *world)
{
	const struct perf_params *p = world->p;
	struct plan plan = {.threads = (unsigned)p->threads, .qps = (unsigned)p->qps};

	if (!plan.threads)
		plan.threads = plan.qps && plan.qps < THREADS ? plan.qps : THREADS;
	if (!plan.qps)
		plan.qps = plan.threads * (is_inbound(world) ? QPS_OF_MANY : QPS_A_THREAD);
	plan.shape = (struct perf_shape){
		.type = p->transport,
		.depth = 4 * window_of(world, 1) + 2 * PERF_BATCH_MAX,
		.receives = p->op == PERF_SEND ? RECEIVES : 1,
		.inline_data = is_inlined(world) ? (unsigned)p->size : 0,
	};
	return plan;
}

static unsigned share(unsigned total, unsigned parts, unsigned index)
{
	return total / parts + (index < total % parts);
}

double perf_rate(struct perf_world *world)
{
	const struct perf_params *p = world->p;
	struct plan plan = plan_of(world);
	const unsigned from = is_inbound(world);
	struct perf_thread *requesters[THREADS_MAX];
	unsigned started = 0;

	world->warm = WARM + (uint64_t)WARM_A_QP * plan.qps;
	world->count = COUNT;
	if (p->transport != IBV_QPT_RC)
		world->counter = is_inbound(world) ? accepted : sent;
	/* all threads start together: objects are made before any thread sends */
	for (unsigned i = 0; i < plan.threads && i < THREADS_MAX; i++) {
		struct perf_thread *requester, *responder;

		plan.shape.qps = share(plan.qps, plan.threads, i);
		if (!plan.shape.qps)
			continue;
		requester = perf_thread_create(world, from, i, &plan.shape);
		responder = perf_thread_create(world, !from, i, &plan.shape);
		perf_connect(requester, responder);
		if (p->op == PERF_SEND) {
			for (unsigned k = 0; k < plan.shape.qps; k++)
				perf_receives_post(responder, responder->qps[k], RECEIVES);
			perf_start(responder, "receiver", receiver_thread);
		}
		requesters[started++] = requester;
	}
	for (unsigned i = 0; i < started; i++)
		perf_start(requesters[i], "requester", requester_thread);
	return perf_measured(world) / 1e6;
}

/* --- READs both ways --- */

/* `window` READs in flight, all signalled, each on a random queue pair of the thread. */
static void reader_thread(void *arg)
{
	struct perf_thread *t = arg;
	struct perf_world *world = t->world;
	unsigned free_slots = window_of(world, t->qp_count);

	for (;;) {
		unsigned got;

		for (; free_slots; free_slots--)
			perf_post(t, &(struct perf_request){
					     .op = PERF_READ,
					     .size = (uint32_t)world->p->size,
					     .signaled = true,
					     .qp = t->qps[rng_below(&t->rng, t->qp_count)]});
		got = perf_take(t, t->send_cq, TAKE);
		perf_count(world, got);
		free_slots = got;
	}
}

double perf_symmetric(struct perf_world *world)
{
	struct plan plan = plan_of(world);
	struct perf_thread *readers[2 * THREADS_MAX];
	unsigned started = 0;

	world->warm = WARM + (uint64_t)WARM_A_QP * plan.qps;
	world->count = PERF_SIDES * COUNT;
	for (unsigned i = 0; i < plan.threads && i < THREADS_MAX; i++) {
		struct perf_thread *a, *b;

		plan.shape.qps = share(plan.qps, plan.threads, i);
		if (!plan.shape.qps)
			continue;
		a = perf_thread_create(world, 0, i, &plan.shape);
		b = perf_thread_create(world, 1, i, &plan.shape);
		perf_connect(a, b);
		readers[started++] = a;
		readers[started++] = b;
	}
	for (unsigned i = 0; i < started; i++)
		perf_start(readers[i], "reader", reader_thread);
	return perf_measured(world) / PERF_SIDES / 1e6; /* of one HCA */
}

/* --- one queue pair, bytes --- */

static unsigned depth_of(const struct perf_world *world)
{
	return world->p->tx_depth ? (unsigned)world->p->tx_depth : 128;
}

static unsigned moderation_of(const struct perf_world *world)
{
	return depth_of(world) < CQ_MODERATION ? depth_of(world) : CQ_MODERATION;
}

static enum perf_op bandwidth_op(const struct perf_world *world)
{
	const char *name = world->point->workload_name;

	return !strncmp(name, "read", 4)   ? PERF_READ
	       : !strncmp(name, "send", 4) ? PERF_SEND
					   : PERF_WRITE;
}

static void sender_thread(void *arg)
{
	struct perf_thread *t = arg;
	struct perf_world *world = t->world;
	const unsigned moderation = moderation_of(world);
	unsigned room = depth_of(world);

	for (;;) {
		unsigned done;

		for (; room; room--) {
			const unsigned at = (unsigned)(t->posted / moderation) % t->qp_count;

			perf_post(t, &(struct perf_request){
					     .op = bandwidth_op(world),
					     .size = (uint32_t)world->p->size,
					     .inlined = is_inlined(world),
					     .signaled = t->posted % moderation == moderation - 1,
					     .qp = t->qps[at],
					     .ah = &t->ah,
					     .remote_qpn = drv_qp_num(t->peer->qps[at])});
		}
		done = perf_take(t, t->send_cq, TAKE) * moderation;
		perf_count(world, done);
		room = done;
	}
}

double perf_bandwidth(struct perf_world *world)
{
	const struct perf_params *p = world->p;
	const bool both = strstr(world->point->workload_name, "_bidir");
	const bool sends = bandwidth_op(world) == PERF_SEND;
	const struct perf_shape shape = {
		.type = p->transport,
		.qps = p->qps ? (unsigned)p->qps : 1,
		.depth = depth_of(world) + moderation_of(world),
		.receives = sends ? RECEIVES : 1,
		.inline_data = is_inlined(world) ? (unsigned)p->size : 0,
	};
	struct perf_thread *t[PERF_SIDES];

	world->count = BANDWIDTH_BYTES / (p->size ? p->size : 1);
	if (world->count < BANDWIDTH_MESSAGES)
		world->count = BANDWIDTH_MESSAGES;
	if (world->count > COUNT)
		world->count = COUNT;
	world->warm = world->count / 2;
	for (unsigned i = 0; i < PERF_SIDES; i++)
		t[i] = perf_thread_create(world, i, 0, &shape);
	perf_connect(t[0], t[1]);
	for (unsigned i = 0; i < PERF_SIDES; i++) {
		const bool sender = both || !i;

		if (sends && (both || i)) {
			for (unsigned k = 0; k < shape.qps; k++)
				perf_receives_post(t[i], t[i]->qps[k], RECEIVES);
			perf_start(t[i], "receiver", receiver_thread);
		}
		if (sender)
			perf_start(t[i], "sender", sender_thread);
	}
	return perf_measured(world) * (double)p->size / (1 << 20);
}
