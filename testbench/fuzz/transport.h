/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the streams of the target transport share: two queue pairs of one kind, one of the engine (in
 * hardware) and one of host_driver/rvt/ (in software). Whatever is done to one is done to the other,
 * and what both then show is compared: packets, completions, events, states, memory.
 *
 *   transport.c            an input: of which kind, and which stream
 *   transport_pair.c       the two queue pairs
 *   transport_packet.c     the bytes of their packets
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
	PAIR_RECEIVES = 4,
	PAIR_RECEIVE_STRIDE = 1024, /* from one receive to the next, behind PAIR_AREA */
	PAIR_MEMORY = 2 * PAIR_AREA,
	PAIR_STEPS_MAX = 48,
	PAIR_PACKETS_MAX = 96,
	PAIR_WCS = 64,
	PAIR_EVENTS = 8,
	PAIR_PSN = 0xfffff0, /* of the first packet, each way */
	PAIR_QKEY = 0x1234,
	PAIR_PEER_QPN = 0x7ffff7, /* nobody has it */
	PAIR_WRONG_KEY = 0x80,    /* these bits make a key a wrong one */
	PAIR_WIRE_MAX = 4096 + 256,
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
/* Packets, completions and states only, of which a recording knows. */
enum difference pair_compare_seen(const struct pair_seen *a, const struct pair_seen *b);
/* PAIR_MEMORY bytes. */
const uint8_t *pair_memory(enum pair_side which);

/* A queue pair that packets go to, and what they name of its side. */
struct pair_target {
	unsigned lid, peer_lid;
	uint32_t qpn, rkey, weak_rkey;
	uint64_t va;
	uint8_t gid[DRV_GID_BYTES];
};

/* Headers and payload, from the LRH to the pad. Returns how many bytes these are. */
uint32_t pair_packet_build(const struct pair_packet *p, const struct pair_target *to,
			   uint8_t *wire);
/* Notes a packet that came out; `len` is from the LRH to the pad. */
void pair_out_note(struct pair_seen *seen, const uint8_t *wire, uint32_t len);

/* Whether the packet's opcode has that property. */
bool pair_is(const struct pair_packet *packet, enum bth_prop prop);
/* Says what both have shown, and ends the process. */
void pair_complain(enum difference difference);

/* Makes a stream of at most PAIR_STEPS_MAX requests, and returns how many they are. */
unsigned transport_requests_make(const struct pair_kind *kind, struct fuzz_bytes *b,
				 struct pair_packet *stream);
/* Why two responders may differ in this after such a request. NULL: they may not. */
const char *transport_requests_allowed(const struct pair_packet *request, enum difference what);
/* Leaves the ACK out that the request does not ask for. */
void transport_requests_unasked(struct pair_seen *seen, const struct pair_packet *request);

/* The streams. */
void transport_requests(struct fuzz_rig *rig, const struct pair_kind *kind, struct fuzz_bytes *b);
void transport_answers(struct fuzz_rig *rig, const struct pair_kind *kind, struct fuzz_bytes *b);

#endif
