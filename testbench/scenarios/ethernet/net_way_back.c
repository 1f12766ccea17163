/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process reads from the 40 bytes before a datagram of an Ethernet port: RoCE v1 has a GRH, also
 * between addresses of IPv4, and v2 a GRH or an IPv4 header, which is known by its checksum. The way back
 * has the class and the hop limit of that header, the sender's GID, and the entry of the own table with this
 * address and this version. What went to another address, or is no header of RoCE, has no way back, and the
 * attributes of the next one are not mixed with it. Source: rdma-core ibv_init_ah_from_wc
 */
/* behaviours: UD-way-back */
#include "model/interface/wire.h"
#include "testbench/programs.h"
#include "testbench/scenarios/ethernet/neighbours.h"

#include <endian.h>

enum {
	PORT = 1,
	VLAN = 5,
	FLOW = 0xabcde,
	CLASS = 0x5c,
	HOPS = 77,
	SL = 6,
	IPV4_AT = 20,
	FREE_GID = 99
};

static const struct net_address six = {
	.ip = {0xfd, 1, [11] = 3, [15] = 1}, .prefix = NET_PREFIX, .vlan = VLAN_NONE};

struct way {
	struct program p;
	uint8_t area[sizeof(struct ibv_grh)];
	uint8_t from[DRV_GID_BYTES], to[DRV_GID_BYTES];
	int index; /* of `to`; negative: there is no way back */
	bool four;
};

static int way_back(void *arg)
{
	struct way *w = arg;
	struct ibv_grh *grh = (void *)w->area;
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .sl = SL, .src_qp = 9, .byte_len = 99};
	struct ibv_ah_attr is;
	int rc;

	memset(&is, 0x77, sizeof(is));
	rc = ibv_init_ah_from_wc(w->p.context, PORT, &wc, grh, &is);
	if (w->index < 0)
		return rc == -1 && !ibv_create_ah_from_wc(w->p.pd, &wc, grh, PORT) ? 0 : __LINE__;
	if (rc || is.is_global != 1 || is.port_num != PORT || is.sl != SL || is.static_rate)
		return __LINE__;
	if (is.grh.sgid_index != w->index || memcmp(is.grh.dgid.raw, w->from, DRV_GID_BYTES))
		return __LINE__;
	if (is.grh.traffic_class != CLASS || is.grh.hop_limit != HOPS)
		return __LINE__;
	return w->four || is.grh.flow_label == FLOW ? 0 : __LINE__;
}

/* Of the 40 bytes the first 20 say nothing: they even begin as a GRH does. */
static void ipv4_header(struct way *w)
{
	uint8_t *ip = w->area + IPV4_AT;

	memset(w->area, 0x66, IPV4_AT);
	ip[0] = 0x45;
	ip[1] = CLASS;
	ip[3] = 120;
	ip[8] = HOPS;
	ip[9] = 17;
	memcpy(ip + 12, w->from + 12, 4);
	memcpy(ip + 16, w->to + 12, 4);
	be16_store(ip + 10, (uint16_t)~ip_sum(ip, 20, 0));
	w->four = true;
}

static void grh(struct way *w, uint8_t next_hdr)
{
	struct ibv_grh h = {
		.version_tclass_flow = htobe32(6u << 28 | CLASS << 20 | FLOW),
		.paylen = htobe16(99),
		.next_hdr = next_hdr,
		.hop_limit = HOPS,
	};

	memcpy(h.sgid.raw, w->from, DRV_GID_BYTES);
	memcpy(h.dgid.raw, w->to, DRV_GID_BYTES);
	memcpy(w->area, &h, sizeof(h));
}

static const struct {
	const char *name;
	unsigned version;
	bool six, tagged, strange;
	uint8_t next_hdr; /* 0: an IPv4 header */
} rows[] = {
	{"v1 between addresses of IPv4", 1, false, false, false, GRH_NEXT_BTH},
	{"v2 over IPv4", 2, false, false, false, 0},
	{"v1 between addresses of IPv6", 1, true, false, false, GRH_NEXT_BTH},
	{"v2 over IPv6", 2, true, false, false, 17},
	{"v1 to an address of a VLAN", 1, false, true, false, GRH_NEXT_BTH},
	{"v2 to an address of a VLAN", 2, false, true, false, 0},
	{"v1 to somebody else", 1, false, false, true, GRH_NEXT_BTH},
	{"v2 to somebody else", 2, false, false, true, 0},
	{"another header", 1, true, false, false, 6},
	{"v2 over IPv6 after it", 2, true, false, false, 17},
};

