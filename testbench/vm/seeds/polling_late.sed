# drivers/net/ethernet/mellanox/mlx4/main.c command_sequence objects
# the event queues go before the driver has gone back to polling, so nobody hears that the commands behind it have ended
# SPDX-License-Identifier: Apache-2.0
/^static void mlx4_unload_one/,/^}/ {
	/^\tmlx4_cmd_use_polling(dev);$/ {
		h
		d
	}
	/^\tmlx4_cleanup_eq_table(dev);$/G
}
