/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subnet administrator between ports that differ. Each has a block of LIDs of its own size: the first and
 * the last LID of it are the port's, as source and as destination, and those beside it are nobody's. GIDs
 * have the prefix that the port was given. A port that was only armed when the administrator began has no
 * path, not even to itself; the other one has one to itself.
 */
/* behaviours: IBA-15.2.5.16-path-record */
#include "host_driver/sm/sa.h"
#include "testbench/scenarios/connect/sa_asked.h"

#define PREFIX_OF_A UINT64_C(0xfec0000000000103)
#define PREFIX_OF_B UINT64_C(0xfec0000000000205)

struct port {
	unsigned lid, lmc;
	enum port_state state;
};

/* `hops` nodes from a. */
static void port_set(struct tb *tb, struct tb_end *a, unsigned hops, const struct port *p)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = hops);
	info = port_info_to_set(&answer);
	port_info_set_gid_prefix(&info, hops ? PREFIX_OF_B : PREFIX_OF_A);
	port_info_set_lid(&info, p->lid);
	port_info_set_lmc(&info, p->lmc);
	port_info_set_sm_lid(&info, 1);
	port_info_set_state(&info, p->state);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = PORT,
	    .hops = hops, .data = &info);
	(hops ? a->peer : a)->lid = p->lid;
}

/* --- blocks of LIDs --- */

static const struct blocks {
	const char *name;
	struct port a, b;
} blocks[] = {{"the source has more", {0x40, 1, 0}, {0x58, 3, 0}},
	      {"the destination has more", {0x60, 4, 0}, {0x71, 0, 0}},
	      {"one and all", {0x203, 0, 0}, {0x180, 7, 0}}};

/* From b by that LID to a, or from b to a by that one. */
static void by_lid(struct tb *tb, struct tb_end *b, const struct blocks *r, bool source,
		   unsigned lid, bool found)
{
	struct query q, gids;

	name_row("%s, %s 0x%x", r->name, source ? "from" : "to", lid);
	query_between(tb, &gids, b, b->peer);
	query_begin(&q);
	path_record_set_slid(q.record, source ? lid : r->b.lid);
	path_record_set_dlid(q.record, source ? r->a.lid : lid);
	query_say(&q, BIT(SLID) | BIT(DLID));
	ask_sa(tb, b, &q, found ? MAD_STATUS_OK : NO_PATH);
	if (!found)
		return;
	expect_equal(path_record_get_slid(q.record), source ? lid : r->b.lid);
	expect_equal(path_record_get_dlid(q.record), source ? r->a.lid : lid);
	expect_true(!memcmp(path_record_sgid_ptr(q.record), path_record_sgid_ptr(gids.record), 16));
	expect_true(!memcmp(path_record_dgid_ptr(q.record), path_record_dgid_ptr(gids.record), 16));
	expect_equal(be64_load(path_record_sgid_ptr(q.record)), PREFIX_OF_B);
	expect_equal(be64_load(path_record_dgid_ptr(q.record)), PREFIX_OF_A);
}

static void block_is(struct tb *tb, struct tb_end *b, const struct blocks *r, bool source)
{
	const struct port *p = source ? &r->b : &r->a;
	const unsigned last = p->lid + (1u << p->lmc) - 1;

	by_lid(tb, b, r, source, p->lid, true);
	by_lid(tb, b, r, source, last, true);
	by_lid(tb, b, r, source, p->lid - 1, false);
	by_lid(tb, b, r, source, last + 1, false);
}

static void lids(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	for_each_row(i, blocks) {
		struct sm_sa *sa;

		port_set(tb, a, 0, &blocks[i].a);
		port_set(tb, a, 1, &blocks[i].b);
		if (!must(sm_sa_start(a->dev, PORT, 0, &sa)))
			return;
		block_is(tb, b, &blocks[i], false);
		block_is(tb, b, &blocks[i], true);
		sm_sa_stop(sa);
	}
}

/* --- armed ports --- */

static void path_is(struct tb *tb, struct tb_end *from, struct tb_end *to, struct tb_end *b,
		    bool found)
{
	struct query q;

	query_between(tb, &q, from, to);
	ask_sa(tb, b, &q, found ? MAD_STATUS_OK : NO_PATH);
}

static void armed(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		bool a, b; /* is active when the administrator begins */
	} rows[] = {{"both armed", false, false},
		    {"the own port active", true, false},
		    {"the peer active", false, true},
		    {"both active", true, true}};
	struct port at_a = {8, 0, PORT_STATE_ARMED}, at_b = {9, 0, PORT_STATE_ARMED};

	for_each_row(i, rows) {
		const struct port up_a = {8, 0, PORT_STATE_ACTIVE},
				  up_b = {9, 0, PORT_STATE_ACTIVE};
		struct sm_sa *sa;

		name_row("%s", rows[i].name);
		hca_link_set(host_hca(a->host), PORT, false);
		pass_time(CFG_US(10));
		hca_link_set(host_hca(a->host), PORT, true);
		pass_time(CFG_MS(5));
		port_set(tb, a, 0, &at_a);
		port_set(tb, a, 1, &at_b);
		if (rows[i].b)
			port_set(tb, a, 1, &up_b);
		if (rows[i].a)
			port_set(tb, a, 0, &up_a);
		if (!must(sm_sa_start(a->dev, PORT, 0, &sa)))
			return;
		if (!rows[i].b)
			port_set(tb, a, 1, &up_b);
		if (!rows[i].a)
			port_set(tb, a, 0, &up_a);
		path_is(tb, b, a, b, rows[i].a && rows[i].b);
		path_is(tb, a, b, b, rows[i].a && rows[i].b);
		path_is(tb, a, a, b, rows[i].a);
		path_is(tb, b, b, b, rows[i].b);
		sm_sa_stop(sa);
	}
}

SCENARIO(sa_ends, "a subnet administrator between ports with other LIDs, prefixes and states",
	 .no_qps = true, .any_packets = true)
{
	ignore_events(a);
	ignore_events(b);
	phase("blocks of LIDs");
	lids(tb, a, b);
	phase("armed ports");
	armed(tb, a, b);
}
