/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager brings up a subnet again and again, each time with other options: LIDs and their
 * blocks, MTU, virtual lanes with their table, timeout. Both ports have what it was told, and what both
 * of them can. Wherever the default partition stands, it is at the beginning of the table afterwards, and
 * the others stay where they are. One of its packets is lost and it is sent again; one has no
 * answer, one answer has a status, one Set arrives changed, another manager changes a port: the manager says
 * so, whichever it was, and the next sweep succeeds. Each bit of a status counts. Each width and speed of a link has its rate.
 * A manager on the other host, and one that only looks, see the same subnet from their ends.
 */
#include "testbench/manage.h"

enum {
	PORT = 1,
	SLS = 16,
	OTHER = 0x8055,
	LIMITED = PKEY_DEFAULT & ~PKEY_FULL_MEMBER,
	RETRIES = 2,
	TIMEOUT_MS = 1,
	STEPS_MAX = 40,
	MTU_MAX = IBV_MTU_4096,
	ATTR_AT = MAD_AT + 16,
	DATA_AT = MAD_AT + 64,
	STATUS_AT = MAD_AT + 4,
	STATUS_BITS = 15, /* the last one is the direction */
	PKEYS = 32,
	SET_PORT_INFO = 3, /* the third packet to the peer */
	GET_NODE_INFO = 1, /* the first answer */
	GET_PORT_INFO = 2, /* the second one */
	PAUSE_MS = 5,
	BAD_ATTR = 0x40
};

static const struct sm_options quick = {
	.lid = 3, .smp_timeout_ps = CFG_MS(TIMEOUT_MS), .smp_retries = RETRIES};

/* --- options --- */

struct row {
	const char *name;
	struct sm_options o;
	unsigned lid, lanes /* 0: as they are */;
};

static const struct row rows[] = {
	{"one lane of eight", {.lid = 7, .vls = 1, .mtu = IBV_MTU_256}, 7, 1},
	{"two lanes",
	 {.lid = 9, .lmc = 3, .vls = 2, .mtu = IBV_MTU_512, .subnet_timeout = 9},
	 16,
	 2},
	{"four lanes",
	 {.lid = 0x1fff, .lmc = 1, .vls = 3, .mtu = IBV_MTU_1024, .subnet_timeout = 31},
	 0x2000,
	 4},
	{"all lanes", {.lid = 0xbd00, .lmc = 7, .vls = 4, .mtu = IBV_MTU_2048}, 0xbd00, 0},
	{"more lanes than there are", {.lid = 2, .vls = 5, .mtu = IBV_MTU_4096}, 2, 0},
	{"nothing", {0}, 1, 0},
};

/* The tables of P_Keys that the manager finds. */
static const uint16_t partitions[][PKEYS] = {{OTHER + 1, OTHER},
					     {LIMITED, OTHER},
					     {OTHER + 1, PKEY_DEFAULT, OTHER},
					     {LIMITED, OTHER, [PKEYS - 1] = PKEY_DEFAULT},
					     {0, OTHER, LIMITED, PKEY_DEFAULT, OTHER + 2},
					     {PKEY_DEFAULT, [PKEYS - 1] = OTHER}};

/* Both ports have that table. */
static void partitions_write(struct tb *tb, struct tb_end *a, const uint16_t table[PKEYS])
{
	for (unsigned hops = 0; hops < 2; hops++)
		tb_write_pkeys(tb, TB_HERE, a, PORT, hops, table, PKEYS);
}

static void partitions_are(struct tb *tb, struct tb_end *a, unsigned hops,
			   const uint16_t was[PKEYS])
{
	const struct pkey_table *pkeys;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PKEY_TABLE, .hops = hops);
	pkeys = (const struct pkey_table *)(const void *)smp_data_cptr(&answer);
	for (unsigned i = 0; i < PKEYS; i++)
		expect_equal(pkey_table_get(pkeys, i), i ? was[i] : PKEY_DEFAULT);
}

