/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ICRC does not cover the fields that a switch or router may rewrite: FECN and BECN of any
 * packet and, with a GRH, the whole LRH, traffic class, flow label and hop limit. The VCRC is
 * computed anew on each link, so such packets arrive. Without a GRH a changed SL makes the ICRC
 * wrong; with a GRH any byte outside these fields does.
 */
/* behaviours: LINK-7 */
#include "testbench/services.h"

enum {
	QKEY = 0x11111111,
	PORT = 1,
	GRH = 40,
	LEN = 64,
	BTH_AT = LRH_BYTES,
	GBTH_AT = LRH_BYTES + GRH_BYTES
};

#define REWRITTEN(at, bits)                                                                        \
	corrupt_next(a_to_b, UD_SEND_ONLY, .offset = at, .mask = bits, .fix = FAULT_FIX_VCRC)

SCENARIO(link_icrc_invariant, "fields rewritten on the way are not under the ICRC, all others are",
	 .any_packets = true, .data_vls = 2)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = {.dlid = b->lid, .port_num = PORT, .hop_limit = 9};
	static const struct {
		bool global, arrives;
		unsigned at, bits;
	} rows[] = {
		{false, true, BTH_AT + 4, 0x80},   /* FECN */
		{false, true, BTH_AT + 4, 0x40},   /* BECN */
		{false, true, 0, 0x10},            /* VL 1 */
		{false, false, 1, 0x10},           /* SL */
		{false, false, BTH_AT + 11, 1},    /* PSN */
		{true, true, 1, 0x10},             /* SL */
		{true, true, 7, 0x01},             /* SLID */
		{true, true, LRH_BYTES, 0x0f},     /* traffic class */
		{true, true, LRH_BYTES + 3, 0x5a}, /* flow label */
		{true, true, LRH_BYTES + 7, 0x02}, /* hop limit */
		{true, true, GBTH_AT + 4, 0xc0},   /* FECN and BECN */
		{true, false, LRH_BYTES + 23, 1},  /* SGID */
		{true, false, GBTH_AT + 1, 0x40},  /* MigReq */
	};

	start_ud(x, QKEY, 5);
	start_ud(y, QKEY, 0);
	must(drv_query_gid(b->dev, PORT, 0, ah.dgid));
	if (!still_right())
		return;
	for_each_row(i, rows) {
		uint64_t errors = tb_stat(b, "port1", "rcv_errors");

		ah.is_global = rows[i].global;
		REWRITTEN(rows[i].at, rows[i].bits);
		if (rows[i].arrives)
			recv_on(b, y, .wr_id = i, .dst = 1024 * i, .len = LEN + GRH);
		send_on(a, x, .wr_id = i, .len = LEN, .ah = &ah, .remote_qpn = drv_qp_num(y),
			.qkey = QKEY);
		expect_cqe(a, .wr_id = i);
		pass_time(CFG_US(5));
		expect_equal(tb_stat(b, "port1", "rcv_errors") - errors, !rows[i].arrives);
		if (!rows[i].arrives)
			continue;
		expect_cqe(b, .wr_id = i, .byte_len = LEN + GRH, .on = y);
		expect_data(b, .dst = 1024 * i + GRH, .len = LEN);
		if (rows[i].global)
			ignore_data(b, .dst = 1024 * i, .len = GRH);
	}
	destroy_qp(x);
	destroy_qp(y);
}
