/* SPDX-License-Identifier: Apache-2.0 */
/* What `hcasim ctl stuck` tells a driver engineer whose guest hangs. It lists a receive that was
 * posted to a QP in ERR and is not flushed yet, and lists nothing once it is flushed. */
#include "testbench/app/ctl_dump.h"
#include "testbench/host.h"
#include "testbench/services.h"

#include "model/vfio_user/device.h"

#include <stdio.h>
#include <string.h>

enum { ANSWER_CHARS = 4096, SETTLE_US = 20 };

static const char *stuck(struct tb_end *end)
{
	static char answer[ANSWER_CHARS];
	struct vfu_device device = {.hca = host_hca(end->host), .index = end->index};
	const struct ctl_target target = {.devices = &device, .device_count = 1};
	FILE *out = fmemopen(answer, sizeof(answer), "w");

	ctl_stuck(&target, out);
	fclose(out);
	return answer;
}

static bool tells(struct tb_end *end, const char *what)
{
	return strstr(stuck(end), what) != NULL;
}

SCENARIO(ctl_stuck, "the control socket tells what a guest may hang on",
	 .of_mlx4 = "queue pairs that firmware flushes later")
{
	struct drv_cq *cq = new_cq(b, 64, 0);
	struct drv_qp *x = new_qp(a), *y = new_qp(b, .recv_cq = cq);
	char number[64];

	ignore_packets();
	connect_two(x, y);
	if (!still_right())
		return;
	expect_true(tells(b, "nothing waits"));
	snprintf(number, sizeof(number), "hca1 qp 0x%x: in ERR with 2 receives", drv_qp_num(y));
	move_qp(y, IBV_QPS_ERR);
	pass_time(CFG_US(SETTLE_US));
	expect_true(!tells(b, "in ERR"));
	recv_on(b, y, .wr_id = 1, .len = 100, .repeat = 2);
	expect_true(tells(b, number));
	expect_cqe(b, .cq = cq, .wr_id = 1, .status = IBV_WC_WR_FLUSH_ERR);
	expect_cqe(b, .cq = cq, .wr_id = 2, .status = IBV_WC_WR_FLUSH_ERR);
	expect_true(!tells(b, "in ERR"));
	destroy_qp(y);
	destroy_qp(x);
	destroy_cq(cq);
}
