/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each transition needs its attributes. Without any one of them the driver refuses it, the queue
 * pair stays in its state, and the device gets no command that it would have to refuse.
 */
/* behaviours: IBA-11.2.4-needed-attributes */
#include "testbench/services.h"

#include "model/interface/macros.h"

static const struct {
	enum ibv_qp_state from, to;
	unsigned needed;
} rows[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER},
	{IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC},
};

SCENARIO(qp_attributes, "a transition without one of the attributes that it needs is refused")
{
	struct drv_qp *x = new_qp(a);
	struct drv_qp_attr attr = {.port_num = 1,
				   .ah_attr = ah_to(b),
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = drv_qp_num(b->qp[0]),
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7};

	if (!still_right())
		return;
	for_each_row(i, rows) {
		attr.qp_state = rows[i].to;
		for (unsigned bit = 1; bit <= rows[i].needed; bit <<= 1) {
			if (!(rows[i].needed & bit))
				continue;
			name_row("to state %u without attribute 0x%x", rows[i].to, bit);
			must_fail(-EINVAL,
				  drv_qp_modify(x, &attr, (rows[i].needed & ~bit) | IBV_QP_STATE));
			expect_equal(drv_qp_state(x), rows[i].from);
		}
		must(drv_qp_modify(x, &attr, rows[i].needed | IBV_QP_STATE));
	}
	destroy_qp(x);
}
