/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware refuses each command, in turn, of each change of an Ethernet port: MAC, GID, VLAN, MTU,
 * frames. What the driver says of the port is as before, and so is what the port does: a connection
 * goes on. The same change succeeds the next time. So it is when the driver finds no memory.
 */
/* behaviours: FAULT-command-status FAULT-no-memory */
#include "testbench/harm.h"

enum { INDEX = 4, VLAN = 5, MTU = 1500, LEN = 64, TIMES_MAX = 8 };

struct port {
	uint8_t mac[MAC_BYTES];
	struct drv_gid gids[INDEX + 1];
	struct drv_eth_config config;
	int vlan;
};

static struct port port_now(const struct tb_end *end)
{
	struct port p = {.vlan = drv_eth_vlan_index(end->dev, 1, VLAN)};

	drv_eth_mac(end->dev, 1, p.mac);
	drv_eth_get(end->dev, 1, &p.config);
	for (unsigned i = 0; i <= INDEX; i++)
		drv_eth_gid_get(end->dev, 1, i, &p.gids[i]);
	return p;
}

static int other_mac(struct tb_end *end)
{
	uint8_t mac[MAC_BYTES];

	drv_eth_mac(end->dev, 1, mac);
	mac[MAC_BYTES - 1] ^= 1;
	return drv_eth_mac_set(end->dev, 1, mac);
}

static int further_gid(struct tb_end *end)
{
	struct drv_gid gid = {.version = 1, .vlan = VLAN};

	gid_from_mac(end->mac, VLAN, gid.raw);
	return drv_eth_gid_set(end->dev, 1, INDEX, &gid);
}

static int no_further_gid(struct tb_end *end)
{
	return drv_eth_gid_set(end->dev, 1, INDEX, NULL);
}

static int join(struct tb_end *end)
{
	unsigned index;

	return drv_eth_vlan_get(end->dev, 1, VLAN, &index);
}

static int leave(struct tb_end *end)
{
	drv_eth_vlan_put(end->dev, 1, (unsigned)drv_eth_vlan_index(end->dev, 1, VLAN));
	return 0;
}

static int frame_size(struct tb_end *end)
{
	const struct drv_eth_config config = {.mtu = MTU, .pause_rx = true};

	return drv_eth_set(end->dev, 1, &config);
}

static int no_frames(struct tb_end *end)
{
	return drv_eth_receive(end->dev, 1, NULL);
}

static const struct {
	const char *name;
	int (*change)(struct tb_end *end), (*back)(struct tb_end *end);
	unsigned events;
} rows[] = {
	{"a GID", further_gid, NULL, 1},
	{"no GID", no_further_gid, NULL, 1},
	{"another MAC", other_mac, NULL, 1},
	{"the first MAC", other_mac, NULL, 1},
	{"a VLAN", join, leave, 0},
	{"the size of frames", frame_size, NULL, 0},
	{"frames for nobody", no_frames, NULL, 0},
};

static void send_one(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	rdma_write(a, .wr_id = 1, .len = LEN);
	expect_cqe(a, .wr_id = 1);
	expect_data(b, .len = LEN);
}

static void lack_begin(struct tb *tb, struct tb_end *a, bool memory, unsigned nth)
{
	if (memory)
		lack_memory(nth);
	else
		refuse_command(a, nth, HCR_STATUS_BAD_PARAM);
}

/* Whether that has come. */
static bool lack_end(struct tb *tb, struct tb_end *a, bool memory)
{
	return memory ? lack_memory(0) : refuse_command(a, 0, 0);
}

static void change_refused(struct tb *tb, struct tb_end *a, struct tb_end *b,
			   int (*change)(struct tb_end *end), bool memory)
{
	const struct port before = port_now(a);

	for (unsigned nth = 1; still_right(); nth++) {
		struct port after;
		int rc;

		lack_begin(tb, a, memory, nth);
		rc = change(a);
		if (!lack_end(tb, a, memory)) {
			expect_equal(rc, 0);
			return;
		}
		expect_equal(rc, memory ? -ENOMEM : -EINVAL);
		after = port_now(a);
		expect_true(!memcmp(&before, &after, sizeof(before)));
		expect_that(nth, <, TIMES_MAX);
		/* the peer sends to the first MAC */
		if (!memcmp(after.mac, a->mac, MAC_BYTES))
			send_one(tb, a, b);
	}
}

SCENARIO(eth_refused, "each command that changes an Ethernet port is refused: all is as it was",
	 .settings = {"hca.port1.type=eth"}, .any_packets = true)
{
	struct drv_port_attr port;
	uint8_t gid[DRV_GID_BYTES];

	must(drv_query_port(a->dev, 1, &port));
	must(drv_query_gid(a->dev, 1, port.gid_count - 1, gid));
	must_fail(-EINVAL, drv_query_gid(a->dev, 1, port.gid_count, gid));
	for (unsigned memory = 0; memory < 2; memory++)
		for_each_row(i, rows) {
			name_row("%s, %s", rows[i].name, memory ? "memory" : "commands");
			change_refused(tb, a, b, rows[i].change, memory);
			must(rows[i].back ? rows[i].back(a) : 0);
			for (unsigned e = 0; e < rows[i].events; e++)
				expect_event(a, IBV_EVENT_GID_CHANGE);
		}
	send_one(tb, a, b);
}