static void end_is(struct tb *tb, struct tb_end *a, unsigned hops, const struct row *r,
		   unsigned lid, const struct sm_port *p)
{
	const unsigned vls = r->o.vls && r->o.vls < 4 ? r->o.vls : 4;
	const struct port_info *info;
	const struct sl2vl *table;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = hops);
	info = (const struct port_info *)(const void *)smp_data_cptr(&answer);
	expect_equal(port_info_get_state(info), PORT_STATE_ACTIVE);
	expect_equal(port_info_get_lid(info), lid);
	expect_equal(port_info_get_lmc(info), r->o.lmc);
	expect_equal(port_info_get_sm_lid(info), r->lid);
	expect_equal(port_info_get_sm_sl(info), 0);
	expect_equal(port_info_get_neighbor_mtu(info),
		     r->o.mtu && r->o.mtu < MTU_MAX ? r->o.mtu : MTU_MAX);
	expect_equal(port_info_get_oper_vls(info), vls);
	expect_equal(port_info_get_subnet_timeout(info),
		     r->o.subnet_timeout ? r->o.subnet_timeout : 18);
	expect_equal(p->lid, lid);
	expect_equal(p->lmc, r->o.lmc);
	expect_equal(p->mtu, port_info_get_neighbor_mtu(info));
	expect_equal(p->vls, vls);
	expect_equal(p->state, IBV_PORT_ACTIVE);
	expect_equal(p->port, PORT);
	expect_equal(p->gid_prefix, port_info_get_gid_prefix(info));
	ask(a, &answer, .attr = SMP_ATTR_SL2VL, .hops = hops);
	table = (const struct sl2vl *)(const void *)smp_data_cptr(&answer);
	for (unsigned sl = 0; sl < SLS && r->lanes; sl++)
		expect_equal(sl2vl_get(table, sl), sl % r->lanes);
}

static void options(struct tb *tb, struct tb_end *a)
{
	struct sm_result r;

	for_each_row(i, rows) {
		const uint16_t *table = partitions[i % (sizeof(partitions) / sizeof(*partitions))];

		name_row("%s", rows[i].name);
		partitions_write(tb, a, table);
		must(sm_run(a->dev, PORT, &rows[i].o, &r));
		for (unsigned hops = 0; hops < 2; hops++)
			partitions_are(tb, a, hops, table);
		expect_equal(r.smps_retried + r.smps_failed, 0);
		end_is(tb, a, 0, &rows[i], rows[i].lid, &r.own);
		end_is(tb, a, 1, &rows[i], rows[i].lid + (1u << rows[i].o.lmc), &r.peer);
	}
	name_row("%s", "");
}

/* --- what one sees --- */

static void node_is(struct tb *tb, struct tb_end *end, const struct sm_port *p,
		    const struct sm_port *other)
{
	struct drv_device_attr attrs;
	uint8_t gid[DRV_GID_BYTES];

	must(drv_query_device(end->dev, &attrs));
	must(drv_query_gid(end->dev, PORT, 0, gid));
	expect_equal(p->node_guid, attrs.node_guid);
	expect_equal(p->port_guid, be64_load(gid + 8));
	expect_equal(p->gid_prefix, be64_load(gid));
	expect_equal(p->rate, other->rate);
	expect_that(p->rate, >, IB_RATE_2_5_GBPS);
}

static void seen(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct sm_result r, of_b;

	must(sm_run(a->dev, PORT, &quick, &r));
	node_is(tb, a, &r.own, &r.peer);
	node_is(tb, b, &r.peer, &r.own);
	must(sm_discover(b->dev, PORT, NULL, &of_b));
	expect_true(of_b.peer_found && !of_b.peer_is_self);
	expect_true(!memcmp(&of_b.own, &r.peer, sizeof(r.peer)));
	expect_true(!memcmp(&of_b.peer, &r.own, sizeof(r.own)));
	expect_equal(of_b.smps_failed + of_b.smps_retried, 0);
	expect_equal(of_b.smps_sent, 5);
	/* the other manager */
	must(sm_run(b->dev, PORT, &(const struct sm_options){.lid = 30}, &of_b));
	expect_equal(of_b.own.lid, 30);
	expect_equal(of_b.own.mtu, MTU_MAX);
	expect_equal(of_b.peer.lid, 31);
	must(sm_discover(a->dev, PORT, NULL, &r));
	expect_equal(r.own.lid, 31);
	expect_equal(r.peer.lid, 30);
}

