// SPDX-License-Identifier: Apache-2.0
/* A device with an Ethernet port and an InfiniBand port: what QUERY_PORT says that a port can be decides, and its
 * suggestion where it can be both. */
/* behaviours: HCA-answers */
#include "testbench/scenarios/device/other_device.h"

/* Of the device's two ports the first is an Ethernet port, and the second is not. */
static struct {
	unsigned types[2];
	bool suggested[2];
} said;

static void protocols_said(struct query_port *q, unsigned port)
{
	query_port_set_types(q, said.types[port - 1]);
	query_port_set_suggested_eth(q, said.suggested[port - 1]);
}

/* What a port can be counts, and the suggestion where it can be both. */
static void protocols(struct tb *tb, struct tb_end *a)
{
	enum { BOTH = PORT_TYPE_IB | PORT_TYPE_ETH };
	static const struct {
		unsigned types[2];
		bool suggested[2];
	} rows[] = {{{PORT_TYPE_ETH, PORT_TYPE_IB}, {true, false}},
		    {{PORT_TYPE_ETH, PORT_TYPE_IB}, {false, true}},
		    {{BOTH, BOTH}, {true, false}},
		    {{BOTH, PORT_TYPE_IB}, {true, true}},
		    {{PORT_TYPE_ETH, BOTH}, {false, false}}};
	static const struct device d = {.name = "protocols", .port = protocols_said};
	const struct drv_options options = {.log_eq_size = 8};

	for_each_row(i, rows) {
		struct drv_port_attr attr;
		struct drv_device *dev;

		name_row("types %u and %u, Ethernet suggested: %d and %d", rows[i].types[0],
			 rows[i].types[1], rows[i].suggested[0], rows[i].suggested[1]);
		memcpy(said.types, rows[i].types, sizeof(said.types));
		memcpy(said.suggested, rows[i].suggested, sizeof(said.suggested));
		must(come_up(a, &d, &options, &dev));
		if (!still_right())
			return;
		expect_true(drv_port_is_ethernet(dev, 1));
		expect_true(!drv_port_is_ethernet(dev, 2));
		must(drv_query_port(dev, 1, &attr));
		expect_true(attr.ethernet);
		expect_equal(attr.gid_count, DRV_ETH_TABLE);
		must(drv_query_port(dev, 2, &attr));
		expect_true(!attr.ethernet);
		go(tb, a, dev);
	}
	name_row("%s", "");
}

SCENARIO(bring_up_protocols,
	 "an Ethernet port and an InfiniBand port, and what the device says that they can be",
	 .bare = true, .of_mlx4 = "answers of commands",
	 .settings = {"sim.time_limit=0", "hca.ports=2", "hca.port1.type=eth", "hca.port2.type=ib"})
{
	answers_begin(a);
	protocols(tb, a);
	answers_end(a);
}
