// SPDX-License-Identifier: Apache-2.0
/* A queue pair that gets the frames of port 1 as they stand on the wire, without FCS. */
#ifndef TESTBENCH_SCENARIOS_ETHERNET_FRAMES_H
#define TESTBENCH_SCENARIOS_ETHERNET_FRAMES_H

#include "testbench/services.h"

static inline struct drv_qp *frames_of(struct tb *tb, struct tb_end *end)
{
	struct drv_qp *qp = new_qp(end, .type = IBV_QPT_RAW_PACKET);
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (!qp)
		return NULL;
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	attr.qp_state = IBV_QPS_RTR;
	must(drv_qp_modify(qp, &attr, IBV_QP_STATE));
	must(drv_eth_receive(end->dev, 1, qp));
	return qp;
}

#endif
