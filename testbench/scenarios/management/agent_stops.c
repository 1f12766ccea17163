/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way when a user of management datagrams ends, or when the port's agent stops. A class is
 * free for others only when the handler of its last datagram has returned. The agent stops while one thread
 * waits for an answer and more datagrams wait than its send queue holds: the thread is told, what waits is
 * given back, and the port comes up again with a new agent.
 */
#include "testbench/manage.h"

enum { PORT = 1, CLASS = 0x30, MADS = 200 };

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

static struct smp datagram(unsigned mgmt_class, unsigned method)
{
	struct smp mad = {0};

	mad_hdr_set_base_version(smp_hdr(&mad), MAD_BASE_VERSION);
	mad_hdr_set_class_version(smp_hdr(&mad), 1);
	mad_hdr_set_mgmt_class(smp_hdr(&mad), mgmt_class);
	mad_hdr_set_method(smp_hdr(&mad), method);
	return mad;
}

static void handler_runs(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct drv_mad_addr to = {
		.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	struct smp mad = datagram(CLASS, MAD_METHOD_SEND);
	struct handling h = {.platform = b->platform};

	must(drv_mad_serve(b->dev, PORT, CLASS, handle, &h));
	must(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad));
	for (unsigned i = 0; i < 100 && !h.begun; i++)
		pass_time(CFG_US(1));
	expect_equal(h.begun, 1);
	drv_mad_unserve(b->dev, PORT, CLASS);
	expect_equal(h.ended, 1);
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
	struct smp mad = datagram(CLASS, MAD_METHOD_GET), response;

	c->begun = true;
	c->rc = drv_mad_call(c->end->dev, PORT, QPN_GSI, &c->to, &mad, &response, CFG_S(5));
	c->ended = true;
}

static void agent_busy(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct caller c = {
		.end = a, .to = {.dlid = b->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)}};
	struct smp mad = datagram(CLASS, MAD_METHOD_SEND);

	a->platform->ops->thread_start(a->platform, "caller", call, &c);
	pass_time(CFG_US(20));
	expect_true(c.begun && !c.ended);
	for (unsigned i = 0; i < MADS && still_right(); i++)
		must(drv_mad_send(a->dev, PORT, QPN_GSI, &c.to, &mad));
	must(drv_port_down(a->dev, PORT));
	for (unsigned i = 0; i < 20 && !c.ended; i++)
		pass_time(CFG_US(10));
	expect_true(c.ended);
	expect_equal(c.rc, -ENODEV);
	must_fail(-ENODEV, drv_mad_send(a->dev, PORT, QPN_GSI, &c.to, &mad));
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
	phase("agent");
	agent_busy(tb, a, b);
}
