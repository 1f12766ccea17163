/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries to the subnet administrator that no driver sends: with selectors for MTU, rate and life
 * time, by LIDs of a port with several, for a P_Key, service level or kind of traffic that no path
 * has, without a source, with another class version, method or attribute. Each answer has the
 * status that says so, and a path that is found has what the query has named. What is no query gets
 * no answer.
 */
/* behaviours: IBA-15.4.4-sa-status IBA-15.2.5.16-path-record */
#include "host_driver/sm/sa.h"
#include "testbench/scenarios/connect/sa_asked.h"

enum {
	RESP_TIME = 16, /* 268 ms */
	REDIRECT_AT = 8,
	PATH_GIDS_AT = 8,
	PATH_GIDS_END = 40,
	NODE_RECORD = 0x11,
	GET_MULTI = 0x14,
	OTHER_PKEY = 0x8123
};

static void selectors(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	enum what { MTU, RATE, LIFE };
	static const struct {
		const char *name;
		enum what what;
		enum sa_selector selector;
		int more; /* than the path has */
		unsigned status;
	} rows[] = {{"a greater MTU", MTU, SA_SELECT_GREATER, 0, NO_PATH},
		    {"an MTU above a smaller one", MTU, SA_SELECT_GREATER, -1, MAD_STATUS_OK},
		    {"a smaller MTU", MTU, SA_SELECT_LESS, 0, NO_PATH},
		    {"an MTU below a greater one", MTU, SA_SELECT_LESS, 1, MAD_STATUS_OK},
		    {"exactly the MTU", MTU, SA_SELECT_EXACTLY, 0, MAD_STATUS_OK},
		    {"exactly another MTU", MTU, SA_SELECT_EXACTLY, -1, NO_PATH},
		    {"the largest MTU", MTU, SA_SELECT_BEST, -1, MAD_STATUS_OK},
		    {"a greater rate", RATE, SA_SELECT_GREATER, 0, NO_PATH},
		    {"a smaller rate", RATE, SA_SELECT_LESS, 0, NO_PATH},
		    {"exactly the rate", RATE, SA_SELECT_EXACTLY, 0, MAD_STATUS_OK},
		    {"the largest rate", RATE, SA_SELECT_BEST, 0, MAD_STATUS_OK},
		    {"a longer life time", LIFE, SA_SELECT_GREATER, 0, NO_PATH},
		    {"a life time above a shorter one", LIFE, SA_SELECT_GREATER, -1, MAD_STATUS_OK},
		    {"a shorter life time", LIFE, SA_SELECT_LESS, 0, NO_PATH},
		    {"a life time below a longer one", LIFE, SA_SELECT_LESS, 1, MAD_STATUS_OK},
		    {"exactly another life time", LIFE, SA_SELECT_EXACTLY, 1, NO_PATH},
		    {"exactly the life time", LIFE, SA_SELECT_EXACTLY, 0, MAD_STATUS_OK}};
	struct path_record has;
	struct query q;

	query_between(tb, &q, b, a);
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	has = *q.record;
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		query_between(tb, &q, b, a);
		if (rows[i].what == MTU) {
			path_record_set_mtu_selector(q.record, rows[i].selector);
			path_record_set_mtu(q.record, path_record_get_mtu(&has) + rows[i].more);
			query_say(&q, BIT(MTU_SELECTOR) | BIT(MTU));
		} else if (rows[i].what == RATE) {
			path_record_set_rate_selector(q.record, rows[i].selector);
			path_record_set_rate(q.record, path_record_get_rate(&has));
			query_say(&q, BIT(RATE_SELECTOR) | BIT(RATE));
		} else {
			path_record_set_life_selector(q.record, rows[i].selector);
			path_record_set_life_time(q.record,
						  path_record_get_life_time(&has) + rows[i].more);
			query_say(&q, BIT(LIFE_SELECTOR) | BIT(LIFE));
		}
		ask_sa(tb, b, &q, rows[i].status);
		if (rows[i].status == MAD_STATUS_OK)
			expect_true(!memcmp(q.record, &has, sizeof(has)));
	}
}

/* Rates are compared by what they are, not by their codes. Source: IBA 15.2.5.16; OpenSM
 * ib_path_compare_rates */
