# drivers/net/ethernet/mellanox/mlx4/cmd.c hcr_busy traffic
# the HCR token word is written after the go bit, so the device takes the previous token
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_cmd_post/,/^}/ {
/hcr + 5);/d
s/^\t\t\t\t\t       op), hcr + 6);/&\n\t__raw_writel((__force u32) cpu_to_be32(token << 16),\t\t  hcr + 5);/
}
