/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as text. */
#include <string.h>

#include "traces/decode.h"

/* What follows the BTH's place; `end` is where the ICRC begins. */
static void view_transport(struct packet_view *v, const uint8_t *bytes, uint32_t bth_off,
			   uint32_t end)
{
	v->bth = (const struct bth *)(const void *)(bytes + bth_off);
	v->op = bth_op_find((uint8_t)bth_get_opcode(v->bth));
	v->headers = bth_off + BTH_BYTES + v->op->ext_bytes;
	v->payload = (int)end - (int)v->headers - (int)bth_get_pad(v->bth);
}

static bool view_frame(struct packet_view *v, const uint8_t *bytes, uint32_t len)
{
	/* the bytes may end after the headers: the length follows from the IP header */
	if (roce_find(bytes, len, UINT16_MAX, ROCE_UDP_PORT, &v->frame))
		return false;
	v->total = v->frame.end + FCS_BYTES < ETHERNET_MIN ? ETHERNET_MIN
							   : v->frame.end + (uint32_t)FCS_BYTES;
	view_transport(v, bytes, v->frame.bth_off, v->frame.end - (uint32_t)ICRC_BYTES);
	return true;
}

static bool view_packet(struct packet_view *v, const uint8_t *bytes, uint32_t len)
{
	uint32_t at = LRH_BYTES;

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
	view_transport(v, bytes, at, v->total - (uint32_t)CRC_BYTES);
	return true;
}

bool packet_view_make(struct packet_view *v, const struct packet_bytes *p)
{
	*v = (struct packet_view){0};
	if (!p->bytes)
		return false;
	return p->ethernet ? view_frame(v, p->bytes, p->len) : view_packet(v, p->bytes, p->len);
}

struct packet_bytes packet_bytes_of(const struct trace_record *r)
{
	return (struct packet_bytes){.bytes = r->bytes,
				     .len = r->bytes ? r->len : 0,
				     .ethernet = r->args[TRACE_ARG(PKT_OUT, known)] &
						 TRACE_PACKET_ETHERNET};
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

/* Where a packet goes, and how. */
static void decode_route(struct trace_text *t, const struct packet_view *v, const uint8_t *bytes)
{
	static const char *const kinds[ROCE_KINDS] = {
		[ROCE_V1] = "v1", [ROCE_V2_IPV4] = "v2 ipv4", [ROCE_V2_IPV6] = "v2 ipv6"};

	if (v->lrh) {
		trace_text_add(t, " slid %u dlid %u sl %u vl %u", lrh_get_slid(v->lrh),
			       lrh_get_dlid(v->lrh), lrh_get_sl(v->lrh), lrh_get_vl(v->lrh));
		return;
	}
	trace_text_add(t, " roce %s dmac ", kinds[v->frame.kind]);
	trace_text_hex(t, bytes, MAC_BYTES);
	if (v->frame.vlan != VLAN_NONE)
		trace_text_add(t, " vlan %u priority %u", v->frame.vlan & VLAN_MASK,
			       v->frame.vlan >> VLAN_PRIORITY_SHIFT);
}

void decode_packet_plain(struct trace_text *t, const struct packet_bytes *p)
{
	struct packet_view v;

	if (!packet_view_make(&v, p)) {
		trace_text_add(t, p->ethernet ? " frame" : " no transport packet");
		return;
	}
	trace_text_add(t, " ");
	decode_code(t, v.op->name, "opcode ", bth_get_opcode(v.bth));
	decode_route(t, &v, p->bytes);
	trace_text_add(t, " qpn 0x%x psn %u", bth_get_dqpn(v.bth), bth_get_psn(v.bth));
	if (v.payload < 0) {
		trace_text_add(t, " too short for its headers");
		return;
	}
	if (v.payload || bth_op_is(v.op, BTH_PAYLOAD))
		trace_text_add(t, " payload %d", v.payload);
	decode_marks(t, &v);
}

static void decode_gids(struct trace_text *t, const struct packet_view *v, const uint8_t *bytes)
{
	uint8_t gid[16];

	if (v->grh) {
		trace_text_add(t, ", sgid ");
		trace_text_hex(t, grh_sgid_cptr(v->grh), 16);
		trace_text_add(t, " dgid ");
		trace_text_hex(t, grh_dgid_cptr(v->grh), 16);
	} else if (!v->lrh) {
		roce_sgid(bytes, &v->frame, gid);
		trace_text_add(t, ", sgid ");
		trace_text_hex(t, gid, sizeof(gid));
		roce_dgid(bytes, &v->frame, gid);
		trace_text_add(t, " dgid ");
		trace_text_hex(t, gid, sizeof(gid));
	}
}

void decode_packet_more(struct trace_text *t, const struct packet_bytes *p)
{
	struct packet_view v;

	if (!packet_view_make(&v, p)) {
		trace_text_add(t, ", %u bytes: ", p->len);
		trace_text_hex(t, p->bytes, p->len < 64 ? p->len : 64);
		return;
	}
	if (v.payload < 0) {
		trace_text_add(t, ", %u bytes", v.total);
		decode_marks(t, &v);
	}
	decode_gids(t, &v, p->bytes);
	decode_ext(t, &v, p->len);
	if (is_mad(&v) && v.headers < p->len)
		decode_mad(t, p->bytes + v.headers, p->len - v.headers);
}

void decode_packet(struct trace_text *t, const struct packet_bytes *p)
{
	decode_packet_plain(t, p);
	decode_packet_more(t, p);
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
