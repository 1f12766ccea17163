/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The randomised soak. It connects queue pairs of all services in many configurations, posts
 * requests of all kinds in both directions, causes faults on the wire, and moves pairs to ERR, SQD
 * or SQE and back. It checks every byte, completion and event against soak_model.h. Everything that
 * happens is determined by the seed and the rows `soak` of model/sim/params.h. It runs as the body
 * of a scenario with no_qps and unobserved.
 */
#ifndef TESTBENCH_SOAK_H
#define TESTBENCH_SOAK_H

#include "model/sim/rng.h"
#include "testbench/soak/soak_model.h"
#include "testbench/language/tb.h"

enum {
	SOAK_CQS = 2, /* of each end; every second pair uses the same one, for sends and receives */
	SOAK_INLINE = 128,
	SOAK_LARGE = 1 << 20,
	SOAK_MEDIUM = 64 << 10,
	SOAK_WORDS = 64, /* words for atomics at the start of a window */
	SOAK_GUARD = 64,
	SOAK_FILL = TB_CLEAR,
	SOAK_MARKER = 0xffff,  /* wr_id of the receive that is flushed last */
	SOAK_STEERED = 2,      /* XRC SRQs of each end */
	SOAK_STEER_SHIFT = 32, /* wr_id of their receives: SRQ number, from 1, above the slot */
	SOAK_LOOSE = 3,        /* unreliable pairs: UC, UC, UD */
	SOAK_TARGETS = 32,     /* target buffers of UC WRITEs */
};

struct soak_slot {
	bool posted;
	uint32_t dirty; /* bytes to fill with SOAK_FILL before the next use */
	unsigned pieces;
	struct soak_piece piece[SOAK_PIECES];
};

/* The receive queue of a queue pair (qp), or a shared one (srq). */
struct soak_rq {
	struct drv_qp *qp; /* or */
	struct drv_srq *srq;
	uint8_t *base;
	size_t slot_bytes;
	unsigned slots, posted, next;
	unsigned steer; /* XRC SRQ: its number, from 1 */
	struct soak_slot *slot;
};

/* One end of a pair. `flow` is the direction in which it sends. */
struct soak_qp {
	struct soak_end *end;
	unsigned index;
	struct drv_qp *qp;
	struct soak_rq own, *rq; /* rq points to own or to a shared one */
	struct soak_flow flow;
	unsigned depth, quiet /* requests since the last signalled one */;
	uint8_t *landing; /* a ring, used in the order of the requests */
	uint64_t land_head, land_end[SOAK_RING];
	bool marker_due;
	struct drv_qp *target;  /* XRC: where the peer's messages arrive; qp sends */
	struct drv_mw *mw;      /* the peer accesses the window through its key */
	bool drained, last_wqe; /* these events have arrived */
};

/* One end of an unreliable pair. */
struct soak_loose_qp {
	struct soak_end *end;
	unsigned index;
	struct drv_qp *qp;
	struct soak_loose *flow; /* what it sends */
	uint8_t *slots;
	uint8_t *targets;                     /* target buffers of the peer's WRITEs */
	uint64_t target_number[SOAK_TARGETS]; /* number of the last WRITE to each */
	uint64_t target_ps[SOAK_TARGETS]; /* when it became certain that it is not sent any more */
	bool wrong_posted;
};

struct soak_end {
	struct soak *soak;
	struct tb_end *end;
	struct drv_pd *pd;
	struct drv_mr *pattern_mr, *window_mr, *landing_mr, *receive_mr;
	struct drv_cq *cq[SOAK_CQS];
	struct soak_rq shared;
	struct drv_xrcd *xrcd;
	struct soak_rq steered[SOAK_STEERED];
	struct soak_loose_qp loose[SOAK_LOOSE];
	struct drv_cq *loose_cq;
	struct drv_mr *loose_mr;
	uint8_t *loose_memory;
	uint8_t *memory; /* one allocation that has the four below */
	uint8_t *pattern, *windows, *landings, *receives;
	struct soak_qp *qp;
};

enum soak_pair_state {
	SOAK_RUNNING,
	SOAK_DRAINING, /* waits until all requests have completed; then it is checked */
	SOAK_SETTLING, /* waits until settled_ps, when old packets and DMA are gone */
	SOAK_STOPPED,  /* one send queue is in SQD; when it is drained the pair goes on */
	SOAK_FREEING,  /* type 2 windows are being invalidated, locally or by the peer */
	SOAK_BINDING,  /* windows are being bound again */
};

struct soak_pair {
	enum soak_pair_state state;
	bool break_it;
	bool xrc, windowed, type_2;
	unsigned stopped; /* SOAK_STOPPED: which end */
	uint64_t settled_ps;
	enum ibv_mtu mtu;
	uint32_t largest; /* bytes of the largest message */
};

struct soak {
	struct tb *tb;
	const struct sim_params *params;
	struct rng rng;
	bool software; /* an end has its transport in software: less of it is there */
	unsigned pairs;
	struct soak_pair *pair;
	struct soak_end ends[TB_ENDS];
	uint64_t posted, next_change, changes;
	uint64_t progress_ps; /* time of the last completion */
	uint64_t polled_ps;   /* all completions up to this time have been polled */
	size_t window_bytes, memory_bytes;
	bool came; /* a completion event has arrived */
};

static inline struct soak_qp *soak_qp_at(struct soak *s, unsigned end, unsigned pair)
{
	return &s->ends[end].qp[pair];
}

/* The whole body of a scenario. */
void soak_run(struct tb *tb);

/* A CQ's callback. */
void soak_completion_event(void *arg, struct drv_cq *cq);

/* soak_change.c: moves pairs to ERR and back, drains send queues, binds windows again; events. */
void soak_begin_change(struct soak *s);
/* Returns whether a pair changed its state. */
bool soak_advance_pairs(struct soak *s);
void soak_judge_pair(struct soak *s, unsigned pair);
bool soak_is_drained(struct soak *s, unsigned pair);
/* Takes the asynchronous events that have arrived. An unexpected one fails the run. */
void soak_take_events(struct soak *s);

/* soak_loose.c */
bool soak_loose_create(struct soak *s);
void soak_loose_destroy(struct soak *s);
bool soak_loose_post_some(struct soak *s);
bool soak_loose_poll(struct soak *s);
bool soak_loose_drained(const struct soak *s);
void soak_loose_judge_all(struct soak *s);

/* soak_setup.c */
bool soak_create(struct soak *s, struct tb *tb);
void soak_connect(struct soak *s, unsigned pair);
void soak_destroy(struct soak *s);

/* soak_traffic.c */
/* Posts a few requests on some queue pair. False: none has room. */
bool soak_post_some(struct soak *s);
/* Posts a signalled request: its completion means that all requests before it are done. */
void soak_post_last(struct soak_qp *q);
/* Binds the peer's window again, with another key. */
void soak_post_bind(struct soak_qp *q);
/* Invalidates the key of the window at `q`, by a work request on q or by a SEND of its peer. */
void soak_post_invalidate(struct soak_qp *q, bool by_peer);
/* Posts free receive slots again: some, or all. */
void soak_refill(struct soak *s, struct soak_rq *rq, bool all);
/* Polls completions. False: there were none. */
bool soak_poll(struct soak *s);

#endif
