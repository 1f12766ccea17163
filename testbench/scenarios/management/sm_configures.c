/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager does what its options say: LIDs in blocks of the LMC, a smaller MTU, fewer
 * virtual lanes with a table that maps every service level to one of them, and the default
 * partition where a port has another one. MADs leave on the lane that the table names. Without a
 * cable it gives up after its timeout, and a port whose host does not answer is asked as often as
 * it was told. Bring-up uses none of these options.
 */
/* behaviours: IBA-7.2.7-port-states MAD-7 */
#include "testbench/manage.h"

enum {
	PORT = 1,
	LID = 5,
	BLOCK = 4, /* of LMC 2 */
	VLS = 2,   /* the code of VL 0 and 1 */
	SLS = 16,
	OTHER = 0x8055,
	RETRIES = 2,
	ODD_SL = 5,
	TIMEOUT_MS = 20,
	SET_ACTIVE = 11,      /* the packet to the peer */
	SET_ACTIVE_AGAIN = 8, /* of a port that is armed */
	STATE_AT = MAD_AT + 64 + 32
};

static void options(struct tb *tb, struct tb_end *a)
{
	static const struct {
		const char *name;
		unsigned port;
		struct sm_options o;
	} rows[] = {{"port 0", 0, {0}},
		    {"a port that no device has", DRV_PORTS_MAX + 1, {0}},
		    {"an LMC of 8", PORT, {.lmc = 8}},
		    {"a multicast LID", PORT, {.lid = 0xc000}},
		    {"the peer's LID would be a multicast one", PORT, {.lid = 0xbfff}},
		    {"a block that reaches the multicast LIDs", PORT, {.lid = 0xbf01, .lmc = 7}}};
	struct sm_result r;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		must_fail(-EINVAL, sm_run(a->dev, rows[i].port, &rows[i].o, &r));
		must_fail(-EINVAL, sm_discover(a->dev, rows[i].port, &rows[i].o, &r));
		expect_equal(r.smps_sent, 0);
	}
}

static void nobody(struct tb *tb, struct tb_end *a)
{
	const struct sm_options o = {.link_timeout_ps = CFG_MS(TIMEOUT_MS),
				     .smp_timeout_ps = CFG_MS(TIMEOUT_MS),
				     .smp_retries = RETRIES};
	struct sm_result r;
	uint64_t begun = tb_now(tb);

	phase("no cable");
	hca_link_set(host_hca(a->host), PORT, false);
	must_fail(-ENOLINK, sm_run(a->dev, PORT, &o, &r));
	expect_equal(r.own.state, IBV_PORT_DOWN);
	expect_true(!r.peer_found);
	expect_that(tb_now(tb) - begun, >=, CFG_MS(TIMEOUT_MS));
	expect_that(tb_now(tb) - begun, <, CFG_MS(TIMEOUT_MS + 1));
	hca_link_set(host_hca(a->host), PORT, true);
	phase("nobody answers");
	drop_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .times = RETRIES + 1);
	must_fail(-ETIMEDOUT, sm_run(a->dev, PORT, &o, &r));
	expect_true(!r.peer_found);
	expect_equal(r.smps_retried, RETRIES);
	expect_equal(r.smps_failed, 1);
	expect_equal(r.own.state, IBV_PORT_INIT);
}

static void port_is(struct tb *tb, struct tb_end *a, unsigned hops, unsigned lid)
{
	const struct port_info *info;
	const struct sl2vl *table;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = PORT, .hops = hops);
	info = (const struct port_info *)(const void *)smp_data_cptr(&answer);
	expect_equal(port_info_get_state(info), PORT_STATE_ACTIVE);
	expect_equal(port_info_get_lid(info), lid);
	expect_equal(port_info_get_lmc(info), 2);
	expect_equal(port_info_get_sm_lid(info), 2 * BLOCK);
	expect_equal(port_info_get_neighbor_mtu(info), IBV_MTU_1024);
	expect_equal(port_info_get_oper_vls(info), VLS);
	ask(a, &answer, .attr = SMP_ATTR_SL2VL, .hops = hops);
	table = (const struct sl2vl *)(const void *)smp_data_cptr(&answer);
	for (unsigned sl = 0; sl < SLS; sl++)
		expect_equal(sl2vl_get(table, sl), sl % 2);
}

