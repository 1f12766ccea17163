/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the MAD interface with wrong arguments, each with its errno. A class has one server, and
 * a port has room for a few. Directed-route requests that arrive with a wrong hop pointer, hop
 * count or direction are discarded. What the device refuses to execute is an error for the own
 * host, and no answer for another. A MAD for which there is neither place in the send queue nor
 * memory is refused, and those behind it go on.
 */
/* behaviours: MAD-1 FAULT-command-status FAULT-no-memory */
#include "testbench/harm.h"
#include "testbench/manage.h"

enum {
	PORT = 1,
	NO_PORT = 9,
	NO_QPN = 2,
	CLASS = 0x30,
	OTHER = 0x8055,
	SERVERS_MAX = 16,
	MADS = 300,
	ANSWER_MS = 20
};

struct counter {
	unsigned heard, out_of_order;
	uint64_t last;
};

static void heard(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct counter *c = arg;

	(void)port;
	(void)qpn;
	(void)wc;
	(void)from;
	c->out_of_order += mad_hdr_get_tid(smp_hdr_const(mad)) <= c->last;
	c->last = mad_hdr_get_tid(smp_hdr_const(mad));
	c->heard++;
}

static void places(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct smp mad, answer;
	uint8_t data[smp_data_size];
	struct counter c = {0};

	mad = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
	must_fail(-ENODEV, drv_mad_send(a->dev, NO_PORT, QPN_GSI, &to, &mad));
	must_fail(-ENODEV, drv_mad_send(a->dev, 0, QPN_GSI, &to, &mad));
	must_fail(-ENODEV, drv_mad_send(a->dev, PORT, NO_QPN, &to, &mad));
	must_fail(-ENODEV, drv_mad_call(a->dev, NO_PORT, QPN_GSI, &to, &mad, &answer, 1));
	must_fail(-ENODEV, drv_mad_call(a->dev, PORT, NO_QPN, &to, &mad, &answer, 1));
	must_fail(-ENODEV, drv_mad_serve(a->dev, NO_PORT, CLASS, heard, &c));
	must_fail(-EINVAL, drv_agent_start(a->dev, NO_PORT));
	must(drv_agent_start(a->dev, PORT)); /* it runs already */
	must_fail(-EIO, drv_smp_get(a->dev, PORT, SMP_ATTR_SWITCH_INFO, 0, data));
	drv_mad_register(a->dev, NO_PORT, heard, &c);
	drv_mad_unserve(a->dev, NO_PORT, CLASS);
	drv_mad_unserve(a->dev, PORT, CLASS);
}

static void servers(struct tb *tb, struct tb_end *b)
{
	struct counter c = {0};
	unsigned n = 0;
	int rc = 0;

	must(drv_mad_serve(b->dev, PORT, CLASS, heard, &c));
	must_fail(-EBUSY, drv_mad_serve(b->dev, PORT, CLASS, heard, &c));
	while (!rc && n < SERVERS_MAX)
		rc = drv_mad_serve(b->dev, PORT, CLASS + ++n, heard, &c);
	expect_equal(rc, -ENOSPC);
	expect_that(n, >, 1);
	drv_mad_unserve(b->dev, PORT, CLASS + 1);
	must(drv_mad_serve(b->dev, PORT, CLASS + n, heard, &c));
	for (unsigned i = 0; i <= n; i++)
		drv_mad_unserve(b->dev, PORT, CLASS + i);
}

/* What arrives: the wire changes one byte of a Set, which has no effect then. */
static void routes_in(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		const char *name;
		unsigned at, bits;
	} rows[] = {{"one that should have gone further back", POINTER_AT, 1},
		    {"one that should have gone further", COUNT_AT, 2},
		    {"one that has gone too far", POINTER_AT, 2}};
	struct pkey_table table = {{0}};
	struct smp answer;
	uint16_t pkey = OTHER;

	pkey_table_set(&table, 0, PKEY_DEFAULT);
	pkey_table_set(&table, 1, OTHER);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		corrupt_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .offset = rows[i].at,
			     .mask = (uint8_t)rows[i].bits, .fix = FAULT_FIX_BOTH);
		ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PKEY_TABLE, .hops = 1,
		    .data = &table, .silent = true);
		must(drv_query_pkey(b->dev, PORT, 1, &pkey));
		expect_equal(pkey, 0);
	}
	name_row("%s", "a question on the way back");
	corrupt_next(a_to_b, UD_SEND_ONLY, .qpn = QPN_SMI, .offset = DIRECTION_AT, .mask = 0x80,
		     .fix = FAULT_FIX_BOTH);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1, .silent = true);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
}

