/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The randomised soak: pairs of queue pairs of all services and many shapes, requests of all kinds
 * both ways, faults on the wire, pairs that go to ERR, SQD or SQE and come back, every byte,
 * completion and event against
 * soak_model.h. All that happens follows from the seed and from the rows `soak` of
 * model/sim/params.h. It runs as the body of a scenario that asked for no_qps and unobserved.
 */
#ifndef TESTBENCH_SOAK_H
#define TESTBENCH_SOAK_H

#include "model/sim/rng.h"
#include "testbench/soak/soak_model.h"
#include "testbench/language/tb.h"

enum {
	SOAK_CQS = 2, /* of an end; shared by sends and receives of every second pair */
	SOAK_INLINE = 128,
	SOAK_LARGE = 1 << 20,
	SOAK_MEDIUM = 64 << 10,
	SOAK_WORDS = 64, /* at the beginning of a window, for atomics */
	SOAK_GUARD = 64,
	SOAK_FILL = TB_CLEAR,
	SOAK_MARKER = 0xffff,  /* wr_id of the receive that is flushed last */
	SOAK_STEERED = 2,      /* XRC SRQs of an end */
	SOAK_STEER_SHIFT = 32, /* wr_id of their receives: number from 1 above the slot */
	SOAK_LOOSE = 3,        /* unreliable pairs: UC, UC, UD */
	SOAK_TARGETS = 32,     /* places of UC WRITEs */
};

struct soak_slot {
	bool posted;
	uint32_t dirty; /* bytes to be filled again */
	unsigned pieces;
	struct soak_piece piece[SOAK_PIECES];
};

/* A receive queue of one queue pair, or one that several share. */
struct soak_rq {
	struct drv_qp *qp; /* or */
	struct drv_srq *srq;
	uint8_t *base;
	size_t slot_bytes;
	unsigned slots, posted, next;
	unsigned steer; /* XRC: its number among those, from 1 */
	struct soak_slot *slot;
};

/* One end of a pair; its flow is what it sends. */
struct soak_qp {
	struct soak_end *end;
	unsigned index;
	struct drv_qp *qp;
	struct soak_rq own, *rq; /* rq: own or the end's shared one */
	struct soak_flow flow;
	unsigned depth, quiet /* requests since the last signalled one */;
	uint8_t *landing; /* a ring, used in the order of the requests */
	uint64_t land_head, land_end[SOAK_RING];
	bool marker_due;
	struct drv_qp *target;  /* XRC: where the peer's messages arrive; qp sends */
	struct drv_mw *mw;      /* the peer reaches the window by its key */
	bool drained, last_wqe; /* events that came */
};

/* One end of an unreliable pair. */
struct soak_loose_qp {
	struct soak_end *end;
	unsigned index;
	struct drv_qp *qp;
	struct soak_loose *flow; /* what it sends */
	uint8_t *slots;
	uint8_t *targets;                     /* of the peer's WRITEs */
	uint64_t target_number[SOAK_TARGETS]; /* of the last one there */
	uint64_t target_ps[SOAK_TARGETS];     /* since when it can not come any more */
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
	uint8_t *memory; /* of all: */
	uint8_t *pattern, *windows, *landings, *receives;
	struct soak_qp *qp;
};

enum soak_pair_state {
	SOAK_RUNNING,
	SOAK_DRAINING, /* waits for what is posted; then it is judged */
	SOAK_SETTLING, /* waits for packets and DMA of the past, until settled_ps */
	SOAK_STOPPED,  /* one send queue is drained (SQD); then it goes on */
	SOAK_FREEING,  /* windows of type 2 are invalidated, here or by the peer */
	SOAK_BINDING,  /* windows are bound anew */
};

struct soak_pair {
	enum soak_pair_state state;
	bool break_it;
	bool xrc, windowed, type_2;
	unsigned stopped; /* end */
	uint64_t settled_ps;
	enum ibv_mtu mtu;
	uint32_t largest; /* message */
};

struct soak {
	struct tb *tb;
	const struct sim_params *params;
	struct rng rng;
	unsigned pairs;
	struct soak_pair *pair;
	struct soak_end ends[TB_ENDS];
	uint64_t posted, next_change, changes;
	uint64_t progress_ps; /* of the last completion */
	uint64_t polled_ps;   /* every completion of before then has been taken */
	size_t window_bytes, memory_bytes;
	bool came; /* a completion event */
};

static inline struct soak_qp *soak_qp_at(struct soak *s, unsigned end, unsigned pair)
{
	return &s->ends[end].qp[pair];
}

/* The whole body of a scenario. */
void soak_run(struct tb *tb);

/* A CQ's callback. */
void soak_completion_event(void *arg, struct drv_cq *cq);

/* soak_change.c: pairs to ERR and back, send queues drained, windows bound anew; events. */
void soak_begin_change(struct soak *s);
/* Whether a pair moved on. */
bool soak_advance_pairs(struct soak *s);
void soak_judge_pair(struct soak *s, unsigned pair);
bool soak_is_drained(struct soak *s, unsigned pair);
/* Takes the asynchronous events that came; one that nothing explains fails the run. */
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
/* Posts up to a handful of requests somewhere; false: nobody has room. */
bool soak_post_some(struct soak *s);
/* A signalled request that ends all before it. */
void soak_post_last(struct soak_qp *q);
/* The peer's window bound anew, with another key. */
void soak_post_bind(struct soak_qp *q);
/* The key of the window at `q` becomes invalid: by a work request of it, or by a SEND of its peer.
 */
void soak_post_invalidate(struct soak_qp *q, bool by_peer);
/* Gives free receives back to the queue: some, or all. */
void soak_refill(struct soak *s, struct soak_rq *rq, bool all);
/* Takes what has completed; false: nothing. */
bool soak_poll(struct soak *s);

#endif
