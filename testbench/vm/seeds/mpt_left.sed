# drivers/net/ethernet/mellanox/mlx4/mr.c memory_taken objects
# a region is deregistered without HW2SW_MPT
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_mr_free_reserved/,/^}/ s/if (mr->enabled == MLX4_MPT_EN_HW)/if (mr->enabled == MLX4_MPT_EN_SW)/
