/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The building blocks of a workload: two hosts that are up, memory, threads with their own queue
 * pairs, requests. Everything goes through the host driver. The parameters of [host] say how long
 * the CPUs take.
 */
#ifndef TESTBENCH_PERF_WORLD_H
#define TESTBENCH_PERF_WORLD_H

#include "model/sim/rng.h"
#include "testbench/perf/points.h"
#include "testbench/perf/workloads.h"
#include "testbench/language/tb.h"

enum { PERF_SIDES = 2, PERF_QKEY = 0x11111111 };

struct perf_side {
	struct tb_end *end;
	struct platform *platform;
	struct drv_device *dev;
	struct drv_pd *pd;
	const struct host_params *params;
	/* memory that the peer writes and reads: targets[0] .. of target_bytes each */
	uint8_t **targets;
	struct drv_mr **target_mrs;
	uint64_t target_count, target_bytes;
};

/* A host CPU that posts and polls. */
struct perf_thread {
	struct perf_world *world;
	struct perf_side *side;
	unsigned index;
	struct drv_uar *uar; /* its own, because a BlueFlame buffer serves one thread at a time */
	struct drv_cq *send_cq, *recv_cq;
	struct drv_ah_attr ah; /* to the other side */
	struct drv_qp **qps;
	unsigned qp_count;
	uint8_t *local; /* data of own requests */
	struct drv_mr *local_mr;
	uint64_t local_bytes, cycle;
	uint64_t posted;
	struct rng rng;
	struct perf_thread *peer; /* connected: qps[i] to peer->qps[i] */
};

struct perf_world {
	struct tb *tb;
	const struct perf_point *point;
	const struct perf_params *p;
	struct perf_side side[PERF_SIDES];
	/* requests done; the result is their rate, without the first `warm` ones */
	uint64_t ops, warm, count;
	uint64_t from_ps, to_ps, from_ops, to_ops;
	/* a counter of hca0, used instead of the sum of the threads' reports */
	uint64_t (*counter)(struct perf_world *world);
	bool done;
};

/* Prints one line (file and line of the point, id, text) and ends the process. */
__attribute__((format(printf, 2, 3), noreturn)) void perf_fail(struct perf_world *world,
							       const char *format, ...);
void perf_must(struct perf_world *world, int rc, const char *what);

/* Brings both hosts up. Call it in the host thread of a bare tb. */
void perf_bring_up(struct perf_world *world);

struct perf_shape {
	enum ibv_qp_type type;
	unsigned qps;         /* of the thread */
	unsigned depth;       /* sends that a QP holds */
	unsigned receives;    /* receives that a QP holds */
	unsigned inline_data; /* largest inline send */
};
struct perf_thread *perf_thread_create(struct perf_world *world, unsigned side, unsigned index,
				       const struct perf_shape *shape);
/* Makes threads on both sides. RC and UC queue pairs are connected, UD ones are brought to RTS. */
void perf_connect(struct perf_thread *a, struct perf_thread *b);
/* Makes the queue pairs of one side, connected to a QPN that does not exist. */
void perf_connect_dead(struct perf_thread *t, uint32_t qpn);
/* Posts n receives, in lists. */
void perf_receives_post(struct perf_thread *t, struct drv_qp *qp, unsigned each);

struct perf_request {
	enum perf_op op;
	uint32_t size;
	bool inlined, signaled;
	struct drv_qp *qp;
	const struct drv_ah_attr *ah; /* UD */
	uint32_t remote_qpn;
	unsigned batch;  /* requests per list, of which only the last is signalled [1] */
	uint8_t *local;  /* instead of the next place of the thread's cycle */
	uint64_t remote; /* instead of the next target, with rkey */
	uint32_t rkey;
};
void perf_post(struct perf_thread *t, const struct perf_request *r);
/* Waits for a completion and takes up to n. All must be successful. */
unsigned perf_take(struct perf_thread *t, struct drv_cq *cq, unsigned n);

/* Starts the thread's function in a host thread of its side. */
void perf_start(struct perf_thread *t, const char *name, void (*fn)(void *thread));
/* Reports n finished requests. The measurement ends by itself when there are enough. */
void perf_count(struct perf_world *world, uint64_t n);
/* Waits in the main thread until the measurement has ended. Returns operations per second. */
double perf_measured(struct perf_world *world);

uint64_t perf_now(const struct perf_thread *t);
uint64_t perf_stat(struct perf_world *world, unsigned side, const char *stage, const char *counter);

/* latency.c, rate.c, timers.c */
double perf_ping_pong(struct perf_world *world);
double perf_round_trip(struct perf_world *world);
double perf_bandwidth(struct perf_world *world);
double perf_rate(struct perf_world *world);
double perf_symmetric(struct perf_world *world);
double perf_ack_timeout(struct perf_world *world);
double perf_rnr_delay(struct perf_world *world);

#endif
