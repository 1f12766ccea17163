/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of neighbours, without a wire: what each lookup, each packet and the time does to a
 * neighbour in each state; whom a full table forgets; one address on two VLANs. The frames that
 * carry questions, answers and announcements, byte by byte as RFC 826 and RFC 4861 have them, and
 * the header that stands before a datagram.
 */
#include "host_driver/net/neigh.h"
#include "testbench/scenarios/ethernet/neighbours.h"

#define DELAY_PS     CFG_S(5)
#define RETRANS_PS   CFG_S(1)
#define REACHABLE_PS CFG_S(30)
#define BEGIN_PS     CFG_S(1000)
#define NEVER        UINT64_MAX

enum { VLAN_A = 7, VLAN_B = 9, TRIES = 3 };

static const uint8_t one[MAC_BYTES] = {2, 1, 1, 1, 1, 1}, two[MAC_BYTES] = {2, 2, 2, 2, 2, 2};

/* A table, and what it has said. */
struct table {
	struct neigh_table t;
	unsigned asked, changed;
	struct neigh_address whom;
	bool alone;
	uint8_t mac[MAC_BYTES];
};

static void ask_hook(void *arg, const struct neigh_address *address, const uint8_t *mac)
{
	struct table *t = arg;

	t->asked++;
	t->whom = *address;
	t->alone = mac;
	if (mac)
		memcpy(t->mac, mac, MAC_BYTES);
}

static void changed_hook(void *arg)
{
	struct table *t = arg;

	t->changed++;
}

static void table_make(struct table *t)
{
	memset(t, 0, sizeof(*t));
	t->t.ask = ask_hook;
	t->t.changed = changed_hook;
	t->t.arg = t;
}

static struct neigh_address address_of(unsigned last, uint16_t vlan)
{
	return (struct neigh_address){.ip = {[10] = 0xff, 0xff, 11, 0, 1, (uint8_t)last},
				      .vlan = vlan};
}

/* Brings the neighbour, whose MAC is one[], into a state. Returns the time then. */
static uint64_t enter(struct table *t, const struct neigh_address *a, enum neigh_state state)
{
	uint64_t now = BEGIN_PS;
	uint8_t mac[MAC_BYTES];

	table_make(t);
	if (state == NEIGH_INCOMPLETE || state == NEIGH_REACHABLE)
		neigh_lookup(&t->t, a, now, mac);
	if (state == NEIGH_REACHABLE)
		neigh_heard(&t->t, a, one, NEIGH_ANSWERS, now);
	if (state >= NEIGH_STALE)
		neigh_heard(&t->t, a, one, NEIGH_ASKS_US, now);
	if (state >= NEIGH_DELAY)
		neigh_lookup(&t->t, a, now, mac);
	if (state >= NEIGH_PROBE)
		neigh_timers(&t->t, now += DELAY_PS);
	for (unsigned i = 0; state == NEIGH_FAILED && i < TRIES; i++)
		neigh_timers(&t->t, now += RETRANS_PS);
	t->asked = t->changed = 0;
	return now;
}

enum what { LOOKUP, ANSWERS, TELLS, ASKS };

/* What is said with another MAC has the next state `other`; only a lookup has a result. */
static const struct {
	enum neigh_state state;
	struct {
		enum neigh_state same, other;
	} next[ASKS + 1];
	int result;
} rows[] = {
	{NEIGH_NONE,
	 {{NEIGH_INCOMPLETE, 0},
	  {NEIGH_NONE, NEIGH_NONE},
	  {NEIGH_NONE, NEIGH_NONE},
	  {NEIGH_STALE, NEIGH_STALE}},
	 -EAGAIN},
	{NEIGH_INCOMPLETE,
	 {{NEIGH_INCOMPLETE, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_STALE, NEIGH_STALE},
	  {NEIGH_STALE, NEIGH_STALE}},
	 -EAGAIN},
	{NEIGH_REACHABLE,
	 {{NEIGH_REACHABLE, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_REACHABLE, NEIGH_STALE},
	  {NEIGH_REACHABLE, NEIGH_STALE}},
	 0},
	{NEIGH_STALE,
	 {{NEIGH_DELAY, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_STALE, NEIGH_STALE},
	  {NEIGH_STALE, NEIGH_STALE}},
	 0},
	{NEIGH_DELAY,
	 {{NEIGH_DELAY, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_DELAY, NEIGH_STALE},
	  {NEIGH_DELAY, NEIGH_STALE}},
	 0},
	{NEIGH_PROBE,
	 {{NEIGH_PROBE, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_PROBE, NEIGH_STALE},
	  {NEIGH_PROBE, NEIGH_STALE}},
	 0},
	{NEIGH_FAILED,
	 {{NEIGH_INCOMPLETE, 0},
	  {NEIGH_REACHABLE, NEIGH_REACHABLE},
	  {NEIGH_STALE, NEIGH_STALE},
	  {NEIGH_STALE, NEIGH_STALE}},
	 -EAGAIN},
};

