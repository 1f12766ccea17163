/* SPDX-License-Identifier: Apache-2.0 */
/* See soak_model.h. */
#include "testbench/soak/soak_model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILL_CHECKED = 64,
	LEAST_ARRIVE = 16 /* at least 1 message in 16 must arrive, under any faults */
};

static __attribute__((format(printf, 2, 3))) const char *say(char text[SOAK_TEXT_CHARS],
							     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, SOAK_TEXT_CHARS, format, args);
	va_end(args);
	return text;
}

#define wrong(f, ...) say((f)->text, __VA_ARGS__)

static struct soak_op *op_at(struct soak_flow *f, uint64_t number)
{
	return &f->ring[number % SOAK_RING];
}

static const struct soak_op *op_const(const struct soak_flow *f, uint64_t number)
{
	return &f->ring[number % SOAK_RING];
}

int soak_flow_init(struct soak_flow *f, const uint8_t *pattern, uint8_t *window, size_t bytes)
{
	memset(f, 0, sizeof(*f));
	f->shadow = malloc(bytes);
	if (!f->shadow)
		return -ENOMEM;
	memcpy(f->shadow, window, bytes);
	f->pattern = pattern;
	f->window = window;
	f->bytes = bytes;
	return 0;
}

void soak_flow_free(struct soak_flow *f)
{
	for (unsigned i = 0; i < SOAK_RING; i++)
		free(f->ring[i].result);
	free(f->shadow);
	memset(f, 0, sizeof(*f));
}

/* --- what kinds of requests do --- */

bool soak_consumes(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       opcode == IBV_WR_MASKED_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD;
}

static bool is_write(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool soak_lands_here(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || is_atomic(opcode);
}

static bool changes_window(const struct soak_op *op)
{
	return (is_write(op->opcode) && op->len) || is_atomic(op->opcode);
}

static enum ibv_wc_opcode send_wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_MASKED_ATOMIC_CMP_AND_SWP:
		return IBV_WC_MASKED_COMP_SWAP;
	case IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_MASKED_FETCH_ADD;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

static bool overlap(const struct soak_op *a, const struct soak_op *b)
{
	return a->remote < b->remote + b->len && b->remote < a->remote + a->len;
}

/* --- posting --- */

static void skip_silent(struct soak_flow *f)
{
	while (f->arrived < f->posted && !soak_consumes(op_at(f, f->arrived)->opcode))
		f->arrived++;
}

bool soak_flow_has_room(struct soak_flow *f)
{
	skip_silent(f);
	return f->posted - (f->done < f->arrived ? f->done : f->arrived) < SOAK_RING;
}

bool soak_flow_needs_fence(const struct soak_flow *f, const struct soak_op *op)
{
	if (!changes_window(op))
		return false;
	for (uint64_t n = f->done; n < f->posted; n++) {
		const struct soak_op *before = op_const(f, n);

		if (before->opcode == IBV_WR_RDMA_READ && !before->from_pattern &&
		    overlap(before, op))
			return true;
	}
	return false;
}

static void gather(uint8_t *to, const struct soak_op *op)
{
	for (unsigned i = 0; i < op->pieces; i++) {
		memcpy(to, op->piece[i].at, op->piece[i].len);
		to += op->piece[i].len;
	}
}

/* Adds bit by bit. `ends` marks the highest bit of each field; no carry leaves a field. */
static uint64_t add_fields(uint64_t a, uint64_t b, uint64_t ends)
{
	uint64_t sum = 0;
	unsigned carry = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned bits = (a >> i & 1) + (b >> i & 1) + carry;

		sum |= (uint64_t)(bits & 1) << i;
		carry = ends >> i & 1 ? 0 : bits >> 1;
	}
	return sum;
}

