/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of what the requests of one connected queue pair must do. It uses only the rules of verbs
 * and knows nothing about the device. A flow is one direction of a pair. It owns a window of the
 * peer's memory that nobody else writes, so the order of the requests determines every byte.
 *
 * Completions arrive in the order of the requests, and only for signalled ones. They are successful
 * until the queue pair is moved to ERR; from some request on, all requests, signalled or not, then
 * complete as flushed. The n-th message that consumes a receive belongs to the n-th completed receive
 * of the peer.
 *
 * Functions that return a string return NULL if all is right, else one line, stored in the flow, that
 * says what is wrong.
 */
#ifndef TESTBENCH_SOAK_MODEL_H
#define TESTBENCH_SOAK_MODEL_H

#include "host_driver/mlx4/ibv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOAK_PIECES = 4, SOAK_RING = 512, SOAK_TEXT_CHARS = 200, SOAK_WORD = 8 };

/* A gather or scatter entry. */
struct soak_piece {
	uint8_t *at;
	uint32_t len;
};

struct soak_op {
	enum ibv_wr_opcode opcode;
	bool signaled, fence, inlined;
	bool from_pattern; /* READ from the peer's pattern, which nobody writes, not from the window */
	uint32_t imm, len; /* imm: immediate, or the key that a SEND invalidates */
	unsigned pieces;
	struct soak_piece piece[SOAK_PIECES]; /* local memory to send from or to write to */
	uint64_t remote;                      /* offset in the window or pattern */
	uint64_t compare, swap;               /* fetch and add: compare is the addend */
	uint64_t compare_mask, swap_mask; /* masked atomics; fetch and add: the field boundaries */
	unsigned steer;                   /* XRC: which of the peer's SRQs */
	/* set by the model */
	uint8_t *result; /* READ: the bytes that must be returned */
	uint64_t word;   /* atomics: the value that must be returned */
	bool failed;
};

struct soak_wc {
	uint64_t number; /* send: number of the request */
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	uint32_t byte_len, imm;
	bool has_imm, has_key; /* has_key: imm is the key that was invalidated */
};

struct soak_flow {
	const uint8_t *pattern; /* the peer's pattern */
	uint8_t *window;        /* the peer's window: its actual content */
	uint8_t *shadow;        /* its expected content when all requests are done */
	size_t bytes;
	struct soak_op ring[SOAK_RING];
	uint64_t posted, done, arrived; /* counts; done and arrived are the next number expected */
	uint64_t flushed;               /* number of requests so far that failed */
	bool breaking, broken;          /* going to ERR; a flushed request has been seen */
	char text[SOAK_TEXT_CHARS];
};

/* Takes the present content of the window as the expected one. 0 or -ENOMEM. */
int soak_flow_init(struct soak_flow *f, const uint8_t *pattern, uint8_t *window, size_t bytes);
void soak_flow_free(struct soak_flow *f);

bool soak_consumes(enum ibv_wr_opcode opcode); /* whether it consumes a receive of the peer */
bool soak_lands_here(enum ibv_wr_opcode opcode);

/* Whether the model has room for one more request. */
bool soak_flow_has_room(struct soak_flow *f);
/* Whether the request overwrites memory that an earlier READ may still read again. */
bool soak_flow_needs_fence(const struct soak_flow *f, const struct soak_op *op);
/* Records a posted request; its number is f->posted before the call. False: no memory. */
bool soak_flow_post(struct soak_flow *f, const struct soak_op *op);
const char *soak_flow_sent(struct soak_flow *f, const struct soak_wc *wc);
/* Checks a completed receive of the peer and the memory posted for it, which was filled with `fill`. */
const char *soak_flow_received(struct soak_flow *f, const struct soak_wc *wc,
			       const struct soak_piece *piece, unsigned pieces, uint8_t fill);

/* From now on requests may be flushed. */
void soak_flow_break(struct soak_flow *f);
/* Checks that every request is done, every message is received, and memory is as expected. A flow
 * that was broken starts again with the present content of memory that flushed requests may have
 * written. */
const char *soak_flow_judge(struct soak_flow *f);

/*
 * The model of UD and UC. A message may be lost, may arrive late, and may arrive more than once if
 * the wire copies packets; but every message that arrives was sent, and is complete and unchanged.
 * Requests complete in order and successfully, except an invalid one and those behind it until the
 * queue pair is moved back to RTS.
 */
enum { SOAK_LOOSE_RING = 4096 };

struct soak_loose {
	const uint8_t *pattern; /* the sender's pattern */
	unsigned most;          /* how often one message may arrive */
	struct soak_loose_message {
		uint64_t number;
		size_t at;
		uint32_t len;
		unsigned arrived;
		bool wrong, write;
	} ring[SOAK_LOOSE_RING];
	uint64_t posted, done, delivered;
	bool stopped; /* the invalid request has completed */
	char text[SOAK_TEXT_CHARS];
};

/* Records a SEND or WRITE of bytes [at, at + len) of the pattern. Returns the number of the message,
 * which must be its immediate data. */
uint64_t soak_loose_post(struct soak_loose *f, size_t at, uint32_t len, bool wrong, bool write);
const char *soak_loose_sent(struct soak_loose *f, uint64_t number, enum ibv_wc_status status);
/* Checks a message that has arrived at `bytes`. The target buffer of a WRITE must not have been used
 * for another one since, and packets of earlier WRITEs to it must be gone. */
const char *soak_loose_received(struct soak_loose *f, uint32_t imm, const uint8_t *bytes,
				uint32_t len, bool write);
const char *soak_loose_judge(struct soak_loose *f);

#endif
