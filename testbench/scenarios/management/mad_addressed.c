/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Management datagrams in which no two members of the address are equal. Each service level has a lane of
 * its own table at either end, and an answer takes the lane of its sender's table. They leave from each of the
 * LIDs of a port to each of the other's, and the answer comes back between the same two. One goes to a queue
 * pair of a program with a Q_Key of its own. A burst on both queue pairs of the agent, more than they hold:
 * each arrives once, whole, and as it was addressed, whether it had to wait or not. Questions with another
 * P_Key of the port and with a GRH are answered; one that is too short is none.
 */
/* behaviours: IBA-13.5-way-back */
#include "testbench/manage.h"

enum {
	PORT = 1,
	SLS = 16,
	LANES = 8,
	LMC = 2,
	LIDS = 1 << LMC,
	CLASS = 0x31,
	QKEY = 0x00abcdef,
	OTHER = 0x8055,
	GRH = 40,
	MADS = 300, /* in each of both queues */
	ANSWER_MS = 100
};

/* --- lanes --- */

/* No two service levels of eight in a row have the same lane, and none has that of 8 further on. */
static unsigned lane_of(unsigned hops, unsigned sl)
{
	return (hops ? 5 * sl + 3 : 3 * sl + sl / LANES) % LANES ^ (hops && sl >= LANES ? 2 : 0);
}

static void tables_set(struct tb *tb, struct tb_end *a)
{
	struct smp answer;

	for (unsigned hops = 0; hops < 2; hops++) {
		struct sl2vl table = {0};

		for (unsigned sl = 0; sl < SLS; sl++)
			sl2vl_set(&table, sl, lane_of(hops, sl));
		ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_SL2VL, .hops = hops,
		    .data = &table);
	}
}

static void lanes(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO),
		   answer;

	phase("lanes");
	tables_set(tb, a);
	pass_time(CFG_US(100));
	check_mads();
	for (unsigned sl = 0; sl < SLS && still_right(); sl++) {
		const struct drv_mad_addr to = {
			.dlid = b->lid, .sl = sl, .qpn = QPN_GSI, .qkey = QKEY_GSI};

		name_row("service level %u", sl);
		must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer,
				  CFG_MS(ANSWER_MS)));
		expect_mad(a_to_b, .sl = sl, .vl = lane_of(0, sl));
		expect_mad(b_to_a, .sl = sl, .vl = lane_of(1, sl));
	}
	name_row("%s", "");
	ignore_mads();
}

/* --- LIDs --- */

struct server {
	struct drv_device *dev;
	unsigned slid, bits, sl;
};

static void serve(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct server *s = arg;
	struct smp answer = *mad;

	s->slid = wc->slid;
	s->bits = wc->dlid_path_bits;
	s->sl = wc->sl;
	mad_hdr_set_method(smp_hdr(&answer),
			   mad_hdr_get_method(smp_hdr_const(mad)) | MAD_RESPONSE_BIT);
	drv_mad_send(s->dev, port, qpn, from, &answer);
}

/* Class PERF is answered by the device's agent, CLASS by the host. */
static void lids(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct server s = {.dev = b->dev};

	phase("LIDs");
	must(drv_mad_serve(b->dev, PORT, CLASS, serve, &s));
	check_mads();
	for (unsigned i = 0; i < 2 * LIDS * LIDS && still_right(); i++) {
		const unsigned from = i % LIDS, at = i / LIDS % LIDS;
		const bool host = i >= LIDS * LIDS;
		const struct drv_mad_addr to = {.dlid = b->lid + at,
						.sl = 1 + from,
						.path_bits = from,
						.qpn = QPN_GSI,
						.qkey = QKEY_GSI};
		/* any method has its answer */
		struct smp request = mad_of(host ? CLASS : MAD_CLASS_PERF,
					    host && from ? MAD_METHOD_REPORT : MAD_METHOD_GET,
					    PMA_ATTR_CLASS_PORT_INFO),
			   answer;

		name_row("from LID %u to LID %u of class 0x%02x", from, at,
			 host ? CLASS : MAD_CLASS_PERF);
		must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer,
				  CFG_MS(ANSWER_MS)));
		expect_mad(a_to_b, .slid = a->lid + from, .dlid = b->lid + at, .sl = 1 + from);
		expect_mad(b_to_a, .slid = b->lid + at, .dlid = a->lid + from, .sl = 1 + from);
		if (!host)
			continue;
		expect_equal(s.slid, a->lid + from);
		expect_equal(s.bits, at);
		expect_equal(s.sl, 1 + from);
	}
	name_row("%s", "");
	ignore_mads();
	drv_mad_unserve(b->dev, PORT, CLASS);
}

/* --- a queue pair of a program --- */