/* --- what the peer says of its link --- */

/* What the peer would say, and what its nth answer from now on says. */
static void bytes_are(struct tb *tb, unsigned nth, const uint8_t *is, const uint8_t *wanted,
		      unsigned n)
{
	for (unsigned at = 0; at < n; at++)
		if (is[at] != wanted[at])
			corrupt_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = nth,
				     .offset = DATA_AT + at, .mask = is[at] ^ wanted[at],
				     .fix = FAULT_FIX_BOTH);
}

static void answer_says(struct tb *tb, const struct port_info *is, const struct port_info *wanted)
{
	bytes_are(tb, GET_PORT_INFO, is->b, wanted->b, sizeof(is->b));
}

static struct port_info peer_info(struct tb *tb, struct tb_end *a)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = 1);
	memcpy(&info, smp_data_cptr(&answer), sizeof(info));
	return info;
}

/* The manager is told nothing, and the peer can less than the own port, or more. */
static void abilities(struct tb *tb, struct tb_end *a)
{
	static const struct {
		const char *name;
		unsigned mtu, vls, lanes;
	} peers[] = {{"less", IBV_MTU_1024, 2, 2},
		     {"more lanes", MTU_MAX, 5, 0},
		     {"a longer MTU", MTU_MAX + 1, 4, 0}};
	struct sm_result r;
	struct smp answer;

	for_each_row(i, peers) {
		const struct sl2vl *table = (const void *)smp_data_cptr(&answer);
		const struct port_info is = peer_info(tb, a);
		struct port_info wanted = is;

		name_row("%s", peers[i].name);
		port_info_set_mtu_cap(&wanted, peers[i].mtu);
		port_info_set_vl_cap(&wanted, peers[i].vls);
		answer_says(tb, &is, &wanted);
		must(sm_run(a->dev, PORT, &quick, &r));
		expect_equal(r.own.mtu, peers[i].mtu < MTU_MAX ? peers[i].mtu : MTU_MAX);
		expect_equal(r.peer.mtu, r.own.mtu);
		expect_equal(r.own.vls, peers[i].lanes ? peers[i].vls : 4);
		expect_equal(r.peer.vls, r.own.vls);
		ask(a, &answer, .attr = SMP_ATTR_SL2VL);
		for (unsigned sl = 0; sl < SLS && peers[i].lanes; sl++)
			expect_equal(sl2vl_get(table, sl), sl % peers[i].lanes);
	}
	name_row("%s", "");
}

/* The manager asks for the port that the peer has named, which here is one that it does not have. */
static void named_port(struct tb *tb, struct tb_end *a)
{
	struct node_info is, wanted;
	struct sm_result r;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	memcpy(&is, smp_data_cptr(&answer), sizeof(is));
	wanted = is;
	node_info_set_local_port(&wanted, PORT + 1);
	bytes_are(tb, GET_NODE_INFO, is.b, wanted.b, sizeof(is.b));
	must_fail(-EIO, sm_discover(a->dev, PORT, NULL, &r));
	expect_equal(r.peer.port, PORT + 1);
	expect_equal(r.own.port, PORT);
}

