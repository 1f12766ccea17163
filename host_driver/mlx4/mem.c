// SPDX-License-Identifier: Apache-2.0
/* See alloc.h: drv_calloc, by itself in a file, so that a test can stand in for it. */
#include "host_driver/mlx4/alloc.h"

#include <stdlib.h>

void *drv_calloc(size_t n, size_t size)
{
	return calloc(n, size);
}
