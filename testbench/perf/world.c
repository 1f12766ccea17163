/* SPDX-License-Identifier: Apache-2.0 */
/* See world.h. */
#include "testbench/perf/world.h"
#include "testbench/services.h"
#include "model/sim/cfg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CYCLE_BYTES = 4096, /* small messages cycle through this much memory, as in perftest */
	LINE = 64,
	DEFAULT_TIMEOUT = 14,
	DEFAULT_RETRIES = 7,
	DEFAULT_RNR_TIMER = 12,
	DEFAULT_RD_ATOMIC = 16,
	FIRST_PSN = 0xfffff0,
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC,
	GRH_ROOM = 40,
	RECEIVE_LIST = 16,
	WC_LIST = 32,
};

void perf_fail(struct perf_world *world, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: %s: ", world->point->file, world->point->line, world->point->id);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	fflush(NULL);
	_exit(1);
}

void perf_must(struct perf_world *world, int rc, const char *what)
{
	if (rc < 0)
		perf_fail(world, "%s: %s", what, strerror(-rc));
}

static void *checked(struct perf_world *world, void *memory)
{
	if (!memory)
		perf_fail(world, "no memory");
	return memory;
}

/* --- hosts --- */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void targets_make(struct perf_world *world, struct perf_side *side)
{
	const struct perf_params *p = world->p;
	uint64_t bytes = p->mr_size ? p->mr_size : 2 * CYCLE_BYTES, stride;
	uint8_t *memory;

	if (!p->mr_size && bytes < p->addresses * sizeof(uint64_t))
		bytes = p->addresses * sizeof(uint64_t);
	if (bytes < p->size)
		bytes = p->size;
	stride = round_up(bytes, PLATFORM_PAGE_SIZE);
	side->target_bytes = bytes;
	side->target_count = p->mrs ? p->mrs : 1;
	side->targets = checked(world, calloc(side->target_count, sizeof(*side->targets)));
	side->target_mrs = checked(world, calloc(side->target_count, sizeof(*side->target_mrs)));
	memory = checked(world, side->platform->ops->user_alloc(side->platform,
								side->target_count * stride));
	for (uint64_t i = 0; i < side->target_count; i++) {
		side->targets[i] = memory + i * stride;
		perf_must(world,
			  drv_mr_reg(side->pd, side->targets[i], bytes,
				     p->addresses ? ALL_ACCESS | IBV_ACCESS_HUGETLB : ALL_ACCESS,
				     &side->target_mrs[i]),
			  "drv_mr_reg");
	}
}

void perf_bring_up(struct perf_world *world)
{
	struct tb *tb = world->tb;

	for (unsigned i = 0; i < PERF_SIDES; i++) {
		struct perf_side *side = &world->side[i];
		const struct drv_options options = {
			.post_cost_ps = tb->config->host[i].host_post_cost,
			.packet_cost_ps = tb->config->host[i].host_packet_cost,
			.receive_cost_ps = tb->config->host[i].host_receive_cost,
			.poll_cost_ps = tb->config->host[i].host_poll_cost,
			.prefer_blueflame = true,
		};

		*side = (struct perf_side){.end = &tb->ends[i],
					   .platform = tb->ends[i].platform,
					   .params = &tb->config->host[i]};
		perf_must(world, drv_probe(side->platform, &options, &side->dev), "drv_probe");
		side->end->dev = side->dev;
	}
	tb_activate_ports(tb, "bring-up");
	if (!tb_right(tb))
		perf_fail(world, "the ports do not become active");
	for (unsigned i = 0; i < PERF_SIDES; i++) {
		perf_must(world, drv_pd_alloc(world->side[i].dev, &world->side[i].pd),
			  "drv_pd_alloc");
		targets_make(world, &world->side[i]);
	}
}

uint64_t perf_now(const struct perf_thread *t)
{
	return t->side->platform->ops->now_ps(t->side->platform);
}

uint64_t perf_stat(struct perf_world *world, unsigned side, const char *stage, const char *counter)
{
	return tb_stat(world->side[side].end, stage, counter);
}

/* --- threads --- */

static void local_make(struct perf_thread *t)
{
	struct perf_world *world = t->world;
	const uint64_t size = round_up(world->p->size + GRH_ROOM, LINE);

	t->local_bytes = size > CYCLE_BYTES / 2 ? 2 * round_up(size, PLATFORM_PAGE_SIZE)
						: (uint64_t)CYCLE_BYTES;
	t->local = checked(world,
			   t->side->platform->ops->user_alloc(t->side->platform, t->local_bytes));
	perf_must(world,
		  drv_mr_reg(t->side->pd, t->local, t->local_bytes, ALL_ACCESS, &t->local_mr),
		  "drv_mr_reg");
}

