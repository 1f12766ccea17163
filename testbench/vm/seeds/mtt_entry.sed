# drivers/net/ethernet/mellanox/mlx4/mr.c mtt_not_present traffic
# the last entry of every table loses its present bit
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_write_mtt_chunk/,/^}/ s/| MLX4_MTT_FLAG_PRESENT/| (i == npages - 1 ? 0 : MLX4_MTT_FLAG_PRESENT)/
