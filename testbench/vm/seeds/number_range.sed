# drivers/net/ethernet/mellanox/mlx4/alloc.c command_refused objects
# a freed number leaves its high bits uncut: the next CQ and SRQ get numbers beyond their tables
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_bitmap_free_range(/,/^}/{
/^\t\tbitmap->top = (bitmap->top/{
N
s/^.*$/\t\tbitmap->top += bitmap->max + bitmap->reserved_top;/
}
}
