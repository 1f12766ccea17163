/* SPDX-License-Identifier: Apache-2.0 */
/* Questions on another service level than 0: the answer goes back on the same one. */
/* behaviours: IBA-13.5-way-back */
#include "testbench/manage.h"

enum { PORT = 1, SL = 13, ANSWER_MS = 100, CLASS = 0x31 };

struct seen {
	struct drv_device *dev;
	unsigned requests, sl;
};

static void serve(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct seen *s = arg;
	struct smp answer = *mad;

	s->requests++;
	s->sl = wc->sl;
	mad_hdr_set_method(smp_hdr(&answer), MAD_METHOD_GET_RESP);
	drv_mad_send(s->dev, port, qpn, from, &answer);
}

SCENARIO(mad_service_level,
	 "questions on service level 13 are answered on it, by device and by host")
{
	const struct drv_mad_addr to = {.dlid = b->lid, .sl = SL, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct seen seen = {.dev = b->dev};
	const unsigned classes[] = {MAD_CLASS_PERF, CLASS};

	check_mads();
	must(drv_mad_serve(b->dev, PORT, CLASS, serve, &seen));
	for_each_row(i, classes) {
		struct smp request = mad_of(classes[i], MAD_METHOD_GET, PMA_ATTR_CLASS_PORT_INFO);
		struct smp answer = {0};

		name_row("class 0x%02x", classes[i]);
		must(drv_mad_call(a->dev, PORT, QPN_GSI, &to, &request, &answer,
				  CFG_MS(ANSWER_MS)));
		expect_equal(mad_hdr_get_method(smp_hdr(&answer)), MAD_METHOD_GET_RESP);
		expect_mad(a_to_b, .sl = SL);
		expect_mad(b_to_a, .sl = SL);
	}
	expect_equal(seen.requests, 1);
	expect_equal(seen.sl, SL);
	ignore_mads();
	drv_mad_unserve(b->dev, PORT, CLASS);
}
