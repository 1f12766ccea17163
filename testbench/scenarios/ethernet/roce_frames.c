/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an Ethernet port drops: a frame with a wrong FCS, a RoCE packet with a wrong ICRC or with a GID
 * of somebody else, a frame shorter or longer than is allowed, and bytes that are no frame. Nobody
 * answers, each is counted, and the queue pair takes the right packet behind them.
 */
#include "testbench/services.h"

enum { LEN = 64, RUNT = 60, MTU = 1500, TOO_LONG = 2000 };

SCENARIO(roce_frames, "wrong frames on an Ethernet port: dropped, each under its own counter",
	 .settings = {"hca.port1.type=eth"})
{
	static const uint8_t stranger[DRV_GID_BYTES] = {0xfe, 0x80, [15] = 9};
	static const uint8_t junk[TOO_LONG] = {1};

	struct drv_eth_config config;

	drv_eth_get(b->dev, 1, &config);
	config.mtu = MTU;
	must(drv_eth_set(b->dev, 1, &config));
	post_recv(b, .wr_id = 1, .len = LEN);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .bad_vcrc = true);
	expect_stat(b, port1, rx_bad_fcs, 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .bad_icrc = true);
	expect_stat(b, port1, rx_bad_icrc, 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .dgid = stranger);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .sgid = stranger);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .tver = 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .next_hdr = 6);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true, .pay_len = 4000);
	inject_bytes(b, junk, 0);
	inject_bytes(b, junk, RUNT);
	inject_bytes(b, junk, TOO_LONG);
	expect_no_more(CFG_US(20));
	expect_stat(b, port1, rx_bad_length, 3);
	expect_stat(b, port1, rx_bad_fcs, 1);
	inject(b, RC_SEND_ONLY, .psn = 0xfffffe, .len = LEN, .ack_req = true);
	expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe, .msn = 1);
	expect_cqe(b, .wr_id = 1);
	expect_data(b, .len = LEN);
}
