/* SPDX-License-Identifier: Apache-2.0 */
/* See ladder_match.h. */
#include "testbench/language/ladder_match.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* F(member, format): what is compared, in this order. */
#define PKT_FIELDS(F)                                                                              \
	F(psn, "0x%" PRIx64)                                                                       \
	F(qpn, "0x%" PRIx64)                                                                       \
	F(len, "%" PRId64)                                                                         \
	F(nak, "%" PRId64)                                                                         \
	F(rnr, "%" PRId64)                                                                         \
	F(ack_credits, "%" PRId64)                                                                 \
	F(msn, "%" PRId64)                                                                         \
	F(ack_req, "%" PRId64)                                                                     \
	F(solicited, "%" PRId64)                                                                   \
	F(mig_req, "%" PRId64)                                                                     \
	F(pkey, "0x%" PRIx64)                                                                      \
	F(va, "0x%" PRIx64)                                                                        \
	F(rkey, "0x%" PRIx64)                                                                      \
	F(dma_len, "%" PRId64)                                                                     \
	F(imm, "0x%" PRIx64)                                                                       \
	F(srqn, "0x%" PRIx64)                                                                      \
	F(dlid, "%" PRId64)                                                                        \
	F(slid, "%" PRId64)                                                                        \
	F(transmission, "%" PRId64)                                                                \
	F(vl, "%" PRId64)                                                                          \
	F(sl, "%" PRId64)                                                                          \
	F(pad, "%" PRId64)                                                                         \
	F(grh, "%" PRId64)                                                                         \
	F(hop_limit, "%" PRId64)                                                                   \
	F(tclass, "0x%" PRIx64)                                                                    \
	F(flow_label, "0x%" PRIx64)                                                                \
	F(dmac, "0x%" PRIx64)                                                                      \
	F(vlan, "%" PRId64)                                                                        \
	F(syndrome, "0x%" PRIx64)                                                                  \
	F(qkey, "0x%" PRIx64)                                                                      \
	F(src_qpn, "0x%" PRIx64)                                                                   \
	F(swap_add, "0x%" PRIx64)                                                                  \
	F(compare, "0x%" PRIx64)                                                                   \
	F(original, "0x%" PRIx64)                                                                  \
	F(inv_rkey, "0x%" PRIx64)                                                                  \
	F(mgmt_class, "0x%" PRIx64)                                                                \
	F(method, "0x%" PRIx64)                                                                    \
	F(status, "0x%" PRIx64)                                                                    \
	F(attr, "0x%" PRIx64)                                                                      \
	F(mod, "0x%" PRIx64)                                                                       \
	F(tid, "0x%" PRIx64)

enum { ROOM_FIRST = 64, TRIES_FIRST = 16, MANAGEMENT_QPNS = 2, GID_TEXT = 40 };

static void parse_aeth(struct tb_pkt *f, const struct aeth *aeth)
{
	const uint32_t syndrome = aeth_get_syndrome(aeth), code = syndrome & AETH_CODE_MASK;

	f->msn = aeth_get_msn(aeth);
	f->syndrome = syndrome;
	if (syndrome >> AETH_KIND_SHIFT == AETH_ACK)
		f->ack_credits = code;
	else if (syndrome >> AETH_KIND_SHIFT == AETH_RNR_NAK)
		f->rnr = code;
	else if (syndrome >> AETH_KIND_SHIFT == AETH_NAK)
		f->nak = code;
}

