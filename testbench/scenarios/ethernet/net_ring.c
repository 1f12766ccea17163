/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a network interface are full. A few frames have left, and the device cannot read the next one
 * for a while: questions beyond the length of the ring are lost, and those before them arrive as they were
 * asked.
 * Of more questions at once than there are receives those that found one are answered, each to its sender,
 * and so are as many that come later. Several threads that ask at the same time, with a limit or without one, get their answers at once.
 */
#include "host_driver/net/ring.h"
#include "testbench/harm.h"
#include "testbench/scenarios/ethernet/frames.h"
#include "testbench/scenarios/ethernet/neighbours.h"

enum {
	ROOM = 64,
	GONE = 2,
	ALL = RING_SLOTS + GONE,
	FIRST = 100,
	MORE = 5,
	LAPS = 3,
	THREADS = 6,
	TARGET_AT = sizeof(struct eth_hdr) + 24 /* of an ARP packet */
};

static struct net_address numbered(const struct tb_end *end, unsigned last)
{
	struct net_address ip = ipv4_of(end);

	ip.ip[15] = (uint8_t)last;
	return ip;
}

/* --- frames that leave --- */

/* b takes the frames themselves. */
static struct drv_qp *listen_to(struct tb *tb, struct tb_end *b)
{
	struct drv_qp *qp;

	ib_device_set_netdev(ib_device_of(b), NULL, 1);
	net_close(b->net);
	b->net = NULL;
	qp = frames_of(tb, b);
	if (still_right())
		recv_on(b, qp, .wr_id = 0, .len = ROOM, .repeat = ALL + MORE);
	return qp;
}

static void listens_no_more(struct tb *tb, struct tb_end *b, struct drv_qp *qp)
{
	const struct net_address own = ipv4_of(b);

	must(drv_eth_receive(b->dev, 1, NULL));
	destroy_qp(qp);
	must(net_open(b->dev, 1, &b->net));
	ib_device_set_netdev(ib_device_of(b), b->net, 1);
	must(net_address_add(b->net, &own));
}

static void sends(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_qp *qp = listen_to(tb, b);
	struct net_way way;
	struct drv_wc wc;

	if (!still_right())
		return;
	late_read(a, "payload", CFG_MS(1), .skip = GONE);
	for (unsigned i = 0; i < ALL + MORE; i++) {
		if (i == 2 * GONE)
			pass_time(CFG_US(100));
		must_fail(-ETIMEDOUT,
			  net_resolve(a->net, a->gid_index, numbered(a, FIRST + i).ip, 0, &way));
	}
	pass_time(CFG_MS(10));
	for (unsigned i = 0; i < ALL && still_right(); i++) {
		name_row("frame %u", i);
		expect_cqe(b, .wr_id = i, .on = qp);
		expect_equal(be32_load(b->dst + i * ROOM + TARGET_AT),
			     be32_load(numbered(a, FIRST + i).ip + 12));
	}
	name_row("%s", "");
	expect_equal(drv_cq_poll(b->cq, 1, &wc), 0);
	ignore_data(b, .len = (ALL + MORE) * ROOM);
	listens_no_more(tb, b, qp);
	/* they have failed */
	pass_time(CFG_S(5));
}

/* --- frames that come --- */

static const uint8_t *mac_of(unsigned i, uint8_t mac[MAC_BYTES])
{
	mac_store(mac, UINT64_C(0x020000000700) + i);
	return mac;
}

static void question(struct tb *tb, struct tb_end *a, unsigned i)
{
	const struct net_address asker = numbered(a, FIRST + i);
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES];
	struct note n = {.question = true};
	size_t len;

	memcpy(n.about, asker.ip, DRV_GID_BYTES);
	memcpy(n.other, a->gid, DRV_GID_BYTES);
	mac_of(i, n.mac);
	len = note_write(&n, a->mac, VLAN_NONE, frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	inject_bytes(a, frame, len + FCS_BYTES);
}

static void is_known(struct tb *tb, struct tb_end *a, unsigned i)
{
	const struct net_address asker = numbered(a, FIRST + i);
	struct net_way way = {0};
	uint8_t mac[MAC_BYTES];

	name_row("asker %u", i);
	expect_equal(net_neighbour(a->net, asker.ip, VLAN_NONE), NEIGH_STALE);
	must(net_resolve(a->net, a->gid_index, asker.ip, 0, &way));
	expect_equal(mac_load(way.dmac), mac_load(mac_of(i, mac)));
}

static void receives(struct tb *tb, struct tb_end *a)
{
	uint64_t sent = tb_stat(a, "port1", "tx_frames");

	for (unsigned lap = 0; lap < LAPS; lap++) {
		const unsigned from = lap * (RING_SLOTS + MORE);

		for (unsigned i = 0; i < RING_SLOTS + (lap ? 0 : MORE); i++)
			question(tb, a, from + i);
		pass_time(CFG_US(200));
		for (unsigned i = 0; i < RING_SLOTS; i++)
			is_known(tb, a, from + i);
		name_row("%s", "");
		sent += RING_SLOTS;
		expect_stat(a, port1, tx_frames, sent);
	}
}

/* --- several threads --- */

static struct asker {
	struct tb_end *end;
	struct net_address whom;
	struct net_way way;
	bool done;
	int rc;
} askers[THREADS];

static void asks(void *arg)
{
	struct asker *s = arg;

	s->rc = net_resolve(s->end->net, s->end->gid_index, s->whom.ip,
			    s->whom.ip[15] % 2 ? CFG_S(5) : UINT64_MAX, &s->way);
	s->done = true;
}

static void at_once(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for (unsigned i = 0; i < THREADS; i++) {
		askers[i] = (struct asker){.end = a, .whom = numbered(b, FIRST + 80 + i)};
		must(net_address_add(b->net, &askers[i].whom));
	}
	for (unsigned i = 0; i < THREADS; i++)
		a->platform->ops->thread_start(a->platform, "asks", asks, &askers[i]);
	pass_time(CFG_MS(1));
	for (unsigned i = 0; i < THREADS; i++) {
		name_row("thread %u", i);
		expect_true(askers[i].done);
		expect_equal(askers[i].rc, 0);
		expect_equal(mac_load(askers[i].way.dmac), mac_load(b->mac));
	}
	pass_time(CFG_S(6));
}

SCENARIO(net_ring, "the rings of a network interface are full", .any_packets = true,
	 .settings = {NET_SETTINGS("v2_ipv4"), "sim.time_limit=300s"})
{
	ignore_events(a);
	ignore_events(b);
	phase("frames that leave");
	sends(tb, a, b);
	phase("frames that come");
	receives(tb, a);
	phase("several threads");
	at_once(tb, a, b);
}
