/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way when a user of management datagrams ends, or when the port's agent stops. A user has
 * ended only when the handler of its last datagram has returned. Others may serve its class, or another
 * one, before that: they get what comes later, and end like any other, and there is then room for as many
 * users as before. The agent stops while one thread
 * waits for an answer and more datagrams wait than its send queue holds: the thread is told, what waits is
 * given back, and the port comes up again with a new agent. An agent that cannot start, because memory or a
 * command is refused, leaves nothing behind, and the next one starts.
 */
#include "testbench/harm.h"
#include "testbench/manage.h"
#include "testbench/programs.h"

enum {
	PORT = 1,
	CLASS = 0x30,
	OTHER_CLASS = 0x33,
	FREE_CLASSES = 0x40,
	SERVERS_MAX = 8,
	MADS = 200
};

struct handling {
	struct platform *platform;
	unsigned begun, ended;
};

static void handle(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		   const struct drv_mad_addr *from, const struct smp *mad)
{
	struct handling *h = arg;

	h->begun++;
	h->platform->ops->sleep_ps(h->platform, CFG_US(500));
	h->ended++;
}

static void handler_runs(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {
		.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0);
	struct handling h = {.platform = b->platform};

	/* also one that is not the first */
	must(drv_mad_serve(b->dev, PORT, OTHER_CLASS, handle, &h));
	must(drv_mad_serve(b->dev, PORT, CLASS, handle, &h));
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	for (unsigned i = 0; i < 100 && !h.begun; i++)
		pass_time(CFG_US(1));
	expect_equal(h.begun, 1);
	drv_mad_unserve(b->dev, PORT, CLASS);
	expect_equal(h.ended, 1);
	drv_mad_unserve(b->dev, PORT, OTHER_CLASS);
}

/* How many more classes can be served. */
static unsigned room(struct tb *tb, struct tb_end *b)
{
	unsigned n = 0;

	while (n < SERVERS_MAX && !drv_mad_serve(b->dev, PORT, FREE_CLASSES + n, handle, NULL))
		n++;
	must_fail(-ENOSPC, drv_mad_serve(b->dev, PORT, FREE_CLASSES + n, handle, NULL));
	for (unsigned i = 0; i < n; i++)
		drv_mad_unserve(b->dev, PORT, FREE_CLASSES + i);
	return n;
}

struct leaver {
	struct tb_end *end;
	unsigned mgmt_class;
	bool begun, ended;
};

static void leave(void *arg)
{
	struct leaver *l = arg;

	l->begun = true;
	drv_mad_unserve(l->end->dev, PORT, l->mgmt_class);
	l->ended = true;
}

static void leave_in_thread(struct tb *tb, struct leaver *l)
{
	l->end->platform->ops->thread_start(l->end->platform, "leaver", leave, l);
	pass_time(CFG_US(50));
	expect_true(l->begun);
}

/* static: when the scenario fails, they are used after the return */
static struct handling first, next, other;
static struct leaver l, m, n;

/* A user leaves while its handler runs, and others come. */
static void others_come(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {
		.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0),
		   other_mad = mad_of(OTHER_CLASS, MAD_METHOD_SEND, 0);
	const unsigned before = room(tb, b);

	first = next = other = (struct handling){.platform = b->platform};
	l = m = n = (struct leaver){.end = b, .mgmt_class = CLASS};
	n.mgmt_class = OTHER_CLASS;
	expect_that(before, >=, 3);
	must(drv_mad_serve(b->dev, PORT, CLASS, handle, &first));
	must_fail(-EBUSY, drv_mad_serve(b->dev, PORT, CLASS, handle, &next));
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	for (unsigned i = 0; i < 100 && !first.begun; i++)
		pass_time(CFG_US(1));
	leave_in_thread(tb, &l);
	expect_true(!l.ended && !first.ended);
	expect_equal(room(tb, b), before - 1);
	must(drv_mad_serve(b->dev, PORT, OTHER_CLASS, handle, &other));
	must(drv_mad_serve(b->dev, PORT, CLASS, handle, &next));
	must_fail(-EBUSY, drv_mad_serve(b->dev, PORT, CLASS, handle, &first));
	expect_equal(room(tb, b), before - 3);
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &other_mad));
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	expect_true(!l.ended && !first.ended);
	for (unsigned i = 0; i < 1000 && !first.ended; i++)
		pass_time(CFG_US(1));
	pass_time(CFG_US(50));
	expect_true(l.ended);
	expect_equal(room(tb, b), before - 2);
	pass_time(CFG_MS(2));
	expect_equal(first.begun, 1);
	expect_equal(other.ended, 1);
	expect_equal(next.ended, 1);
	leave_in_thread(tb, &n);
	expect_true(n.ended);
	leave_in_thread(tb, &m);
	expect_true(m.ended);
	expect_equal(room(tb, b), before);
}

struct caller {
	struct tb_end *end;
	struct drv_mad_addr to;
	int rc;
	bool begun, ended;
};

