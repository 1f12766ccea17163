/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an administrator does with counters. A Set writes the counters that it selects, each with a value of its
 * own, and leaves the others alone; a later Get shows what was set, and counts on from there. PortCounters and
 * PortCountersExtended count the same packets, but a Set of one does not change the other. The wide ones have 64
 * bits. Packets to groups, and packets with errors, count apart. Who asks of a busy port misses none. That holds for the counters of both hosts.
 */
/* behaviours: IBA-16.1.3.5-portcounters */
#include "testbench/manage.h"

enum {
	SOME = 5,
	N = 3,
	EXT_SELECT_ALL = 0xff,
	QKEY = 0x33,
	MTU = 4096,
	LEN = 16384,
	MESSAGES = 100,
	ASKS = 5
};

#define WIDE UINT64_C(0x123456789abc0000)

struct counters {
	struct port_counters c;
	uint8_t rest[gmp_data_size - sizeof(struct port_counters)];
};

struct counters_ext {
	struct port_counters_ext c;
	uint8_t rest[gmp_data_size - sizeof(struct port_counters_ext)];
};

static const uint8_t group[DRV_GID_BYTES] = {0xff, 0x12, 0xa0, 0x1b, [15] = 0x21};

/* a asks; the counters are those of `of`. */
static void counters(struct tb *tb, struct tb_end *a, struct tb_end *of, unsigned method,
		     struct counters *data)
{
	struct smp answer;

	port_counters_set_port_select(&data->c, 1);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .dlid = of->lid, .data = data,
	    .method = method, .attr = PMA_ATTR_PORT_COUNTERS);
	memcpy(data, smp_data_cptr(&answer), sizeof(*data));
}

static void counters_ext(struct tb *tb, struct tb_end *a, struct tb_end *of, unsigned method,
			 struct counters_ext *data)
{
	struct smp answer;

	port_counters_ext_set_port_select(&data->c, 1);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .dlid = of->lid, .data = data,
	    .method = method, .attr = PMA_ATTR_PORT_COUNTERS_EXT);
	memcpy(data, smp_data_cptr(&answer), sizeof(*data));
}

/* X(field, its bit): those that count nothing while the link is well */
#define STILL(X)                                                                                   \
	X(symbol_errors, SYMBOL_ERRORS)                                                            \
	X(link_recoveries, LINK_RECOVERIES)                                                        \
	X(link_downed, LINK_DOWNED)                                                                \
	X(rcv_errors, RCV_ERRORS)                                                                  \
	X(rcv_remote_phys, RCV_REMOTE_PHYS)                                                        \
	X(rcv_switch_relay, RCV_SWITCH_RELAY)                                                      \
	X(xmit_discards, XMIT_DISCARDS)                                                            \
	X(xmit_constraint, XMIT_CONSTRAINT)                                                        \
	X(rcv_constraint, RCV_CONSTRAINT)                                                          \
	X(local_integrity, LOCAL_INTEGRITY)                                                        \
	X(buffer_overruns, BUFFER_OVERRUNS)                                                        \
	X(vl15_dropped, VL15_DROPPED)