static void parse_extensions(struct tb_pkt *f, const struct bth_op *op, const uint8_t *bth)
{
#define AT(ext) ((const void *)(bth + op->at[BTH_EXT_##ext]))
	if (bth_op_has(op, BTH_EXT_AETH))
		parse_aeth(f, AT(AETH));
	if (bth_op_has(op, BTH_EXT_RETH)) {
		f->va = (int64_t)reth_get_va(AT(RETH));
		f->rkey = reth_get_rkey(AT(RETH));
		f->dma_len = reth_get_dma_len(AT(RETH));
	}
	if (bth_op_has(op, BTH_EXT_ATOMICETH)) {
		f->va = (int64_t)atomiceth_get_va(AT(ATOMICETH));
		f->rkey = atomiceth_get_rkey(AT(ATOMICETH));
		f->swap_add = (int64_t)atomiceth_get_swap_add(AT(ATOMICETH));
		f->compare = (int64_t)atomiceth_get_compare(AT(ATOMICETH));
	}
	if (bth_op_has(op, BTH_EXT_ATOMICACKETH))
		f->original = (int64_t)atomicacketh_get_original(AT(ATOMICACKETH));
	if (bth_op_has(op, BTH_EXT_DETH)) {
		f->qkey = deth_get_qkey(AT(DETH));
		f->src_qpn = deth_get_sqpn(AT(DETH));
	}
	if (bth_op_has(op, BTH_EXT_XRCETH))
		f->srqn = xrceth_get_srqn(AT(XRCETH));
	if (bth_op_has(op, BTH_EXT_IMMDT))
		f->imm = immdt_get_imm(AT(IMMDT));
	if (bth_op_has(op, BTH_EXT_IETH))
		f->inv_rkey = ieth_get_rkey(AT(IETH));
#undef AT
}

static void parse_grh(struct seen_pkt *seen, const struct grh *grh)
{
	seen->fields.hop_limit = grh_get_hop_limit(grh);
	seen->fields.tclass = grh_get_tclass(grh);
	seen->fields.flow_label = grh_get_flow_label(grh);
	memcpy(seen->sgid, grh_sgid_cptr(grh), sizeof(seen->sgid));
	memcpy(seen->dgid, grh_dgid_cptr(grh), sizeof(seen->dgid));
}

static void parse_mad(struct tb_pkt *f, const uint8_t *payload)
{
	const struct mad_hdr *mad = (const void *)payload;

	f->mgmt_class = mad_hdr_get_mgmt_class(mad);
	f->method = mad_hdr_get_method(mad);
	f->status = mad_hdr_get_status(mad);
	f->attr = mad_hdr_get_attr_id(mad);
	f->mod = mad_hdr_get_attr_mod(mad);
	f->tid = (int64_t)mad_hdr_get_tid(mad);
}

/* The bits of headers that nobody has; those of the LRH are only in packets of InfiniBand. */
static bool reserved_set(const struct bth_op *op, const uint8_t *bth)
{
	static const struct {
		enum bth_ext ext;
		uint8_t byte;
	} rows[] = {{BTH_EXT_DETH, 4}, {BTH_EXT_XRCETH, 0}};
	bool set = bth[4] & 0x3f || bth[8] & 0x7f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		set |= op->at[rows[i].ext] && bth[op->at[rows[i].ext] + rows[i].byte];
	return set;
}

static bool lrh_reserved_set(const uint8_t *wire)
{
	return wire[1] & 0x0c || wire[4] & 0xf8;
}

static bool pad_set(const uint8_t *wire, size_t icrc, unsigned pad)
{
	bool set = false;

	for (unsigned i = 1; i <= pad; i++)
		set |= wire[icrc - i] != 0;
	return set;
}

/* What every packet has from the BTH on; `icrc` is the place of its ICRC. */
static int parse_transport(struct seen_pkt *seen, const uint8_t *wire, size_t bth_off, size_t icrc)
{
	const struct bth *bth = (const void *)(wire + bth_off);
	const struct bth_op *op = bth_op_find((uint8_t)bth_get_opcode(bth));
	const size_t headers = bth_off + BTH_BYTES + op->ext_bytes;
	struct tb_pkt *f = &seen->fields;

	if (!op->name || icrc < headers + bth_get_pad(bth))
		return -EINVAL;
	seen->opcode = (uint8_t)bth_get_opcode(bth);
	f->psn = bth_get_psn(bth);
	f->qpn = bth_get_dqpn(bth);
	f->ack_req = bth_get_ack_req(bth);
	f->solicited = bth_get_solicited(bth);
	f->mig_req = bth_get_mig_req(bth);
	f->pkey = bth_get_pkey(bth);
	f->pad = bth_get_pad(bth);
	f->len = (int64_t)(icrc - headers - bth_get_pad(bth));
	seen->dirty = reserved_set(op, wire + bth_off) || pad_set(wire, icrc, bth_get_pad(bth));
	parse_extensions(f, op, wire + bth_off);
	if (f->qpn < MANAGEMENT_QPNS && f->len >= (int64_t)sizeof(struct mad_hdr))
		parse_mad(f, wire + headers);
	return 0;
}

