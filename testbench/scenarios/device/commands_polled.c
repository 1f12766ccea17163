/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that never leaves polling mode: it brings the device up, makes objects and takes it down, and
 * waits for each command by reading the command register. Elsewhere bring-up ends with commands that are
 * told by events.
 */
/* behaviours: CMD-polling */
#include "testbench/harm.h"

enum { ENTRIES = 4 };

static void use(struct tb *tb, struct drv_device *dev)
{
	const struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct drv_qp_init init = {.type = IBV_QPT_RC,
				   .cap = {.max_send_wr = ENTRIES,
					   .max_recv_wr = ENTRIES,
					   .max_send_sge = 1,
					   .max_recv_sge = 1}};
	struct drv_qp_attr got;
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_qp *qp;

	must(drv_pd_alloc(dev, &pd));
	must(drv_cq_create(dev, ENTRIES, 0, &cq));
	if (!still_right())
		return;
	init.send_cq = init.recv_cq = cq;
	must(drv_qp_create(pd, &init, &qp));
	if (!still_right())
		return;
	must(drv_qp_modify(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	must(drv_qp_query(qp, &got));
	expect_equal(got.qp_state, IBV_QPS_INIT);
	must(drv_qp_destroy(qp));
	must(drv_cq_destroy(cq));
	must(drv_pd_free(pd));
}

SCENARIO(commands_polled, "a driver that stays in polling mode: bring-up, objects, removal",
	 .bare = true, .of_mlx4 = "commands")
{
	const struct drv_options options = {.log_eq_size = 8, .poll_commands = true};
	struct drv_leftovers left;
	struct drv_device *dev;
	int rc = drv_probe(a->platform, &options, &dev);

	must(rc);
	if (rc)
		return;
	use(tb, dev);
	left = drv_remove(dev);
	expect_equal(left.failed_commands, 0);
	expect_equal(left.mailboxes, 0);
	expect_equal(host_pages_used(a->host), 0);
	expect_equal(host_pages_mapped(a->host), 0);
}
