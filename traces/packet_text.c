/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as text. */
#include <string.h>

#include "traces/decode.h"

bool packet_view_make(struct packet_view *v, const uint8_t *bytes, uint32_t len)
{
	uint32_t at = LRH_BYTES;

	*v = (struct packet_view){0};
	if (len < LRH_BYTES)
		return false;
	v->lrh = (const struct lrh *)(const void *)bytes;
	v->total = lrh_get_pkt_len(v->lrh) * 4 + 2;
	if (lrh_get_lnh(v->lrh) == LNH_IBA_GLOBAL) {
		if (len < LRH_BYTES + GRH_BYTES)
			return false;
		v->grh = (const struct grh *)(const void *)(bytes + LRH_BYTES);
		at += GRH_BYTES;
	} else if (lrh_get_lnh(v->lrh) != LNH_IBA_LOCAL) {
		return false;
	}
	if (len < at + BTH_BYTES)
		return false;
	v->bth = (const struct bth *)(const void *)(bytes + at);
	v->op = bth_op_find((uint8_t)bth_get_opcode(v->bth));
	v->headers = bth_op_header_bytes(v->op, v->grh != NULL);
	v->payload = (int)v->total - (int)v->headers - 6 - (int)bth_get_pad(v->bth);
	return true;
}

const void *packet_view_ext(const struct packet_view *v, uint32_t len, enum bth_ext ext)
{
	if (!v->bth || !bth_op_has(v->op, ext) || v->headers > len)
		return NULL;
	return (const uint8_t *)v->bth + v->op->at[ext];
}

void decode_aeth(struct trace_text *t, const struct aeth *aeth)
{
	uint32_t syndrome = aeth_get_syndrome(aeth), code = aeth_syndrome_code(syndrome);
	static const char *const naks[32] = {
#define NAK_NAME(name, value, cqe, verdict, meaning) [value] = #name,
		NAK_CODES(NAK_NAME)
#undef NAK_NAME
	};

	switch (aeth_syndrome_kind(syndrome)) {
	case AETH_ACK:
		trace_text_add(t, "ack credits %u", code);
		break;
	case AETH_RNR_NAK:
		trace_text_add(t, "rnr nak timer %u", code);
		break;
	case AETH_NAK:
		trace_text_add(t, "nak ");
		decode_code(t, naks[code], "code ", code);
		break;
	default:
		trace_text_add(t, "syndrome 0x%x", syndrome);
		break;
	}
	trace_text_add(t, " msn %u", aeth_get_msn(aeth));
}

static void decode_ext(struct trace_text *t, const struct packet_view *v, uint32_t len)
{
	static const struct layout *const layouts[BTH_EXTS] = {
		[BTH_EXT_XRCETH] = &layout_xrceth,
		[BTH_EXT_DETH] = &layout_deth,
		[BTH_EXT_RETH] = &layout_reth,
		[BTH_EXT_ATOMICETH] = &layout_atomiceth,
		[BTH_EXT_MASKED_CASETH] = &layout_masked_caseth,
		[BTH_EXT_MASKED_FAETH] = &layout_masked_faeth,
		[BTH_EXT_ATOMICACKETH] = &layout_atomicacketh,
		[BTH_EXT_IMMDT] = &layout_immdt,
		[BTH_EXT_IETH] = &layout_ieth,
	};

	for (enum bth_ext x = 0; x < BTH_EXTS; x++) {
		const void *p = packet_view_ext(v, len, x);

		if (!p)
			continue;
		if (x == BTH_EXT_AETH) {
			trace_text_add(t, ", ");
			decode_aeth(t, p);
		} else {
			decode_fields(t, layouts[x], p, 0, layouts[x]->size);
		}
	}
}

static bool is_mad(const struct packet_view *v)
{
	return bth_op_is(v->op, BTH_DATAGRAM) && bth_get_dqpn(v->bth) <= 1 && v->payload == 256;
}

static void decode_marks(struct trace_text *t, const struct packet_view *v)
{
	if (bth_get_ack_req(v->bth))
		trace_text_add(t, " ack_req");
	if (bth_get_solicited(v->bth))
		trace_text_add(t, " solicited");
	if (bth_get_pkey(v->bth) != 0xffff)
		trace_text_add(t, " pkey 0x%x", bth_get_pkey(v->bth));
}

void decode_packet_plain(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	struct packet_view v;

	if (!packet_view_make(&v, bytes, len)) {
		trace_text_add(t, " no transport packet");
		return;
	}
	trace_text_add(t, " ");
	decode_code(t, v.op->name, "opcode ", bth_get_opcode(v.bth));
	trace_text_add(t, " slid %u dlid %u sl %u vl %u qpn 0x%x psn %u", lrh_get_slid(v.lrh),
		       lrh_get_dlid(v.lrh), lrh_get_sl(v.lrh), lrh_get_vl(v.lrh),
		       bth_get_dqpn(v.bth), bth_get_psn(v.bth));
	if (v.payload < 0) {
		trace_text_add(t, " too short for its headers");
		return;
	}
	if (v.payload || bth_op_is(v.op, BTH_PAYLOAD))
		trace_text_add(t, " payload %d", v.payload);
	decode_marks(t, &v);
}

void decode_packet_more(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	struct packet_view v;

	if (!packet_view_make(&v, bytes, len)) {
		trace_text_add(t, ", %u bytes: ", len);
		trace_text_hex(t, bytes, len < 64 ? len : 64);
		return;
	}
	if (v.payload < 0) {
		trace_text_add(t, ", %u bytes", v.total);
		decode_marks(t, &v);
	}
	if (v.grh) {
		trace_text_add(t, ", sgid ");
		trace_text_hex(t, grh_sgid_cptr(v.grh), 16);
		trace_text_add(t, " dgid ");
		trace_text_hex(t, grh_dgid_cptr(v.grh), 16);
	}
	decode_ext(t, &v, len);
	if (is_mad(&v) && v.headers < len)
		decode_mad(t, bytes + v.headers, len - v.headers);
}

void decode_packet(struct trace_text *t, const uint8_t *bytes, uint32_t len)
{
	decode_packet_plain(t, bytes, len);
	decode_packet_more(t, bytes, len);
}

uint32_t packet_source(const struct packet_view *v, const struct trace_record *r)
{
	if (!r->qpn || bth_op_has(v->op, BTH_EXT_DETH))
		return 0;
	return r->qpn != bth_get_dqpn(v->bth) ? r->qpn : 0;
}

uint32_t packet_sender(const struct packet_view *v, const struct trace_record *r)
{
	const uint32_t from = packet_source(v, r);
	const struct deth *deth = packet_view_ext(v, r->len, BTH_EXT_DETH);

	if (from)
		return from;
	return deth && deth_get_sqpn(deth) ? deth_get_sqpn(deth) : bth_get_dqpn(v->bth);
}

bool packet_is_nak(const struct packet_view *v, uint32_t len)
{
	const struct aeth *aeth = packet_view_ext(v, len, BTH_EXT_AETH);
	uint32_t kind;

	if (!aeth)
		return false;
	kind = aeth_syndrome_kind(aeth_get_syndrome(aeth));
	return kind == AETH_NAK || kind == AETH_RNR_NAK;
}

bool packet_fault_is(const struct trace_record *r, enum fault_action action)
{
	return r->text && !strcmp(r->text, fault_action_name(action));
}
