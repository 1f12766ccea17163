/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents send more MADs at once than their send queues have entries. None is lost, and they leave
 * in the order in which they were sent, as Linux's ib_mad promises: what does not fit waits, and goes the
 * way that it was to go, with its own service level and path.
 * Meanwhile QP0 has sends of its own under way, in which nobody is interested.
 */
#include "testbench/manage.h"

enum { CLASS = 0x30, MADS = 400, SMPS = 100, PORT = 1, SLS = 16, PATHS = 4 /* of LMC 2 */ };

struct counter {
	unsigned heard, out_of_order, other_way, lid;
};

/* The nth MAD is sent on this way. */
static struct drv_mad_addr way_of(unsigned lid, unsigned n)
{
	return (struct drv_mad_addr){.dlid = lid + n % PATHS,
				     .sl = n % SLS,
				     .path_bits = n / PATHS % PATHS,
				     .qpn = QPN_GSI,
				     .qkey = QKEY_GSI};
}

static void heard(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct counter *c = arg;
	const struct drv_mad_addr way = way_of(0, c->heard);

	if (qpn != QPN_GSI)
		return;
	c->other_way += wc->sl != way.sl || wc->dlid_path_bits != way.dlid ||
			from->dlid != c->lid + way.path_bits || port != PORT;
	c->out_of_order += mad_hdr_get_tid(smp_hdr_const(mad)) != c->heard;
	c->heard++;
}

SCENARIO(mad_burst, "more MADs at once than a send queue holds: all arrive, in order", .lmc = 2)
{
	struct counter c = {.lid = a->lid};
	const struct drv_mad_addr to_smi = {.dlid = b->lid, .qpn = QPN_SMI};
	struct smp mad = mad_of(CLASS, MAD_METHOD_SEND, 0), smp;

	ignore_packets();
	expect_equal(drv_mad_serve(b->dev, PORT, CLASS, heard, &c), 0);
	smp = mad;
	mad_hdr_set_mgmt_class(smp_hdr(&smp), MAD_CLASS_SUBN_LID);
	for (unsigned i = 0; i < SMPS && still_right(); i++)
		expect_equal(drv_mad_send(a->dev, PORT, QPN_SMI, &to_smi, &smp), 0);
	for (unsigned i = 0; i < MADS && still_right(); i++) {
		const struct drv_mad_addr to = way_of(b->lid, i);

		mad_hdr_set_tid(smp_hdr(&mad), i);
		expect_equal(drv_mad_send(a->dev, PORT, QPN_GSI, &to, &mad), 0);
	}
	pass_time(CFG_MS(1));
	expect_equal(c.heard, MADS);
	expect_equal(c.out_of_order, 0);
	expect_equal(c.other_way, 0);
	drv_mad_unserve(b->dev, PORT, CLASS);
}