/* Each of them gets another value, then 0, while the others stay. */
static void each_alone(struct tb *tb, struct tb_end *a, struct tb_end *of)
{
	struct counters all = {0}, set = {0}, got;

	port_counters_set_counter_select(&set.c, 0xffff);
#define X(field, bit) port_counters_set_##field(&set.c, SOME + PORT_COUNTER_##bit % 8);
	STILL(X)
#undef X
	all = set;
	counters(tb, a, of, MAD_METHOD_SET, &all);
#define X(field, bit)                                                                              \
	got = (struct counters){0};                                                                \
	counters(tb, a, of, MAD_METHOD_GET, &got);                                                 \
	expect_equal(port_counters_get_##field(&got.c), SOME + PORT_COUNTER_##bit % 8);            \
	got = (struct counters){0};                                                                \
	port_counters_set_counter_select(&got.c, 1 << PORT_COUNTER_##bit);                         \
	counters(tb, a, of, MAD_METHOD_SET, &got);                                                 \
	got = (struct counters){0};                                                                \
	counters(tb, a, of, MAD_METHOD_GET, &got);                                                 \
	expect_equal(port_counters_get_##field(&got.c), 0);
	STILL(X)
#undef X
}

/* They count on from what was set. Between two requests of a stand one answer and one request. */
static void count_on(struct tb *tb, struct tb_end *a, struct tb_end *of)
{
	struct counters narrow = {0}, narrow_next = {0};
	struct counters_ext wide = {0}, next = {0};

	port_counters_ext_set_counter_select(&wide.c, EXT_SELECT_ALL);
#define EXT(X)   X(xmit_data) X(rcv_data) X(xmit_pkts) X(rcv_pkts) X(ucast_xmit) X(ucast_rcv)
#define X(field) port_counters_ext_set_##field(&wide.c, WIDE);
	EXT(X)
#undef X
	counters(tb, a, of, MAD_METHOD_GET, &narrow);
	counters_ext(tb, a, of, MAD_METHOD_SET, &wide);
	counters_ext(tb, a, of, MAD_METHOD_GET, &next);
#define X(field)                                                                                   \
	expect_equal(port_counters_ext_get_##field(&wide.c), WIDE);                                \
	expect_that(port_counters_ext_get_##field(&next.c), >, WIDE);                              \
	expect_that(port_counters_ext_get_##field(&next.c), <, WIDE + 0x100);
	EXT(X)
#undef X
	expect_equal(port_counters_ext_get_rcv_pkts(&next.c), WIDE + 1);
	expect_equal(port_counters_ext_get_xmit_pkts(&next.c), WIDE + 1);
	expect_equal(port_counters_ext_get_ucast_rcv(&next.c), WIDE + 1);
	expect_equal(port_counters_ext_get_ucast_xmit(&next.c), WIDE + 1);
	/* the narrow ones did not hear of it */
	counters(tb, a, of, MAD_METHOD_GET, &narrow_next);
	expect_equal(port_counters_get_rcv_pkts(&narrow_next.c),
		     port_counters_get_rcv_pkts(&narrow.c) + 3);
	narrow = (struct counters){0};
	port_counters_set_counter_select(&narrow.c, 0xffff);
	counters(tb, a, of, MAD_METHOD_SET, &narrow);
	narrow = (struct counters){0};
	counters(tb, a, of, MAD_METHOD_GET, &narrow);
	expect_equal(port_counters_get_rcv_pkts(&narrow.c), 1);
	expect_equal(port_counters_get_xmit_pkts(&narrow.c), 1);
	/* nor the wide ones of this */
	next = (struct counters_ext){0};
	counters_ext(tb, a, of, MAD_METHOD_GET, &next);
	expect_equal(port_counters_ext_get_rcv_pkts(&next.c), WIDE + 5);
}

/* Of the packets that come, N to a group and N with errors. */
static void kinds(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct counters_ext ours = {0}, theirs = {0}, ours_next = {0}, theirs_next = {0};
	struct drv_qp *from = new_qp(a, .type = IBV_QPT_UD), *to = new_qp(b, .type = IBV_QPT_UD);
	struct drv_ah_attr ah = {.port_num = 1, .dlid = LID_MCAST_FIRST + 5, .is_global = true};
	struct counters errors = {0}, narrow = {0};

	memcpy(ah.dgid, group, sizeof(group));
	start_ud(from, QKEY, 0);
	start_ud(to, QKEY, 0);
	must(drv_mcast_attach(to, group, false));
	recv_on(b, to, .wr_id = 1, .len = 128, .repeat = N);
	counters(tb, a, b, MAD_METHOD_GET, &narrow);
	counters_ext(tb, a, a, MAD_METHOD_GET, &ours);
	counters_ext(tb, a, b, MAD_METHOD_GET, &theirs);
	send_on(a, from, .ah = &ah, .remote_qpn = 0xffffff, .qkey = QKEY, .len = 64, .repeat = N);
	expect_cqes(a, N);
	expect_cqes(b, N);
	for (unsigned i = 0; i < N; i++)
		inject(b, RC_WRITE_ONLY, .psn = 0, .bad_icrc = i == 1, .bad_vcrc = i != 1);
	counters_ext(tb, a, b, MAD_METHOD_GET, &theirs_next);
	counters_ext(tb, a, a, MAD_METHOD_GET, &ours_next);
	counters(tb, a, b, MAD_METHOD_GET, &errors);
	expect_equal(port_counters_ext_get_mcast_rcv(&theirs_next.c), N);
	expect_equal(port_counters_ext_get_mcast_xmit(&theirs_next.c), 0);
	expect_equal(port_counters_ext_get_mcast_xmit(&ours_next.c), N);
	expect_equal(port_counters_ext_get_mcast_rcv(&ours_next.c), 0);
	expect_equal(port_counters_ext_get_ucast_rcv(&theirs_next.c) -
			     port_counters_ext_get_ucast_rcv(&theirs.c),
		     1);
	expect_equal(port_counters_get_rcv_errors(&errors.c) -
			     port_counters_get_rcv_errors(&narrow.c),
		     N);
	must(drv_mcast_detach(to, group));
	destroy_qp(to);
	destroy_qp(from);
	ignore_data(b, .len = N * 128);
}

/* Packets that come while somebody asks are counted, too, each once. */
static void busy(struct tb *tb, struct tb_end *a, struct tb_end *of)
{
	const unsigned packets = MESSAGES * LEN / MTU;
	struct counters_ext before = {0}, between, after = {0};

	counters_ext(tb, a, of, MAD_METHOD_GET, &before);
	send_on(a, a->qp[0], .opcode = IBV_WR_RDMA_WRITE, .len = LEN, .repeat = MESSAGES);
	for (unsigned i = 0; i < ASKS && still_right(); i++) {
		between = (struct counters_ext){0};
		counters_ext(tb, a, of, MAD_METHOD_GET, &between);
		if (!i)
			expect_that(port_counters_ext_get_rcv_pkts(&between.c), <,
				    port_counters_ext_get_rcv_pkts(&before.c) + packets);
	}
	expect_cqes(a, MESSAGES);
	ignore_data(of, .len = LEN);
	counters_ext(tb, a, of, MAD_METHOD_GET, &after);
	expect_equal(port_counters_ext_get_rcv_pkts(&after.c) -
			     port_counters_ext_get_rcv_pkts(&before.c),
		     packets + ASKS + 1);
	expect_equal(port_counters_ext_get_ucast_rcv(&after.c) -
			     port_counters_ext_get_ucast_rcv(&before.c),
		     packets + ASKS + 1);
}

SCENARIO(counters_set, "counters that are set: each alone, wide ones, groups, errors")
{
	ignore_packets();
	phase("kinds");
	kinds(tb, a, b);
	phase("host b");
	each_alone(tb, a, b);
	count_on(tb, a, b);
	busy(tb, a, b);
	phase("host a");
	each_alone(tb, b, a);
	count_on(tb, b, a);
	busy(tb, b, a);
}
