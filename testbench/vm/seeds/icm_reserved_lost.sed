# drivers/net/ethernet/mellanox/mlx4/icm.c icm_unmapped objects
# the chunks of ICM with the firmware's own entries are not counted as used, so they go with the last other object
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_init_icm_table/,/^}/ s/^\t\t++table->icm\[i\]->refcount;/\t\t;/
