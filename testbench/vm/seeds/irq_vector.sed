# drivers/net/ethernet/mellanox/mlx4/eq.c stall:eq objects
# an EQ's context names the next interrupt vector
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_create_eq/,/^}/ s/eq_context->intr	  = intr;/eq_context->intr	  = intr + 1;/
