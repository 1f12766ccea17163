# drivers/net/ethernet/mellanox/mlx4/eq.c object_in_use objects
# unload takes the EQs from the HCA before the asynchronous events are unmapped from them
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_cleanup_eq_table(/,/^}/{
/^	mlx4_MAP_EQ(dev, get_async_ev_mask(dev), 1,$/{
N
N
d
}
/^		mlx4_free_eq(dev, &priv->eq_table.eq\[i\]);$/a\
\
	mlx4_MAP_EQ(dev, get_async_ev_mask(dev), 1,\
		    priv->eq_table.eq[MLX4_EQ_ASYNC].eqn);
}