static void rates(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		unsigned code, mbps;
	} all[] = {
		{IB_RATE_2_5_GBPS, 2500},   {IB_RATE_10_GBPS, 10000},  {IB_RATE_30_GBPS, 30000},
		{IB_RATE_5_GBPS, 5000},     {IB_RATE_20_GBPS, 20000},  {IB_RATE_40_GBPS, 40000},
		{IB_RATE_60_GBPS, 60000},   {IB_RATE_80_GBPS, 80000},  {IB_RATE_120_GBPS, 120000},
		{IB_RATE_14_GBPS, 14062},   {IB_RATE_56_GBPS, 56250},  {IB_RATE_112_GBPS, 112500},
		{IB_RATE_168_GBPS, 168750}, {IB_RATE_25_GBPS, 25781},  {IB_RATE_100_GBPS, 103125},
		{IB_RATE_200_GBPS, 206250}, {IB_RATE_300_GBPS, 309375}};
	unsigned has = 0, is = 0;
	struct query q;

	query_between(tb, &q, b, a);
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	is = path_record_get_rate(q.record);
	for_each_row(i, all)
		has = all[i].code == is ? all[i].mbps : has;
	expect_that(has, >, 0);
	for_each_row(i, all)
		for (unsigned s = SA_SELECT_GREATER; s <= SA_SELECT_EXACTLY; s++) {
			const unsigned mbps = all[i].mbps;
			const bool fits = s == SA_SELECT_GREATER ? has > mbps
					  : s == SA_SELECT_LESS  ? has < mbps
								 : has == mbps;

			name_row("%u Mb/s, selector %u", mbps, s);
			query_between(tb, &q, b, a);
			path_record_set_rate_selector(q.record, s);
			path_record_set_rate(q.record, all[i].code);
			query_say(&q, BIT(RATE_SELECTOR) | BIT(RATE));
			ask_sa(tb, b, &q, fits ? MAD_STATUS_OK : NO_PATH);
		}
}

/* A value that no path has is no matter unless the component mask names it. A selector and its value count
 * only together. */
static void other_components(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		void (*say)(struct path_record *r, uint32_t value);
		uint32_t value;
		uint64_t named;
		unsigned status; /* if it is named */
	} rows[] = {{"a partition without members", path_record_set_pkey, OTHER_PKEY, BIT(PKEY),
		     NO_PATH},
		    {"its limited members", path_record_set_pkey, OTHER_PKEY & ~PKEY_FULL_MEMBER,
		     BIT(PKEY), NO_PATH},
		    {"the partition of all", path_record_set_pkey, PKEY_DEFAULT, BIT(PKEY),
		     MAD_STATUS_OK},
		    {"its limited members", path_record_set_pkey, PKEY_DEFAULT & ~PKEY_FULL_MEMBER,
		     BIT(PKEY), MAD_STATUS_OK},
		    {"no partition", path_record_set_pkey, 0, BIT(PKEY), NO_PATH},
		    {"another service level", path_record_set_sl, 1, BIT(SL), NO_PATH},
		    {"the last service level", path_record_set_sl, 15, BIT(SL), NO_PATH},
		    {"the service level", path_record_set_sl, 0, BIT(SL), MAD_STATUS_OK},
		    {"raw packets", path_record_set_raw_traffic, 1, BIT(RAW), NO_PATH},
		    {"no raw packets", path_record_set_raw_traffic, 0, BIT(RAW), MAD_STATUS_OK},
		    {"a source LID of nobody", path_record_set_slid, 0x40, BIT(SLID), NO_PATH},
		    {"a destination LID of nobody", path_record_set_dlid, 0x40, BIT(DLID), NO_PATH},
		    {"a selector without MTU", path_record_set_mtu_selector, SA_SELECT_GREATER,
		     BIT(MTU_SELECTOR), MAD_STATUS_OK},
		    {"an MTU without selector", path_record_set_mtu, IBV_MTU_256, BIT(MTU),
		     MAD_STATUS_OK},
		    {"a selector without rate", path_record_set_rate_selector, SA_SELECT_LESS,
		     BIT(RATE_SELECTOR), MAD_STATUS_OK},
		    {"a rate without selector", path_record_set_rate, 63, BIT(RATE), MAD_STATUS_OK},
		    {"a selector without life time", path_record_set_life_selector, SA_SELECT_LESS,
		     BIT(LIFE_SELECTOR), MAD_STATUS_OK},
		    {"a life time without selector", path_record_set_life_time, 1, BIT(LIFE),
		     MAD_STATUS_OK}};
	struct query q;

	name_row("%s", "by the other's LIDs");
	query_between(tb, &q, b, a);
	path_record_set_slid(q.record, a->lid);
	query_say(&q, BIT(SLID));
	ask_sa(tb, b, &q, NO_PATH);
	query_between(tb, &q, b, a);
	path_record_set_dlid(q.record, b->lid);
	query_say(&q, BIT(DLID));
	ask_sa(tb, b, &q, NO_PATH);
	for_each_row(i, rows) {
		name_row("%s, not named", rows[i].name);
		query_between(tb, &q, b, a);
		rows[i].say(q.record, rows[i].value);
		ask_sa(tb, b, &q, MAD_STATUS_OK);
		name_row("%s", rows[i].name);
		query_between(tb, &q, b, a);
		rows[i].say(q.record, rows[i].value);
		query_say(&q, rows[i].named);
		ask_sa(tb, b, &q, rows[i].status);
	}
}

