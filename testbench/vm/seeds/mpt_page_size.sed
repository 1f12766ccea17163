# drivers/net/ethernet/mellanox/mlx4/mr.c command_refused objects
# a region's key has the size of its pages as a multiple of 4 KiB
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_mr_enable/,/^}/ s/cpu_to_be32(mr->mtt.page_shift)/cpu_to_be32(mr->mtt.page_shift - MLX4_ICM_PAGE_SHIFT)/
