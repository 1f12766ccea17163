# drivers/net/ethernet/mellanox/mlx4/eq.c order_entry accesses
# the type of an EQE is read before its owner bit
# SPDX-License-Identifier: Apache-2.0
/^static struct mlx4_eqe \*next_eqe_sw/,/^}/ s/^\tstruct mlx4_eqe \*eqe = .*/&\n\tREAD_ONCE(eqe->type);/
