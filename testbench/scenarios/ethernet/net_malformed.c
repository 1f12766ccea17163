/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions of a neighbour, in ARP and in neighbour discovery, in which one field is wrong: nobody
 * answers them, and nothing is remembered of their sender. An answer with the same mistake is none. Their checksums are right, except in the
 * row that says so. Options behind the MAC count as RFC 4861 says. The same question without the mistake is answered, and its sender becomes a
 * neighbour. So it is with what other protocols say.
 */
#include "testbench/scenarios/ethernet/neighbours.h"

enum { ETH = sizeof(struct eth_hdr), ND = ETH + IPV6_BYTES, UNKNOWN = 9 };

struct row {
	const char *name;
	unsigned at, bits;
	bool keep_checksum;
};

static const struct row arp_rows[] = {
	{"another hardware", ETH + 1, 2, false},     {"another protocol", ETH + 2, 1, false},
	{"longer MACs", ETH + 4, 8, false},          {"longer addresses", ETH + 5, 16, false},
	{"another operation", ETH + 7, 8, false},    {"the MAC of a group", ETH + 8, 1, false},
	{"another type of frame", ETH - 1, 1, false}};

static const struct row nd_rows[] = {{"another version of IP", ETH, 0x20, false},
				     {"another protocol", ETH + 6, 1, false},
				     {"from another link", ETH + 7, 1, false},
				     {"a length that cuts the target", ETH + 5, 0x28, false},
				     {"a length beyond the frame", ETH + 4, 1, false},
				     {"a wrong checksum", ND + 2, 1, true},
				     {"a code", ND + 1, 1, false},
				     {"another message", ND, 2, false},
				     {"a group as target", ND + 8, 1, false},
				     {"an option of no length", ND + 25, 1, false},
				     {"an option beyond the message", ND + 25, 2, false},
				     {"another option", ND + 24, 4, false},
				     {"the MAC of a group", ND + 26, 1, false}};

/* The neighbour that asks, and the address that it asks for. */
static struct note question_of(const uint8_t *asker, const uint8_t *own)
{
	struct note n = {.question = true, .mac = {2, 0, 0, 0, 0, UNKNOWN}};

	memcpy(n.about, asker, DRV_GID_BYTES);
	memcpy(n.other, own, DRV_GID_BYTES);
	return n;
}

/* RFC 4443, 2.3 */
static void checksum_make(uint8_t *frame)
{
	struct grh *ip = (struct grh *)(void *)(frame + ETH);
	const size_t bytes = sizeof(struct neighbour);
	uint32_t sum = IP_PROTOCOL_ICMPV6 + (uint32_t)bytes;

	be16_store(frame + ND + 2, 0);
	sum = ip_sum(grh_sgid_cptr(ip), DRV_GID_BYTES, sum);
	sum = ip_sum(grh_dgid_cptr(ip), DRV_GID_BYTES, sum);
	be16_store(frame + ND + 2, (uint16_t)~ip_sum(frame + ND, bytes, sum));
}

static void send_note(struct tb *tb, struct tb_end *a, const struct note *n,
		      const struct row *wrong)
{
	uint8_t frame[NOTE_FRAME_MAX + FCS_BYTES] = {0};
	const size_t len = note_write(n, a->mac, VLAN_NONE, frame);

	if (wrong)
		frame[wrong->at] ^= (uint8_t)wrong->bits;
	if (!gid_is_ipv4(n->about) && !(wrong && wrong->keep_checksum))
		checksum_make(frame);
	frame_fcs_make(frame, len + FCS_BYTES);
	inject_bytes(a, frame, len + FCS_BYTES);
	pass_time(CFG_US(100));
}

/* The neighbour is known, or not, and so many frames have left. */
static void is_heard(struct tb *tb, struct tb_end *a, const struct note *n, bool heard,
		     uint64_t sent)
{
	expect_equal(net_neighbour(a->net, n->about, VLAN_NONE), heard ? NEIGH_STALE : NEIGH_NONE);
	expect_stat(a, port1, tx_frames, sent + heard);
}

static void ask_all(struct tb *tb, struct tb_end *a, const struct note *n, const struct row *rows,
		    unsigned n_rows)
{
	uint64_t sent;

	for (unsigned i = 0; i < n_rows && still_right(); i++) {
		name_row("%s", rows[i].name);
		sent = tb_stat(a, "port1", "tx_frames");
		send_note(tb, a, n, &rows[i]);
		is_heard(tb, a, n, false, sent);
	}
	name_row("right");
	sent = tb_stat(a, "port1", "tx_frames");
	send_note(tb, a, n, NULL);
	is_heard(tb, a, n, true, sent);
}

/* Somebody else has been asked, and answers. */
static void answer_all(struct tb *tb, struct tb_end *a, const struct note *asked,
		       const struct row *rows, unsigned n_rows)
{
	struct note n = *asked;
	struct net_way way = {0};
	const int index = drv_eth_gid_find(a->dev, 1, n.other, 2, VLAN_NONE);

	n.question = false;
	n.solicited = true;
	n.about[15] ^= 0x20;
	must_fail(-ETIMEDOUT, net_resolve(a->net, (unsigned)index, n.about, 0, &way));
	for (unsigned i = 0; i < n_rows && still_right(); i++) {
		name_row("an answer with %s", rows[i].name);
		send_note(tb, a, &n, &rows[i]);
		expect_equal(net_neighbour(a->net, n.about, VLAN_NONE), NEIGH_INCOMPLETE);
	}
	name_row("a right answer");
	send_note(tb, a, &n, NULL);
	expect_equal(net_neighbour(a->net, n.about, VLAN_NONE), NEIGH_REACHABLE);
}

