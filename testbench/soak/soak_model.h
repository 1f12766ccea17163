/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the requests of one connected queue pair must do, by the rules of verbs alone: nothing here
 * knows how a device works. A flow is one direction of a pair; it owns a window of the peer's
 * memory that nobody else writes, so that the order of the requests says what every byte is.
 *
 * Completions: in the order of the requests; of signalled ones; success until the queue pair is
 * taken to ERR, then at some request on all of them, signalled or not, are flushed. Receives: the
 * n-th message that consumes one meets the n-th completed receive of the peer.
 *
 * Every function returns NULL, or what is wrong as one line that lives in the flow.
 */
#ifndef TESTBENCH_SOAK_MODEL_H
#define TESTBENCH_SOAK_MODEL_H

#include "host_driver/mlx4/ibv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOAK_PIECES = 4, SOAK_RING = 512, SOAK_TEXT_CHARS = 200, SOAK_WORD = 8 };

/* A part of a gathered source or of a scattered destination. */
struct soak_piece {
	uint8_t *at;
	uint32_t len;
};

struct soak_op {
	enum ibv_wr_opcode opcode;
	bool signaled, fence, inlined;
	bool from_pattern; /* READ: of the peer's memory that nobody writes, not of the window */
	uint32_t imm, len; /* imm: immediate, or the key that a SEND invalidates */
	unsigned pieces;
	struct soak_piece piece[SOAK_PIECES]; /* sent from, or landing in */
	uint64_t remote;                      /* offset in window or pattern */
	uint64_t compare, swap;               /* fetch and add: compare is the addend */
	uint64_t compare_mask, swap_mask; /* masked ones; fetch and add: the ends of its fields */
	unsigned steer;                   /* XRC: which of the peer's queues */
	/* the model's */
	uint8_t *result; /* READ: what must land */
	uint64_t word;   /* atomics: likewise */
	bool failed;
};

struct soak_wc {
	uint64_t number; /* send: of the request */
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t byte_len, imm;
	bool has_imm, has_key; /* invalidated, in imm */
};

struct soak_flow {
	const uint8_t *pattern; /* of the peer */
	uint8_t *window;        /* of the peer: what is there */
	uint8_t *shadow;        /* what must be there once all is done */
	size_t bytes;
	struct soak_op ring[SOAK_RING];
	uint64_t posted, done, arrived; /* requests; done and arrived: the next to come */
	uint64_t flushed;               /* of all requests so far, those that failed */
	bool breaking, broken;          /* to ERR; first flushed request seen */
	char text[SOAK_TEXT_CHARS];
};

/* 0 or -ENOMEM. The window is as it is now. */
int soak_flow_init(struct soak_flow *f, const uint8_t *pattern, uint8_t *window, size_t bytes);
void soak_flow_free(struct soak_flow *f);

bool soak_consumes(enum ibv_wr_opcode opcode); /* a receive of the peer */
bool soak_lands_here(enum ibv_wr_opcode opcode);

/* Room to remember one more. */
bool soak_flow_has_room(struct soak_flow *f);
/* A READ before it may still read again what it overwrites. */
bool soak_flow_needs_fence(const struct soak_flow *f, const struct soak_op *op);
/* Its number is f->posted before the call. False: no memory. */
bool soak_flow_post(struct soak_flow *f, const struct soak_op *op);
const char *soak_flow_sent(struct soak_flow *f, const struct soak_wc *wc);
/* A completed receive of the peer, and the memory that was posted for it, filled with `fill`. */
const char *soak_flow_received(struct soak_flow *f, const struct soak_wc *wc,
			       const struct soak_piece *piece, unsigned pieces, uint8_t fill);

/* From now on requests may be flushed. */
void soak_flow_break(struct soak_flow *f);
/* All is over: every request done, every message received, memory as it must be. A broken flow
 * begins again: what its flushed requests may have written is taken as it is. */
const char *soak_flow_judge(struct soak_flow *f);

/*
 * Datagrams and unreliable connections: a message may be lost, and arrive late or more than once
 * where the wire makes copies; but what arrives is a message that was sent, whole and unchanged.
 * Requests complete in order: with success, but for one that is wrong on purpose, and those behind
 * it until the queue pair is taken back to RTS.
 */
enum { SOAK_LOOSE_RING = 4096 };

struct soak_loose {
	const uint8_t *pattern; /* of the sender */
	unsigned most;          /* times that one message may arrive */
	struct soak_loose_message {
		uint64_t number;
		size_t at;
		uint32_t len;
		unsigned arrived;
		bool wrong, write;
	} ring[SOAK_LOOSE_RING];
	uint64_t posted, done, delivered;
	bool stopped; /* the wrong one has completed */
	char text[SOAK_TEXT_CHARS];
};

/* Bytes [at, at + len) of the pattern, by SEND or WRITE; the number of the message, which its
 * immediate carries. */
uint64_t soak_loose_post(struct soak_loose *f, size_t at, uint32_t len, bool wrong, bool write);
const char *soak_loose_sent(struct soak_loose *f, uint64_t number, enum ibv_wc_status status);
/* `bytes`: where the message must be. A WRITE's place has been given to no other one since, and
 * what was given it before is dead. */
const char *soak_loose_received(struct soak_loose *f, uint32_t imm, const uint8_t *bytes,
				uint32_t len, bool write);
const char *soak_loose_judge(struct soak_loose *f);

#endif