static void to_program(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0x1234);
	struct drv_qp *qp = new_qp(b, .type = IBV_QPT_UD);
	struct drv_mad_addr to = {.dlid = b->lid + 2, .sl = 9, .path_bits = 1, .qkey = QKEY};

	phase("a queue pair");
	if (!still_right())
		return;
	to.qpn = drv_qp_num(qp);
	start_ud(qp, QKEY, 0);
	recv_on(b, qp, .wr_id = 1, .len = GRH + MAD_BYTES);
	memset(b->loose, 1, GRH + MAD_BYTES);
	for (unsigned i = 0; i < 200; i++)
		mad.b[MAD_BYTES - 200 + i] = (uint8_t)(i * 7 + 1);
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	expect_cqe(b, .wr_id = 1, .on = qp);
	expect_true(!memcmp(b->dst + GRH, &mad, sizeof(mad)));
	destroy_qp(qp);
}

/* --- more than the queues hold --- */

struct crowd {
	struct tb_end *a, *b;
	unsigned heard[2], wrong;
};

static struct drv_mad_addr to_of(const struct crowd *c, unsigned qpn, unsigned i)
{
	return (struct drv_mad_addr){.dlid = c->b->lid + i / LIDS % LIDS,
				     .sl = qpn ? i % SLS : 0,
				     .path_bits = i % LIDS,
				     .qpn = qpn,
				     .qkey = qpn ? QKEY_GSI : 0};
}

static struct smp mad_number(unsigned qpn, unsigned i)
{
	struct smp mad = mad_of(qpn ? CLASS : MAD_CLASS_SUBN_LID, MAD_METHOD_SEND, 0x77);

	mad_hdr_set_tid(smp_hdr(&mad), i);
	for (unsigned k = 64; k < MAD_BYTES; k++)
		mad.b[k] = (uint8_t)(i * 31 + k + qpn);
	return mad;
}

static void hear(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		 const struct drv_mad_addr *from, const struct smp *mad)
{
	struct crowd *c = arg;
	const unsigned i = (unsigned)mad_hdr_get_tid(smp_hdr_const(mad));
	const struct drv_mad_addr to = to_of(c, qpn, i);
	const struct smp was = mad_number(qpn, i);

	c->heard[qpn]++;
	c->wrong += port != PORT || memcmp(mad, &was, sizeof(was)) || wc->sl != to.sl ||
		    wc->slid != c->a->lid + to.path_bits ||
		    wc->dlid_path_bits != to.dlid - c->b->lid || from->dlid != wc->slid;
}

static void crowd(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct crowd c = {.a = a, .b = b}, before = c;

	phase("crowd");
	drv_mad_register(b->dev, PORT, hear, &before);
	drv_mad_register(b->dev, PORT, NULL, NULL);
	drv_mad_register(b->dev, PORT, hear, &c);
	for (unsigned k = 0; k < 2 * MADS && still_right(); k++) {
		const unsigned qpn = k & 1, i = k / 2;
		const struct drv_mad_addr to = to_of(&c, qpn, i);
		const struct smp mad = mad_number(qpn, i);

		must(drv_mad_send(a->dev, PORT, qpn, &to, &mad));
	}
	pass_time(CFG_MS(2));
	expect_equal(c.heard[QPN_SMI], MADS);
	expect_equal(c.heard[QPN_GSI], MADS);
	expect_equal(c.wrong, 0);
	expect_equal(before.heard[QPN_SMI] + before.heard[QPN_GSI], 0);
	drv_mad_register(b->dev, PORT, NULL, NULL);
}

/* --- other headers --- */

/* With the second P_Key of the port, and with a GRH: the device's agent is told of both. */
static void other_headers(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct smp request = mad_of(MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO);

	phase("other headers");
	write_pkeys(a, 1, 1, PKEY_DEFAULT, OTHER);
	expect_event(b, IBV_EVENT_PKEY_CHANGE);
	pass_time(CFG_US(100));
	check_mads();
	for (unsigned i = 0; i < 4 && still_right(); i++) {
		name_row("P_Key %u, GRH %u", i & 1, i >> 1);
		inject(b, UD_SEND_ONLY, .qpn = QPN_GSI, .src_qpn = QPN_GSI, .qkey = QKEY_GSI,
		       .pkey = i & 1 ? OTHER : PKEY_DEFAULT, .grh = i >> 1,
		       .payload = (const void *)&request, .len = sizeof(request));
		expect_mad(b_to_a, .qpn = QPN_GSI);
		/* one that is too short is none */
		inject(b, UD_SEND_ONLY, .qpn = QPN_GSI, .src_qpn = QPN_GSI, .qkey = QKEY_GSI,
		       .payload = (const void *)&request, .len = sizeof(request) - 4);
		expect_no_more(CFG_US(50));
	}
	name_row("%s", "");
	ignore_mads();
}

SCENARIO(mad_addressed, "MADs on each service level, between each two LIDs, and many at once",
	 .lmc = LMC, .data_vls = LANES)
{
	ignore_packets();
	lanes(tb, a, b);
	lids(tb, a, b);
	to_program(tb, a, b);
	crowd(tb, a, b);
	other_headers(tb, a, b);
}
