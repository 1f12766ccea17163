/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel verbs know which attributes each transition of a queue pair must have and may have, by its
 * type. Without one of those that it must have, or with one that it may not have, it is refused before
 * the device hears of it; so is each pair of states between which there is no way. The table is that of the InfiniBand specification, volume 1, table 91, and for
 * XRC that of Linux. In a queue pair of a live connection the attributes of SQD change indeed.
 */
/* behaviours: IBA-11.2.4-needed-attributes */
#include "testbench/kernel_verbs.h"

enum {
	PATH = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN,
	RESPONDER = IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	REQUESTER = IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
	MIGRATION = IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE,
	RUNS = IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | MIGRATION,
	DRAINED = IB_QP_AV | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | MIGRATION,
	ATTRIBUTES = IB_QP_DEST_QPN << 1,
};

/* The types of a row. */
enum {
	UD = 1 << 0,
	UC = 1 << 1,
	RC = 1 << 2,
	INI = 1 << 3,
	TGT = 1 << 4,
	MAD = 1 << 5, /* QP0 and QP1 */
	CONNECTED = UC | RC | INI | TGT,
	ALL = CONNECTED | UD | MAD,
};

static const struct {
	enum ib_qp_type type;
	unsigned bit;
} types[] = {{IB_QPT_UD, UD},       {IB_QPT_UC, UC},   {IB_QPT_RC, RC},  {IB_QPT_XRC_INI, INI},
	     {IB_QPT_XRC_TGT, TGT}, {IB_QPT_SMI, MAD}, {IB_QPT_GSI, MAD}};

/* Where there is no row there is no way. */
static const struct row {
	unsigned types;
	enum ib_qp_state from, to;
	unsigned must, may;
} rows[] = {
	{ALL, IB_QPS_RESET, IB_QPS_RESET, 0, 0},
	{UD, IB_QPS_RESET, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, 0},
	{CONNECTED, IB_QPS_RESET, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
	 0},
	{MAD, IB_QPS_RESET, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_QKEY, 0},

	{ALL, IB_QPS_INIT, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_INIT, IB_QPS_ERR, 0, 0},
	{UD, IB_QPS_INIT, IB_QPS_INIT, 0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY},
	{CONNECTED, IB_QPS_INIT, IB_QPS_INIT, 0,
	 IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS},
	{MAD, IB_QPS_INIT, IB_QPS_INIT, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{UD | MAD, IB_QPS_INIT, IB_QPS_RTR, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{UC | INI, IB_QPS_INIT, IB_QPS_RTR, PATH,
	 IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX},
	{RC | TGT, IB_QPS_INIT, IB_QPS_RTR, PATH | RESPONDER,
	 IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX},

	{ALL, IB_QPS_RTR, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_RTR, IB_QPS_ERR, 0, 0},
	{UD | MAD, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY},
	{UC, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN, RUNS},
	{RC, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT | REQUESTER,
	 RUNS | IB_QP_MIN_RNR_TIMER},
	{INI, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT | REQUESTER, RUNS},
	{TGT, IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT, RUNS | IB_QP_MIN_RNR_TIMER},

	{ALL, IB_QPS_RTS, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_RTS, IB_QPS_ERR, 0, 0},
	{ALL, IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY},
	{UD | MAD, IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY},
	{UC | INI, IB_QPS_RTS, IB_QPS_RTS, 0, RUNS},
	{RC | TGT, IB_QPS_RTS, IB_QPS_RTS, 0, RUNS | IB_QP_MIN_RNR_TIMER},

	{ALL, IB_QPS_SQD, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_SQD, IB_QPS_ERR, 0, 0},
	{UD | MAD, IB_QPS_SQD, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY},
	{UC | INI, IB_QPS_SQD, IB_QPS_RTS, 0, RUNS},
	{RC | TGT, IB_QPS_SQD, IB_QPS_RTS, 0, RUNS | IB_QP_MIN_RNR_TIMER},
	{UD | MAD, IB_QPS_SQD, IB_QPS_SQD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY},
	{UC, IB_QPS_SQD, IB_QPS_SQD, 0, DRAINED},
	{RC, IB_QPS_SQD, IB_QPS_SQD, 0,
	 DRAINED | IB_QP_PORT | IB_QP_TIMEOUT | REQUESTER | RESPONDER},
	{INI, IB_QPS_SQD, IB_QPS_SQD, 0, DRAINED | IB_QP_PORT | IB_QP_TIMEOUT | REQUESTER},
	{TGT, IB_QPS_SQD, IB_QPS_SQD, 0, DRAINED | IB_QP_PORT | IB_QP_TIMEOUT | RESPONDER},

	{ALL, IB_QPS_SQE, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_SQE, IB_QPS_ERR, 0, 0},
	{UD | MAD, IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY},
	{UC, IB_QPS_SQE, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS},
	{RC | INI | TGT, IB_QPS_SQE, IB_QPS_RTS, 0, 0},

	{ALL, IB_QPS_ERR, IB_QPS_RESET, 0, 0},
	{ALL, IB_QPS_ERR, IB_QPS_ERR, 0, 0},
};

static const struct row *row_of(unsigned type, enum ib_qp_state from, enum ib_qp_state to)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].types & type && rows[i].from == from && rows[i].to == to)
			return &rows[i];
	return NULL;
}

