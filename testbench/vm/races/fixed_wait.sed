# drivers/net/ethernet/mellanox/mlx4/cmd.c
# RTR2RTS is taken for done after 33 us, whether firmware has answered or not
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_cmd_wait/,/^}/ s/^\tif (op == MLX4_CMD_SENSE_PORT) {/\tif (op == MLX4_CMD_RTR2RTS_QP) {\n\t\tudelay(33);\n\t\tret_wait = 1;\n\t} else if (op == MLX4_CMD_SENSE_PORT) {/