struct perf_thread *perf_thread_create(struct perf_world *world, unsigned side, unsigned index,
				       const struct perf_shape *shape)
{
	struct perf_thread *t = checked(world, calloc(1, sizeof(*t)));
	struct drv_qp_init init = {
		.type = shape->type,
		.cap = {.max_send_wr = shape->depth,
			.max_recv_wr = shape->receives ? shape->receives : 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = shape->inline_data},
	};
	char stream[32];

	*t = (struct perf_thread){.world = world,
				  .side = &world->side[side],
				  .index = index,
				  .qp_count = shape->qps,
				  .ah = {.dlid = world->side[!side].end->lid, .port_num = 1}};
	snprintf(stream, sizeof(stream), "perf%u.%u", side, index);
	rng_init(&t->rng, world->tb->config->sim.sim_seed, stream);
	t->qps = checked(world, calloc(shape->qps, sizeof(struct drv_qp *)));
	local_make(t);
	perf_must(world, drv_uar_alloc(t->side->dev, &t->uar), "drv_uar_alloc");
	perf_must(
		world,
		drv_cq_create(t->side->dev, shape->depth * shape->qps, DRV_CQ_POLLED, &t->send_cq),
		"drv_cq_create");
	perf_must(world,
		  drv_cq_create(t->side->dev, init.cap.max_recv_wr * shape->qps, DRV_CQ_POLLED,
				&t->recv_cq),
		  "drv_cq_create");
	init.uar = t->uar;
	init.send_cq = t->send_cq;
	init.recv_cq = t->recv_cq;
	for (unsigned i = 0; i < shape->qps; i++)
		perf_must(world, drv_qp_create(t->side->pd, &init, &t->qps[i]), "drv_qp_create");
	return t;
}

static enum ibv_mtu mtu_code(uint64_t bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && UINT64_C(128) << code < bytes)
		code++;
	return code;
}

static void connect_one(struct perf_thread *t, struct drv_qp *qp, uint32_t dest_qpn)
{
	struct perf_world *world = t->world;
	const struct perf_params *p = world->p;
	struct drv_rc_path path = path_to(t->side->end->peer, dest_qpn);

	path.path_mtu = mtu_code(p->mtu ? p->mtu : world->tb->config->hca[0].link_mtu);
	path.sq_psn = path.rq_psn = FIRST_PSN;
	path.timeout = p->timeout ? (unsigned)p->timeout : DEFAULT_TIMEOUT;
	path.retry_cnt = p->has_retry_cnt ? (unsigned)p->retry_cnt : DEFAULT_RETRIES;
	path.min_rnr_timer = p->has_min_rnr_timer ? (unsigned)p->min_rnr_timer : DEFAULT_RNR_TIMER;
	path.max_rd_atomic = path.max_dest_rd_atomic =
		p->outstanding ? (unsigned)p->outstanding : DEFAULT_RD_ATOMIC;
	perf_must(world, drv_qp_connect(qp, &path), "drv_qp_connect");
}

void perf_connect(struct perf_thread *a, struct perf_thread *b)
{
	a->peer = b;
	b->peer = a;
	for (unsigned i = 0; i < a->qp_count; i++) {
		if (a->world->p->transport == IBV_QPT_UD) {
			perf_must(a->world, drv_ud_qp_start(a->qps[i], 1, 0, PERF_QKEY, FIRST_PSN),
				  "drv_ud_qp_start");
			perf_must(a->world, drv_ud_qp_start(b->qps[i], 1, 0, PERF_QKEY, FIRST_PSN),
				  "drv_ud_qp_start");
			continue;
		}
		connect_one(a, a->qps[i], drv_qp_num(b->qps[i]));
		connect_one(b, b->qps[i], drv_qp_num(a->qps[i]));
	}
}

void perf_connect_dead(struct perf_thread *t, uint32_t qpn)
{
	for (unsigned i = 0; i < t->qp_count; i++)
		connect_one(t, t->qps[i], qpn);
}

/* --- requests --- */

static uint8_t *local_next(struct perf_thread *t, uint32_t size)
{
	uint8_t *at;

	if (t->cycle + size > t->local_bytes)
		t->cycle = 0;
	at = t->local + t->cycle;
	t->cycle += round_up(size ? size : 1, LINE);
	return at;
}

/* Chooses a target: a random region if there are several, and a random place in it if
 * configured. */
static void target_next(struct perf_thread *t, const struct perf_request *r, struct drv_send_wr *wr)
{
	const struct perf_params *p = t->world->p;
	const struct perf_side *there = &t->world->side[t->side == &t->world->side[0] ? 1 : 0];
	const bool atomic = r->op == PERF_FETCH_ADD || r->op == PERF_CMP_SWAP;
	const uint64_t unit = atomic ? sizeof(uint64_t) : r->size > LINE ? r->size : LINE;
	uint64_t slots = there->target_bytes / unit, slot = 0, region = 0;

	if (p->addresses && atomic && p->addresses < slots)
		slots = p->addresses;
	if (p->mrs > 1)
		region = rng_below(&t->rng, there->target_count);
	if (slots > 1)
		slot = p->random || p->addresses ? rng_below(&t->rng, slots) : t->posted % slots;
	wr->remote_addr = (uintptr_t)there->targets[region] + slot * unit;
	wr->rkey = drv_mr_rkey(there->target_mrs[region]);
}

