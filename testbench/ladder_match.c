// SPDX-License-Identifier: Apache-2.0
/* See ladder_match.h. */
#include "testbench/ladder_match.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* F(member, format): what is compared, in this order. */
#define PKT_FIELDS(F)                                                                              \
	F(psn, PRId64)                                                                             \
	F(qpn, PRIx64)                                                                             \
	F(len, PRId64)                                                                             \
	F(nak, PRId64)                                                                             \
	F(rnr, PRId64)                                                                             \
	F(ack_credits, PRId64) F(msn, PRId64) F(ack_req, PRId64) F(solicited, PRId64)              \
		F(mig_req, PRId64) F(pkey, PRIx64) F(va, PRIx64) F(rkey, PRIx64)                   \
			F(dma_len, PRId64) F(imm, PRIx64) F(srqn, PRIx64) F(dlid, PRId64)          \
				F(slid, PRId64) F(transmission, PRId64)

enum { ROOM_FIRST = 64, TRIES_FIRST = 16 };

static void parse_extensions(struct tb_pkt *f, const struct bth_op *op, const uint8_t *bth)
{
	if (bth_op_has(op, BTH_EXT_AETH)) {
		const struct aeth *aeth = (const void *)(bth + op->at[BTH_EXT_AETH]);
		uint32_t syndrome = aeth_get_syndrome(aeth), code = syndrome & AETH_CODE_MASK;

		f->msn = aeth_get_msn(aeth);
		if (syndrome >> AETH_KIND_SHIFT == AETH_ACK)
			f->ack_credits = code;
		else if (syndrome >> AETH_KIND_SHIFT == AETH_RNR_NAK)
			f->rnr = code;
		else if (syndrome >> AETH_KIND_SHIFT == AETH_NAK)
			f->nak = code;
	}
	if (bth_op_has(op, BTH_EXT_RETH)) {
		const struct reth *reth = (const void *)(bth + op->at[BTH_EXT_RETH]);

		f->va = (int64_t)reth_get_va(reth);
		f->rkey = reth_get_rkey(reth);
		f->dma_len = reth_get_dma_len(reth);
	}
	if (bth_op_has(op, BTH_EXT_XRCETH))
		f->srqn = xrceth_get_srqn((const void *)(bth + op->at[BTH_EXT_XRCETH]));
	if (bth_op_has(op, BTH_EXT_IMMDT))
		f->imm = immdt_get_imm((const void *)(bth + op->at[BTH_EXT_IMMDT]));
}

