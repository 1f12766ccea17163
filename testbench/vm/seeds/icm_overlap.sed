# drivers/net/ethernet/mellanox/mlx4/fw.c icm_overlap objects
# INIT_HCA gives the auxiliary contexts the base of the alternate paths
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_INIT_HCA/,/^}/ s/param->auxc_base,/param->altc_base,/
