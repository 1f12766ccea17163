/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets from the wire. An input is a sequence of packets. Each is raw bytes, or a template (a BTH
 * opcode for one of the queue pairs, with its headers) with some bytes changed and its length and
 * CRCs made correct. Afterwards a queue pair that no packet was sent to must still answer.
 */
#include "model/engine/wire/crc.h"
#include "testbench/fuzz/rig.h"

#include <string.h>

enum {
	WIRE_MAX = 4096 + 256,
	PACKETS_MAX = 64,
	RAW = 0x80,
	BAD_CRC = 0x40,  /* for a template */
	MAKE_CRC = 0x40, /* for raw bytes */
	RAW_HEAD = 26,   /* LRH, BTH and both CRCs */
	TO_B = 0x20,
	LNH_BTH = 2,
	PATCHES = 7
};

struct target {
	uint32_t qpn, psn;
};

static struct target target_of(struct fuzz_rig *rig, struct tb_end *end, unsigned n)
{
	struct drv_qp *qps[] = {end->qp[0], end->qp[1], rig->ud[end->index],
				end->index ? rig->peer_qp : rig->srq_qp};
	struct qpc qpc;

	switch (n) {
	case 4:
		return (struct target){.qpn = 0};
	case 5:
		return (struct target){.qpn = 1};
	case 6:
		return (struct target){.qpn = 0xffffff};
	case 7:
		return (struct target){.qpn = 0x123456};
	default:
		if (hca_context_read(host_hca(end->host), HCA_QP, drv_qp_num(qps[n]), &qpc,
				     sizeof(qpc)) <= 0)
			return (struct target){.qpn = drv_qp_num(qps[n])};
		return (struct target){drv_qp_num(qps[n]), qpc_get_next_rcv_psn(&qpc)};
	}
}

static size_t template_make(struct fuzz_rig *rig, struct tb_end *end, struct fuzz_bytes *b,
			    uint8_t *wire)
{
	unsigned opcode = (unsigned)fuzz_take(b, 1), choice = (unsigned)fuzz_take(b, 1);
	struct target to = target_of(rig, end, choice & 7);
	const struct bth_op *op = bth_op_find(opcode);
	unsigned payload = choice & 8 ? 4096 : choice & 16 ? (unsigned)fuzz_take(b, 2) % 4097 : 0;
	struct lrh *lrh = (struct lrh *)wire;
	struct bth *bth = (struct bth *)(wire + sizeof(*lrh));
	size_t len;

	memset(wire, 0, WIRE_MAX);
	lrh_set_lnh(lrh, LNH_BTH);
	lrh_set_dlid(lrh, end->lid);
	lrh_set_slid(lrh, end->peer->lid);
	bth_set_opcode(bth, opcode);
	bth_set_pkey(bth, 0xffff);
	bth_set_dqpn(bth, to.qpn);
	bth_set_psn(bth, to.psn + (choice & 32 ? (int8_t)fuzz_take(b, 1) : 0));
	bth_set_ack_req(bth, choice >> 6 & 1);
	bth_set_pad(bth, -payload & 3);
	if (op && bth_op_has(op, BTH_EXT_RETH)) {
		struct reth *reth = (struct reth *)((uint8_t *)bth + op->at[BTH_EXT_RETH]);

		reth_set_va(reth, tb_va(end, end->dst));
		reth_set_rkey(reth, drv_mr_rkey(end->mr));
		reth_set_dma_len(reth, payload ? payload : 64);
	}
	if (op && bth_op_has(op, BTH_EXT_DETH)) {
		struct deth *deth = (struct deth *)((uint8_t *)bth + op->at[BTH_EXT_DETH]);

		deth_set_qkey(deth, (choice & 7) == 5 ? 0x80010000 : (choice & 7) == 4 ? 0 : 1);
		deth_set_sqpn(deth, 1);
	}
	len = sizeof(*lrh) + sizeof(*bth) + (op ? op->ext_bytes : 0) + payload + (-payload & 3);
	for (unsigned n = fuzz_take(b, 1) & PATCHES; n; n--) {
		unsigned at = (unsigned)fuzz_take(b, 1);

		wire[at < len ? at : len - 1] = (uint8_t)fuzz_take(b, 1);
	}
	if (choice & 128)
		len = 8 + fuzz_take(b, 1) % (len - 7);
	if (!(wire[1] & 0x80 && choice & 128))
		lrh_set_pkt_len(lrh, (unsigned)(len + ICRC_BYTES) / 4);
	return len;
}

static void inject_one(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	unsigned how = (unsigned)fuzz_take(b, 1);
	struct tb_end *end = &rig->tb.ends[how & TO_B ? 1 : 0];
	uint8_t wire[WIRE_MAX + CRC_BYTES];
	const uint8_t *raw;
	size_t len;

	if (how & RAW) {
		len = fuzz_take_some(b, (size_t)fuzz_take(b, 1) * 2, &raw);
		memcpy(wire, raw, len);
		if (how & MAKE_CRC && len >= RAW_HEAD)
			crc_make(wire, len - CRC_BYTES);
		hca_inject(host_hca(end->host), 1, wire, len);
		return;
	}
	len = template_make(rig, end, b, wire);
	len += crc_make(wire, len);
	if (how & BAD_CRC)
		wire[len - 1 - (how & 7) % len] ^= 1;
	hca_inject(host_hca(end->host), 1, wire, len);
}

static void recover(struct fuzz_rig *rig, void *arg)
{
	fuzz_rig_reconnect(rig);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	struct fuzz_rig *rig = fuzz_rig_get();

	for (unsigned n = 0; n < PACKETS_MAX && fuzz_more(&b); n++) {
		inject_one(rig, &b);
		fuzz_rig_pass(rig, CFG_NS(fuzz_take(&b, 1) * 10));
	}
	fuzz_rig_pass(rig, CFG_MS(2));
	fuzz_rig_call(rig, recover, NULL, CFG_S(2));
	return 0;
}
