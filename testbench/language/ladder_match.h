/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of one direction as a scenario sees them: in the order in which they leave, handed
 * out when they have arrived; and their comparison with what was expected.
 */
#ifndef TESTBENCH_LADDER_MATCH_H
#define TESTBENCH_LADDER_MATCH_H

#include "testbench/scenario.h"

struct seen_pkt {
	uint64_t time_ps; /* last bit left the sender */
	uint8_t opcode;
	bool lost; /* a fault took it, wholly or by corruption: nobody has to expect it */
	bool arrived;
	struct tb_pkt fields; /* TB_ANY where the packet has no such header */
	uint8_t sgid[DRV_GID_BYTES], dgid[DRV_GID_BYTES]; /* with a GRH */
};

/* 0 and *seen for a transport packet LRH..VCRC; -EINVAL for what is none. `transmission`: 1, or more
 * for one that is sent again; the queue counts on. */
int seen_pkt_parse(struct seen_pkt *seen, const uint8_t *wire, size_t len, uint64_t time_ps,
		   unsigned transmission, const char *fault);
/* True when all that `want` names is equal; else diff[] has the first difference as "psn 5,
 * expected 6". */
bool seen_pkt_matches(const struct seen_pkt *seen, uint8_t opcode, const struct tb_pkt *want,
		      char *diff, size_t size);
/* "rc_send_only psn 5 qpn 0x41 len 64": what is said, nothing of what is TB_ANY. */
void pkt_describe(char *buf, size_t size, uint8_t opcode, const struct tb_pkt *p);

struct seen_queue {
	struct seen_pkt *ring;
	size_t room, first, count;
	uint64_t last_ps; /* of the packet taken last; 0 before */
	bool ignore;      /* count, keep nothing */
	struct seen_try { /* what has been sent again, and how often */
		int64_t qpn, psn;
		unsigned count;
	} * tries;
	unsigned tries_room, tries_used;
};

void seen_queue_free(struct seen_queue *q);
/* 0 or -ENOMEM. */
int seen_queue_left(struct seen_queue *q, const struct seen_pkt *pkt);
/* Marks the earliest packet with these that has not arrived; false: none. */
bool seen_queue_arrived(struct seen_queue *q, uint8_t opcode, int64_t qpn, int64_t psn);
/* The next one to compare, lost ones skipped; NULL: none has arrived yet. It stays until taken. */
const struct seen_pkt *seen_queue_head(struct seen_queue *q);
/* The same, and one that has not arrived: it is under way, or gone. */
const struct seen_pkt *seen_queue_first(struct seen_queue *q);
void seen_queue_take(struct seen_queue *q);
/* Forgets all. */
void seen_queue_clear(struct seen_queue *q);

#endif