/* Source: IBA 14.2.5.6, and the rates of 15.2.5.16 */
static void rates(struct tb *tb, struct tb_end *a)
{
	static const struct {
		unsigned width, speed, ext, rate;
	} links[] = {
		{LINK_WIDTH_1X, 1, 0, IB_RATE_2_5_GBPS}, {LINK_WIDTH_1X, 2, 0, IB_RATE_5_GBPS},
		{LINK_WIDTH_1X, 4, 0, IB_RATE_10_GBPS},  {LINK_WIDTH_4X, 1, 0, IB_RATE_10_GBPS},
		{LINK_WIDTH_4X, 2, 0, IB_RATE_20_GBPS},  {LINK_WIDTH_4X, 4, 0, IB_RATE_40_GBPS},
		{LINK_WIDTH_8X, 1, 0, IB_RATE_20_GBPS},  {LINK_WIDTH_8X, 2, 0, IB_RATE_40_GBPS},
		{LINK_WIDTH_8X, 4, 0, IB_RATE_80_GBPS},  {LINK_WIDTH_12X, 1, 0, IB_RATE_30_GBPS},
		{LINK_WIDTH_12X, 2, 0, IB_RATE_60_GBPS}, {LINK_WIDTH_12X, 4, 0, IB_RATE_120_GBPS},
		{LINK_WIDTH_1X, 4, 1, IB_RATE_14_GBPS},  {LINK_WIDTH_4X, 4, 1, IB_RATE_56_GBPS},
		{LINK_WIDTH_8X, 4, 1, IB_RATE_112_GBPS}, {LINK_WIDTH_12X, 4, 1, IB_RATE_168_GBPS},
		{LINK_WIDTH_1X, 4, 2, IB_RATE_25_GBPS},  {LINK_WIDTH_4X, 4, 2, IB_RATE_100_GBPS},
		{LINK_WIDTH_8X, 4, 2, IB_RATE_200_GBPS}, {LINK_WIDTH_12X, 4, 2, IB_RATE_300_GBPS}};
	const struct port_info is = peer_info(tb, a);
	struct port_info wanted;
	struct sm_result r;

	for_each_row(i, links) {
		name_row("width %u, speed %u, extended %u", links[i].width, links[i].speed,
			 links[i].ext);
		wanted = is;
		port_info_set_width_active(&wanted, links[i].width);
		port_info_set_speed_active(&wanted, links[i].speed);
		port_info_set_ext_speed_active(&wanted, links[i].ext);
		answer_says(tb, &is, &wanted);
		must(sm_discover(a->dev, PORT, NULL, &r));
		expect_equal(r.peer.rate, links[i].rate);
	}
	name_row("%s", "");
}

/* --- faults --- */

enum trouble { LOST, ANSWER_LOST, SILENT, STATUS };

static void trouble_at(struct tb *tb, enum trouble t, unsigned step)
{
	switch (t) {
	case LOST:
		drop_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = step + 1);
		break;
	case ANSWER_LOST:
		drop_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = step + 1);
		break;
	case SILENT:
		for (unsigned i = 1; i <= RETRIES + 1; i++)
			drop_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = step + i);
		break;
	case STATUS:
		corrupt_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = step + 1,
			     .offset = ATTR_AT, .mask = BAD_ATTR, .fix = FAULT_FIX_BOTH);
		break;
	}
}

/* In each packet to the peer, one after the other: there are `steps`. */
static void each(struct tb *tb, struct tb_end *a, enum trouble t, int result, unsigned steps,
		 unsigned all)
{
	struct sm_result r;

	for (unsigned step = 0; step < steps && still_right(); step++) {
		name_row("packet %u", step);
		partitions_write(tb, a, partitions[0]);
		trouble_at(tb, t, step);
		must_fail(result, sm_run(a->dev, PORT, &quick, &r));
		expect_equal(r.smps_failed, result != 0);
		expect_equal(r.smps_retried, t == STATUS ? 0 : t == SILENT ? RETRIES : 1);
		expect_equal(r.peer_found, !result || step > 1);
		if (!result)
			expect_equal(r.smps_sent, all + 1);
		else
			expect_that(r.smps_sent, <=, all + RETRIES);
		must(sm_run(a->dev, PORT, &quick, &r));
	}
	name_row("%s", "");
}

/* Whatever the status of an answer says, it is not "right". Source: IBA 13.4.7 */
static void statuses(struct tb *tb, struct tb_end *a)
{
	struct sm_result r;

	for (unsigned bit = 0; bit < STATUS_BITS && still_right(); bit++) {
		name_row("bit %u of the status", bit);
		corrupt_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI, .offset = STATUS_AT + (bit < 8),
			     .mask = (uint8_t)(1u << bit % 8), .fix = FAULT_FIX_BOTH);
		must_fail(-EIO, sm_discover(a->dev, PORT, NULL, &r));
		expect_equal(r.smps_failed, 1);
		expect_true(!r.peer_found);
	}
	name_row("%s", "");
}

