/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the second port says of itself, by InfiniBand and by Ethernet. The firmware refuses each command of each
 * question in turn: the answer is the error, what the caller had is unchanged, and the next question is
 * answered. Ports and places that there are not are refused. Who waits for a state is told at once when the
 * port cannot be asked, or when the time was over before; and it sees states that no event tells.
 */
/* behaviours: IBA-14.2.5-tables ROCE-tables */
#include "model/interface/macros.h"
#include "testbench/harm.h"

enum {
	PORT = 2,
	PORTS = 2,
	UNTOUCHED = 0xee,
	COMMANDS_MAX = 4,
	LOG_GIDS = 3,
	GIDS = 1 << LOG_GIDS
};

union answer {
	struct drv_port_attr attr;
	uint8_t gid[DRV_GID_BYTES];
	uint16_t pkey;
	uint8_t bytes[sizeof(struct drv_port_attr)];
};

static int ask_port(struct tb *tb, struct tb_end *end, unsigned port, union answer *out)
{
	return drv_query_port(end->dev, port, &out->attr);
}

static int ask_gid(struct tb *tb, struct tb_end *end, unsigned port, union answer *out)
{
	return drv_query_gid(end->dev, port, 0, out->gid);
}

static int ask_pkey(struct tb *tb, struct tb_end *end, unsigned port, union answer *out)
{
	return drv_query_pkey(end->dev, port, 0, &out->pkey);
}

static int wait_for_state(struct tb *tb, struct tb_end *end, unsigned port, union answer *out)
{
	return drv_port_wait(end->dev, port, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(1));
}

static const struct {
	const char *name;
	int (*ask)(struct tb *tb, struct tb_end *end, unsigned port, union answer *out);
	unsigned least, ethernet_least; /* commands */
} questions[] = {{"the port", ask_port, 2, 1},
		 {"a GID", ask_gid, 2, 0},
		 {"a P_Key", ask_pkey, 1, 0},
		 {"a state", wait_for_state, 1, 1}};

static bool untouched(const union answer *is)
{
	for (unsigned i = 0; i < sizeof(is->bytes); i++)
		if (is->bytes[i] != UNTOUCHED)
			return false;
	return true;
}

static void refuse_each(struct tb *tb, struct tb_end *a)
{
	static const unsigned none[] = {0, PORTS + 1, UINT32_MAX};

	for_each_row(q, questions) {
		const unsigned least = drv_port_is_ethernet(a->dev, PORT)
					       ? questions[q].ethernet_least
					       : questions[q].least;
		union answer is;
		unsigned n = 0;
		bool refused = true;

		for (; refused && n < COMMANDS_MAX && still_right(); n += refused) {
			const uint64_t begun = tb_now(tb);
			int rc;

			name_row("%s, command %u is refused", questions[q].name, n + 1);
			memset(&is, UNTOUCHED, sizeof(is));
			refuse_command(a, n + 1, HCR_STATUS_EXCEED_LIM);
			rc = questions[q].ask(tb, a, PORT, &is);
			refused = refuse_command(a, 0, 0);
			expect_equal(rc, refused ? -ENOMEM : 0);
			if (refused) {
				expect_true(untouched(&is));
				expect_that(tb_now(tb) - begun, <, CFG_MS(1));
			}
		}
		expect_that(n, >=, least);
		memset(&is, UNTOUCHED, sizeof(is));
		for_each_row(i, none) {
			name_row("%s of port %u", questions[q].name, none[i]);
			must_fail(-EINVAL, questions[q].ask(tb, a, none[i], &is));
			expect_true(untouched(&is));
		}
	}
	name_row("%s", "");
}

/* The first GID of the port is that of its table, and no place behind the table is told. */
static void gids(struct tb *tb, struct tb_end *a, unsigned port, unsigned count)
{
	uint8_t gid[DRV_GID_BYTES], untold[DRV_GID_BYTES];
	struct drv_port_attr attr;

	name_row("port %u", port);
	must(drv_query_port(a->dev, port, &attr));
	expect_equal(attr.gid_count, count);
	must(drv_query_gid(a->dev, port, 0, gid));
	expect_true(!memcmp(attr.gid0, gid, sizeof(gid)));
	must(drv_query_gid(a->dev, port, count - 1, gid));
	memset(gid, UNTOUCHED, sizeof(gid));
	memset(untold, UNTOUCHED, sizeof(untold));
	must_fail(-EINVAL, drv_query_gid(a->dev, port, count, gid));
	expect_true(!memcmp(untold, gid, sizeof(gid)));
}

static void must_wait(struct tb *tb, struct tb_end *end, enum ibv_port_state state)
{
	const uint64_t begun = tb_now(tb);

	must(drv_port_wait(end->dev, PORT, state, begun + CFG_S(20)));
	expect_that(tb_now(tb) - begun, <, CFG_S(5));
}

static void time_is_over(struct tb *tb, struct tb_end *a)
{
	const uint64_t begun = tb_now(tb);

	must_fail(-ETIMEDOUT, drv_port_wait(a->dev, PORT, IBV_PORT_ARMED, begun));
	must_fail(-ETIMEDOUT, drv_port_wait(a->dev, PORT, IBV_PORT_ARMED, 0));
	expect_that(tb_now(tb) - begun, <, CFG_MS(1));
}

SCENARIO(ports_asked, "questions about a second InfiniBand port, with each command refused in turn",
	 .settings = {"hca.ports=2", "hca.port1.type=ib", "hca.port2.type=ib", "hca.log_gids=3"},
	 .no_qps = true, .any_packets = true, .of_mlx4 = "commands")
{
	refuse_each(tb, a);
	gids(tb, a, 1, GIDS);
	gids(tb, a, PORT, GIDS);
	time_is_over(tb, a);
	/* no subnet manager sweeps, and training raises no event */
	ignore_events(a);
	ignore_events(b);
	pull_cable(PORT);
	must_wait(tb, a, IBV_PORT_DOWN);
	plug_cable(PORT);
	must_wait(tb, a, IBV_PORT_INIT);
	must_wait(tb, b, IBV_PORT_INIT);
}

SCENARIO(eth_ports_asked,
	 "questions about a second Ethernet port, with each command refused in turn",
	 .settings = {"hca.ports=2", "hca.port1.type=eth", "hca.port2.type=eth", "hca.log_gids=3"},
	 .no_qps = true, .any_packets = true, .of_mlx4 = "Ethernet")
{
	struct drv_port_attr attr;

	refuse_each(tb, a);
	gids(tb, a, 1, DRV_ETH_TABLE);
	gids(tb, a, PORT, DRV_ETH_TABLE);
	time_is_over(tb, a);
	must(drv_query_port(a->dev, PORT, &attr));
	expect_equal(attr.phys_state, PORT_PHYS_LINK_UP);
	expect_true(attr.ethernet);
	ignore_events(a);
	ignore_events(b);
	pull_cable(PORT);
	must_wait(tb, a, IBV_PORT_DOWN);
	must(drv_query_port(a->dev, PORT, &attr));
	expect_equal(attr.state, IBV_PORT_DOWN);
	expect_equal(attr.phys_state, PORT_PHYS_DISABLED); /* Linux eth_link_query_port */
	must(drv_query_port(a->dev, 1, &attr));
	expect_equal(attr.state, IBV_PORT_ACTIVE);
	expect_equal(attr.phys_state, PORT_PHYS_LINK_UP);
	plug_cable(PORT);
	must_wait(tb, a, IBV_PORT_ACTIVE);
}