/* Which of the ends are named, and how. b asks. */
static void ends(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		uint64_t named;
		bool to_itself, wrong; /* wrong: what is not named is nobody's */
		unsigned status;
	} rows[] = {{"no source", BIT(DGID), false, false, SA_STATUS_INSUFFICIENT},
		    {"no source, but a destination's LID", BIT(DLID), false, false,
		     SA_STATUS_INSUFFICIENT},
		    {"nothing", 0, false, false, SA_STATUS_INSUFFICIENT},
		    {"GIDs", BIT(SGID) | BIT(DGID), false, true, MAD_STATUS_OK},
		    {"LIDs", BIT(SLID) | BIT(DLID), false, true, MAD_STATUS_OK},
		    {"from a GID to a LID", BIT(SGID) | BIT(DLID), false, true, MAD_STATUS_OK},
		    {"from a LID to a GID", BIT(SLID) | BIT(DGID), false, true, MAD_STATUS_OK},
		    {"all four", BIT(SGID) | BIT(DGID) | BIT(SLID) | BIT(DLID), false, false,
		     MAD_STATUS_OK},
		    {"to itself by GID", BIT(SGID) | BIT(DGID), true, true, MAD_STATUS_OK},
		    {"to itself by LID", BIT(SLID) | BIT(DLID), true, true, MAD_STATUS_OK}};
	uint8_t from[16], to[16];
	struct query q;

	for_each_row(i, rows) {
		struct tb_end *far = rows[i].to_itself ? b : a;
		const uint64_t named = rows[i].named;

		name_row("%s", rows[i].name);
		query_between(tb, &q, b, far);
		path_record_set_slid(q.record, b->lid);
		path_record_set_dlid(q.record, far->lid);
		memcpy(from, path_record_sgid_ptr(q.record), sizeof(from));
		memcpy(to, path_record_dgid_ptr(q.record), sizeof(to));
		if (rows[i].wrong && !(named & BIT(SGID)))
			path_record_sgid_ptr(q.record)[15] ^= 1;
		if (rows[i].wrong && !(named & BIT(DGID)))
			path_record_dgid_ptr(q.record)[0] ^= 1;
		if (rows[i].wrong && !(named & BIT(SLID)))
			path_record_set_slid(q.record, 0x40);
		if (rows[i].wrong && !(named & BIT(DLID)))
			path_record_set_dlid(q.record, 0x41);
		sa_mad_set_component_mask(&q.mad, named);
		ask_sa(tb, b, &q, rows[i].status);
		if (rows[i].status != MAD_STATUS_OK)
			continue;
		expect_equal(path_record_get_slid(q.record), b->lid);
		expect_equal(path_record_get_dlid(q.record), far->lid);
		expect_true(!memcmp(path_record_sgid_ptr(q.record), from, sizeof(from)));
		expect_true(!memcmp(path_record_dgid_ptr(q.record), to, sizeof(to)));
	}
}

