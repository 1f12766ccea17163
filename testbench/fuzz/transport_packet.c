/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the packets that a pair is given, and what is noted of those that come out. See
 * transport.h. */
#include "model/engine/wire/packet.h"
#include "testbench/fuzz/transport.h"

static const uint8_t other_gid[DRV_GID_BYTES] = {0xfe, 0x80, [15] = 9};
static const uint8_t other_mgid[DRV_GID_BYTES] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 8};

static uint32_t rkey_of(const struct pair_target *to, enum pair_key key)
{
	const uint32_t value = key == KEY_WITHOUT_RIGHTS ? to->weak_rkey : to->rkey;

	return key == KEY_WRONG ? value ^ PAIR_WRONG_KEY : value;
}

static void grh_build(uint8_t *wire, const struct pair_packet *p, const uint8_t *gid, uint32_t len)
{
	static const uint8_t *const to[] = {
		[GRH_OTHER] = other_gid, [GRH_GROUP] = fuzz_mgid, [GRH_OTHER_GROUP] = other_mgid};
	struct grh *grh = (struct grh *)(wire + LRH_BYTES);

	grh_set_ip_ver(grh, 6);
	grh_set_next_hdr(grh, GRH_NEXT_BTH);
	grh_set_hop_limit(grh, 1);
	grh_set_pay_len(grh, len - LRH_BYTES - GRH_BYTES + ICRC_BYTES);
	memcpy(grh_sgid_ptr(grh), other_gid, DRV_GID_BYTES);
	memcpy(grh_dgid_ptr(grh), p->grh == GRH_RIGHT ? gid : to[p->grh], DRV_GID_BYTES);
}

static void ext_build(uint8_t *bth, const struct bth_op *op, const struct pair_packet *p,
		      uint64_t va, uint32_t key)
{
	if (op->at[BTH_EXT_RETH]) {
		struct reth *reth = (struct reth *)(bth + op->at[BTH_EXT_RETH]);

		reth_set_va(reth, va + p->offset);
		reth_set_rkey(reth, key);
		reth_set_dma_len(reth, p->dma_len);
	}
	if (op->at[BTH_EXT_ATOMICETH]) {
		struct atomiceth *eth = (struct atomiceth *)(bth + op->at[BTH_EXT_ATOMICETH]);

		atomiceth_set_va(eth, va + p->offset);
		atomiceth_set_rkey(eth, key);
		atomiceth_set_swap_add(eth, p->swap_add);
		atomiceth_set_compare(eth, p->compare);
	}
	if (op->at[BTH_EXT_AETH]) {
		aeth_set_syndrome((struct aeth *)(bth + op->at[BTH_EXT_AETH]), p->syndrome);
		aeth_set_msn((struct aeth *)(bth + op->at[BTH_EXT_AETH]), p->msn);
	}
	if (op->at[BTH_EXT_ATOMICACKETH])
		atomicacketh_set_original(
			(struct atomicacketh *)(bth + op->at[BTH_EXT_ATOMICACKETH]), p->compare);
	if (op->at[BTH_EXT_DETH]) {
		deth_set_qkey((struct deth *)(bth + op->at[BTH_EXT_DETH]), p->qkey);
		deth_set_sqpn((struct deth *)(bth + op->at[BTH_EXT_DETH]), PAIR_PEER_QPN);
	}
	if (op->at[BTH_EXT_IMMDT])
		immdt_set_imm((struct immdt *)(bth + op->at[BTH_EXT_IMMDT]), p->imm);
}

uint32_t pair_packet_build(const struct pair_packet *p, const struct pair_target *to, uint8_t *wire)
{
	const struct bth_op *op = bth_op_find(p->opcode);
	const bool group = p->grh == GRH_GROUP || p->grh == GRH_OTHER_GROUP;
	const uint32_t headers = bth_op_header_bytes(op, p->grh), pad = -p->len & 3;
	struct lrh *lrh = (struct lrh *)wire;
	struct bth *bth = (struct bth *)(wire + LRH_BYTES + (p->grh ? GRH_BYTES : 0));

	memset(wire, 0, headers + p->len + pad);
	lrh_set_lnh(lrh, p->grh ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, group ? LID_MCAST_FIRST + 1 : to->lid);
	lrh_set_slid(lrh, to->peer_lid);
	lrh_set_pkt_len(lrh, (headers + p->len + pad + ICRC_BYTES) / 4);
	if (p->grh)
		grh_build(wire, p, to->gid, headers + p->len + pad);
	bth_set_opcode(bth, p->opcode);
	bth_set_mig_req(bth, 1);
	bth_set_pkey(bth, p->pkey);
	bth_set_dqpn(bth, group ? QPN_MULTICAST : to->qpn);
	bth_set_psn(bth, p->psn);
	bth_set_ack_req(bth, p->ack_req);
	bth_set_solicited(bth, p->solicited);
	bth_set_pad(bth, pad);
	ext_build((uint8_t *)bth, op, p, to->va, rkey_of(to, p->key));
	for (uint32_t i = 0; i < p->len; i++)
		wire[headers + i] = (uint8_t)(p->psn * 31 + i);
	return headers + p->len + pad;
}

/* --- what came out --- */

static uint64_t checksum(uint64_t sum, const uint8_t *bytes, uint32_t len)
{
	while (len--)
		sum = (sum ^ *bytes++) * 0x100000001b3;
	return sum;
}

void pair_out_note(struct pair_seen *seen, const uint8_t *wire, uint32_t len)
{
	const struct bth *bth = (const struct bth *)(wire + LRH_BYTES);
	const uint8_t *ext = (const uint8_t *)bth;
	const struct bth_op *op = bth_op_find((uint8_t)bth_get_opcode(bth));
	const uint32_t headers = bth_op_header_bytes(op, false);
	struct pair_out *r;
	unsigned after = BTH_BYTES;

	if (seen->n == PAIR_PACKETS_MAX || len < headers)
		return;
	r = &seen->out[seen->n++];
	memset(r, 0, sizeof(*r));
	r->opcode = (uint8_t)bth_get_opcode(bth);
	r->solicited = bth_get_solicited(bth);
	r->ack_req = bth_op_is(op, BTH_END) && bth_get_ack_req(bth);
	r->psn = bth_get_psn(bth);
	r->len = len - headers - bth_get_pad(bth);
	if (op->at[BTH_EXT_RETH])
		r->dma_len = reth_get_dma_len((const struct reth *)(ext + op->at[BTH_EXT_RETH]));
	if (op->at[BTH_EXT_AETH]) {
		const struct aeth *aeth = (const struct aeth *)(ext + op->at[BTH_EXT_AETH]);

		r->syndrome = (uint8_t)aeth_get_syndrome(aeth);
		if (aeth_syndrome_kind(r->syndrome) == AETH_ACK)
			r->syndrome = 0;
		r->msn = aeth_get_msn(aeth);
		after = op->at[BTH_EXT_AETH] + (unsigned)sizeof(*aeth);
	}
	if (op->at[BTH_EXT_DETH]) /* the sender's number is of its side */
		after = op->at[BTH_EXT_DETH] + (unsigned)sizeof(struct deth);
	r->content = checksum(0xcbf29ce484222325, ext + after, headers - LRH_BYTES - after);
	r->content = checksum(r->content, wire + headers, r->len);
}
