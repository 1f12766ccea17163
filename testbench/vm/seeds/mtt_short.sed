# drivers/net/ethernet/mellanox/mlx4/mr.c mtt_shared objects
# an object gets half of the MTT entries that it needs
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_mtt_init(/,/^}/ s/for (mtt->order = 0, i = 1;/for (mtt->order = 0, i = 2;/
