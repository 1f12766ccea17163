/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams of QP1 from a GID that the port does not have. Each is refused at once, more of them than the send
 * queue holds, and takes no place there. Behind a full queue they wait like the others, and are lost when it
 * is their turn; those before and behind them arrive, each once and in order. The port closes with its agent.
 */
/* behaviours: MAD-1 */
#include "testbench/manage.h"

enum {
	PORT = 1,
	CLASS = 0x31,
	REFUSED = 300,
	ROW = 200,
	MADS = 3 * ROW,
	EVERY = 5,
	LAST_GID = 127
};

struct counter {
	unsigned heard, wrong;
	uint64_t last;
};

/* Those that cannot be sent: some here and there, and more in a row than the send queue holds. */
static bool is_wrong(uint64_t id)
{
	return id % EVERY == 0 || (id > ROW && id <= 2 * ROW);
}

static void hear(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		 const struct drv_mad_addr *from, const struct smp *mad)
{
	struct counter *c = arg;
	const uint64_t id = mad_hdr_get_tid(smp_hdr_const(mad));
	uint64_t next = c->last + 1;

	(void)port;
	(void)qpn;
	(void)wc;
	(void)from;
	while (is_wrong(next))
		next++;
	c->wrong += id != next;
	c->last = id;
	c->heard++;
}

static int send(struct tb_end *a, const struct drv_mad_addr *to, uint64_t id)
{
	struct drv_mad_addr way = *to;
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0);

	mad_hdr_set_tid(smp_hdr(&mad), id);
	if (is_wrong(id))
		way.ah.sgid_index = LAST_GID;
	return drv_mad_send(a->dev, PORT, QPN_GSI, &way, &mad);
}

SCENARIO(roce_mads_refused, "datagrams from a GID that the port does not have", .no_qps = true,
	 .any_packets = true, .of_mlx4 = "Ethernet ports", .settings = {"hca.port1.type=eth"})
{
	const struct drv_mad_addr to = {.qpn = QPN_GSI, .qkey = QKEY_GSI, .ah = ah_to(b)};
	uint8_t none[MAD_BYTES] = {0};
	struct counter c = {0};
	unsigned refused = 0, right = 0;

	must(drv_mad_serve(b->dev, PORT, CLASS, hear, &c));
	for (unsigned i = 0; i < REFUSED && still_right(); i++)
		must_fail(-EINVAL, send(a, &to, EVERY));
	for (unsigned i = 1; i <= MADS && still_right(); i++) {
		const int rc = send(a, &to, i);

		expect_true(!rc || (rc == -EINVAL && is_wrong(i)));
		refused += rc != 0;
		right += !is_wrong(i);
	}
	expect_that(refused, >, 1);
	expect_that(refused, <, MADS - right);
	pass_time(CFG_MS(2));
	expect_equal(c.heard, right);
	expect_equal(c.wrong, 0);
	drv_mad_unserve(b->dev, PORT, CLASS);
	/* the port has no QP0 */
	must_fail(-ENODEV, drv_mad_send(a->dev, PORT, QPN_SMI, &to, none));
	must_fail(-ENODEV, drv_mad_call(a->dev, PORT, QPN_SMI, &to, none, none, CFG_MS(1)));
	ignore_events(a);
	ignore_events(b);
	must(drv_port_down(a->dev, PORT));
	must(drv_port_wait(a->dev, PORT, IBV_PORT_DOWN, tb_now(tb) + CFG_MS(1)));
	must_fail(-ENODEV, send(a, &to, 1));
	must(drv_port_up(a->dev, PORT));
	must(drv_port_wait(a->dev, PORT, IBV_PORT_ACTIVE, tb_now(tb) + CFG_S(5)));
	must(send(a, &to, 1));
}
