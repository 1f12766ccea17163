# drivers/net/ethernet/mellanox/mlx4/eq.c entry_not_owned accesses
# an EQE is given back before it is read
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_eq_int/,/^}/ {
	s/^\t\tdma_rmb();/&\n\t\t++eq->cons_index;\n\t\teq_set_ci(eq, 0);/
	/^\t\t++eq->cons_index;$/d
}
