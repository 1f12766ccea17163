/* SPDX-License-Identifier: Apache-2.0 */
/* Only for traces/: the chains of slices of the messages under way. timeline_flow.c handles the way
 * to the peer's memory, timeline_done.c the way from completion to the driver. The tracker says
 * which message a record belongs to; here is kept which slices belong to it. */
#ifndef TRACES_TIMELINE_FLOW_H
#define TRACES_TIMELINE_FLOW_H

#include "traces/timeline_impl.h"
#include "traces/tracker.h"

enum {
	HCAS = 2,
	BUCKETS = 1024,
	POSTS = 64,     /* posts and doorbells of a QP whose WQEs have not been fetched yet */
	EARLY = 16,     /* waits of a QP before its WQE is known */
	ARRIVED = 64,   /* requests of a QP whose receives have not completed yet */
	TURN_MAX = 512, /* most messages that one turn of a unit is shown for */
	CQ_MAX = 4096,  /* completions that nobody polls */
	NOTICES = 64,
	BARS = 8,
	PSN_BITS = 24,
	DMA_PSN = 1 << 30, /* DMA_CORR_PSN of pcie.h */
};

enum flow_state { COMPLETED, NOTIFIED, RAISED, HANDLED };

/* A chain. It belongs to a message until the message has completed, and then to its CQ. */
struct flow {
	struct flow *next;       /* in the list of its CQ */
	struct message *message; /* NULL: the chain is of a receive, or its message has completed */
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
	struct timeline_place used; /* the place that was taken last */
};

struct arrival {
	uint32_t psn, source;
	struct timeline_place place, payload;
};

/* What a QP's requester or responder waits for. since_ps 0: it does not wait. */
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
	struct timeline_place fetch; /* the latest read: fetch_count WQEs from fetch_first on */
	uint32_t fetch_first, fetch_count;
	struct timeline_place early[EARLY]; /* places of the next WQE before it is known */
	unsigned early_count;
	uint64_t bell_ps; /* since when it has waited for a unit; 0: it does not wait */
	struct wait send_wait, receive_wait;
	uint32_t wait_psn; /* the PSN that receive_wait is about */
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
	struct flow *begun; /* begun by the record that the tracker took last */
	struct flow_qp *qps[BUCKETS];
	struct flow_cq *cqs[BUCKETS];
	struct cq_notices notified[HCAS], raised[HCAS];
	struct bar_write bars[HCAS][BARS];
	unsigned next_bar[HCAS];
	int err;
};

/* The key of a QP or CQ, made from its HCA and number. */
static inline uint32_t flow_key(unsigned hca, uint32_t number)
{
	return hca << PSN_BITS | (number & 0xffffff);
}

/* NULL: there is none and `make` is false; or there is no memory, and f->err is set. */
struct flow_qp *flow_qp_find(struct flows *f, uint32_t key, bool make);
struct flow_cq *flow_cq_find(struct flows *f, uint32_t key, bool make);
void flow_list_push(struct flow_list *list, struct flow *flow);
struct flow *flow_list_pop(struct flow_list *list); /* the first flow; there must be one */
void flow_list_remove(struct flow_list *list, struct flow *flow);
/* Writes the end of the chain and frees it. It must not be in a list. */
void flow_end(struct flows *f, struct flow *flow);
/* Takes the chain away from a message. NULL: the message has none. */
struct flow *flow_take(struct message *m);
/* flow may be NULL: then nothing happens. */
void flow_step(struct flows *f, struct flow *flow, struct timeline_place place);
/* Takes the request with the lowest PSN among those of one sender, since its receive completes
 * first: packets that came too early come again. False: there is none. */
bool flow_arrival_take(struct flow_qp *qp, struct arrival *a);

/* timeline_done.c. False: the record is of none of its points. */
bool flow_done_record(struct flows *f, const struct trace_record *r, struct timeline_place place);

#endif