static void configured(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct sm_options o = {.lid = LID,
				     .lmc = 2,
				     .mtu = IBV_MTU_1024,
				     .vls = VLS,
				     .activate_delay_ps = CFG_MS(5)};
	struct sm_options quick = o;
	struct sm_result r;
	uint16_t pkey = 0;
	uint64_t begun;

	phase("all options");
	for (unsigned hops = 0; hops < 2; hops++)
		write_pkeys(a, PORT, hops, OTHER);
	/* the pause is before the first of the ports is active */
	quick.smp_timeout_ps = CFG_MS(1);
	quick.smp_retries = RETRIES;
	for (unsigned i = 0; i <= RETRIES; i++)
		drop_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = SET_ACTIVE + i);
	begun = tb_now(tb);
	must_fail(-ETIMEDOUT, sm_run(a->dev, PORT, &quick, &r));
	expect_that(tb_now(tb) - begun, >=, o.activate_delay_ps);
	expect_equal(r.own.state, IBV_PORT_ARMED);
	expect_equal(r.peer.state, IBV_PORT_ARMED);
	/* it arrives as one that changes nothing: the peer is not active, whatever it has answered */
	corrupt_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .nth = SET_ACTIVE_AGAIN,
		     .offset = STATE_AT, .mask = PORT_STATE_ACTIVE, .fix = FAULT_FIX_BOTH);
	must_fail(-EPROTO, sm_run(a->dev, PORT, &quick, &r));
	expect_equal(r.own.state, IBV_PORT_ACTIVE);
	expect_equal(r.peer.state, IBV_PORT_ARMED);
	begun = tb_now(tb);
	must(sm_run(a->dev, PORT, &o, &r));
	expect_that(tb_now(tb) - begun, >=, o.activate_delay_ps);
	expect_equal(r.own.lid, 2 * BLOCK);
	expect_equal(r.peer.lid, 3 * BLOCK);
	expect_equal(r.own.vls, VLS);
	expect_equal(r.peer.mtu, IBV_MTU_1024);
	port_is(tb, a, 0, 2 * BLOCK);
	port_is(tb, a, 1, 3 * BLOCK);
	must(drv_query_pkey(a->dev, PORT, 0, &pkey));
	expect_equal(pkey, PKEY_DEFAULT);
	must(drv_query_pkey(b->dev, PORT, 0, &pkey));
	expect_equal(pkey, PKEY_DEFAULT);
}

/* Both hosts have heard of the table, and of their partition. */
static void lanes(struct tb *tb, struct tb_end *a)
{
	const struct drv_mad_addr to = {
		.dlid = 3 * BLOCK, .sl = ODD_SL, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO);
	struct smp answer;

	phase("lanes");
	check_mads();
	must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer, CFG_MS(TIMEOUT_MS)));
	expect_mad(a_to_b, .sl = ODD_SL, .vl = 1, .pkey = PKEY_DEFAULT);
	expect_mad(b_to_a, .sl = ODD_SL, .vl = 1, .pkey = PKEY_DEFAULT);
	ignore_mads();
}

/* The last two blocks below the multicast LIDs. */
static void last_lids(struct tb *tb, struct tb_end *a)
{
	static const struct {
		unsigned lid, lmc, own, peer;
	} rows[] = {{0xbffe, 0, 0xbffe, 0xbfff},
		    {0xbf00, 7, 0xbf00, 0xbf80},
		    {0xbff5, 2, 0xbff8, 0xbffc}};
	struct sm_result r;

	phase("the last LIDs");
	for_each_row(i, rows) {
		const struct sm_options o = {.lid = rows[i].lid, .lmc = rows[i].lmc};

		name_row("LID 0x%x, LMC %u", o.lid, o.lmc);
		must(sm_run(a->dev, PORT, &o, &r));
		expect_equal(r.own.lid, rows[i].own);
		expect_equal(r.peer.lid, rows[i].peer);
	}
}

SCENARIO(sm_configures, "what the subnet manager is told, and ports that it cannot bring up",
	 .bare = true, .data_vls = 2)
{
	bring_up(a);
	bring_up(b);
	if (!still_right())
		return;
	options(tb, a);
	nobody(tb, a);
	configured(tb, a, b);
	lanes(tb, a);
	last_lids(tb, a);
	take_down(b);
	take_down(a);
}
