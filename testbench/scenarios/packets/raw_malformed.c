/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that form no valid packet arrive. Each sequence is dropped and counted at the port, nothing
 * is answered, and the queue pair works as before. Enough of them arrive on VL15 to show whether
 * each one leaks a buffer: afterwards the port still accepts management packets.
 */
/* behaviours: LINK-1 LINK-3 IBA-7.7-malformed IBA-7.9.4-vl15-buffer */
#include "model/engine/wire/crc.h"
#include "testbench/scenario.h"

enum { SHORT = 7, GARBAGE = 64, MANAGEMENT_VL = 15, MANY = 3000, BYTES = 64, PORT = 1 };

static unsigned long_as(uint8_t *wire, size_t len)
{
	struct lrh *lrh = (struct lrh *)(void *)wire;

	lrh_set_pkt_len(lrh, (unsigned)(len + ICRC_BYTES) / 4);
	return (unsigned)(len + crc_make(wire, len));
}

SCENARIO(raw_malformed, "malformed packets: dropped, counted at the port, nothing else changes")
{
	uint8_t wire[128] = {0};
	struct lrh *lrh = (struct lrh *)wire;
	struct bth *bth = (struct bth *)(wire + sizeof(*lrh));
	struct drv_qp_attr before, after;
	struct sm_result sm;
	unsigned len;

	must(drv_qp_query(b->qp[0], &before));
	/* wrong CRCs: too short to contain them, all ones, one bit flipped */
	inject_bytes(b, wire, SHORT);
	memset(wire, 0xff, sizeof(wire));
	inject_bytes(b, wire, GARBAGE);
	expect_no_more(CFG_US(10));
	expect_stat(b, port1, symbol_errors, 2);
	expect_stat(b, port1, rcv_errors, 2);
	/* port numbers that do not exist */
	hca_inject(host_hca(b->host), 0, wire, GARBAGE);
	hca_inject(host_hca(b->host), 2, wire, GARBAGE);
	hca_inject(host_hca(b->host), 255, wire, GARBAGE);
	expect_no_more(CFG_US(10));
	expect_stat(b, port1, rcv_errors, 2);

	/* right CRCs, wrong contents: versions, lengths, opcode */
	memset(wire, 0, sizeof(wire));
	lrh_set_lnh(lrh, 2);
	lrh_set_dlid(lrh, b->lid);
	lrh_set_slid(lrh, a->lid);
	bth_set_opcode(bth, BTH_RC_SEND_ONLY);
	bth_set_pkey(bth, 0xffff);
	bth_set_dqpn(bth, drv_qp_num(b->qp[0]));
	bth_set_psn(bth, 0xfffffe);
	lrh_set_lver(lrh, 1);
	len = long_as(wire, BYTES);
	inject_bytes(b, wire, len);
	lrh_set_lver(lrh, 0);
	bth_set_tver(bth, 3);
	len = long_as(wire, BYTES);
	inject_bytes(b, wire, len);
	bth_set_tver(bth, 0);
	bth_set_opcode(bth, 0x3f);
	len = long_as(wire, BYTES);
	inject_bytes(b, wire, len);
	bth_set_opcode(bth, BTH_RC_SEND_ONLY);
	lrh_set_pkt_len(lrh, 40);
	len = BYTES + (unsigned)crc_make(wire, BYTES);
	inject_bytes(b, wire, len);
	bth_set_opcode(bth, BTH_RC_WRITE_ONLY); /* too short for the RETH */
	len = long_as(wire, sizeof(*lrh) + sizeof(*bth) + 4);
	inject_bytes(b, wire, len);
	expect_no_more(CFG_US(10));
	/* only errors that the link layer detects (LVer and length) count at the port, not those of
	 * the transport layer */
	expect_stat(b, port1, rcv_errors, 4);
	expect_stat(b, port1, symbol_errors, 2);

	memset(wire, 0, sizeof(wire));
	lrh_set_vl(lrh, MANAGEMENT_VL);
	lrh_set_lnh(lrh, 2);
	len = long_as(wire, BYTES);
	for (unsigned i = 0; i < MANY; i++)
		inject_bytes(b, wire, len);
	expect_no_more(CFG_US(10));
	if (!in_software(b)) /* a driver that takes each of them has less room than firmware */
		expect_stat(b, port1, vl15_dropped, 0);
	ignore_events(a);
	ignore_events(b);
	must(sm_run(a->dev, PORT, NULL, &sm));
	expect_equal(sm.smps_failed, 0);

	must(drv_qp_query(b->qp[0], &after));
	expect_equal(after.qp_state, before.qp_state);
	expect_equal(after.rq_psn, before.rq_psn);
	rdma_write(a, .wr_id = 1, .len = 64);
	expect_pkt(a_to_b, RC_WRITE_ONLY, .psn = 0xfffffe);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = 64);
}