/* The same for the driver itself, which answers datagrams of management. What has no way back leaves the
 * caller's address as it was. */
static void way_of_driver(struct tb *tb, struct tb_end *a, const struct way *w, bool tagged)
{
	struct drv_wc wc = {
		.sl = SL, .vlan = tagged ? VLAN : VLAN_NONE, .smac = {2, 9, 8, 7, 6, 5}};
	struct drv_ah_attr is, was;

	memset(&is, 0x77, sizeof(is));
	was = is;
	if (w->index < 0) {
		must_fail(-ENOENT, drv_eth_way_back(a->dev, PORT, &wc, w->area, &is));
		expect_true(!memcmp(&is, &was, sizeof(is)));
		return;
	}
	must(drv_eth_way_back(a->dev, PORT, &wc, w->area, &is));
	expect_equal(is.sgid_index, w->index);
	expect_true(!memcmp(is.dgid, w->from, DRV_GID_BYTES));
	expect_equal(mac_load(is.dmac), mac_load(wc.smac));
	expect_equal(is.sl, SL);
	expect_equal(is.port_num, PORT);
	expect_true(is.is_global && is.hop_limit);
	/* on another VLAN the address is nobody's */
	wc.vlan = VLAN + 1;
	must_fail(-ENOENT, drv_eth_way_back(a->dev, PORT, &wc, w->area, &is));
}

static void add_addresses(struct tb *tb, struct tb_end *end, const struct net_address *tagged)
{
	must(net_address_add(end->net, &six));
	must(net_address_add(end->net, tagged));
	for (unsigned i = 0; i < 4; i++)
		expect_event(end, IBV_EVENT_GID_CHANGE);
}

/* An address that the table has in one version alone, and a datagram of the other one. */
static void one_version(struct tb *tb, struct tb_end *a, struct way *w)
{
	for (unsigned version = 1; version <= 2; version++) {
		struct drv_gid gid = {.version = version, .vlan = VLAN_NONE};

		memcpy(gid.raw, w->from, DRV_GID_BYTES);
		gid.raw[13] = 77;
		must(drv_eth_gid_set(a->dev, PORT, FREE_GID, &gid));
		expect_event(a, IBV_EVENT_GID_CHANGE);
		memcpy(w->to, gid.raw, DRV_GID_BYTES);
		grh(w, 17);
		w->index = version == 2 ? FREE_GID : -1;
		way_of_driver(tb, a, w, false);
		grh(w, GRH_NEXT_BTH);
		w->index = version == 1 ? FREE_GID : -1;
		way_of_driver(tb, a, w, false);
	}
}

SCENARIO(net_way_back, "the way back to the sender of each kind of packet", .no_qps = true,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct process *worker = start_worker(a);
	struct net_address tagged = ipv4_of(a), plain = tagged;
	struct way w = {.p = {.file = "domain"}};

	tagged.ip[14] = VLAN;
	tagged.vlan = VLAN;
	add_addresses(tb, a, &tagged);
	run_in(worker, program_open, &w.p);
	for_each_row(i, rows) {
		const struct net_address *own = rows[i].six      ? &six
						: rows[i].tagged ? &tagged
								 : &plain;

		name_row("%s", rows[i].name);
		w.four = false;
		memcpy(w.to, own->ip, DRV_GID_BYTES);
		memcpy(w.from, own->ip, DRV_GID_BYTES);
		/* a GRH whose fifth word begins as an IPv4 header does */
		if (rows[i].six)
			w.from[12] = 0x45;
		w.from[15] ^= 0x81;
		w.index = gid_index(a, own, rows[i].version);
		expect_that(w.index, >=, 0);
		if (rows[i].strange)
			w.to[14] ^= 0x40;
		if (rows[i].next_hdr)
			grh(&w, rows[i].next_hdr);
		else
			ipv4_header(&w);
		if (rows[i].strange || rows[i].next_hdr == 6)
			w.index = -1;
		run_in(worker, way_back, &w);
		if (rows[i].next_hdr != 6)
			way_of_driver(tb, a, &w, rows[i].tagged);
	}
	name_row("%s", "");
	one_version(tb, a, &w);
	end_worker(worker);
}
