# drivers/net/ethernet/mellanox/mlx4/cq.c mailbox_reserved objects
# the mailbox is freed before the command that reads it
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_cq_alloc/,/^}/ {
	/^\tmlx4_free_cmd_mailbox(/d
	s/^\terr = mlx4_SW2HW_CQ(.*/\tmlx4_free_cmd_mailbox(dev, mailbox);\n&/
}
