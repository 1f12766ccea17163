/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the streams of the target transport share: two queue pairs of one kind, one of the engine (in
 * hardware) and one of host_driver/rvt/ (in software). Whatever is done to one is done to the other,
 * and what both then show is compared: packets, completions, events, states, memory.
 *
 *   transport.c            an input: of which kind, and which stream
 *   transport_pair.c       the two queue pairs
 *   transport_requests.c   a stream of requests, for the responders
 *   transport_answers.c    a stream of requests to post and of answers, for the requesters
 */
#ifndef TESTBENCH_FUZZ_TRANSPORT_H
#define TESTBENCH_FUZZ_TRANSPORT_H

#include "model/interface/bth_ops.h"
#include "model/interface/syndromes.h"
#include "testbench/fuzz/rig.h"

enum pair_sizes {
	PAIR_MTU = 256,
	PAIR_AREA = 8192,   /* of memory that requests reach; receives are behind it */
	PAIR_ZEROED = 1024, /* bytes of it that begin as zeros; a pattern follows */
	PAIR_MEMORY = 2 * PAIR_AREA,
	PAIR_STEPS_MAX = 48,
	PAIR_PACKETS_MAX = 96,
	PAIR_WCS = 64,
	PAIR_EVENTS = 8,
	PAIR_PSN = 0xfffff0, /* of the first packet, each way */
	PAIR_QKEY = 0x1234,
};

/* Which queue pair an input is about. */
struct pair_kind {
	enum ibv_qp_type type;
	bool shared;             /* an SRQ gives its receives */
	enum ibv_qp_state state; /* in which it begins */
};

enum pair_key { KEY_RIGHT, KEY_WRONG, KEY_WITHOUT_RIGHTS };

/* A packet that both are given. Extended headers are used as the opcode has them. */
struct pair_packet {
	uint8_t opcode;
	uint16_t pkey;
	uint32_t psn, len;
	bool ack_req, solicited;
	enum pair_key key;
	uint64_t offset;
	uint32_t dma_len, imm;
	uint64_t swap_add, compare;
	uint8_t syndrome;
	uint32_t msn;
	uint32_t qkey;
	enum { GRH_NONE, GRH_RIGHT, GRH_OTHER, GRH_GROUP, GRH_OTHER_GROUP } grh;
};

/* A request that is posted at both. */
struct pair_request {
	enum ibv_wr_opcode opcode;
	unsigned flags;
	enum pair_key key;
	uint32_t len, offset, imm;
	uint64_t swap_add, compare;
};

/* A packet that came out. */
struct pair_out {
	uint8_t opcode, syndrome; /* an ACK's credits are left out */
	bool solicited, ack_req;  /* the latter in the last packet of a message only */
	uint32_t psn, msn, len;
	uint64_t content; /* a checksum of the payload and of the other extended headers */
	uint32_t dma_len; /* of a READ request */
};

/* What one of the two has shown since the last step. */
struct pair_seen {
	struct pair_out out[PAIR_PACKETS_MAX];
	unsigned n;
	struct drv_wc wcs[PAIR_WCS];
	int n_wcs;
	enum ibv_event_type events[PAIR_EVENTS];
	unsigned n_events;
	enum ibv_qp_state state;
	int rc; /* of a verb */
};

enum pair_side { HARD, SOFT, SIDES };
extern struct pair_seen pair_seen[SIDES];

/* Both begin anew. */
void pair_begin(struct fuzz_rig *rig, const struct pair_kind *kind);
/* The steps. Each clears what was seen, and returns when both are at rest. */
void pair_give(const struct pair_packet *packet);
void pair_post(const struct pair_request *request);
void pair_modify(enum ibv_qp_state state);
/* Time passes until the next thing happens, at most 0.2 s. */
void pair_wait(void);

enum difference { SAME, PACKETS, COMPLETIONS, EVENTS, STATES, MEMORY, RETURNS };
enum difference pair_compare(void);

/* Whether the packet's opcode has that property. */
bool pair_is(const struct pair_packet *packet, enum bth_prop prop);
/* Says what both have shown, and ends the process. */
void pair_complain(enum difference difference);

/* The streams. */
void transport_requests(struct fuzz_rig *rig, const struct pair_kind *kind, struct fuzz_bytes *b);
void transport_answers(struct fuzz_rig *rig, const struct pair_kind *kind, struct fuzz_bytes *b);

#endif
