/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the objects of the soak. The number of a pair determines its configuration (shape), so that
 * a few pairs cover all of them. */
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/params/sim.h"
#include "model/sim/params/sim_soak.h"
#include "testbench/services.h"
#include "testbench/soak/soak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATTERN_BYTES = 2 << 20,
	LANDING_BYTES = 2 << 20,
	WINDOW_EXTRA = 64 << 10,
	OWN_SLOTS = 16,
	LARGE_SLOTS = 4,
	SHARED_SLOTS = 64,
	STEERED_SLOTS = 24,
	SHAPES = 8, /* the shapes repeat after this many pairs */
	DEPTH_MIN = 8,
	DEPTH_STEPS = 4,
	CQ_PERIOD_US = 4,
	SHARED_EVERY = 4, /* every fourth pair receives from the shared queue */
	TIMEOUT_MIN = 10,
	TIMEOUTS = 3,
	RNR_TIMERS = 8,
	NEAR_WRAP = 100,
	SLOW_ONE_IN = 4, /* one connection in 4 has a static rate */
	SLOW_RATE = 7,   /* 40 Gb/s, of 56 */
};

static bool is_shared(unsigned pair)
{
	return pair % SHARED_EVERY == SHARED_EVERY - 1;
}

/* XRC and memory windows are only there with the transport in hardware. */
static bool is_xrc(const struct soak *s, unsigned pair)
{
	return !s->software && (pair % SHAPES == 2 || pair % SHAPES == 5);
}

static bool is_windowed(const struct soak *s, unsigned pair)
{
	return !s->software && (pair % SHAPES == 4 || pair % SHAPES == 7);
}

static bool is_type_2(unsigned pair)
{
	return pair % SHAPES == 7;
}

static bool has_own(const struct soak *s, unsigned pair)
{
	return !is_shared(pair) && !is_xrc(s, pair);
}

static unsigned own_slots(unsigned pair)
{
	return pair ? OWN_SLOTS : LARGE_SLOTS;
}

static size_t slot_bytes(unsigned pair)
{
	return (pair ? SOAK_MEDIUM : SOAK_LARGE) + SOAK_GUARD;
}

static size_t receive_bytes(const struct soak *s)
{
	size_t bytes = (SHARED_SLOTS + SOAK_STEERED * STEERED_SLOTS) * slot_bytes(1);

	for (unsigned i = 0; i < s->pairs; i++)
		bytes += has_own(s, i) ? own_slots(i) * slot_bytes(i) : 0;
	return (bytes + PLATFORM_PAGE_SIZE - 1) & ~(size_t)(PLATFORM_PAGE_SIZE - 1);
}

static void fill_pattern(struct soak *s, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t x = rng_next(&s->rng);

		memcpy(bytes + i, &x, sizeof(x));
	}
}

static bool create_memory(struct soak *s, struct soak_end *e)
{
	struct platform *p = e->end->platform;

	e->memory = p->ops->user_alloc(p, s->memory_bytes);
	if (!e->memory) {
		tb_failf(s->tb, TB_HERE, "%zu bytes of memory at %s", s->memory_bytes,
			 e->end->name);
		return false;
	}
	e->pattern = e->memory;
	e->windows = e->pattern + PATTERN_BYTES;
	e->landings = e->windows + s->pairs * s->window_bytes;
	e->receives = e->landings + (size_t)s->pairs * LANDING_BYTES;
	fill_pattern(s, e->pattern, PATTERN_BYTES);
	memset(e->windows, 0, s->pairs * s->window_bytes);
	memset(e->receives, SOAK_FILL, receive_bytes(s));
	return true;
}

static int reg(struct soak_end *e, uint8_t *at, size_t bytes, unsigned access, struct drv_mr **mr)
{
	return drv_mr_reg_iova(e->pd, at, bytes, tb_va(e->end, at), access, mr);
}

