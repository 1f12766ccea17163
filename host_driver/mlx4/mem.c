// SPDX-License-Identifier: Apache-2.0
/* drv_calloc (see alloc.h) has a file of its own, so that a test can replace it. */
#include "host_driver/mlx4/alloc.h"

#include <stdlib.h>

void *drv_calloc(size_t n, size_t size)
{
	if (drv_calloc_fails && drv_calloc_fails())
		return NULL;
	return calloc(n, size);
}