/* Nobody serves the class, so no answer comes. */
static void call(void *arg)
{
	struct caller *c = arg;
	struct smp mad = mad_of(CLASS, MAD_METHOD_GET, 0), response;

	c->begun = true;
	c->rc = drv_mad_call(c->end->dev, PORT, QPN_GSI, &c->to, &mad, &response, CFG_S(5));
	c->ended = true;
}

/* Sends all the time. `late`: while the agent ends a MAD was still taken. */
static struct sender {
	struct tb_end *end;
	struct drv_mad_addr to;
	unsigned taken, late, refused;
	bool stopping, ended;
} busy;

static void send_on_and_on(void *arg)
{
	struct platform *p = busy.end->platform;
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0);

	(void)arg;
	while (!busy.refused) {
		const bool stopping = busy.stopping;
		const int rc = drv_mad_send(busy.end->dev, PORT, QPN_GSI, &busy.to, &mad);

		busy.taken += !rc;
		busy.late += !rc && stopping;
		busy.refused += rc == -ENODEV;
		p->ops->sleep_ps(p, CFG_US(2));
	}
	busy.ended = true;
}

static void agent_busy(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct caller c = {
		.end = a, .to = {.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)}};
	const struct drv_mad_addr to_smi = {.dlid = b->lid, .qpn = QPN_SMI};
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0),
		   smp = mad_of(MAD_CLASS_SUBN_LID, MAD_METHOD_SEND, 0);

	a->platform->ops->thread_start(a->platform, "caller", call, &c);
	pass_time(CFG_US(20));
	expect_true(c.begun && !c.ended);
	for (unsigned i = 0; i < MADS && still_right(); i++)
		must(drv_mad_send(a->dev, PORT, QPN_GSI, &c.to, &mad));
	for (unsigned i = 0; !a->ethernet && i < MADS && still_right(); i++)
		must(drv_mad_send(a->dev, PORT, QPN_SMI, &to_smi, &smp));
	busy = (struct sender){.end = a, .to = c.to};
	a->platform->ops->thread_start(a->platform, "sender", send_on_and_on, NULL);
	pass_time(CFG_US(10));
	busy.stopping = true;
	must(drv_port_down(a->dev, PORT));
	for (unsigned i = 0; i < 20 && (!c.ended || !busy.ended); i++)
		pass_time(CFG_US(10));
	expect_that(busy.taken, >, 0);
	expect_equal(busy.late, 0);
	expect_true(busy.ended);
	expect_true(c.ended);
	expect_equal(c.rc, -ENODEV);
	must_fail(-ENODEV, drv_mad_send(a->dev, PORT, QPN_GSI, &c.to, &mad));
	must(drv_port_up(a->dev, PORT));
}

/* A port without an agent. */
static void not_started(struct tb *tb, struct tb_end *a, unsigned held)
{
	const struct drv_mad_addr to = {.dlid = a->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0);

	expect_equal(driver_holds(a->dev), held);
	must_fail(-ENODEV, drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
}

/* What is contiguous can also be had in pieces, so not each lack is an error. */
static void without_memory(struct tb *tb, struct tb_end *a, unsigned held)
{
	bool lacked = true;

	for (unsigned nth = 1; lacked && still_right(); nth++) {
		int rc;

		name_row("allocation %u", nth);
		lack_memory(nth);
		rc = drv_port_up(a->dev, PORT);
		lacked = lack_memory(0);
		expect_true(!rc || (lacked && rc == -ENOMEM));
		if (!rc)
			must(drv_port_down(a->dev, PORT));
		not_started(tb, a, held);
	}
}

static void without_command(struct tb *tb, struct tb_end *a, unsigned held)
{
	bool refused = !tb_in_software(a);

	for (unsigned nth = 1; refused && still_right(); nth++) {
		int rc;

		name_row("command %u", nth);
		refuse_command(a, nth, HCR_STATUS_BAD_RES_STATE);
		rc = drv_port_up(a->dev, PORT);
		refused = refuse_command(a, 0, 0);
		expect_equal(rc, refused ? -EBADF : 0);
		if (!rc)
			must(drv_port_down(a->dev, PORT));
		not_started(tb, a, held);
	}
}

static void agent_starts(struct tb *tb, struct tb_end *a)
{
	unsigned held;

	must(drv_port_down(a->dev, PORT));
	held = driver_holds(a->dev);
	without_memory(tb, a, held);
	without_command(tb, a, held);
	name_row("%s", "");
	must(drv_port_up(a->dev, PORT));
}

SCENARIO(agent_stops,
	 "an agent stops, and its users end, with calls, datagrams and handlers under way",
	 .no_qps = true, .any_packets = true)
{
	ignore_events(a);
	ignore_events(b);
	phase("handler");
	handler_runs(tb, a, b);
	phase("others");
	others_come(tb, a, b);
	phase("agent");
	agent_busy(tb, a, b);
	phase("start");
	agent_starts(tb, a);
}