/* A field of the Set to the peer is another one when it arrives. */
static void changed(struct tb *tb, struct tb_end *a)
{
	const struct sm_options o = {.lid = 4, .lmc = 2, .vls = 2, .mtu = IBV_MTU_1024};
	struct port_info fields[4] = {{{0}}};
	struct sm_result r;

	port_info_set_lid(&fields[0], 0x40);
	port_info_set_lmc(&fields[1], 3); /* 1 in place of 2 */
	port_info_set_neighbor_mtu(&fields[2], 1);
	port_info_set_oper_vls(&fields[3], 1);
	for_each_row(i, fields) {
		const uint8_t *bytes = fields[i].b;
		uint32_t at = 0;

		while (at < sizeof(fields[i].b) - 1 && !bytes[at])
			at++;
		name_row("byte %u of PortInfo", at);
		must(sm_run(a->dev, PORT, &o, &r));
		corrupt_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = SET_PORT_INFO,
			     .offset = DATA_AT + at, .mask = bytes[at], .fix = FAULT_FIX_BOTH);
		must_fail(-EPROTO, sm_run(a->dev, PORT, &o, &r));
		expect_equal(r.smps_failed, 0);
		expect_equal(r.own.lid, 4);
		must(sm_run(a->dev, PORT, &o, &r));
	}
	name_row("%s", "");
}

/* --- another manager --- */

/* A sweep in a thread of its own, which pauses before the ports are active. */
static struct sweep {
	struct tb_end *end;
	struct sm_options o;
	struct sm_result r;
	int rc;
	bool done;
} sweep;

static void sweeps(void *arg)
{
	sweep.rc = sm_run(sweep.end->dev, PORT, &sweep.o, &sweep.r);
	sweep.done = true;
}

/* Meanwhile the manager on host b changes that field of a port: of its own, or of a's. */
static void interfered(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static void (*const fields[])(struct port_info * pi, uint32_t value) = {
		port_info_set_lid, port_info_set_lmc, port_info_set_neighbor_mtu,
		port_info_set_oper_vls};
	static const uint32_t values[] = {0x48, 0, IBV_MTU_512, 1};

	for_each_row(i, fields)
		for (unsigned hops = 0; hops < 2 && still_right(); hops++) {
			struct port_info info;
			struct smp answer;

			name_row("field %zu, of the %s port", i, hops ? "own" : "peer's");
			sweep = (struct sweep){.end = a, .o = quick};
			sweep.o.lmc = 1;
			sweep.o.activate_delay_ps = CFG_MS(PAUSE_MS);
			a->platform->ops->thread_start(a->platform, "sweeps", sweeps, NULL);
			pass_time(CFG_MS(PAUSE_MS) / 2);
			expect_true(!sweep.done);
			ask(b, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = hops);
			info = port_info_to_set(&answer);
			fields[i](&info, values[i]);
			ask(b, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO,
			    .mod = PORT, .hops = hops, .data = &info);
			pass_time(CFG_MS(PAUSE_MS));
			expect_true(sweep.done);
			expect_equal((unsigned)sweep.rc, (unsigned)-EPROTO);
		}
	name_row("%s", "");
}

SCENARIO(sm_sweeps, "the subnet manager sweeps again: other options, lost and changed packets",
	 .no_qps = true, .any_packets = true, .data_vls = 8)
{
	struct sm_result r;
	unsigned all, steps;

	ignore_events(a);
	ignore_events(b);
	phase("options");
	options(tb, a);
	phase("both ends");
	seen(tb, a, b);
	phase("links");
	abilities(tb, a);
	named_port(tb, a);
	rates(tb, a);
	phase("faults");
	partitions_write(tb, a, partitions[0]);
	must(sm_run(a->dev, PORT, &quick, &r));
	all = r.smps_sent;
	/* those to the own port leave through no wire: one question waits for the link */
	steps = (all - 1) / 2;
	expect_that(steps, <, STEPS_MAX);
	each(tb, a, LOST, 0, steps, all);
	each(tb, a, ANSWER_LOST, 0, steps, all);
	each(tb, a, STATUS, -EIO, steps, all);
	each(tb, a, SILENT, -ETIMEDOUT, steps, all);
	statuses(tb, a);
	changed(tb, a);
	interfered(tb, a, b);
}