/* All that the record of the one path says. */
static void record(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct drv_port_attr port = {0};
	struct query q;

	must(drv_query_port(a->dev, PORT, &port));
	name_row("the record");
	query_between(tb, &q, b, a);
	/* what the question does not name is not in the answer, whatever it says */
	for (unsigned i = 0; i < sa_mad_data_size; i++)
		if (i < PATH_GIDS_AT || i >= PATH_GIDS_END)
			sa_mad_data_ptr(&q.mad)[i] = 0xff;
	mad_hdr_set_status(sa_mad_hdr(&q.mad), 0x1c);
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	for (unsigned i = sizeof(*q.record); i < sa_mad_data_size; i++)
		expect_equal(sa_mad_data_ptr(&q.mad)[i], 0);
	expect_equal(path_record_get_flow_label(q.record), 0);
	expect_equal(path_record_get_hop_limit(q.record), 0);
	expect_equal(path_record_get_traffic_class(q.record), 0);
	expect_equal(path_record_get_qos_class(q.record), 0);
	expect_equal(path_record_get_preference(q.record), 0);
	expect_equal(sa_mad_get_attribute_offset(&q.mad), sizeof(*q.record) / 8);
	expect_equal(path_record_get_service_id(q.record), 0);
	expect_equal(path_record_get_raw_traffic(q.record), 0);
	expect_equal(path_record_get_reversible(q.record), 1);
	expect_equal(path_record_get_numb_path(q.record), 1);
	expect_equal(path_record_get_pkey(q.record), PKEY_DEFAULT);
	expect_equal(path_record_get_sl(q.record), 0);
	expect_equal(path_record_get_mtu_selector(q.record), SA_SELECT_EXACTLY);
	expect_equal(path_record_get_mtu(q.record), IBV_MTU_1024); /* b's */
	expect_equal(path_record_get_rate_selector(q.record), SA_SELECT_EXACTLY);
	expect_equal(path_record_get_life_selector(q.record), SA_SELECT_EXACTLY);
	expect_equal(path_record_get_life_time(q.record), SA_LIFE_TIME);
	query_between(tb, &q, a, b);
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	expect_equal(path_record_get_mtu(q.record), IBV_MTU_1024);
	query_between(tb, &q, a, a);
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	expect_equal(path_record_get_mtu(q.record), port.active_mtu);
}

/* A query that leaves the destination open gets the first one that has what it wants. The port of b takes
 * shorter packets than that of a. */
static void searches(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct query q, gids;

	query_between(tb, &gids, a, b);
	for (unsigned to_b = 0; to_b < 2; to_b++) {
		name_row("from a to %s", to_b ? "b" : "itself");
		query_between(tb, &q, a, b);
		memset(path_record_dgid_ptr(q.record), 0, sizeof(union ib_gid));
		path_record_set_mtu_selector(q.record, SA_SELECT_GREATER + to_b);
		path_record_set_mtu(q.record, IBV_MTU_1024 + to_b);
		sa_mad_set_component_mask(&q.mad, BIT(SGID) | BIT(MTU_SELECTOR) | BIT(MTU));
		ask_sa(tb, b, &q, MAD_STATUS_OK);
		expect_true(!memcmp(path_record_dgid_ptr(q.record),
				    to_b ? path_record_dgid_ptr(gids.record)
					 : path_record_sgid_ptr(gids.record),
				    sizeof(union ib_gid)));
	}
}

/* Each port has two LIDs. The record names those that were asked for. */
static void by_lids(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct {
		const char *name;
		unsigned slid, dlid, status;
	} rows[] = {{"base LIDs", b->lid, a->lid, MAD_STATUS_OK},
		    {"other LIDs", b->lid + 1, a->lid + 1, MAD_STATUS_OK},
		    {"a LID of nobody", b->lid, b->lid + 2, NO_PATH},
		    {"from a LID of nobody", b->lid + 2, a->lid, NO_PATH}};
	uint8_t gid[16];
	struct query q;

	must(drv_query_gid(a->dev, PORT, 0, gid));
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		query_begin(&q);
		path_record_set_slid(q.record, rows[i].slid);
		path_record_set_dlid(q.record, rows[i].dlid);
		query_say(&q, BIT(SLID) | BIT(DLID));
		ask_sa(tb, b, &q, rows[i].status);
		if (rows[i].status != MAD_STATUS_OK)
			continue;
		expect_equal(path_record_get_slid(q.record), rows[i].slid);
		expect_equal(path_record_get_dlid(q.record), rows[i].dlid);
		expect_true(!memcmp(path_record_dgid_ptr(q.record), gid, sizeof(gid)));
	}
}

