/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets what comes to QP1. Two callers wait, and are answered in the other order: each gets the
 * answer with its own transaction id. An answer that comes twice, one with another id and one that
 * comes after its caller has given up reach nobody, also while somebody else waits. A caller gives
 * up when its time is over, not before and not later. A request goes to the server of its class, and
 * without one to the handler of all others.
 */
#include "testbench/manage.h"

enum { PORT = 1, CLASS = 0x30, OTHER_CLASS = 0x33, MADS = 16, MARK_AT = 100, TIMEOUT_MS = 3 };

struct server {
	struct drv_device *dev;
	unsigned n, wrong, qpn;
	struct smp mads[MADS];
	struct drv_mad_addr from[MADS];
};

static void serve(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct server *s = arg;

	s->wrong += port != PORT || qpn != QPN_GSI || wc->src_qp != QPN_GSI ||
		    from->qpn != QPN_GSI || from->qkey != QKEY_GSI || from->dlid != wc->slid;
	s->mads[s->n % MADS] = *mad;
	s->from[s->n++ % MADS] = *from;
}

struct caller {
	struct tb_end *end;
	struct drv_mad_addr to;
	uint64_t timeout_ps;
	struct smp request, response;
	int rc;
	bool ended;
};

static void call(void *arg)
{
	struct caller *c = arg;

	c->rc = drv_mad_call(c->end->dev, PORT, QPN_GSI, &c->to, &c->request, &c->response,
			     c->timeout_ps);
	c->ended = true;
}

/* Begins a call in a thread of its own, and waits until its request is there. */
static void begin(struct tb *tb, struct caller *c, struct server *s, uint64_t timeout_ps)
{
	const unsigned n = s->n;

	*c = (struct caller){.end = c->end,
			     .to = c->to,
			     .timeout_ps = timeout_ps,
			     .request = mad_of(CLASS, MAD_METHOD_GET, 0)};
	c->end->platform->ops->thread_start(c->end->platform, "caller", call, c);
	for (unsigned i = 0; i < 500 && s->n == n; i++)
		pass_time(CFG_US(1));
	expect_equal(s->n, n + 1);
	expect_equal(mad_hdr_get_tid(smp_hdr(&s->mads[n % MADS])),
		     mad_hdr_get_tid(smp_hdr(&c->request)));
}

static void answer(struct tb *tb, struct server *s, unsigned i, uint8_t mark, uint64_t other_tid)
{
	struct smp mad = s->mads[i % MADS];

	mad_hdr_set_method(smp_hdr(&mad), MAD_METHOD_GET_RESP);
	mad_hdr_set_tid(smp_hdr(&mad), mad_hdr_get_tid(smp_hdr(&mad)) ^ other_tid);
	mad.b[MARK_AT] = mark;
	must(drv_mad_send(s->dev, PORT, QPN_GSI, &s->from[i % MADS], &mad));
	pass_time(CFG_US(300));
}

static void got(struct tb *tb, const struct caller *c, uint8_t mark)
{
	expect_true(c->ended);
	expect_equal(c->rc, 0);
	expect_equal(c->response.b[MARK_AT], mark);
	expect_equal(mad_hdr_get_tid(smp_hdr_const(&c->response)),
		     mad_hdr_get_tid(smp_hdr_const(&c->request)));
}

static void callers(struct tb *tb, struct caller *x, struct caller *y, struct server *s)
{
	uint64_t begun;

	begin(tb, x, s, CFG_S(5));
	begin(tb, y, s, CFG_S(5));
	answer(tb, s, 1, 'y', 0);
	expect_true(!x->ended);
	got(tb, y, 'y');
	answer(tb, s, 1, 'z', 0);
	answer(tb, s, 0, 'z', UINT64_C(1) << 60);
	answer(tb, s, 0, 'z', UINT64_C(1) << 33);
	expect_true(!x->ended);
	expect_equal(y->response.b[MARK_AT], 'y');
	answer(tb, s, 0, 'x', 0);
	got(tb, x, 'x');
	phase("time");
	begin(tb, x, s, CFG_MS(TIMEOUT_MS));
	begun = tb_now(tb);
	pass_time(CFG_MS(TIMEOUT_MS) - CFG_US(700));
	expect_true(!x->ended);
	pass_time(CFG_US(1000));
	expect_true(x->ended);
	expect_equal(x->rc, -ETIMEDOUT);
	expect_that(tb_now(tb) - begun, <, CFG_MS(TIMEOUT_MS + 1));
	begin(tb, y, s, CFG_S(5));
	answer(tb, s, 2, 'x', 0);
	expect_true(!y->ended);
	answer(tb, s, 3, 'w', 0);
	got(tb, y, 'w');
	expect_equal(x->response.b[MARK_AT], 0);
}

static void handlers(struct tb *tb, struct tb_end *a, struct tb_end *b, struct drv_mad_addr to,
		     struct server *s)
{
	static const struct {
		const char *name;
		unsigned mgmt_class;
		bool served, handled; /* whether there is a server of CLASS, and a handler */
		unsigned to_server, to_handler;
	} rows[] = {{"its server", CLASS, true, true, 1, 0},
		    {"another class", OTHER_CLASS, true, true, 0, 1},
		    {"its server, and no handler", CLASS, true, false, 1, 0},
		    {"another class, and no handler", OTHER_CLASS, true, false, 0, 0},
		    {"no server", CLASS, false, true, 0, 1},
		    {"nobody", CLASS, false, false, 0, 0}};
	struct server all = {.dev = b->dev}, other = {.dev = b->dev};

	/* somebody else's class, before that one and behind it */
	must(drv_mad_serve(b->dev, PORT, OTHER_CLASS + 1, serve, &other));

	for_each_row(i, rows) {
		struct smp mad = mad_of(rows[i].mgmt_class, MAD_METHOD_SEND, 0);
		const unsigned n = s->n, m = all.n;

		name_row("%s", rows[i].name);
		drv_mad_unserve(b->dev, PORT, CLASS);
		if (rows[i].served)
			must(drv_mad_serve(b->dev, PORT, CLASS, serve, s));
		drv_mad_register(b->dev, PORT, rows[i].handled ? serve : NULL, &all);
		must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
		pass_time(CFG_US(300));
		expect_equal(s->n - n, rows[i].to_server);
		expect_equal(all.n - m, rows[i].to_handler);
	}
	expect_equal(all.wrong, 0);
	expect_equal(other.n, 0);
	drv_mad_unserve(b->dev, PORT, OTHER_CLASS + 1);
}

SCENARIO(mad_answers, "answers in another order, twice, late; who handles a request",
	 .no_qps = true, .any_packets = true)
{
	const struct drv_mad_addr to = {
		.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct caller x = {.end = a, .to = to}, y = x;
	struct server s = {.dev = b->dev};

	must(drv_mad_serve(b->dev, PORT, CLASS, serve, &s));
	phase("order");
	callers(tb, &x, &y, &s);
	phase("handlers");
	handlers(tb, a, b, to, &s);
	expect_equal(s.wrong, 0);
	if (!a->ethernet)
		expect_equal(s.from[0].dlid, a->lid);
}