/* The state, and when it ends if it began at `since`. */
static void neighbour_is(struct tb *tb, const struct table *t, const struct neigh_address *a,
			 enum neigh_state state, const uint8_t *mac, uint64_t since)
{
	const struct neigh *n = neigh_find(&t->t, a);
	const uint64_t lasts = state == NEIGH_REACHABLE ? REACHABLE_PS
			       : state == NEIGH_DELAY   ? DELAY_PS
							: RETRANS_PS;

	expect_equal(n ? n->state : NEIGH_NONE, state);
	if (!n || !still_right())
		return;
	if (mac)
		expect_true(!memcmp(n->mac, mac, MAC_BYTES));
	expect_equal(n->due_ps,
		     state == NEIGH_STALE || state == NEIGH_FAILED ? NEVER : since + lasts);
}

static void looked_up(struct tb *tb, size_t row)
{
	const struct neigh_address a = address_of(9, VLAN_A);
	const enum neigh_state was = rows[row].state, is = rows[row].next[LOOKUP].same;
	struct table t;
	const uint64_t begun = enter(&t, &a, was), now = begun + CFG_MS(1);
	uint8_t mac[MAC_BYTES] = {0};

	must_fail(rows[row].result, neigh_lookup(&t.t, &a, now, mac));
	neighbour_is(tb, &t, &a, is, rows[row].result ? NULL : one, is == was ? begun : now);
	expect_equal(neigh_find(&t.t, &a)->used_ps, now);
	if (!rows[row].result)
		expect_true(!memcmp(mac, one, MAC_BYTES));
	expect_equal(t.asked, is == NEIGH_INCOMPLETE && was != is);
	expect_true(!t.asked ||
		    (!t.alone && !memcmp(t.whom.ip, a.ip, sizeof(a.ip)) && t.whom.vlan == VLAN_A));
	expect_equal(t.changed, 0);
}

static void heard(struct tb *tb, size_t row, enum what what, bool other)
{
	static const enum neigh_news news[] = {
		[ANSWERS] = NEIGH_ANSWERS, [TELLS] = NEIGH_TELLS, [ASKS] = NEIGH_ASKS_US};
	const struct neigh_address a = address_of(9, VLAN_A);
	const enum neigh_state was = rows[row].state,
			       is = other ? rows[row].next[what].other : rows[row].next[what].same;
	const bool known = was == NEIGH_REACHABLE || was == NEIGH_STALE || was == NEIGH_DELAY ||
			   was == NEIGH_PROBE,
		   stays = is == NEIGH_NONE || (known && !other && what != ANSWERS);
	struct table t;
	const uint64_t begun = enter(&t, &a, was), now = begun + CFG_MS(1);

	neigh_heard(&t.t, &a, other ? two : one, news[what], now);
	neighbour_is(tb, &t, &a, is, other ? two : one, stays ? begun : now);
	expect_equal(t.asked, 0);
	expect_equal(t.changed, !stays);
}