static void apply_atomic(struct soak_flow *f, struct soak_op *op)
{
	uint64_t now;

	memcpy(&op->word, f->shadow + op->remote, SOAK_WORD);
	now = op->word;
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		now += op->compare;
	else if (op->opcode == IBV_WR_MASKED_ATOMIC_FETCH_AND_ADD)
		now = add_fields(now, op->compare, op->compare_mask);
	else if (op->opcode == IBV_WR_MASKED_ATOMIC_CMP_AND_SWP)
		now = (now ^ op->compare) & op->compare_mask
			      ? now
			      : (now & ~op->swap_mask) | (op->swap & op->swap_mask);
	else if (now == op->compare)
		now = op->swap;
	memcpy(f->shadow + op->remote, &now, SOAK_WORD);
}

bool soak_flow_post(struct soak_flow *f, const struct soak_op *op)
{
	struct soak_op *mine = op_at(f, f->posted);

	free(mine->result);
	*mine = *op;
	mine->result = NULL;
	mine->failed = false;
	if (op->opcode == IBV_WR_RDMA_READ) {
		mine->result = malloc(op->len + 1u);
		if (!mine->result)
			return false;
		memcpy(mine->result, (op->from_pattern ? f->pattern : f->shadow) + op->remote,
		       op->len);
	} else if (is_write(op->opcode)) {
		gather(f->shadow + op->remote, op);
	} else if (is_atomic(op->opcode)) {
		apply_atomic(f, mine);
	}
	f->posted++;
	return true;
}

/* --- completions of the sender --- */

static const char *compare(struct soak_flow *f, uint64_t number, const char *what,
			   const uint8_t *want, const struct soak_piece *piece, unsigned pieces,
			   uint32_t len)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < pieces && at < len; i++) {
		uint32_t part = piece[i].len < len - at ? piece[i].len : len - at;

		for (uint32_t k = 0; memcmp(piece[i].at, want + at, part) && k < part; k++)
			if (piece[i].at[k] != want[at + k])
				return wrong(f,
					     "request %" PRIu64 ": byte %u of %u %s is 0x%02x, "
					     "not 0x%02x",
					     number, at + k, len, what, piece[i].at[k],
					     want[at + k]);
		at += part;
	}
	return NULL;
}

/* A request has succeeded, with a completion or, if it is unsignalled, without one. */
static const char *landed(struct soak_flow *f, uint64_t number)
{
	struct soak_op *op = op_at(f, number);
	const char *text = NULL;

	if (op->opcode == IBV_WR_RDMA_READ)
		text = compare(f, number, "read", op->result, op->piece, op->pieces, op->len);
	else if (is_atomic(op->opcode))
		text = compare(f, number, "of an atomic's result", (const uint8_t *)&op->word,
			       op->piece, op->pieces, SOAK_WORD);
	free(op->result);
	op->result = NULL;
	return text;
}

static const char *judge_success(struct soak_flow *f, const struct soak_wc *wc)
{
	const struct soak_op *op = op_at(f, wc->number);

	if (f->broken)
		return wrong(f, "request %" PRIu64 " succeeds after one that was flushed",
			     wc->number);
	if (!op->signaled)
		return wrong(f, "request %" PRIu64 " completes, but was not signalled", wc->number);
	if (wc->opcode != send_wc_opcode(op->opcode))
		return wrong(f, "request %" PRIu64 " completes with opcode %d, not %d", wc->number,
			     wc->opcode, send_wc_opcode(op->opcode));
	if (soak_lands_here(op->opcode) && wc->byte_len != op->len)
		return wrong(f, "request %" PRIu64 " completes with %u bytes, not %u", wc->number,
			     wc->byte_len, op->len);
	return NULL;
}

const char *soak_flow_sent(struct soak_flow *f, const struct soak_wc *wc)
{
	const char *text;

	if (wc->number < f->done || wc->number >= f->posted)
		return wrong(f, "request %" PRIu64 " completes; %" PRIu64 " to %" PRIu64 " are due",
			     wc->number, f->done, f->posted);
	if (wc->status && (!f->breaking || wc->status != IBV_WC_WR_FLUSH_ERR))
		return wrong(f, "request %" PRIu64 " (opcode %d, %u bytes) ends with status %d",
			     wc->number, op_at(f, wc->number)->opcode, op_at(f, wc->number)->len,
			     wc->status);
	text = wc->status ? NULL : judge_success(f, wc);
	for (; !text && f->done < wc->number; f->done++) {
		if (op_at(f, f->done)->signaled || f->broken)
			return wrong(f, "request %" PRIu64 " completes before request %" PRIu64,
				     wc->number, f->done);
		text = landed(f, f->done);
	}
	if (text)
		return text;
	if (!wc->status)
		text = landed(f, wc->number);
	else {
		f->broken = true;
		f->flushed++;
		op_at(f, wc->number)->failed = true;
	}
	f->done++;
	return text;
}

