# drivers/net/ethernet/mellanox/mlx4/main.c memory_taken objects
# the firmware's area is freed before UNMAP_FA
# SPDX-License-Identifier: Apache-2.0
/^static void mlx4_close_fw/,/^}/ {
	/mlx4_UNMAP_FA(dev);/d
	s/^\t\tmlx4_free_icm(.*/&\n\t\tmlx4_UNMAP_FA(dev);/
}