static void wr_fill(struct perf_thread *t, const struct perf_request *r, struct drv_send_wr *wr,
		    struct drv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[PERF_WRITE] = IBV_WR_RDMA_WRITE,
		[PERF_READ] = IBV_WR_RDMA_READ,
		[PERF_SEND] = IBV_WR_SEND,
		[PERF_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[PERF_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	const bool atomic = r->op == PERF_FETCH_ADD || r->op == PERF_CMP_SWAP;
	const uint32_t size = atomic ? (uint32_t)sizeof(uint64_t) : r->size;

	*sge = (struct drv_sge){
		.addr = (uintptr_t)(r->local ? r->local : local_next(t, size)),
		.length = size,
		.lkey = drv_mr_lkey(t->local_mr),
	};
	*wr = (struct drv_send_wr){
		.wr_id = t->posted,
		.opcode = opcodes[r->op],
		.send_flags = r->inlined ? IBV_SEND_INLINE : 0,
		.sg_list = sge,
		.num_sge = size ? 1 : 0,
		.compare_add = 1,
		.ah = r->ah,
		.remote_qpn = r->remote_qpn,
		.remote_qkey = PERF_QKEY,
		.remote_addr = r->remote,
		.rkey = r->rkey,
	};
	if (r->op != PERF_SEND && !r->remote)
		target_next(t, r, wr);
	t->posted++;
}

void perf_post(struct perf_thread *t, const struct perf_request *r)
{
	struct drv_send_wr wr[PERF_BATCH_MAX];
	struct drv_sge sge[PERF_BATCH_MAX];
	const unsigned n = r->batch ? r->batch : 1;

	for (unsigned i = 0; i < n; i++) {
		wr_fill(t, r, &wr[i], &sge[i]);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	if (r->signaled)
		wr[n - 1].send_flags |= IBV_SEND_SIGNALED;
	perf_must(t->world, drv_post_send(r->qp, wr, NULL), "drv_post_send");
}

void perf_receives_post(struct perf_thread *t, struct drv_qp *qp, unsigned each)
{
	struct drv_recv_wr wr[RECEIVE_LIST];
	struct drv_sge sge;

	while (each) {
		const unsigned n = each < RECEIVE_LIST ? each : RECEIVE_LIST;

		sge = (struct drv_sge){.addr = (uintptr_t)t->local,
				       .length = (uint32_t)t->world->p->size + GRH_ROOM,
				       .lkey = drv_mr_lkey(t->local_mr)};
		for (unsigned i = 0; i < n; i++)
			wr[i] = (struct drv_recv_wr){.next = i + 1 < n ? &wr[i + 1] : NULL,
						     .sg_list = &sge,
						     .num_sge = 1};
		perf_must(t->world, drv_post_recv(qp, wr, NULL), "drv_post_recv");
		each -= n;
	}
}

/* Like perf_take(), without waiting. */
static unsigned perf_poll(struct perf_thread *t, struct drv_cq *cq, unsigned n)
{
	struct drv_wc wc[WC_LIST];
	int got = drv_cq_poll(cq, (int)(n < WC_LIST ? n : WC_LIST), wc);

	perf_must(t->world, got, "drv_cq_poll");
	for (int i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			perf_fail(t->world, "a request ended with status %d at %" PRIu64 " ps",
				  (int)wc[i].status, perf_now(t));
	return (unsigned)got;
}

unsigned perf_take(struct perf_thread *t, struct drv_cq *cq, unsigned n)
{
	unsigned got;

	do {
		perf_must(t->world, drv_cq_wait(cq, UINT64_MAX), "drv_cq_wait");
		got = perf_poll(t, cq, n);
	} while (!got);
	return got;
}

/* --- measuring --- */

void perf_start(struct perf_thread *t, const char *name, void (*fn)(void *thread))
{
	t->side->platform->ops->thread_start(t->side->platform, name, fn, t);
}

void perf_count(struct perf_world *world, uint64_t n)
{
	const uint64_t now = world->tb->machine->core.now_ps;
	uint64_t ops;

	world->ops += n;
	ops = world->counter ? world->counter(world) : world->ops;
	if (!world->from_ps && ops >= world->warm) {
		world->from_ps = now;
		world->from_ops = ops;
	} else if (world->from_ps && !world->done && ops >= world->from_ops + world->count) {
		world->to_ps = now;
		world->to_ops = ops;
		world->done = true;
		tb_poke(world->tb);
	}
}

static bool is_done(struct tb *tb, void *arg)
{
	return ((struct perf_world *)arg)->done;
}

double perf_measured(struct perf_world *world)
{
	tb_wait(world->tb, is_done, world, EVENT_NEVER);
	return (double)(world->to_ops - world->from_ops) /
	       ((double)(world->to_ps - world->from_ps) / 1e12);
}
