// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: handlers that one part of the driver registers with another, and entries that it holds. */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/device/dead.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/threads/threads.h"

#include "host_driver/core/core.h"
#include "host_driver/mlx4/mad.h"

enum { CLASSES = 256 };

W(int, ib_register_event_handler, struct ib_event_handler *handler)
{
	const int rc = __real_ib_register_event_handler(handler);

	if (!rc)
		handlers_add("a handler of a device's events is registered that works on it",
			     handler, 0, handler, __builtin_return_address(0));
	return rc;
}

W(void, ib_unregister_event_handler, struct ib_event_handler *handler)
{
	handlers_remove(handler, 0);
	__real_ib_unregister_event_handler(handler);
}

W(int, drv_mad_serve, struct drv_device *dev, unsigned port, unsigned mgmt_class,
  drv_mad_handler *fn, void *arg)
{
	const int rc = __real_drv_mad_serve(dev, port, mgmt_class, fn, arg);

	if (!rc)
		handlers_add("a handler of management datagrams is registered that works on it",
			     dev, port * CLASSES + mgmt_class, arg, __builtin_return_address(0));
	return rc;
}

W(void, drv_mad_unserve, struct drv_device *dev, unsigned port, unsigned mgmt_class)
{
	__real_drv_mad_unserve(dev, port, mgmt_class);
	handlers_remove(dev, port * CLASSES + mgmt_class);
}

/* Source: Linux rdma_put_gid_attr, in rdma_destroy_ah_user and ib_destroy_qp_user */
W(void, core_gid_hold, const struct ib_device *device, struct ib_gid_hold *hold,
  const struct drv_ah_attr *ah)
{
	__real_core_gid_hold(device, hold, ah);
	handlers_remove(hold, 0);
	if (hold->netdev)
		handlers_add("it still holds an entry of a port's GID table", hold, 0, hold,
			     __builtin_return_address(0));
}

W(void, core_cq_completion, struct ib_cq *cq)
{
	struct checker *c = checker_of_host(cq->device->platform->host);

	if (c)
		dead_completed(c, cq->drv);
	__real_core_cq_completion(cq);
}
