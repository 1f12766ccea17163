/* SPDX-License-Identifier: Apache-2.0 */
/* One message at a time: there and back (ping-pong), or until its completion. */
#include "testbench/perf/world.h"

#include <stdlib.h>

enum {
	WARM = 32,
	SAMPLES = 256,
	WARM_REGIONS_MAX = 2048,
	DEPTH = 64,
	RECEIVES = 128,
	UNSIGNALED = 32, /* after this many, one is signalled and waited for */
};

static uint64_t sum_of(const uint64_t *samples, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += samples[i];
	return sum;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median_of(uint64_t *samples, unsigned n)
{
	qsort(samples, n, sizeof(*samples), compare);
	return samples[n / 2];
}

static bool is_lat(const struct perf_world *world)
{
	const char *name = world->point->workload_name;

	return strlen(name) > 4 && !strcmp(name + strlen(name) - 4, "_lat");
}

static bool is_inlined(const struct perf_world *world)
{
	const struct perf_params *p = world->p;

	return p->inlined && (p->inlined == 1 && !is_lat(world) ? true : p->size <= p->inlined);
}

static struct perf_shape shape_of(const struct perf_world *world)
{
	return (struct perf_shape){
		.type = world->p->transport,
		.qps = 1,
		.depth = DEPTH,
		.receives = RECEIVES,
		.inline_data = is_inlined(world) ? (unsigned)world->p->size : 0,
	};
}

/* --- there and back --- */

enum ping_kind { PING_WRITE, PING_SEND, PING_ECHO };

static enum ping_kind kind_of(const struct perf_world *world)
{
	return !strcmp(world->point->workload_name, "write_lat")  ? PING_WRITE
	       : !strcmp(world->point->workload_name, "send_lat") ? PING_SEND
								  : PING_ECHO;
}

static volatile uint8_t *last_byte(uint8_t *area, uint64_t size)
{
	return area + (size ? size : 1) - 1;
}

static void ping(struct perf_thread *t, uint8_t turn)
{
	struct perf_world *world = t->world;
	const enum ping_kind kind = kind_of(world);
	const unsigned other = t->side == &world->side[0];
	struct perf_request r = {
		.op = kind == PING_SEND ? PERF_SEND : PERF_WRITE,
		.size = (uint32_t)world->p->size,
		.inlined = is_inlined(world),
		.signaled = kind != PING_ECHO || t->posted % UNSIGNALED == UNSIGNALED - 1,
		.qp = t->qps[0],
		.ah = &t->ah,
		.remote_qpn = drv_qp_num(t->peer->qps[0]),
		.local = t->local,
		.remote = (uintptr_t)world->side[other].targets[0],
		.rkey = drv_mr_rkey(world->side[other].target_mrs[0]),
	};

	*last_byte(t->local, world->p->size) = turn;
	perf_post(t, &r);
	if (r.signaled)
		perf_take(t, t->send_cq, 1);
}

static void ping_wait(struct perf_thread *t, uint8_t turn)
{
	volatile uint8_t *at = last_byte(t->side->targets[0], t->world->p->size);
	struct platform *p = t->side->platform;

	if (kind_of(t->world) == PING_SEND) {
		perf_take(t, t->recv_cq, 1);
		perf_receives_post(t, t->qps[0], 1);
		return;
	}
	while (*at != turn)
		p->ops->wait_write(p, (const void *)at, 1, UINT64_MAX);
}

static void ping_server(void *arg)
{
	struct perf_thread *t = arg;

	for (unsigned i = 1; i <= WARM + SAMPLES; i++) {
		ping_wait(t, (uint8_t)i);
		ping(t, (uint8_t)i);
	}
}

struct ping_client {
	struct perf_thread *t;
	uint64_t samples[SAMPLES];
};

static void ping_client(struct ping_client *c)
{
	uint64_t before = perf_now(c->t);

	for (unsigned i = 1; i <= WARM + SAMPLES; i++) {
		uint64_t now;

		ping(c->t, (uint8_t)i);
		ping_wait(c->t, (uint8_t)i);
		now = perf_now(c->t);
		if (i > WARM)
			c->samples[i - WARM - 1] = now - before;
		before = now;
	}
}

double perf_ping_pong(struct perf_world *world)
{
	const struct perf_shape shape = shape_of(world);
	struct ping_client client = {.t = perf_thread_create(world, 0, 0, &shape)};
	struct perf_thread *server = perf_thread_create(world, 1, 0, &shape);
	double us;

	perf_connect(client.t, server);
	for (unsigned i = 0; i < PERF_SIDES; i++) {
		struct perf_thread *t = i ? server : client.t;

		*last_byte(t->side->targets[0], world->p->size) = 0;
		if (kind_of(world) == PING_SEND)
			perf_receives_post(t, t->qps[0], RECEIVES);
	}
	perf_start(server, "server", ping_server);
	ping_client(&client);
	us = (double)median_of(client.samples, SAMPLES) / 1e6;
	return kind_of(world) == PING_ECHO ? us : us / 2;
}

/* --- until the completion --- */

static enum perf_op op_of(const struct perf_world *world)
{
	const char *name = world->point->workload_name;

	if (!strcmp(name, "atomic_lat"))
		return world->p->op == PERF_CMP_SWAP ? PERF_CMP_SWAP : PERF_FETCH_ADD;
	return !strncmp(name, "read", 4) ? PERF_READ : PERF_WRITE;
}

double perf_round_trip(struct perf_world *world)
{
	const struct perf_params *p = world->p;
	const struct perf_shape shape = shape_of(world);
	struct perf_thread *t = perf_thread_create(world, 0, 0, &shape);
	const unsigned warm =
		WARM + (unsigned)(p->mrs < WARM_REGIONS_MAX ? 4 * p->mrs : WARM_REGIONS_MAX);
	uint64_t samples[4 * SAMPLES];

	perf_connect(t, perf_thread_create(world, 1, 0, &shape));
	for (unsigned i = 0; i < warm + 4 * SAMPLES; i++) {
		const uint64_t before = perf_now(t);

		perf_post(t, &(struct perf_request){.op = op_of(world),
						    .size = (uint32_t)p->size,
						    .inlined = op_of(world) == PERF_WRITE &&
							       is_inlined(world),
						    .signaled = true,
						    .qp = t->qps[0]});
		perf_take(t, t->send_cq, 1);
		if (i >= warm)
			samples[i - warm] = perf_now(t) - before;
	}
	if (is_lat(world))
		return (double)median_of(samples, 4 * SAMPLES) / 1e6;
	return (double)sum_of(samples, 4 * SAMPLES) / (4 * SAMPLES) / 1e6;
}