static struct seen_pkt seen_begin(uint64_t time_ps, unsigned transmission, const char *fault)
{
	return (struct seen_pkt){.time_ps = time_ps,
				 .lost = fault && (strstr(fault, fault_action_name(FAULT_DROP)) ||
						   strstr(fault, fault_action_name(FAULT_CORRUPT))),
				 .fields = {TB_PKT_ANY, .transmission = transmission}};
}

int seen_pkt_parse(struct seen_pkt *seen, const uint8_t *wire, size_t len, uint64_t time_ps,
		   unsigned transmission, const char *fault)
{
	const struct lrh *lrh = (const void *)wire;
	bool grh = len > LRH_BYTES && lrh_get_lnh(lrh) == LNH_IBA_GLOBAL;
	size_t at = LRH_BYTES + (grh ? GRH_BYTES : 0);

	if (len < at + BTH_BYTES + CRC_BYTES || (!grh && lrh_get_lnh(lrh) != LNH_IBA_LOCAL))
		return -EINVAL;
	*seen = seen_begin(time_ps, transmission, fault);
	seen->fields.dlid = lrh_get_dlid(lrh);
	seen->fields.slid = lrh_get_slid(lrh);
	seen->fields.vl = lrh_get_vl(lrh);
	seen->fields.sl = lrh_get_sl(lrh);
	seen->fields.grh = grh;
	if (grh)
		parse_grh(seen, (const void *)(wire + LRH_BYTES));
	if (parse_transport(seen, wire, at, len - CRC_BYTES))
		return -EINVAL;
	seen->dirty |= lrh_reserved_set(wire);
	return 0;
}

static void parse_ipv4(struct seen_pkt *seen, const struct ipv4_hdr *ip)
{
	seen->fields.hop_limit = ipv4_hdr_get_ttl(ip);
	seen->fields.tclass = ipv4_hdr_get_tos(ip);
}