static bool create_regions(struct soak *s, struct soak_end *e)
{
	struct tb *tb = s->tb;

	must(reg(e, e->pattern, PATTERN_BYTES, IBV_ACCESS_REMOTE_READ, &e->pattern_mr));
	must(reg(e, e->windows, s->pairs * s->window_bytes,
		 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND,
		 &e->window_mr));
	must(reg(e, e->landings, (size_t)s->pairs * LANDING_BYTES, IBV_ACCESS_LOCAL_WRITE,
		 &e->landing_mr));
	must(reg(e, e->receives, receive_bytes(s), IBV_ACCESS_LOCAL_WRITE, &e->receive_mr));
	return still_right();
}

static bool create_rq(struct soak *s, struct soak_rq *rq, uint8_t **at, unsigned slots,
		      size_t bytes)
{
	rq->slot = calloc(slots, sizeof(*rq->slot));
	if (!rq->slot) {
		tb_failf(s->tb, TB_HERE, "memory for %u receives", slots);
		return false;
	}
	rq->base = *at;
	rq->slots = slots;
	rq->slot_bytes = bytes;
	*at += slots * bytes;
	return true;
}

void soak_completion_event(void *arg, struct drv_cq *cq)
{
	struct soak *s = arg;

	s->came = true;
	tb_poke(s->tb);
}

static unsigned cq_entries(const struct soak *s)
{
	return s->pairs * (DEPTH_MIN * DEPTH_STEPS + 1 + OWN_SLOTS + 1) +
	       2 * (SHARED_SLOTS + SOAK_STEERED * STEERED_SLOTS);
}

/* XRC uses one queue pair to send and another one to receive. All its queues complete into one CQ,
 * so that the order of the messages is known. */
static bool create_xrc(struct soak *s, struct soak_qp *q)
{
	struct soak_end *e = q->end;
	const struct drv_qp_init from = {.type = IBV_QPT_XRC_SEND,
					 .send_cq = e->cq[q->index % SOAK_CQS],
					 .cap = {.max_send_wr = q->depth + 1,
						 .max_send_sge = SOAK_PIECES,
						 .max_inline_data = SOAK_INLINE},
					 .user = true};
	const struct drv_qp_init to = {.type = IBV_QPT_XRC_RECV, .xrcd = e->xrcd, .user = true};
	struct tb *tb = s->tb;

	q->rq = &e->steered[0];
	must(drv_qp_create(e->pd, &from, &q->qp));
	must(drv_qp_create(e->pd, &to, &q->target));
	return still_right();
}

static bool create_qp(struct soak *s, struct soak_end *e, unsigned i, uint8_t **receives)
{
	struct soak_qp *q = &e->qp[i];
	struct tb *tb = s->tb;
	struct drv_qp_init init = {.type = IBV_QPT_RC,
				   .send_cq = e->cq[i % SOAK_CQS],
				   .recv_cq = e->cq[(i / 2) % SOAK_CQS],
				   .user = true};

	q->end = e;
	q->index = i;
	q->depth = DEPTH_MIN * (1 + i % DEPTH_STEPS);
	q->landing = e->landings + (size_t)i * LANDING_BYTES;
	if (is_windowed(s, i))
		must(drv_mw_alloc(e->pd, is_type_2(i) ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1, &q->mw));
	if (is_xrc(s, i))
		return create_xrc(s, q);
	q->rq = is_shared(i) ? &e->shared : &q->own;
	init.cap = (struct drv_qp_cap){.max_send_wr = q->depth + 1,
				       .max_recv_wr = is_shared(i) ? 0 : own_slots(i) + 1,
				       .max_send_sge = SOAK_PIECES,
				       .max_recv_sge = is_shared(i) ? 0 : SOAK_PIECES,
				       .max_inline_data = SOAK_INLINE};
	init.srq = is_shared(i) ? e->shared.srq : NULL;
	if (!is_shared(i) && !create_rq(s, &q->own, receives, own_slots(i), slot_bytes(i)))
		return false;
	must(drv_qp_create(e->pd, &init, &q->qp));
	q->own.qp = q->qp;
	return still_right();
}

