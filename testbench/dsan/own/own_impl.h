/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that know whose the entries of queues are: own.c (what software stores and
 * loads), doorbell.c (what it rings), waiting.c (completions in their order). */
#ifndef TESTBENCH_DSAN_OWN_OWN_IMPL_H
#define TESTBENCH_DSAN_OWN_OWN_IMPL_H

#include "testbench/dsan/held/claims_impl.h"

#include "testbench/os/calls.h"

enum {
	NAMES_BYTES = 200,
	INDEX_BITS = 24,                /* of consumer indexes */
	FIELDS_BYTES = CQE_SIZE - WORD, /* of a CQE or EQE, before the word with the owner bit */
};

/* [tail, head) of a CQ or EQ is software's, of a work queue the device's. */
struct ring {
	struct ring_shape shape;
	uint32_t head, tail;
};

/* A CQE as the device wrote it, until software has looked at it. */
struct completion {
	struct holder *qp; /* NULL: none */
	uint32_t born;     /* of the QP */
	uint16_t wqe_index;
	bool is_send;
	bool shared; /* a receive of a queue pair that has no receive queue of its own */
	struct cqe entry;
	bool has_id;
	uint64_t wr_id;
};

/* A request as it was posted. */
struct posted {
	bool known;
	uint64_t wr_id;
};

struct queues {
	struct ring entries, sends, receives;
	struct completion *completions; /* of a CQ: one each entry */
	struct completion *waiting; /* of a CQ: those that software has not taken, in their order */
	uint32_t waiting_first, n_waiting, waiting_room;
	uint32_t seen;   /* of an EQ: how many events software has looked at */
	uint32_t looked; /* of an EQ: the slot whose owner bit software has looked at last */
	bool armed;      /* of an EQ: so said its last doorbell, which was rung by `ringers` */
	struct calls ringers;
	uint32_t events; /* of a CQ: how many events of it software has looked at */
	/* Of a QP: one each receive and each send; of an SRQ: one each slot. */
	struct posted *posted[2];
	bool srq, xrc; /* of a QP: as in struct object_memory */
	uint32_t srqn;
	uintptr_t *pages; /* of a QP: its buffer */
	uint32_t n_pages;
	uint32_t next;   /* of an SRQ: the slot of the next receive, as the list of slots goes on */
	uint32_t born;   /* checker's sequence number when it became the device's */
	uint32_t loaded; /* epoch of stores at the last load of an entry's fields */
	bool no_prefetch;
	bool frames;   /* a QP of a network interface */
	bool physical; /* of a QP: it is in the list of own.physical */
	struct holder *physical_next;
	bool was_rung; /* of a QP: its doorbell, when head was `rung` */
	uint32_t rung;
	uint32_t
		arms; /* of an EQ: so often; the last time, head was `armed_head`, tail `armed_tail` */
	uint32_t armed_head, armed_tail;
	bool changed; /* a CQ that was resized: the new buffer's indexes are not followed */
};

struct own {
	struct checker *c;
	struct holder *physical; /* QPs whose receives name bus addresses */
	struct {                 /* the WQE that goes through BlueFlame */
		uint32_t qpn;
		uint64_t next;  /* where its next line must be written */
		uint32_t lines; /* that are missing yet */
	} blueflame;
};

/* An object that has queues; NULL: there is none. */
struct holder *own_find(struct own *o, enum hca_object type, uint32_t number);
/* Where a slot of a ring is, for the processor; NULL: not known. */
const void *own_slot_at(const struct queues *q, const struct ring *r, uint32_t slot,
			uint32_t within);
/* Software gives back what is before this index. */
void own_index_set(struct own *o, struct holder *h, uint32_t index, const void *pc);
/* The device has written that entry of a CQ; software has looked at it. */
void own_completion_written(struct own *o, struct queues *q, uint32_t slot, const struct cqe *e);
void own_completion_taken(struct completion *done);
/* A guest has given so many back. */
void own_completions_back(struct queues *q, uint32_t n);

static inline uint32_t ring_mask(const struct ring *r)
{
	return (UINT32_C(1) << r->shape.log_count) - 1;
}

/* The index beyond `from` that has these low bits. */
static inline uint32_t index_after(uint32_t from, uint32_t low, unsigned bits)
{
	return from + ((low - from) & ((UINT32_C(1) << bits) - 1));
}

static inline struct guest_object object_of(const struct holder *h)
{
	return (struct guest_object){(enum guest_object_kind)(GUEST_QP + h->kind), h->number};
}

#endif