static void timed(struct tb *tb)
{
	const struct neigh_address a = address_of(9, VLAN_A), b = address_of(10, VLAN_A);
	struct table t;
	uint64_t now = enter(&t, &a, NEIGH_REACHABLE);
	uint8_t mac[MAC_BYTES];

	name_row("%s", "REACHABLE in time");
	expect_equal(neigh_timers(&t.t, now + REACHABLE_PS - 1), now + REACHABLE_PS);
	neighbour_is(tb, &t, &a, NEIGH_REACHABLE, one, now);
	expect_equal(neigh_timers(&t.t, now += REACHABLE_PS), NEVER);
	neighbour_is(tb, &t, &a, NEIGH_STALE, one, now);
	expect_equal(t.asked + t.changed, 0);
	name_row("%s", "DELAY in time");
	must(neigh_lookup(&t.t, &a, now, mac));
	expect_equal(neigh_timers(&t.t, now + DELAY_PS - 1), now + DELAY_PS);
	neighbour_is(tb, &t, &a, NEIGH_DELAY, one, now);
	for (unsigned i = 0; i < TRIES; i++) {
		name_row("try %u of a probe", i);
		now += i ? RETRANS_PS : DELAY_PS;
		expect_equal(neigh_timers(&t.t, now), now + RETRANS_PS);
		neighbour_is(tb, &t, &a, NEIGH_PROBE, one, now);
		expect_equal(t.asked, i + 1);
		expect_true(t.alone && !memcmp(t.mac, one, MAC_BYTES));
	}
	expect_equal(neigh_timers(&t.t, now + RETRANS_PS), NEVER);
	neighbour_is(tb, &t, &a, NEIGH_FAILED, NULL, now);
	expect_equal(t.asked, TRIES);
	expect_equal(t.changed, 1);
	/* who looks for it again asks as often as the first one */
	must_fail(-EAGAIN, neigh_lookup(&t.t, &a, now += RETRANS_PS, mac));
	for (unsigned i = 1; i <= TRIES; i++) {
		name_row("try %u after a failure", i - 1);
		expect_equal(t.asked, TRIES + i);
		neigh_timers(&t.t, now += RETRANS_PS);
	}
	neighbour_is(tb, &t, &a, NEIGH_FAILED, NULL, now);
	expect_equal(t.asked, 2 * TRIES);
	name_row("%s", "two questions");
	now = enter(&t, &a, NEIGH_INCOMPLETE);
	must_fail(-EAGAIN, neigh_lookup(&t.t, &b, now + CFG_MS(300), mac));
	for (unsigned i = 1; i < TRIES; i++) {
		expect_equal(neigh_timers(&t.t, now + i * RETRANS_PS),
			     now + i * RETRANS_PS + CFG_MS(300));
		expect_equal(t.whom.ip[15], 9);
		expect_equal(neigh_timers(&t.t, now + i * RETRANS_PS + CFG_MS(300)),
			     now + (i + 1) * RETRANS_PS);
		expect_equal(t.whom.ip[15], 10);
		expect_true(!t.alone);
	}
	expect_equal(neigh_timers(&t.t, now + TRIES * RETRANS_PS),
		     now + TRIES * RETRANS_PS + CFG_MS(300));
	neighbour_is(tb, &t, &a, NEIGH_FAILED, NULL, now);
	expect_equal(neigh_timers(&t.t, now + TRIES * RETRANS_PS + CFG_MS(300)), NEVER);
	neighbour_is(tb, &t, &b, NEIGH_FAILED, NULL, now);
	expect_equal(t.changed, 2);
}

/* All places are taken. A question that is under way keeps its place, and so does who was used last: who
 * was heard of first goes, wherever it stands. */
static void full(struct tb *tb, bool last_first)
{
	struct neigh_address a = address_of(1, VLAN_A);
	uint8_t mac[MAC_BYTES];
	struct table t;
	uint64_t now = enter(&t, &a, NEIGH_INCOMPLETE);

	name_row("%s", "a full table");
	for (unsigned i = 2; i <= NEIGH_MAX; i++) {
		a = address_of(i, VLAN_A);
		neigh_heard(&t.t, &a, one, NEIGH_ASKS_US,
			    last_first ? now + NEIGH_MAX + 1 - i : now + i);
	}
	a = address_of(2, VLAN_A);
	must(neigh_lookup(&t.t, &a, now + CFG_MS(1), mac));
	a = address_of(3, VLAN_A); /* what is heard of it is no use of it */
	neigh_heard(&t.t, &a, two, NEIGH_TELLS, now + CFG_MS(2));
	a = address_of(100, VLAN_A);
	neigh_heard(&t.t, &a, two, NEIGH_TELLS, now + CFG_MS(2));
	expect_true(!neigh_find(&t.t, &a));
	neigh_heard(&t.t, &a, two, NEIGH_ASKS_US, now + CFG_MS(2));
	neighbour_is(tb, &t, &a, NEIGH_STALE, two, now);
	for (unsigned i = 1; i <= NEIGH_MAX; i++) {
		a = address_of(i, VLAN_A);
		name_row("neighbour %u", i);
		expect_equal(!neigh_find(&t.t, &a), i == (last_first ? NEIGH_MAX : 3));
	}
}

