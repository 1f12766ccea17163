/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of one direction, as a scenario sees them, and their comparison with what was
 * expected. A queue has the packets in the order in which they left the sender, and hands each out
 * only after it has arrived.
 */
#ifndef TESTBENCH_LADDER_MATCH_H
#define TESTBENCH_LADDER_MATCH_H

#include "testbench/scenario.h"

struct seen_pkt {
	uint64_t time_ps; /* last bit left the sender */
	uint8_t opcode;
	bool lost; /* a fault dropped or corrupted it, so it need not be expected */
	bool arrived;
	bool dirty;           /* a bit is set that is nobody's: of the pad, or a reserved one */
	struct tb_pkt fields; /* TB_ANY where the packet has no such header */
	uint8_t sgid[DRV_GID_BYTES], dgid[DRV_GID_BYTES]; /* with a GRH */
};

/* Parses a transport packet, LRH to VCRC. 0; or -EINVAL if it is not one. `transmission` is 1, or
 * more for a retransmission; the queue counts how many there were. */
int seen_pkt_parse(struct seen_pkt *seen, const uint8_t *wire, size_t len, uint64_t time_ps,
		   unsigned transmission, const char *fault);
/* The same for a frame of an Ethernet port, with FCS. -ENOMSG: it is no RoCE. */
int seen_frame_parse(struct seen_pkt *seen, const uint8_t *frame, size_t len, uint64_t time_ps,
		     unsigned transmission, const char *fault);
/* True if all fields given in `want` are equal. Else diff[] has the first difference, as in "psn 5,
 * expected 6". */
bool seen_pkt_matches(const struct seen_pkt *seen, uint8_t opcode, const struct tb_pkt *want,
		      char *diff, size_t size);
/* Writes the opcode and the fields that are not TB_ANY: "rc_send_only psn 5 qpn 0x41 len 64". */
void pkt_describe(char *buf, size_t size, uint8_t opcode, const struct tb_pkt *p);

struct seen_queue {
	struct seen_pkt *ring;
	size_t room, first, count;
	uint64_t last_ps; /* time_ps of the packet taken last; 0: none yet */
	bool ignore;      /* only count packets, do not keep them */
	bool untold;      /* the sender does not tell which packets it sends again */
	int64_t acked;    /* PSN of an answer that stood for an ACK before it; TB_ANY: none */
	struct seen_try { /* retransmitted packets, with their number of transmissions; untold: all */
		int64_t qpn, psn;
		unsigned count;
	} * tries;
	unsigned tries_room, tries_used;
};

void seen_queue_free(struct seen_queue *q);
/* 0 or -ENOMEM. */
int seen_queue_left(struct seen_queue *q, const struct seen_pkt *pkt);
/* Marks the earliest packet that matches and has not arrived as arrived. False: there is none. */
bool seen_queue_arrived(struct seen_queue *q, uint8_t opcode, int64_t qpn, int64_t psn);
/* The next packet to compare; lost ones are skipped. NULL: it has not arrived yet. It stays in the
 * queue until seen_queue_take(). */
const struct seen_pkt *seen_queue_head(struct seen_queue *q);
/* The same, but also returns a packet that has not arrived. */
const struct seen_pkt *seen_queue_first(struct seen_queue *q);
void seen_queue_take(struct seen_queue *q);
/* Removes all packets. */
void seen_queue_clear(struct seen_queue *q);
/* The queue pairs are connected anew: a PSN that comes again is another packet. */
void seen_queue_forget(struct seen_queue *q);

#endif
