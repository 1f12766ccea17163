# drivers/net/ethernet/mellanox/mlx4/eq.c memory_taken objects
# an EQ's buffer is freed before HW2SW_EQ
# SPDX-License-Identifier: Apache-2.0
/^static void mlx4_free_eq/,/^}/ {
	/err = mlx4_HW2SW_EQ/,/HW2SW_EQ failed/d
	s/^\tkfree(eq->page_list);/\terr = mlx4_HW2SW_EQ(dev, eq->eqn);\n\tif (err)\n\t\tmlx4_warn(dev, "HW2SW_EQ failed (%d)\\n", err);\n&/
}