/* --- completions of the receiver --- */

/* Whether a later request may already have changed the bytes. */
static bool overwritten(const struct soak_flow *f, uint64_t number)
{
	if (f->posted - number >= SOAK_RING)
		return true;
	for (uint64_t n = number + 1; n < f->posted; n++)
		if (changes_window(op_const(f, n)) && overlap(op_const(f, n), op_const(f, number)))
			return true;
	return false;
}

static const char *judge_message(struct soak_flow *f, uint64_t number,
				 const struct soak_piece *piece, unsigned pieces, uint8_t fill)
{
	const struct soak_op *op = op_at(f, number);
	uint32_t skip = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 0 : op->len;
	unsigned left = FILL_CHECKED;
	uint8_t *sent;
	const char *text;

	if (!skip && op->len && !overwritten(f, number)) {
		const struct soak_piece there = {f->window + op->remote, op->len};

		text = compare(f, number, "written", f->shadow + op->remote, &there, 1, op->len);
		if (text)
			return text;
	}
	if (skip) {
		sent = malloc(op->len);
		if (!sent)
			return wrong(f, "no memory");
		gather(sent, op);
		text = compare(f, number, "received", sent, piece, pieces, op->len);
		free(sent);
		if (text)
			return text;
	}
	for (unsigned i = 0; i < pieces; i++) {
		uint32_t k = skip < piece[i].len ? skip : piece[i].len;

		skip -= k;
		for (; k < piece[i].len && left; k++, left--)
			if (piece[i].at[k] != fill)
				return wrong(f, "request %" PRIu64 ": written beyond its %u bytes",
					     number, op->len);
	}
	return NULL;
}

const char *soak_flow_received(struct soak_flow *f, const struct soak_wc *wc,
			       const struct soak_piece *piece, unsigned pieces, uint8_t fill)
{
	const struct soak_op *op;
	uint64_t number;

	if (wc->status)
		return f->breaking && wc->status == IBV_WC_WR_FLUSH_ERR
			       ? NULL
			       : wrong(f, "a receive ends with status %d", wc->status);
	skip_silent(f);
	if (f->arrived == f->posted)
		return wrong(f, "a receive completes, and nothing was sent");
	number = f->arrived++;
	op = op_at(f, number);
	if (wc->opcode !=
	    (op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV))
		return wrong(f, "request %" PRIu64 " is received with opcode %d", number,
			     wc->opcode);
	if (wc->byte_len != op->len)
		return wrong(f, "request %" PRIu64 " is received with %u bytes, not %u", number,
			     wc->byte_len, op->len);
	if (wc->has_imm != has_imm(op->opcode) ||
	    wc->has_key != (op->opcode == IBV_WR_SEND_WITH_INV) ||
	    ((wc->has_imm || wc->has_key) && wc->imm != op->imm))
		return wrong(f, "request %" PRIu64 " is received with imm 0x%x, not 0x%x", number,
			     wc->imm, op->imm);
	return judge_message(f, number, piece, pieces, fill);
}

/* --- the end --- */

void soak_flow_break(struct soak_flow *f)
{
	f->breaking = true;
}

/* Accepts the present content of memory that flushed requests may have written. */
static void adopt_flushed(struct soak_flow *f)
{
	for (uint64_t n = f->posted > SOAK_RING ? f->posted - SOAK_RING : 0; n < f->posted; n++) {
		const struct soak_op *op = op_at(f, n);

		if (op->failed && changes_window(op))
			memcpy(f->shadow + op->remote, f->window + op->remote, op->len);
	}
}

