# drivers/net/ethernet/mellanox/mlx4/cq.c memory_taken objects
# a CQ is freed without HW2SW_CQ
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_cq_free/,/^}/ s/err = mlx4_HW2SW_CQ(.*/err = 0;/
