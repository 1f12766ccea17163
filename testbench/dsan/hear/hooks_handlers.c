// SPDX-License-Identifier: Apache-2.0
/* As hooks.c: handlers that one part of the driver registers with another. */
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/threads/threads.h"

#include "host_driver/core/core.h"
#include "host_driver/mlx4/mad.h"

enum { CLASSES = 256 };

W(int, ib_register_event_handler, struct ib_event_handler *handler)
{
	const int rc = __real_ib_register_event_handler(handler);

	if (!rc)
		handlers_add("a device's events", handler, 0, handler, __builtin_return_address(0));
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
		handlers_add("management datagrams", dev, port * CLASSES + mgmt_class, arg,
			     __builtin_return_address(0));
	return rc;
}

W(void, drv_mad_unserve, struct drv_device *dev, unsigned port, unsigned mgmt_class)
{
	__real_drv_mad_unserve(dev, port, mgmt_class);
	handlers_remove(dev, port * CLASSES + mgmt_class);
}