static void vlans(struct tb *tb)
{
	const struct neigh_address a = address_of(9, VLAN_A), b = address_of(9, VLAN_B),
				   c = address_of(9, VLAN_NONE);
	uint8_t mac[MAC_BYTES];
	struct table t;
	uint64_t now = enter(&t, &a, NEIGH_STALE);

	name_row("%s", "two VLANs");
	expect_true(!neigh_find(&t.t, &b) && !neigh_find(&t.t, &c));
	neigh_heard(&t.t, &b, two, NEIGH_ASKS_US, now);
	must(neigh_lookup(&t.t, &a, now, mac));
	expect_true(!memcmp(mac, one, MAC_BYTES));
	must(neigh_lookup(&t.t, &b, now, mac));
	expect_true(!memcmp(mac, two, MAC_BYTES));
	must_fail(-EAGAIN, neigh_lookup(&t.t, &c, now, mac));
	expect_equal(t.whom.vlan, VLAN_NONE);
}

/* --- frames --- */

static void frame_is(struct tb *tb, const char *name, const struct note *n, const uint8_t *to,
		     uint16_t vlan, const uint8_t *want, size_t len)
{
	uint8_t frame[NOTE_FRAME_MAX];
	const size_t got = note_write(n, to, vlan, frame);

	expect_equal(got, len);
	for (size_t i = 0; i < len && still_right(); i++) {
		name_row("%s, byte %zu", name, i);
		expect_equal(frame[i], want[i]);
	}
	name_row("%s", "");
}

#define ABOUT 10, 1, 2, 3
#define OTHER 10, 4, 5, 6
#define OWN   2, 3, 4, 5, 6, 7
#define PEER  6, 9, 8, 7, 6, 5
#define ALL   0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define NOMAC 0, 0, 0, 0, 0, 0

static void arp(struct tb *tb)
{
	static const uint8_t peer[MAC_BYTES] = {PEER};
	static const uint8_t question[NOTE_FRAME_MIN] = {ALL, OWN, 8, 6, 0,   1,     8,     0,
							 6,   4,   0, 1, OWN, ABOUT, NOMAC, OTHER},
			     probe[64] = {PEER, OWN, 0x81, 0, 0x0a, 0xbc, 8,   6,     0,     1,
					  8,    0,   6,    4, 0,    1,    OWN, ABOUT, NOMAC, OTHER},
			     answer[NOTE_FRAME_MIN] = {PEER, OWN, 8, 6, 0,   1,     8,    0,
						       6,    4,   0, 2, OWN, ABOUT, PEER, OTHER};
	struct note n = {.question = true,
			 .about = {[10] = 0xff, 0xff, ABOUT},
			 .mac = {OWN},
			 .other = {[10] = 0xff, 0xff, OTHER}};

	frame_is(tb, "a question to all", &n, NULL, VLAN_NONE, question, sizeof(question));
	frame_is(tb, "a question to one, with a tag", &n, peer, 0xabc, probe, NOTE_FRAME_MIN);
	n.question = false;
	n.solicited = true;
	frame_is(tb, "an answer", &n, peer, VLAN_NONE, answer, sizeof(answer));
}

