/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload is written with: two hosts that are up, memory, threads with queue pairs of
 * their own, requests. Everything goes through the host driver; what the CPUs cost are the
 * parameters of [host].
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
	/* what the peer writes, reads and counts in: targets[0] .. of target_bytes each */
	uint8_t **targets;
	struct drv_mr **target_mrs;
	uint64_t target_count, target_bytes;
};

/* A host CPU that posts and polls. */
struct perf_thread {
	struct perf_world *world;
	struct perf_side *side;
	unsigned index;
	struct drv_uar *uar; /* its own: BlueFlame buffers are used by one thread at a time */
	struct drv_cq *send_cq, *recv_cq;
	struct drv_ah_attr ah; /* to the other side */
	struct drv_qp **qps;
	unsigned qp_count;
	uint8_t *local; /* data of own requests */
	struct drv_mr *local_mr;
	uint64_t local_bytes, cycle;
	uint64_t posted;
	struct rng rng;
	struct perf_thread *peer; /* of connected queue pairs: qps[i] is linked to peer->qps[i] */
};

struct perf_world {
	struct tb *tb;
	const struct perf_point *point;
	const struct perf_params *p;
	struct perf_side side[PERF_SIDES];
	/* requests done; the result is their rate after the first `warm` ones */
	uint64_t ops, warm, count;
	uint64_t from_ps, to_ps, from_ops, to_ops;
	/* instead of the sum of what threads report: a counter of hca0 */
	uint64_t (*counter)(struct perf_world *world);
	bool done;
};

/* Ends the process with one line: the point's place, id and the text. */
__attribute__((format(printf, 2, 3), noreturn)) void perf_fail(struct perf_world *world,
							       const char *format, ...);
void perf_must(struct perf_world *world, int rc, const char *what);

/* Both hosts up; in the host thread of a bare tb. */
void perf_bring_up(struct perf_world *world);

struct perf_shape {
	enum ibv_qp_type type;
	unsigned qps;         /* of the thread */
	unsigned depth;       /* sends a QP takes */
	unsigned receives;    /* receives a QP takes */
	unsigned inline_data; /* largest inline send */
};
struct perf_thread *perf_thread_create(struct perf_world *world, unsigned side, unsigned index,
				       const struct perf_shape *shape);
/* Threads of both sides with as many QPs: RC and UC to RTS, UD on its own. */
void perf_connect(struct perf_thread *a, struct perf_thread *b);
/* The QPs of one side, towards a number where there is nothing. */
void perf_connect_dead(struct perf_thread *t, uint32_t qpn);
/* Posts so many receives, in lists. */
void perf_receives_post(struct perf_thread *t, struct drv_qp *qp, unsigned each);

struct perf_request {
	enum perf_op op;
	uint32_t size;
	bool inlined, signaled;
	struct drv_qp *qp;
	const struct drv_ah_attr *ah; /* UD */
	uint32_t remote_qpn;
	unsigned batch;  /* so many in one list, only the last signalled [1] */
	uint8_t *local;  /* instead of the next one of the thread's cycle */
	uint64_t remote; /* instead of the next target, with rkey */
	uint32_t rkey;
};
void perf_post(struct perf_thread *t, const struct perf_request *r);
/* Until a completion is there: takes up to n, all successful. */
unsigned perf_take(struct perf_thread *t, struct drv_cq *cq, unsigned n);

/* The thread's function runs in a host thread of its side. */
void perf_start(struct perf_thread *t, const char *name, void (*fn)(void *thread));
/* n requests are done; the measurement ends by itself. */
void perf_count(struct perf_world *world, uint64_t n);
/* In the main thread: until then; operations a second. */
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