static void no_queries(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		unsigned version, method, attr, status;
	} rows[] = {{"another class version", 1, MAD_METHOD_GET, SA_ATTR_PATH_RECORD,
		     MAD_STATUS_BAD_VERSION},
		    {"a table", SA_CLASS_VERSION, MAD_METHOD_GET_TABLE, SA_ATTR_PATH_RECORD,
		     MAD_STATUS_BAD_METHOD_ATTR},
		    {"a deletion", SA_CLASS_VERSION, MAD_METHOD_DELETE, SA_ATTR_PATH_RECORD,
		     MAD_STATUS_BAD_METHOD_ATTR},
		    {"another method", SA_CLASS_VERSION, GET_MULTI, SA_ATTR_PATH_RECORD,
		     MAD_STATUS_BAD_METHOD},
		    {"another attribute", SA_CLASS_VERSION, MAD_METHOD_GET, NODE_RECORD,
		     MAD_STATUS_BAD_METHOD_ATTR}};
	const struct drv_mad_addr to = {.dlid = a->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct sa_mad answer;
	struct query q;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		query_between(tb, &q, b, a);
		mad_hdr_set_class_version(sa_mad_hdr(&q.mad), rows[i].version);
		mad_hdr_set_method(sa_mad_hdr(&q.mad), rows[i].method);
		mad_hdr_set_attr_id(sa_mad_hdr(&q.mad), rows[i].attr);
		ask_sa(tb, b, &q, rows[i].status);
	}
	name_row("a report");
	query_between(tb, &q, b, a);
	mad_hdr_set_method(sa_mad_hdr(&q.mad), MAD_METHOD_REPORT);
	must_fail(-ETIMEDOUT,
		  drv_mad_call(b->dev, PORT, QPN_GSI, &to, &q.mad, &answer, CFG_MS(ANSWER_MS)));
}

static void class_port_info(struct tb *tb, struct tb_end *b)
{
	const struct class_port_info *info;
	struct query q;

	name_row("ClassPortInfo");
	query_begin(&q);
	mad_hdr_set_attr_id(sa_mad_hdr(&q.mad), SA_ATTR_CLASS_PORT_INFO);
	/* nothing of what the question has is in the answer */
	memset(sa_mad_data_ptr(&q.mad), 0xff, sizeof(*info));
	ask_sa(tb, b, &q, MAD_STATUS_OK);
	info = (const struct class_port_info *)(const void *)q.record;
	expect_equal(class_port_info_get_base_version(info), MAD_BASE_VERSION);
	expect_equal(class_port_info_get_class_version(info), SA_CLASS_VERSION);
	expect_equal(class_port_info_get_resp_time(info), RESP_TIME);
	for (unsigned i = REDIRECT_AT; i < sizeof(*info); i++)
		expect_equal(((const uint8_t *)info)[i], 0); /* the answer is from the right one */
}

/* The port of b takes only short packets, so a path to it or from it has short packets. */
static void shorten(struct tb *tb, struct tb_end *a)
{
	struct port_info info;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_neighbor_mtu(&info, IBV_MTU_1024);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1,
	    .data = &info);
}

SCENARIO(sa_queries, "queries to the subnet administrator, and their statuses", .no_qps = true,
	 .any_packets = true, .lmc = 1)
{
	struct sm_sa *again;

	shorten(tb, a);
	start_cm();
	must_fail(-EBUSY, sm_sa_start(a->dev, PORT, 0, &again));
	selectors(tb, a, b);
	rates(tb, a, b);
	other_components(tb, a, b);
	ends(tb, a, b);
	record(tb, a, b);
	searches(tb, a, b);
	by_lids(tb, a, b);
	no_queries(tb, a, b);
	class_port_info(tb, b);
}
