# drivers/net/ethernet/mellanox/mlx4/icm.c icm_unmapped objects
# a chunk of ICM is unmapped while other objects have their context in it
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_table_put(/,/^}/ s/refcount == 0/refcount != 0/
