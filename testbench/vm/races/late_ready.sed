# drivers/net/ethernet/mellanox/mlx4/cmd.c
# a task that has posted a command looks twenty times whether it is still pending, and only then makes itself ready for the answer: an interrupt that came earlier is lost
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_cmd_wait/,/^}/ {
	/^\treinit_completion(&context->done);/d
	s/^\tif (op == MLX4_CMD_SENSE_PORT) {/\tfor (int looks = 0; looks < 20; looks++)\n\t\tcmd_pending(dev);\n\treinit_completion(\&context->done);\n&/
}