static bool create_steered(struct soak *s, struct soak_end *e, uint8_t **receives)
{
	struct tb *tb = s->tb;

	must(drv_xrcd_alloc(e->end->dev, &e->xrcd));
	for (unsigned k = 0; k < SOAK_STEERED && still_right(); k++) {
		const struct drv_srq_init shape = {.max_wr = STEERED_SLOTS,
						   .max_sge = SOAK_PIECES,
						   .xrcd = e->xrcd,
						   .cq = e->cq[1]};

		if (!create_rq(s, &e->steered[k], receives, STEERED_SLOTS, slot_bytes(1)))
			return false;
		e->steered[k].steer = k + 1;
		must(drv_srq_create(e->pd, &shape, &e->steered[k].srq));
	}
	return still_right();
}

static bool create_end(struct soak *s, unsigned n)
{
	struct soak_end *e = &s->ends[n];
	const struct drv_srq_init shape = {.max_wr = SHARED_SLOTS, .max_sge = SOAK_PIECES};
	struct tb *tb = s->tb;
	uint8_t *receives;

	e->soak = s;
	e->end = &tb->ends[n];
	e->qp = calloc(s->pairs, sizeof(*e->qp));
	must(e->qp ? 0 : -ENOMEM);
	must(drv_pd_alloc(e->end->dev, &e->pd));
	if (!still_right() || !create_memory(s, e) || !create_regions(s, e))
		return false;
	for (unsigned i = 0; i < SOAK_CQS && still_right(); i++) {
		if (must(drv_cq_create(e->end->dev, cq_entries(s), 0, &e->cq[i])))
			drv_cq_set_callback(e->cq[i], soak_completion_event, s);
	}
	if (still_right() && !s->software)
		must(drv_cq_moderate(e->cq[1], SOAK_CQS, CQ_PERIOD_US));
	receives = e->receives;
	if (!still_right() || !create_rq(s, &e->shared, &receives, SHARED_SLOTS, slot_bytes(1)))
		return false;
	must(drv_srq_create(e->pd, &shape, &e->shared.srq));
	if (!still_right() || (!s->software && !create_steered(s, e, &receives)))
		return false;
	for (unsigned i = 0; i < s->pairs && still_right(); i++)
		create_qp(s, e, i, &receives);
	return still_right();
}

bool soak_create(struct soak *s, struct tb *tb)
{
	const struct sim_params *params = &tb->config->sim;

	*s = (struct soak){.tb = tb,
			   .params = params,
			   .pairs = (unsigned)sim_param_soak_qps(params),
			   .software =
				   tb_in_software(&tb->ends[0]) || tb_in_software(&tb->ends[1])};
	rng_init(&s->rng, sim_param_sim_seed(params), "soak");
	s->window_bytes = SOAK_LARGE + WINDOW_EXTRA;
	s->memory_bytes =
		PATTERN_BYTES + s->pairs * (s->window_bytes + LANDING_BYTES) + receive_bytes(s);
	s->pair = calloc(s->pairs, sizeof(*s->pair));
	must(s->pair ? 0 : -ENOMEM);
	for (unsigned n = 0; n < TB_ENDS && still_right(); n++)
		create_end(s, n);
	for (unsigned i = 0; i < s->pairs && still_right(); i++) {
		s->pair[i].mtu = (enum ibv_mtu)(IBV_MTU_4096 - (i + 1) % IBV_MTU_4096);
		s->pair[i].largest = s->pair[i].mtu >= IBV_MTU_2048 ? SOAK_LARGE : SOAK_MEDIUM;
		for (unsigned n = 0; n < TB_ENDS && still_right(); n++)
			must(soak_flow_init(&s->ends[n].qp[i].flow, s->ends[!n].pattern,
					    s->ends[!n].windows + i * s->window_bytes,
					    s->window_bytes));
		s->pair[i].xrc = is_xrc(s, i);
		s->pair[i].windowed = is_windowed(s, i);
		s->pair[i].type_2 = is_type_2(i);
		soak_connect(s, i);
		if (!is_windowed(s, i))
			continue;
		s->pair[i].state = SOAK_BINDING;
		for (unsigned n = 0; n < TB_ENDS && still_right(); n++)
			soak_post_bind(&s->ends[n].qp[i]);
	}
	if (still_right())
		soak_loose_create(s);
	return still_right();
}

