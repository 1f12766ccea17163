# drivers/net/ethernet/mellanox/mlx4/cmd.c
# a task waits only for 25 looks until the command of another one has left the command register, and then writes its own over it
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_cmd_post/,/^}/ s/while (cmd_pending(dev)) {/for (int looks = 0; looks < 25 \&\& cmd_pending(dev); looks++) {/