static void way_check(struct tb *tb, enum ib_qp_type type, const struct row *r)
{
	expect_true(ib_modify_qp_is_ok(r->from, r->to, type, r->must | IB_QP_STATE));
	expect_true(ib_modify_qp_is_ok(r->from, r->to, type, r->must));
	expect_true(ib_modify_qp_is_ok(r->from, r->to, type, r->must | r->may | IB_QP_STATE));
	for (unsigned bit = IB_QP_STATE << 1; bit < ATTRIBUTES && still_right(); bit <<= 1) {
		const bool must = r->must & bit, may = r->may & bit;

		if (must)
			expect_true(!ib_modify_qp_is_ok(r->from, r->to, type,
							(r->must & ~bit) | IB_QP_STATE));
		else
			expect_true(ib_modify_qp_is_ok(r->from, r->to, type,
						       r->must | bit | IB_QP_STATE) == may);
	}
}

static void no_way(struct tb *tb, enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to)
{
	expect_true(!ib_modify_qp_is_ok(from, to, type, IB_QP_STATE));
	for (unsigned must = 0; must < sizeof(rows) / sizeof(rows[0]); must++)
		expect_true(!ib_modify_qp_is_ok(from, to, type, rows[must].must | IB_QP_STATE));
}

static void ways(struct tb *tb, enum ib_qp_type type, unsigned bit)
{
	for (unsigned from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
		for (unsigned to = IB_QPS_RESET; to <= IB_QPS_ERR && still_right(); to++) {
			const struct row *r = row_of(bit, from, to);

			name_row("type %u from %u to %u", type, from, to);
			if (r)
				way_check(tb, type, r);
			else
				no_way(tb, type, from, to);
		}
}

/* All that a drained queue pair may change of both its halves. */
static void drained(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_SQD,
				  .max_rd_atomic = 1,
				  .max_dest_rd_atomic = 2,
				  .min_rnr_timer = 5,
				  .retry_cnt = 3,
				  .rnr_retry = 4,
				  .timeout = 12};
	struct ib_qp_init_attr init;
	struct kv x, y;

	if (!kv_open(a, &x) || !kv_open(b, &y) || !kv_connect(&x, &y))
		return;
	must(ib_modify_qp(x.qp, &attr, IB_QP_STATE));
	pass_time(CFG_US(50));
	must(ib_modify_qp(x.qp, &attr, IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER));
	must(ib_modify_qp(x.qp, &attr,
			  IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_TIMEOUT |
				  IB_QP_MAX_QP_RD_ATOMIC));
	must_fail(-EINVAL, ib_modify_qp(x.qp, &attr, IB_QP_SQ_PSN));
	attr = (struct ib_qp_attr){0};
	must(ib_query_qp(x.qp, &attr, 0, &init));
	expect_equal(attr.max_dest_rd_atomic, 2);
	expect_equal(attr.max_rd_atomic, 1);
	expect_equal(attr.min_rnr_timer, 5);
	expect_equal(attr.retry_cnt, 3);
	expect_equal(attr.rnr_retry, 4);
	expect_equal(attr.timeout, 12);
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(x.qp, &attr, IB_QP_STATE));
	kv_close(&x);
	kv_close(&y);
}

SCENARIO(kernel_states, "kernel verbs: which attributes each transition must have, and may have",
	 .no_qps = true, .any_packets = true)
{
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		ways(tb, types[i].type, types[i].bit);
	name_row("%s", "");
	drained(tb, a, b);
}
