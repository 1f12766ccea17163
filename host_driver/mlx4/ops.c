// SPDX-License-Identifier: Apache-2.0
/* The mlx4 provider: all entries are its own. */
#include "host_driver/mlx4/mlx4_internal.h"

const struct drv_ops mlx4_ops = {
#define MLX4_ENTRY(result, name, parameters, device, arguments) .name = mlx4_##name,
	DRV_OPS(MLX4_ENTRY)};
