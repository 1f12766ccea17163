/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device of b has no RoCE v2, so a packet of it goes to b's network interface, as to Linux's rxe. The
 * whole frame stands in memory, with its ICRC. (packet_receive_test shows that the ICRC is made there if nothing
 * else has needed it; a trace has needed it here.)
 */
#include "model/engine/wire/roce_crc.h"
#include "testbench/scenarios/ethernet/frames.h"
#include "testbench/services.h"

enum { LEN = 64, ROOM = 256, TIMEOUT = 8, IPV4_V2 = 3 /* entry of a's GID table */ };

/* The frame as it stands in memory, without FCS. */
static void look(struct tb *tb, const uint8_t *frame, size_t len)
{
	struct roce_places at;

	expect_true(!roce_find(frame, len, len + FCS_BYTES, ROCE_UDP_PORT, &at));
	if (!still_right())
		return;
	expect_equal(at.kind, ROCE_V2_IPV4);
	expect_true(roce_icrc_is_right(frame, &at));
}

SCENARIO(roce_to_software,
	 "a RoCE v2 packet to a device without it: the network interface gets the ICRC", .qps = 0,
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca0.device=cx3pro", "hca1.device=cx3"})
{
	static const uint8_t ip_of_b[DRV_GID_BYTES] = {[10] = 0xff, 0xff, 11, 0, 1, 2};
	struct drv_qp *x = new_qp(a), *sniffer = frames_of(tb, b);
	struct drv_rc_path path;

	if (!still_right())
		return;
	path = path_to(b, 1);
	path.sgid_index = IPV4_V2;
	path.timeout = TIMEOUT;
	path.retry_cnt = 0;
	memcpy(path.dgid, ip_of_b, DRV_GID_BYTES);
	must(drv_qp_connect(x, &path));
	recv_on(b, sniffer, .wr_id = 1, .len = ROOM);
	send_on(a, x, .wr_id = 2, .len = LEN);
	/* Ethernet 14, IPv4 20, UDP 8, BTH 12, payload, ICRC 4 */
	expect_cqe(b, .wr_id = 1, .on = sniffer, .byte_len = 58 + LEN);
	look(tb, b->dst, 58 + LEN);
	ignore_data(b, .len = ROOM);
	expect_cqe(a, .wr_id = 2, .status = IBV_WC_RETRY_EXC_ERR, .on = x);
	must(drv_eth_receive(b->dev, 1, NULL));
	destroy_qp(sniffer);
	destroy_qp(x);
}
