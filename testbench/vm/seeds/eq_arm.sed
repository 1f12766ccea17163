# drivers/net/ethernet/mellanox/mlx4/eq.c stall:eq objects
# an EQ is not armed after its interrupt
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_eq_int/,/^}/ s/^\teq_set_ci(eq, 1);/\teq_set_ci(eq, 0);/
