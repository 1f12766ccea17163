// SPDX-License-Identifier: Apache-2.0
/* Packets that a body makes itself: see inject() in services.h. */
#include "testbench/services.h"
#include "testbench/tb.h"

#include "model/engine/crc.h"

#include <string.h>

enum {
	PACKET_ROOM = 8192,
	HOP_LIMIT = 64,
	GID_BYTES = 16,
};

static uint32_t value(int64_t given, uint32_t right)
{
	return given == TB_ANY ? right : (uint32_t)given;
}

static void put_lrh(uint8_t *wire, const struct tb_inject *p, const struct tb_end *end,
		    uint32_t len)
{
	struct lrh *lrh = (void *)wire;

	lrh_set_vl(lrh, value(p->vl, 0));
	lrh_set_lver(lrh, value(p->lver, 0));
	lrh_set_sl(lrh, value(p->sl, 0));
	lrh_set_lnh(lrh, value(p->lnh, p->dgid ? LNH_IBA_GLOBAL : LNH_IBA_LOCAL));
	lrh_set_dlid(lrh, value(p->dlid, end->lid));
	lrh_set_pkt_len(lrh, value(p->pkt_len, len / 4));
	lrh_set_slid(lrh, value(p->slid, end->peer->lid));
}

static void put_grh(uint8_t *wire, const struct tb_inject *p, uint32_t bytes)
{
	struct grh *grh = (void *)wire;

	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_pay_len(grh, bytes);
	grh_set_next_hdr(grh, GRH_NEXT_BTH);
	grh_set_hop_limit(grh, HOP_LIMIT);
	memcpy(grh_dgid_ptr(grh), p->dgid, GID_BYTES);
}

static void put_bth(uint8_t *bytes, const struct tb_inject *p, const struct tb_end *end,
		    enum bth_opcode opcode)
{
	struct bth *bth = (void *)bytes;

	bth_set_opcode(bth, value(p->opcode, opcode));
	bth_set_solicited(bth, p->solicited);
	bth_set_mig_req(bth, !p->not_migrated);
	bth_set_pad(bth, value(p->pad, -p->len & 3));
	bth_set_tver(bth, value(p->tver, 0));
	bth_set_pkey(bth, value(p->pkey, PKEY_DEFAULT));
	bth_set_dqpn(bth, p->qpn == TB_ANY ? drv_qp_num(end->qp[0]) : (uint32_t)p->qpn);
	bth_set_ack_req(bth, p->ack_req);
	bth_set_psn(bth, p->psn);
}

static void put_extensions(uint8_t *bth, const struct bth_op *op, const struct tb_inject *p)
{
#define AT(ext) ((void *)(bth + op->at[BTH_EXT_##ext]))
	if (bth_op_has(op, BTH_EXT_XRCETH))
		xrceth_set_srqn(AT(XRCETH), p->srqn);
	if (bth_op_has(op, BTH_EXT_DETH)) {
		deth_set_qkey(AT(DETH), p->qkey);
		deth_set_sqpn(AT(DETH), p->src_qpn);
	}
	if (bth_op_has(op, BTH_EXT_RETH)) {
		reth_set_va(AT(RETH), p->va);
		reth_set_rkey(AT(RETH), p->rkey);
		reth_set_dma_len(AT(RETH), p->dma_len);
	}
	if (bth_op_has(op, BTH_EXT_ATOMICETH)) {
		atomiceth_set_va(AT(ATOMICETH), p->va);
		atomiceth_set_rkey(AT(ATOMICETH), p->rkey);
		atomiceth_set_swap_add(AT(ATOMICETH), p->swap_add);
		atomiceth_set_compare(AT(ATOMICETH), p->compare);
	}
	if (bth_op_has(op, BTH_EXT_AETH)) {
		aeth_set_syndrome(AT(AETH), p->syndrome);
		aeth_set_msn(AT(AETH), p->msn);
	}
	if (bth_op_has(op, BTH_EXT_IMMDT))
		immdt_set_imm(AT(IMMDT), p->imm);
	if (bth_op_has(op, BTH_EXT_IETH))
		ieth_set_rkey(AT(IETH), p->imm);
#undef AT
}

void tb_inject(struct tb *tb, const char *here, struct tb_end *end, enum bth_opcode opcode,
	       const struct tb_inject *p)
{
	const struct bth_op *op = bth_op_find((uint8_t)opcode);
	const uint32_t headers = bth_op_header_bytes(op, p->dgid != NULL);
	const uint32_t pad = -p->len & 3, len = headers + p->len + pad;
	uint8_t wire[PACKET_ROOM] = {0};
	const uint32_t icrc = p->lnh == LNH_RAW || p->lnh == LNH_IPV6 ? 0 : ICRC_BYTES;
	uint32_t bth = LRH_BYTES + (p->dgid ? (uint32_t)GRH_BYTES : 0);

	if (!tb_go(tb, here))
		return;
	if (len + CRC_BYTES > sizeof(wire) || p->src + p->len > tb->setup.memory ||
	    p->cut > len + CRC_BYTES) {
		tb_failf(tb, here, "a packet that can be made");
		return;
	}
	put_lrh(wire, p, end, len + icrc);
	if (p->dgid)
		put_grh(wire + LRH_BYTES, p, len - bth + ICRC_BYTES);
	put_bth(wire + bth, p, end, opcode);
	put_extensions(wire + bth, op, p);
	memcpy(wire + headers, end->peer->src + p->src, p->len);
	crc_make(wire, len);
	if (p->bad_icrc) {
		uint16_t vcrc;

		wire[len] ^= 1;
		vcrc = crc_vcrc(wire, len + ICRC_BYTES);
		wire[len + ICRC_BYTES] = (uint8_t)vcrc;
		wire[len + ICRC_BYTES + 1] = (uint8_t)(vcrc >> 8);
	}
	if (p->bad_vcrc)
		wire[len + icrc] ^= 1;
	inject_bytes(end, wire, len + icrc + VCRC_BYTES - p->cut);
}
