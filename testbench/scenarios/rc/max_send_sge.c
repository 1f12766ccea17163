/* SPDX-License-Identifier: Apache-2.0 */
/* Every queue pair gets gather lists as long as the device's query reports: that many pieces fit
 * into a WQE of any service and cross the wire. A queue pair with one piece more cannot be made. */
/* behaviours: IBA-10.8.2-gather */
#include "testbench/services.h"

SCENARIO(max_send_sge, "queue pairs of every service take as many pieces as the query says")
{
	const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	struct drv_device_attr attr;

	must(drv_query_device(a->dev, &attr));
	for (unsigned i = 0; i < 3 && still_right(); i++) {
		struct drv_qp_init init = {.type = types[i],
					   .send_cq = a->cq,
					   .recv_cq = a->cq,
					   .cap = {.max_send_wr = 4,
						   .max_recv_wr = 4,
						   .max_send_sge = attr.max_send_sge,
						   .max_recv_sge = 1}};
		struct drv_qp_cap got;
		struct drv_qp *qp;

		must(drv_qp_create(a->pd, &init, &qp));
		if (!still_right())
			return;
		drv_qp_cap(qp, &got);
		expect_equal(got.max_send_sge, attr.max_send_sge);
		must(drv_qp_destroy(qp));
		init.cap.max_send_sge++;
		must_fail(-EINVAL, drv_qp_create(a->pd, &init, &qp));
	}
}
