# drivers/net/ethernet/mellanox/mlx4/icm.c icm_unmapped objects
# of the ICM for the firmware's own entries the last chunk is not mapped
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_init_icm_table/,/^}/ s/for (i = 0; i \* MLX4_TABLE_CHUNK_SIZE < reserved \* obj_size; ++i)/for (i = 0; i < reserved * obj_size \/ MLX4_TABLE_CHUNK_SIZE; ++i)/