int seen_pkt_parse(struct seen_pkt *seen, const uint8_t *wire, size_t len, uint64_t time_ps,
		   unsigned transmission, const char *fault)
{
	const struct lrh *lrh = (const void *)wire;
	bool grh = len > LRH_BYTES && lrh_get_lnh(lrh) == LNH_IBA_GLOBAL;
	size_t at = LRH_BYTES + (grh ? GRH_BYTES : 0);
	const uint8_t *bth_bytes = wire + at;
	const struct bth *bth = (const void *)bth_bytes;
	const struct bth_op *op;
	size_t headers;

	if (len < at + BTH_BYTES + CRC_BYTES || (!grh && lrh_get_lnh(lrh) != LNH_IBA_LOCAL))
		return -EINVAL;
	op = bth_op_find((uint8_t)bth_get_opcode(bth));
	headers = at + BTH_BYTES + op->ext_bytes;
	if (!op->name || len < headers + bth_get_pad(bth) + CRC_BYTES)
		return -EINVAL;
	*seen = (struct seen_pkt){
		.time_ps = time_ps,
		.opcode = (uint8_t)bth_get_opcode(bth),
		.lost = fault && (strstr(fault, fault_action_name(FAULT_DROP)) ||
				  strstr(fault, fault_action_name(FAULT_CORRUPT))),
		.fields = {TB_PKT_ANY, .psn = bth_get_psn(bth), .qpn = bth_get_dqpn(bth),
			   .ack_req = bth_get_ack_req(bth), .solicited = bth_get_solicited(bth),
			   .mig_req = bth_get_mig_req(bth), .pkey = bth_get_pkey(bth),
			   .dlid = lrh_get_dlid(lrh), .slid = lrh_get_slid(lrh),
			   .transmission = transmission,
			   .len = (int64_t)(len - headers - bth_get_pad(bth) - CRC_BYTES)},
	};
	parse_extensions(&seen->fields, op, bth_bytes);
	return 0;
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

bool seen_pkt_matches(const struct seen_pkt *seen, uint8_t opcode, const struct tb_pkt *want,
		      char *diff, size_t size)
{
	if (seen->opcode != opcode) {
		snprintf(diff, size, "%s, expected %s", bth_op_find(seen->opcode)->name,
			 bth_op_find(opcode)->name);
		lower(diff);
		return false;
	}
#define F(member, format)                                                                          \
	if (want->member != TB_ANY && want->member != seen->fields.member) {                       \
		if (seen->fields.member == TB_ANY)                                                 \
			snprintf(diff, size, "no " #member ", expected %" format, want->member);   \
		else                                                                               \
			snprintf(diff, size, #member " %" format ", expected %" format,            \
				 seen->fields.member, want->member);                               \
		return false;                                                                      \
	}
	PKT_FIELDS(F)
#undef F
	return true;
}

void pkt_describe(char *buf, size_t size, uint8_t opcode, const struct tb_pkt *p)
{
	const char *name = bth_op_find(opcode)->name;
	size_t n;

	snprintf(buf, size, "%s", name ? name : "unknown opcode");
	lower(buf);
#define F(member, format)                                                                          \
	n = strlen(buf);                                                                           \
	if (p->member != TB_ANY)                                                                   \
		snprintf(buf + n, size - n, " " #member " %" format, p->member);
	PKT_FIELDS(F)
#undef F
}

/* --- queue --- */

void seen_queue_free(struct seen_queue *q)
{
	free(q->ring);
	free(q->tries);
	memset(q, 0, sizeof(*q));
}

static struct seen_pkt *at(const struct seen_queue *q, size_t i)
{
	return &q->ring[(q->first + i) % q->room];
}

static int grow(struct seen_queue *q)
{
	size_t room = q->room ? 2 * q->room : ROOM_FIRST;
	struct seen_pkt *ring = malloc(room * sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < q->count; i++)
		ring[i] = *at(q, i);
	free(q->ring);
	q->ring = ring;
	q->room = room;
	q->first = 0;
	return 0;
}

/* The device says whether a packet is sent again, not how often: 2 the first time. 0: no memory. */
static unsigned count_try(struct seen_queue *q, const struct seen_pkt *pkt)
{
	const bool again = pkt->fields.transmission > 1;

	for (unsigned i = 0; i < q->tries_used; i++) {
		struct seen_try *t = &q->tries[i];

		if (t->qpn != pkt->fields.qpn || t->psn != pkt->fields.psn)
			continue;
		t->count = again ? t->count + 1 : 1;
		return t->count;
	}
	if (!again)
		return 1;
	if (q->tries_used == q->tries_room) {
		const unsigned room = q->tries_room ? 2 * q->tries_room : TRIES_FIRST;
		struct seen_try *grown = realloc(q->tries, room * sizeof(*grown));

		if (!grown)
			return 0;
		q->tries = grown;
		q->tries_room = room;
	}
	q->tries[q->tries_used++] = (struct seen_try){pkt->fields.qpn, pkt->fields.psn, 2};
	return 2;
}

int seen_queue_left(struct seen_queue *q, const struct seen_pkt *pkt)
{
	const unsigned transmission = q->ignore ? 1 : count_try(q, pkt);

	if (q->ignore) {
		q->last_ps = pkt->time_ps;
		return 0;
	}
	if (!transmission || (q->count == q->room && grow(q)))
		return -ENOMEM;
	q->count++;
	*at(q, q->count - 1) = *pkt;
	at(q, q->count - 1)->fields.transmission = transmission;
	return 0;
}

bool seen_queue_arrived(struct seen_queue *q, uint8_t opcode, int64_t qpn, int64_t psn)
{
	for (size_t i = 0; i < q->count; i++) {
		struct seen_pkt *p = at(q, i);

		if (p->arrived || p->lost || p->opcode != opcode || p->fields.qpn != qpn ||
		    p->fields.psn != psn)
			continue;
		p->arrived = true;
		return true;
	}
	return false;
}

const struct seen_pkt *seen_queue_head(struct seen_queue *q)
{
	while (q->count && at(q, 0)->lost)
		seen_queue_take(q);
	return q->count && at(q, 0)->arrived ? at(q, 0) : NULL;
}

void seen_queue_take(struct seen_queue *q)
{
	q->last_ps = at(q, 0)->time_ps;
	q->first = (q->first + 1) % q->room;
	q->count--;
}

void seen_queue_clear(struct seen_queue *q)
{
	while (q->count)
		seen_queue_take(q);
}