int seen_frame_parse(struct seen_pkt *seen, const uint8_t *frame, size_t len, uint64_t time_ps,
		     unsigned transmission, const char *fault)
{
	struct roce_places at;
	const char *wrong = roce_find(frame, len, len, ROCE_UDP_PORT, &at);

	if (wrong)
		return at.kind == ROCE_NONE ? -ENOMSG : -EINVAL;
	*seen = seen_begin(time_ps, transmission, fault);
	seen->fields.sl = at.vlan == VLAN_NONE ? 0 : at.vlan >> VLAN_PRIORITY_SHIFT;
	if (at.vlan != VLAN_NONE)
		seen->fields.vlan = at.vlan & VLAN_MASK;
	seen->fields.dmac = (int64_t)mac_load(frame);
	seen->fields.grh = 1;
	if (at.kind == ROCE_V2_IPV4)
		parse_ipv4(seen, (const void *)(frame + at.l3_off));
	else
		parse_grh(seen, (const void *)(frame + at.l3_off));
	roce_sgid(frame, &at, seen->sgid);
	roce_dgid(frame, &at, seen->dgid);
	return parse_transport(seen, frame, at.bth_off, at.end - (size_t)ICRC_BYTES);
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

/* A packet with an AETH is a positive ACK when nothing else is said of it. */
static bool kind_matches(const struct tb_pkt *seen, const struct tb_pkt *want, char *diff,
			 size_t size)
{
	if (seen->msn == TB_ANY || seen->ack_credits != TB_ANY || want->nak != TB_ANY ||
	    want->rnr != TB_ANY || want->syndrome != TB_ANY)
		return true;
	if (seen->nak != TB_ANY)
		snprintf(diff, size, "nak %" PRId64 ", expected a positive ack", seen->nak);
	else if (seen->rnr != TB_ANY)
		snprintf(diff, size, "rnr %" PRId64 ", expected a positive ack", seen->rnr);
	else
		snprintf(diff, size, "syndrome 0x%" PRIx64 ", expected a positive ack",
			 seen->syndrome);
	return false;
}

static void gid_text(char text[static GID_TEXT], const uint8_t gid[static DRV_GID_BYTES])
{
	for (unsigned i = 0, n = 0; i < DRV_GID_BYTES; i += 2)
		n += (unsigned)snprintf(text + n, GID_TEXT - n, "%s%02x%02x", i ? ":" : "", gid[i],
					gid[i + 1]);
}

static bool gid_matches(const char *name, const struct seen_pkt *seen, const uint8_t *gid,
			const uint8_t *want, char *diff, size_t size)
{
	char is[GID_TEXT], wanted[GID_TEXT];

	if (!want || (seen->fields.grh == 1 && !memcmp(gid, want, DRV_GID_BYTES)))
		return true;
	gid_text(is, gid);
	gid_text(wanted, want);
	snprintf(diff, size, "%s %s, expected %s", name, seen->fields.grh ? is : "none", wanted);
	return false;
}

static bool field_matches(int64_t seen, int64_t want)
{
	return want == TB_ANY || (want == TB_SOME ? seen != TB_ANY : seen == want);
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
	if (!kind_matches(&seen->fields, want, diff, size))
		return false;
#define F(member, format)                                                                          \
	if (!field_matches(seen->fields.member, want->member)) {                                   \
		if (want->member == TB_SOME)                                                       \
			snprintf(diff, size, "no " #member);                                       \
		else if (seen->fields.member == TB_ANY)                                            \
			snprintf(diff, size, "no " #member ", expected " format, want->member);    \
		else                                                                               \
			snprintf(diff, size, #member " " format ", expected " format,              \
				 seen->fields.member, want->member);                               \
		return false;                                                                      \
	}
	PKT_FIELDS(F)
#undef F
	return gid_matches("dgid", seen, seen->dgid, want->dgid, diff, size) &&
	       gid_matches("sgid", seen, seen->sgid, want->sgid, diff, size);
}

void pkt_describe(char *buf, size_t size, uint8_t opcode, const struct tb_pkt *p)
{
	const char *name = bth_op_find(opcode)->name;
	size_t n;

	snprintf(buf, size, "%s", name ? name : "unknown opcode");
	lower(buf);
#define F(member, format)                                                                          \
	n = strlen(buf);                                                                           \
	if (p->member == TB_SOME)                                                                  \
		snprintf(buf + n, size - n, " " #member);                                          \
	else if (p->member != TB_ANY)                                                              \
		snprintf(buf + n, size - n, " " #member " " format, p->member);
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

/* Returns the number of this transmission of a packet, counting from 1; 0: no memory. The counting
 * is done here because the device only tells whether a packet is a retransmission, and one whose
 * driver has the transport does not even know that. */
static unsigned count_try(struct seen_queue *q, const struct seen_pkt *pkt)
{
	const bool untold = q->untold && !bth_op_is(bth_op_find(pkt->opcode), BTH_RESPONSE);
	const bool again = untold || pkt->fields.transmission > 1;

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
	q->tries[q->tries_used] =
		(struct seen_try){pkt->fields.qpn, pkt->fields.psn, untold ? 1 : 2};
	return q->tries[q->tries_used++].count;
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

const struct seen_pkt *seen_queue_first(struct seen_queue *q)
{
	seen_queue_head(q);
	return q->count ? at(q, 0) : NULL;
}

void seen_queue_take(struct seen_queue *q)
{
	q->last_ps = at(q, 0)->time_ps;
	q->first = (q->first + 1) % q->room;
	q->count--;
}

void seen_queue_forget(struct seen_queue *q)
{
	q->tries_used = 0;
}

void seen_queue_clear(struct seen_queue *q)
{
	while (q->count)
		seen_queue_take(q);
}
