/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of an expected packet beyond its BTH that a scenario can state: virtual lane,
 * service level, pad, GRH, datagram and atomic headers; MADs as packets; ACKs that may be
 * coalesced.
 */
#include "testbench/manage.h"

enum { PORT = 1, QKEY = 0x11111111, SL = 3, MANAGEMENT_VL = 15, N = 20, GET_RESP = 0x81 };

SCENARIO(words_packets, "what can be said of a packet: headers, MADs, ACKs that may be missing",
	 .data_vls = 4)
{
	struct drv_qp *x = new_qp(a, .type = IBV_QPT_UD), *y = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = {.dlid = b->lid,
				 .sl = SL,
				 .port_num = PORT,
				 .is_global = true,
				 .hop_limit = 9,
				 .traffic_class = 5,
				 .flow_label = 0x12345};
	uint8_t sgid[DRV_GID_BYTES];
	struct smp answer;

	start_ud(x, QKEY, 0);
	start_ud(y, QKEY, 0);
	must(drv_query_gid(a->dev, PORT, 0, sgid));
	must(drv_query_gid(b->dev, PORT, 0, ah.dgid));
	recv_on(b, y, .wr_id = 1, .len = 200);
	send_on(a, x, .wr_id = 2, .len = 61, .ah = &ah, .remote_qpn = drv_qp_num(y), .qkey = QKEY);
	expect_pkt(a_to_b, UD_SEND_ONLY, .psn = 0, .vl = SL, .sl = SL, .pad = 3, .len = 61,
		   .qkey = QKEY, .src_qpn = drv_qp_num(x), .grh = 1, .hop_limit = 9, .tclass = 5,
		   .flow_label = 0x12345, .sgid = sgid, .dgid = ah.dgid);
	expect_cqe(a, .wr_id = 2);
	expect_cqe(b, .wr_id = 1);
	ignore_data(b, .len = 200);
	destroy_qp(x);
	destroy_qp(y);

	set_word(b, 1024, 40);
	fetch_add(a, .target = 1024, .dst = 1024, .compare = 2);
	expect_pkt(a_to_b, RC_FETCH_ADD, .swap_add = 2, .va = tb_va(b, b->dst + 1024), .grh = 0);
	expect_pkt(b_to_a, RC_ATOMIC_ACKNOWLEDGE, .original = 40);
	expect_cqe(a);
	expect_word(b, 1024, 42);
	expect_word(a, 1024, 40);

	check_mads();
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	expect_mad(a_to_b, .qpn = 0, .vl = MANAGEMENT_VL, .mgmt_class = MAD_CLASS_SUBN_DR,
		   .method = MAD_METHOD_GET, .attr = SMP_ATTR_NODE_INFO, .status = 0);
	expect_mad(b_to_a, .qpn = 0, .method = GET_RESP, .status = SMP_DIRECTION);
	ignore_mads();

	/* the last ACK must come; the ACKs before it may come */
	allow_pkt(b_to_a, RC_ACKNOWLEDGE);
	rdma_write(a, .wr_id = 10, .len = 64, .repeat = N);
	for (unsigned i = 0; i < N; i++)
		expect_pkt(a_to_b, RC_WRITE_ONLY);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = (0xfffffe + N) & 0xffffff);
	forbid_pkts(b_to_a);
	expect_cqes(a, N);
	expect_data(b, .len = 64);
}