const char *soak_flow_judge(struct soak_flow *f)
{
	skip_silent(f);
	if (f->done != f->posted && !f->broken)
		return wrong(f, "request %" PRIu64 " of %" PRIu64 " has not completed", f->done,
			     f->posted);
	for (; f->arrived < f->posted; f->arrived++)
		if (soak_consumes(op_at(f, f->arrived)->opcode) && !op_at(f, f->arrived)->failed)
			return wrong(f, "request %" PRIu64 " succeeded, but was not received",
				     f->arrived);
	adopt_flushed(f);
	for (unsigned i = 0; i < SOAK_RING; i++)
		op_at(f, i)->failed = false;
	f->breaking = f->broken = false;
	for (size_t i = 0; memcmp(f->window, f->shadow, f->bytes) && i < f->bytes; i++)
		if (f->window[i] != f->shadow[i])
			return wrong(f, "byte %zu of the window is 0x%02x, not 0x%02x", i,
				     f->window[i], f->shadow[i]);
	return NULL;
}

/* --- messages that may be lost --- */

static struct soak_loose_message *message_at(struct soak_loose *f, uint64_t number)
{
	return &f->ring[number % SOAK_LOOSE_RING];
}

uint64_t soak_loose_post(struct soak_loose *f, size_t at, uint32_t len, bool bad, bool write)
{
	*message_at(f, f->posted) = (struct soak_loose_message){
		.number = f->posted, .at = at, .len = len, .wrong = bad, .write = write};
	return f->posted++;
}

const char *soak_loose_sent(struct soak_loose *f, uint64_t number, enum ibv_wc_status status)
{
	enum ibv_wc_status due = f->stopped                     ? IBV_WC_WR_FLUSH_ERR
				 : message_at(f, number)->wrong ? IBV_WC_LOC_PROT_ERR
								: IBV_WC_SUCCESS;

	if (number != f->done || number >= f->posted)
		return wrong(f, "message %" PRIu64 " completes; %" PRIu64 " is due", number,
			     f->done);
	if (status != due)
		return wrong(f, "message %" PRIu64 " ends with status %d, not %d", number, status,
			     due);
	/* flushed messages were not sent and must not arrive */
	message_at(f, number)->wrong |= f->stopped;
	f->stopped |= status != IBV_WC_SUCCESS;
	f->done++;
	return NULL;
}

const char *soak_loose_received(struct soak_loose *f, uint32_t imm, const uint8_t *bytes,
				uint32_t len, bool write)
{
	uint64_t number = (f->posted & ~(uint64_t)UINT32_MAX) | imm;
	struct soak_loose_message *m;

	m = message_at(f, number);
	if (number >= f->posted || m->number != number || m->wrong)
		return wrong(f, "a message %u arrives; %" PRIu64 " have been sent", imm, f->posted);
	if (m->write != write)
		return wrong(f, "message %" PRIu64 " arrives as another kind", number);
	if (++m->arrived > f->most)
		return wrong(f, "message %" PRIu64 " arrives for the %u. time", number, m->arrived);
	if (len != m->len)
		return wrong(f, "message %" PRIu64 " arrives with %u bytes, not %u", number, len,
			     m->len);
	for (uint32_t i = 0; memcmp(bytes, f->pattern + m->at, len) && i < len; i++)
		if (bytes[i] != f->pattern[m->at + i])
			return wrong(f, "message %" PRIu64 ": byte %u of %u is 0x%02x, not 0x%02x",
				     number, i, len, bytes[i], f->pattern[m->at + i]);
	f->delivered++;
	return NULL;
}

const char *soak_loose_judge(struct soak_loose *f)
{
	if (f->done != f->posted)
		return wrong(f, "message %" PRIu64 " of %" PRIu64 " has not completed", f->done,
			     f->posted);
	if (f->posted >= SOAK_WORD * SOAK_WORD && f->delivered < f->posted / LEAST_ARRIVE)
		return wrong(f, "of %" PRIu64 " messages only %" PRIu64 " arrived", f->posted,
			     f->delivered);
	return NULL;
}