/* A question about nobody's address, and one of nobody. */
static void other_questions(struct tb *tb, struct tb_end *a, const struct note *right)
{
	static const uint8_t nobody[DRV_GID_BYTES];
	struct note n = *right;
	uint64_t sent = tb_stat(a, "port1", "tx_frames");

	name_row("an address that is not here");
	n.about[15]++;
	n.other[15] ^= 0x40;
	send_note(tb, a, &n, NULL);
	is_heard(tb, a, &n, false, sent);
	name_row("nobody asks");
	n = *right;
	memcpy(n.about, nobody, DRV_GID_BYTES);
	if (gid_is_ipv4(right->about))
		n.about[10] = n.about[11] = 0xff;
	send_note(tb, a, &n, NULL);
	is_heard(tb, a, &n, false, sent);
}

/* What stands behind the MAC of the sender, in the message or behind it. Source: RFC 4861, 4.6, 6.1; Linux
 * ndisc_parse_options: of two the first one counts */
static void options(struct tb *tb, struct tb_end *a, const struct note *right)
{
	static const struct {
		const char *name;
		unsigned bytes; /* of the message, as it says */
		uint8_t more[8];
		bool heard;
	} option_rows[] = {
		{"the MAC is behind the message", 24, {0}, false},
		{"bytes behind the message", 32, {0}, true},
		{"another MAC behind the message", 32, {1, 1, 2, 0, 0, 0, 0, 0x55}, true},
		{"a second MAC", 40, {1, 1, 2, 0, 0, 0, 0, 0x55}, true},
		{"an option that nobody knows", 40, {77, 1, 2, 0, 0, 0, 0, 0x55}, true},
		{"a second option of no length", 40, {1, 0, 2, 0, 0, 0, 0, 0x55}, false},
		{"a second option beyond the message", 40, {77, 2, 2, 0, 0, 0, 0, 0x55}, false}};
	struct note n = *right;

	for_each_row(i, option_rows) {
		uint8_t frame[NOTE_FRAME_MAX + 8 + FCS_BYTES] = {0};
		struct grh *ip = (struct grh *)(void *)(frame + ETH);
		const uint64_t sent = tb_stat(a, "port1", "tx_frames");
		struct net_way way = {0};
		uint32_t sum = IP_PROTOCOL_ICMPV6 + option_rows[i].bytes;
		size_t len;

		name_row("%s", option_rows[i].name);
		n.about[14] = (uint8_t)(right->about[14] ^ (i + 1));
		len = note_write(&n, a->mac, VLAN_NONE, frame);
		memcpy(frame + len, option_rows[i].more, 8);
		grh_set_pay_len(ip, option_rows[i].bytes);
		be16_store(frame + ND + 2, 0);
		sum = ip_sum(grh_sgid_cptr(ip), DRV_GID_BYTES, sum);
		sum = ip_sum(grh_dgid_cptr(ip), DRV_GID_BYTES, sum);
		be16_store(frame + ND + 2,
			   (uint16_t)~ip_sum(frame + ND, option_rows[i].bytes, sum));
		frame_fcs_make(frame, len + 8 + FCS_BYTES);
		inject_bytes(a, frame, len + 8 + FCS_BYTES);
		pass_time(CFG_US(100));
		is_heard(tb, a, &n, option_rows[i].heard, sent);
		if (!option_rows[i].heard)
			continue;
		must(net_resolve(a->net,
				 (unsigned)drv_eth_gid_find(a->dev, 1, n.other, 2, VLAN_NONE),
				 n.about, 0, &way));
		expect_equal(mac_load(way.dmac), mac_load(n.mac));
	}
	name_row("%s", "");
}

SCENARIO(net_malformed, "malformed packets of ARP and neighbour discovery are ignored", .qps = 0,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct net_address asker = ipv4_of(b);
	uint8_t own[DRV_GID_BYTES];
	struct note n;

	phase("ARP");
	asker.ip[15] = UNKNOWN;
	n = question_of(asker.ip, a->gid);
	ask_all(tb, a, &n, arp_rows, sizeof(arp_rows) / sizeof(arp_rows[0]));
	answer_all(tb, a, &n, arp_rows, sizeof(arp_rows) / sizeof(arp_rows[0]));
	other_questions(tb, a, &n);
	phase("neighbour discovery");
	gid_from_mac(a->mac, VLAN_NONE, own);
	memcpy(asker.ip, own, DRV_GID_BYTES);
	asker.ip[15] ^= UNKNOWN;
	n = question_of(asker.ip, own);
	ask_all(tb, a, &n, nd_rows, sizeof(nd_rows) / sizeof(nd_rows[0]));
	answer_all(tb, a, &n, nd_rows, sizeof(nd_rows) / sizeof(nd_rows[0]));
	other_questions(tb, a, &n);
	options(tb, a, &n);
}
