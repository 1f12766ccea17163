/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair whose context names the MAC of nobody: its frames are lost at the peer's port, so it
 * sends again until its retries are used up. Connected again with the right MAC, it works.
 */
#include "testbench/services.h"

enum { RETRIES = 2, TIMEOUT = 8, LEN = 64, A_PSN = 0xfffffe, B_PSN = 0xfffffd };

SCENARIO(roce_wrong_mac, "frames to a wrong MAC: no answer, retries exceeded",
	 .settings = {"hca.port1.type=eth"}, .any_packets = true)
{
	struct drv_qp *x = new_qp(a), *y = new_qp(b);
	struct drv_rc_path path;

	if (!still_right())
		return;
	connect_ends(a, x, b, y);
	path = path_to(b, drv_qp_num(y));
	path.sq_psn = A_PSN;
	path.rq_psn = B_PSN;
	path.timeout = TIMEOUT;
	path.retry_cnt = RETRIES;
	path.dmac[5] ^= 1;
	move_qp(x, IBV_QPS_RESET);
	must(drv_qp_connect(x, &path));
	send_on(a, x, .wr_id = 1, .len = LEN);
	expect_cqe(a, .wr_id = 1, .status = IBV_WC_RETRY_EXC_ERR, .on = x);
	expect_stat(b, port1, rx_filtered, RETRIES + 1);
	path.dmac[5] ^= 1;
	move_qp(x, IBV_QPS_RESET);
	must(drv_qp_connect(x, &path));
	recv_on(b, y, .wr_id = 2, .len = LEN);
	send_on(a, x, .wr_id = 3, .len = LEN);
	expect_cqe(a, .wr_id = 3, .on = x);
	expect_cqe(b, .wr_id = 2, .on = y);
	expect_data(b, .len = LEN);
	destroy_qp(x);
	destroy_qp(y);
}
