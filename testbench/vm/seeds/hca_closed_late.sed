# drivers/net/ethernet/mellanox/mlx4/main.c command_sequence traffic
# CLOSE_HCA is sent only after all ICM has been unmapped and freed
# SPDX-License-Identifier: Apache-2.0
/^static void mlx4_close_hca/,/^}/ {
/^\t\tmlx4_CLOSE_HCA(dev, 0);/d
s/^\t\tmlx4_free_icms(dev);/&\n\t\tmlx4_CLOSE_HCA(dev, 0);/
}