static uint32_t first_psn(struct soak *s)
{
	uint64_t psn = rng_next(&s->rng);

	return (psn & 1 ? (0u - psn / 2 % NEAR_WRAP) : (uint32_t)(psn / 2)) & 0xffffff;
}

/* Both ends of the pair are in RESET. */
void soak_connect(struct soak *s, unsigned pair)
{
	const uint32_t psn[TB_ENDS] = {first_psn(s), first_psn(s)};
	const unsigned reads = 1u << rng_below(&s->rng, 5);
	struct tb *tb = s->tb;

	for (unsigned n = 0; n < TB_ENDS && still_right(); n++) {
		struct soak_qp *q = &s->ends[n].qp[pair], *peer = &s->ends[!n].qp[pair];
		struct drv_qp *to = peer->target ? peer->target : peer->qp;
		struct drv_rc_path path = path_to(peer->end->end, drv_qp_num(to));

		path.path_mtu = s->pair[pair].mtu;
		path.sq_psn = psn[n];
		path.rq_psn = psn[!n];
		path.timeout = TIMEOUT_MIN + (unsigned)rng_below(&s->rng, TIMEOUTS);
		path.min_rnr_timer = 1 + (unsigned)rng_below(&s->rng, RNR_TIMERS);
		path.max_rd_atomic = path.max_dest_rd_atomic = reads;
		path.static_rate = rng_below(&s->rng, SLOW_ONE_IN) ? 0 : SLOW_RATE;
		must(drv_qp_connect(q->qp, &path));
		if (!q->target)
			continue;
		path.dest_qpn = drv_qp_num(peer->qp);
		must(drv_qp_connect(q->target, &path));
	}
}

static void destroy_end(struct soak *s, struct soak_end *e)
{
	struct drv_mr *mr[] = {e->pattern_mr, e->window_mr, e->landing_mr, e->receive_mr};
	struct platform *p = e->end->platform;
	struct tb *tb = s->tb;

	for (unsigned i = 0; i < s->pairs; i++)
		must(drv_qp_destroy(e->qp[i].qp));
	for (unsigned i = 0; i < s->pairs; i++) {
		if (e->qp[i].target)
			must(drv_qp_destroy(e->qp[i].target));
		if (e->qp[i].mw)
			must(drv_mw_free(e->qp[i].mw));
	}
	must(drv_srq_destroy(e->shared.srq));
	for (unsigned k = 0; k < SOAK_STEERED && e->xrcd; k++)
		must(drv_srq_destroy(e->steered[k].srq));
	if (e->xrcd)
		must(drv_xrcd_free(e->xrcd));
	for (unsigned i = 0; i < SOAK_CQS; i++)
		must(drv_cq_destroy(e->cq[i]));
	for (size_t i = 0; i < ARRAY_SIZE(mr); i++)
		must(drv_mr_dereg(mr[i]));
	must(drv_pd_free(e->pd));
	if (still_right())
		p->ops->user_free(p, e->memory, s->memory_bytes);
}

void soak_destroy(struct soak *s)
{
	soak_loose_destroy(s);
	for (unsigned n = 0; n < TB_ENDS; n++) {
		struct soak_end *e = &s->ends[n];

		for (unsigned i = 0; i < SOAK_CQS; i++)
			if (e->cq[i])
				drv_cq_set_callback(e->cq[i], NULL, NULL);
		if (tb_right(s->tb))
			destroy_end(s, e);
		for (unsigned i = 0; e->qp && i < s->pairs; i++) {
			soak_flow_free(&e->qp[i].flow);
			free(e->qp[i].own.slot);
		}
		free(e->shared.slot);
		for (unsigned k = 0; k < SOAK_STEERED; k++)
			free(e->steered[k].slot);
		free(e->qp);
	}
	free(s->pair);
}
