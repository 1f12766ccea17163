/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path MTU of an Ethernet port is the longest whose packets fit into a frame with all their
 * headers, the longest of which are those of an XRC atomic. At each limit, a message of several
 * packets of that MTU arrives. Source: Linux rdma/ib_addr.h, iboe_get_mtu
 */
/* behaviours: ROCE-path-mtu */
#include "testbench/services.h"

enum { HEADERS = 40 + 8 + 12 + 4 + 28 + 4, LEN = 6000 };

static const struct {
	unsigned frame;
	enum ibv_mtu path;
} rows[] = {
	{1500, IBV_MTU_1024},
	{512 + HEADERS, IBV_MTU_512},
	{512 + HEADERS - 1, IBV_MTU_256},
	{2048 + HEADERS, IBV_MTU_2048},
	{2048 + HEADERS - 1, IBV_MTU_1024},
	{4096 + HEADERS, IBV_MTU_4096},
	{4096 + HEADERS - 1, IBV_MTU_2048},
};

static void frames_of(struct tb *tb, struct drv_device *dev, unsigned frame, enum ibv_mtu path)
{
	struct drv_eth_config config;
	struct drv_port_attr attr;

	drv_eth_get(dev, 1, &config);
	config.mtu = frame;
	must(drv_eth_set(dev, 1, &config));
	must(drv_query_port(dev, 1, &attr));
	if (still_right())
		expect_equal(attr.active_mtu, path);
}

SCENARIO(roce_mtu, "the path MTU of an Ethernet port follows from its frames, to the byte",
	 .settings = {"hca.port1.type=eth"}, .memory = 16 << 10)
{
	ignore_packets();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]) && still_right(); i++) {
		struct drv_qp *x = new_qp(a), *y = new_qp(b);

		frames_of(tb, a->dev, rows[i].frame, rows[i].path);
		frames_of(tb, b->dev, rows[i].frame, rows[i].path);
		connect_two(x, y, .mtu = rows[i].path);
		recv_on(b, y, .wr_id = 1, .len = LEN);
		send_on(a, x, .wr_id = 2, .len = LEN);
		expect_cqe(a, .wr_id = 2);
		expect_cqe(b, .wr_id = 1, .byte_len = LEN);
		expect_data(b, .len = LEN);
		destroy_qp(y);
		destroy_qp(x);
	}
}