/* The bytes behind the IPv6 header and before the MAC, which depend on what the note is. */
static void nd(struct tb *tb, bool question, bool solicited, bool to_group)
{
	static const uint8_t peer[MAC_BYTES] = {PEER};
	const struct note n = {.question = question,
			       .solicited = solicited,
			       .about = {0xfe, 0x80, [8] = 1, [15] = 0x21},
			       .mac = {OWN},
			       .other = {0xfe, 0x80, [8] = 2, [12] = 0x55, 0x66, 0x77, 0x88}};
	static const uint8_t group[DRV_GID_BYTES] = {0xff, 2, [11] = 1, 0xff, 0x66, 0x77, 0x88},
			     group_mac[MAC_BYTES] = {0x33, 0x33, 0xff, 0x66, 0x77, 0x88};
	const uint8_t *target = question ? n.other : n.about;
	uint8_t frame[NOTE_FRAME_MAX], tagged[NOTE_FRAME_MAX];
	const size_t len = note_write(&n, to_group ? NULL : peer, VLAN_NONE, frame);
	const uint8_t *ip = frame + sizeof(struct eth_hdr), *icmp = ip + IPV6_BYTES;

	name_row("question %u, solicited %u, to a group %u", question, solicited, to_group);
	expect_equal(len, sizeof(struct eth_hdr) + IPV6_BYTES + 32);
	expect_true(!memcmp(frame, to_group ? group_mac : peer, MAC_BYTES));
	expect_true(!memcmp(frame + MAC_BYTES, n.mac, MAC_BYTES));
	expect_equal(be16_load(frame + 12), 0x86dd);
	expect_equal(be32_load(ip), 0x60000000);
	expect_equal(be16_load(ip + 4), 32);
	expect_equal(ip[6], 58);
	expect_equal(ip[7], 255);
	expect_true(!memcmp(ip + 8, n.about, DRV_GID_BYTES));
	expect_true(!memcmp(ip + 24, to_group ? group : n.other, DRV_GID_BYTES));
	expect_equal(icmp[0], question ? 135 : 136);
	expect_equal(icmp[1], 0);
	/* router, solicited, override */
	expect_equal(be32_load(icmp + 4), question ? 0 : solicited ? 0x60000000 : 0x20000000);
	expect_true(!memcmp(icmp + 8, target, DRV_GID_BYTES));
	expect_equal(icmp[24], question ? 1 : 2);
	expect_equal(icmp[25], 1);
	expect_true(!memcmp(icmp + 26, n.mac, MAC_BYTES));
	expect_equal(ip_sum(icmp, 32, ip_sum(ip + 8, 2 * DRV_GID_BYTES, 58 + 32)), 0xffff);
	/* a tag moves all behind the MACs */
	expect_equal(note_write(&n, to_group ? NULL : peer, 0xabc, tagged), len + 4);
	expect_true(!memcmp(tagged, frame, 12));
	expect_equal(be32_load(tagged + 12), 0x81000abc);
	expect_true(!memcmp(tagged + 16, frame + 12, len - 12));
	name_row("%s", "");
}

/* What stands before a datagram: a GRH, or an IPv4 header in its second half. A GID may look like one. */
static void parsed(struct tb *tb)
{
	enum { IPV4_AT = 20, SUM_AT = 10 };
	uint8_t area[IPV4_AT + IPV4_BYTES] = {0x60,        [6] = 17,    [8] = 0xfe,
					      0x80,        [20] = 0x45, [23] = 3,
					      [24] = 0xfe, 0x80,        [39] = 4};
	uint8_t sgid[DRV_GID_BYTES], dgid[DRV_GID_BYTES], *ip = area + IPV4_AT;

	expect_equal(drv_eth_grh_parse(area, sgid, dgid), 2);
	expect_true(!memcmp(sgid, area + 8, DRV_GID_BYTES));
	expect_true(!memcmp(dgid, area + 24, DRV_GID_BYTES));
	area[6] = 0x1b;
	expect_equal(drv_eth_grh_parse(area, sgid, dgid), 1);
	expect_true(!memcmp(sgid, area + 8, DRV_GID_BYTES));
	memset(area, 0x66, IPV4_AT);
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	be32_store(ip + 12, 0x0b000102);
	be32_store(ip + 16, 0x0b000304);
	be16_store(ip + SUM_AT, (uint16_t)~ip_sum(ip, IPV4_BYTES, 0));
	expect_equal(drv_eth_grh_parse(area, sgid, dgid), 2);
	expect_equal(be64_load(sgid), 0);
	expect_equal(be64_load(dgid), 0);
	expect_equal(be64_load(sgid + 8), UINT64_C(0xffff0b000102));
	expect_equal(be64_load(dgid + 8), UINT64_C(0xffff0b000304));
}

SCENARIO(net_states, "each state of a neighbour, and each frame that asks, answers or tells",
	 .qps = 0, .settings = {NET_SETTINGS("v2_ipv4")})
{
	for_each_row(i, rows) {
		name_row("%s looked up", neigh_state_name(rows[i].state));
		looked_up(tb, i);
		for (enum what w = ANSWERS; w <= ASKS; w++)
			for (unsigned other = 0; other < 2; other++) {
				name_row("%s, heard %u, other MAC %u",
					 neigh_state_name(rows[i].state), w, other);
				heard(tb, i, w, other);
			}
	}
	timed(tb);
	full(tb, false);
	full(tb, true);
	vlans(tb);
	parsed(tb);
	arp(tb);
	nd(tb, true, false, true);
	nd(tb, true, false, false);
	nd(tb, false, true, false);
	nd(tb, false, false, false);
}
