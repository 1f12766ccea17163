/* SPDX-License-Identifier: Apache-2.0 */
/* Inside traces/ only: the chains of slices of messages under way, shared by timeline_flow.c (the way
 * to the peer's memory) and timeline_done.c (from completion to the driver). Which message a record
 * belongs to the tracker says; here is kept where its slices stand. */
#ifndef TRACES_TIMELINE_FLOW_H
#define TRACES_TIMELINE_FLOW_H

#include "traces/timeline_impl.h"
#include "traces/tracker.h"

enum {
	HCAS = 2,
	BUCKETS = 1024,
	POSTS = 64,     /* posts and doorbells of a QP whose WQEs are not fetched yet */
	EARLY = 16,     /* waits of a QP before it has a WQE */
	ARRIVED = 64,   /* requests of a QP whose receives are not completed yet */
	TURN_MAX = 512, /* messages of one turn of a unit */
	CQ_MAX = 4096,  /* completions that nobody polls */
	NOTICES = 64,
	BARS = 8,
	PSN_BITS = 24,
	DMA_PSN = 1 << 30, /* DMA_CORR_PSN of pcie.h */
};

enum flow_state { COMPLETED, NOTIFIED, RAISED, HANDLED };

/* A chain: of a message until it is completed, then of its CQ. */
struct flow {
	struct flow *next;       /* of its CQ */
	struct message *message; /* NULL: of a receive, or completed */
	struct timeline_chain chain;
	const char *name;
	uint32_t qpn;
	bool acked, signalled;
	enum flow_state state;
};

struct flow_list {
	struct flow *first, *last;
	unsigned count;
};

struct places {
	struct timeline_place at[POSTS];
	unsigned first, count;
	struct timeline_place used; /* the last one taken */
};

struct arrival {
	uint32_t psn, source;
	struct timeline_place place, payload;
};

/* What a QP's requester or responder waits for; since 0: for nothing. */
struct wait {
	uint64_t since_ps;
	char text[64];
};

struct flow_qp {
	struct flow_qp *next;
	uint32_t key;
	bool peer_known;
	uint32_t peer; /* key of the QP that sends to this one */
	struct places posts, bells;
	struct timeline_place fetch; /* WQEs [fetch_first, + fetch_count) */
	uint32_t fetch_first, fetch_count;
	struct timeline_place early[EARLY]; /* of the next WQE, before it is known */
	unsigned early_count;
	uint64_t bell_ps; /* since when it waits for a unit, 0: does not */
	struct wait send_wait, receive_wait;
	uint32_t wait_psn; /* of receive_wait */
	struct arrival arrived[ARRIVED];
	unsigned arrivals;
};

struct flow_cq {
	struct flow_cq *next;
	uint32_t key;
	struct flow_list flows;
};

/* A CQ whose event is on its way to the host. */
struct cq_notice {
	uint32_t cqn, vector;
};

struct cq_notices {
	struct cq_notice at[NOTICES];
	unsigned count;
};

struct bar_write {
	uint64_t until_ps;
	struct timeline_place place;
};

struct flows {
	struct timeline *t;
	struct tracker *tracker;
	struct flow *begun; /* by the record that the tracker took last */
	struct flow_qp *qps[BUCKETS];
	struct flow_cq *cqs[BUCKETS];
	struct cq_notices notified[HCAS], raised[HCAS];
	struct bar_write bars[HCAS][BARS];
	unsigned next_bar[HCAS];
	int err;
};

/* By HCA and number, of a QP or CQ. */
static inline uint32_t flow_key(unsigned hca, uint32_t number)
{
	return hca << PSN_BITS | (number & 0xffffff);
}

/* NULL when there is none (and it is not to be made, or there is no memory: f->err). */
struct flow_qp *flow_qp_find(struct flows *f, uint32_t key, bool make);
struct flow_cq *flow_cq_find(struct flows *f, uint32_t key, bool make);
void flow_list_push(struct flow_list *list, struct flow *flow);
struct flow *flow_list_pop(struct flow_list *list); /* the first; there must be one */
void flow_list_remove(struct flow_list *list, struct flow *flow);
/* Writes its end and frees it; it stands in no list. */
void flow_end(struct flows *f, struct flow *flow);
/* The chain of a message, from now on without it. NULL when it has none. */
struct flow *flow_take(struct message *m);
/* flow may be NULL. */
void flow_step(struct flows *f, struct flow *flow, struct timeline_place place);
/* The oldest request whose receive may be completed: packets that came too early come again. */
bool flow_arrival_take(struct flow_qp *qp, struct arrival *a);

/* timeline_done.c; false: none of its points. */
bool flow_done_record(struct flows *f, const struct trace_record *r, struct timeline_place place);

#endif
