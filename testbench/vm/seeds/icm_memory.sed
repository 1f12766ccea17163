# drivers/net/ethernet/mellanox/mlx4/icm.c memory_taken objects
# a chunk of ICM is freed before UNMAP_ICM
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_table_put(/,/^}/ {
	/^\t\tmlx4_free_icm(/d
	s/^\t\toffset = .*/&\n\t\tmlx4_free_icm(dev, table->icm[i], table->coherent);/
}
