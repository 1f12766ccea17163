// SPDX-License-Identifier: Apache-2.0
/* See ops.h: each function of the interface calls its device's provider. */
#include "host_driver/drv/ops.h"
#include "host_driver/drv/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORWARD(result, name, parameters, device, arguments)                                       \
	result drv_##name parameters                                                               \
	{                                                                                          \
		return drv_base_of(device)->ops->name arguments;                                   \
	}
DRV_OPS(FORWARD)

struct platform *drv_platform(struct drv_device *dev)
{
	return drv_base_of(dev)->p;
}

/* --- traces --- */

static const char *const providers[] = {"mlx4_", "rvt_"};

/* A provider's function appears in the log under the name that its caller used. */
static const char *name_of_verb(const char *function, char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(providers) / sizeof(*providers); i++) {
		const size_t n = strlen(providers[i]);

		if (strncmp(function, providers[i], n))
			continue;
		snprintf(name, size, "drv_%s", function + n);
		return name;
	}
	return function;
}

void drv_trace(struct drv_device *dev, struct platform_call call, const char *fmt, ...)
{
	struct platform *p = drv_platform(dev);
	char args[128], name[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	call.args = args;
	call.name = name_of_verb(call.name, name, sizeof(name));
	p->ops->trace_call(p, &call);
}
