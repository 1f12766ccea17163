/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path of RoCE has a GRH, and its GID is one of the port's table; there is no alternate path. Each
 * of these refuses the step, the queue pair stays in its state, and the right path is taken behind it.
 */
/* behaviours: ROCE-paths */
#include "testbench/services.h"

enum {
	INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	RTR_MASK = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	LAST_PSN = 0xffffff
};

SCENARIO(roce_paths_refused, "a path of RoCE without a GRH, without a GID, or beside another one",
	 .settings = {"hca.port1.type=eth"})
{
	struct drv_qp *x = new_qp(a);
	struct drv_qp_attr right = {.qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .ah_attr = ah_to(b),
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = drv_qp_num(b->qp[0]),
				    .rq_psn = LAST_PSN,
				    .min_rnr_timer = 31,
				    .alt_port_num = 1},
			   wrong;
	struct drv_device_attr dev;

	if (!still_right())
		return;
	must(drv_query_device(a->dev, &dev));
	must(drv_qp_modify(x, &right, INIT_MASK));
	right.qp_state = IBV_QPS_RTR;
	wrong = right;
	wrong.ah_attr.is_global = false;
	must_fail(-EINVAL, drv_qp_modify(x, &wrong, RTR_MASK));
	wrong = right;
	wrong.ah_attr.sgid_index = dev.gids[1];
	must_fail(-EINVAL, drv_qp_modify(x, &wrong, RTR_MASK));
	wrong = right;
	wrong.alt_ah_attr = right.ah_attr;
	must_fail(-EINVAL, drv_qp_modify(x, &wrong, RTR_MASK | IBV_QP_ALT_PATH));
	expect_equal(drv_qp_state(x), IBV_QPS_INIT);
	must(drv_qp_modify(x, &right, RTR_MASK));
	expect_equal(drv_qp_state(x), IBV_QPS_RTR);
	destroy_qp(x);
}
