/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as raw bytes, built field by field from the interface definitions, and the response time
 * exact to the picosecond: the ACK of a one-packet WRITE leaves a fixed time after the request
 * arrived, the same in every run.
 */
#include "model/engine/wire/crc.h"
#include "testbench/services.h"

enum { PAYLOAD = 8, HEADERS = sizeof(struct lrh) + sizeof(struct bth) + sizeof(struct reth) };

SCENARIO(raw_bytes, "a packet made of bytes, and the same one cut short")
{
	uint8_t wire[HEADERS + PAYLOAD + CRC_BYTES] = {0};
	struct lrh *lrh = (void *)wire;
	struct bth *bth = (void *)(wire + sizeof(*lrh));
	struct reth *reth = (void *)(wire + sizeof(*lrh) + sizeof(*bth));
	uint64_t took_ps = 0;

	lrh_set_lnh(lrh, LNH_IBA_LOCAL);
	lrh_set_dlid(lrh, b->lid);
	lrh_set_slid(lrh, a->lid);
	lrh_set_pkt_len(lrh, (HEADERS + PAYLOAD + ICRC_BYTES) / 4);
	bth_set_opcode(bth, BTH_RC_WRITE_ONLY);
	bth_set_mig_req(bth, 1);
	bth_set_pkey(bth, PKEY_DEFAULT);
	bth_set_dqpn(bth, drv_qp_num(b->qp[0]));
	bth_set_psn(bth, 0xfffffe);
	bth_set_ack_req(bth, 1);
	reth_set_va(reth, tb_va(b, b->dst));
	reth_set_rkey(reth, drv_mr_rkey(b->mr));
	reth_set_dma_len(reth, PAYLOAD);
	memcpy(wire + HEADERS, a->src, PAYLOAD);
	crc_make(wire, HEADERS + PAYLOAD);

	inject_bytes(b, wire, sizeof(wire) - 4); /* cut: the CRCs are in the wrong place */
	expect_no_more(CFG_US(10));
	expect_stat(b, port1, rcv_errors, 1);

	inject_bytes(b, wire, sizeof(wire));
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_data(b, .len = PAYLOAD);
	for (unsigned i = 0; i < 3;
	     i++) { /* duplicates: each is answered again, after exactly the same time */
		uint64_t sent_ps = tb_now(tb);

		inject_bytes(b, wire, sizeof(wire));
		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
		took_ps = took_ps ? took_ps : tb_now(tb) - sent_ps;
		expect_equal(tb_now(tb) - sent_ps, took_ps);
	}
	expect_stat(b, responder, duplicates, 3);
}