/* A datagram of subnet management comes to QP0, and any other one to QP1. Source: IBA 13.5.1, Linux
 * validate_mad */
static void wrong_queues(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	static const struct {
		unsigned qpn, mgmt_class, attr;
		bool right;
	} rows[] = {{QPN_GSI, MAD_CLASS_SUBN_LID, SMP_ATTR_PKEY_TABLE, false},
		    {QPN_GSI, MAD_CLASS_SUBN_DR, SMP_ATTR_PKEY_TABLE, false},
		    {QPN_SMI, MAD_CLASS_PERF, CM_ATTR_CLASS_PORT_INFO, false},
		    {QPN_SMI, CLASS, SMP_ATTR_NODE_INFO, false},
		    {QPN_SMI, MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_INFO, true},
		    {QPN_GSI, MAD_CLASS_PERF, CM_ATTR_CLASS_PORT_INFO, true}};
	struct counter c = {0};
	uint16_t pkey = OTHER;

	must(drv_mad_serve(b->dev, PORT, CLASS, heard, &c));
	for_each_row(i, rows) {
		const struct drv_mad_addr to = {
			.dlid = b->lid, .qpn = rows[i].qpn, .qkey = rows[i].qpn ? QKEY_GSI : 0};
		const bool set = rows[i].attr == SMP_ATTR_PKEY_TABLE;
		struct smp answer,
			request = mad_of(rows[i].mgmt_class, set ? MAD_METHOD_SET : MAD_METHOD_GET,
					 rows[i].attr);

		name_row("QP%u, class 0x%02x", rows[i].qpn, rows[i].mgmt_class);
		if (rows[i].mgmt_class == MAD_CLASS_SUBN_DR) {
			mad_hdr_set_hop_count(smp_hdr(&request), 1);
			smp_initial_path_ptr(&request)[1] = PORT;
		}
		pkey_table_set((struct pkey_table *)(void *)smp_data_ptr(&request), 0,
			       PKEY_DEFAULT);
		pkey_table_set((struct pkey_table *)(void *)smp_data_ptr(&request), 1, OTHER);
		must_fail(rows[i].right ? 0 : -ETIMEDOUT,
			  drv_mad_call(a->dev, PORT, rows[i].qpn, &to, &request, &answer,
				       CFG_MS(ANSWER_MS)));
		must(drv_query_pkey(b->dev, PORT, 1, &pkey));
		expect_equal(pkey, 0);
	}
	name_row("%s", "");
	expect_equal(c.heard, 0);
	drv_mad_unserve(b->dev, PORT, CLASS);
}

static void refused_by_device(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = LID_PERMISSIVE, .qpn = QPN_SMI};
	struct smp request, answer;

	request = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
	fail_command(a, HCR_MAD_IFC, HCR_STATUS_BAD_RES_STATE, 1);
	must_fail(-EBADF,
		  drv_mad_call(a->dev, PORT, QPN_SMI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	must(drv_mad_call(a->dev, PORT, QPN_SMI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
	fail_command(b, HCR_MAD_IFC, HCR_STATUS_BAD_RES_STATE, 1);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1, .silent = true);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
}

static void no_place(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct counter c = {0};
	struct smp mad;
	unsigned refused = 0;

	must(drv_mad_serve(b->dev, PORT, CLASS, heard, &c));
	mad = mad_of(CLASS, MAD_METHOD_SEND, SMP_ATTR_NODE_INFO);
	lack_memory(1);
	for (unsigned i = 1; i <= MADS && still_right(); i++) {
		int rc;

		mad_hdr_set_tid(smp_hdr(&mad), i);
		rc = drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad);
		expect_true(!rc || rc == -ENOMEM);
		refused += rc == -ENOMEM;
	}
	expect_true(lack_memory(0));
	expect_equal(refused, 1);
	pass_time(CFG_MS(1));
	expect_equal(c.heard, MADS - 1);
	expect_equal(c.out_of_order, 0);
	drv_mad_unserve(b->dev, PORT, CLASS);
}

SCENARIO(mad_refused, "MADs that are refused or discarded, and servers that find no room")
{
	ignore_packets();
	places(tb, a, b);
	servers(tb, b);
	wrong_queues(tb, a, b);
	routes_in(tb, a, b);
	refused_by_device(tb, a, b);
	no_place(tb, a, b);
}
