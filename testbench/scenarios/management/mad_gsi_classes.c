/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MADs of classes that no agent of the device serves, such as subnet administration and
 * communication management, reach the server that the host has registered. They arrive over the
 * wire or through the port's own LID, as when a manager and its clients share one port. The answers
 * return to the sender of each question.
 */
/* behaviours: MAD-7 IBA-13.5-gsi-dispatch */
#include "testbench/manage.h"

enum { PORT = 1, ATTR_PATH_RECORD = 0x35, ATTR_MCMEMBER = 0x38, MARK = 0x5a };

struct server {
	struct drv_device *dev;
	unsigned requests, slid, src_qp;
};

/* A manager that answers every Get. */
static void serve(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
		  const struct drv_mad_addr *from, const struct smp *mad)
{
	struct server *s = arg;
	struct gmp answer;

	s->requests++;
	s->slid = wc->slid;
	s->src_qp = wc->src_qp;
	memcpy(&answer, mad, sizeof(answer));
	mad_hdr_set_method((struct mad_hdr *)&answer, MAD_METHOD_GET_RESP);
	memset(gmp_data_ptr(&answer), MARK, 8);
	drv_mad_send(s->dev, port, qpn, from, &answer);
}

static const unsigned classes[] = {MAD_CLASS_PERF, MAD_CLASS_VENDOR1, MAD_CLASS_VENDOR2,
				   MAD_CLASS_CC},
		      methods[] = {MAD_METHOD_SEND, MAD_METHOD_TRAP, MAD_METHOD_TRAP_REPRESS};

SCENARIO(mad_gsi_classes, "SA and CM MADs: to whoever serves the class, also on this very port")
{
	struct server s = {.dev = a->dev};
	const uint64_t sent = tb_stat(a, "port1", "xmit_pkts");
	struct smp answer;

	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_ADM, .class_version = 2,
	    .attr = ATTR_PATH_RECORD, .dlid = a->lid, .silent = true);
	drv_mad_register(a->dev, PORT, serve, &s);
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_ADM, .class_version = 2,
	    .attr = ATTR_PATH_RECORD, .dlid = a->lid);
	expect_equal(gmp_data_cptr((const void *)&answer)[0], MARK);
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_ADM, .class_version = 2, .attr = ATTR_MCMEMBER,
	    .dlid = a->lid);
	expect_equal(s.requests, 2);
	expect_equal(s.slid, a->lid);
	expect_equal(s.src_qp, QPN_GSI);
	expect_equal(tb_stat(a, "port1", "xmit_pkts"), sent); /* it stays inside the port */

	ask(b, &answer, .mgmt_class = MAD_CLASS_SUBN_ADM, .class_version = 2,
	    .attr = ATTR_PATH_RECORD, .dlid = a->lid);
	ask(b, &answer, .mgmt_class = MAD_CLASS_CM, .class_version = 2, .attr = 0x10,
	    .dlid = a->lid);
	expect_equal(s.requests, 4);
	expect_equal(s.slid, b->lid);
	/* MADs of classes that the device serves do not reach the host's servers */
	ask(b, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = PMA_ATTR_CLASS_PORT_INFO,
	    .dlid = a->lid);
	expect_equal(s.requests, 4);
	/* but with a method that no agent of the device knows they do. Source: Linux mlx4 ib_process_mad */
	for_each_row(i, classes) {
		for_each_row(k, methods) {
			const unsigned before = s.requests;

			name_row("class 0x%02x, method 0x%02x", classes[i], methods[k]);
			ask(b, &answer, .mgmt_class = classes[i], .method = methods[k],
			    .dlid = a->lid, .maybe_silent = true);
			expect_equal(s.requests, before + 1);
		}
	}
	name_row("%s", "");
	s.requests = 4;
	/* another version of MADs is nobody's */
	ask(b, &answer, .mgmt_class = MAD_CLASS_CM, .class_version = 2, .base_version = 2,
	    .attr = 0x10, .dlid = a->lid, .silent = true);
	expect_equal(s.requests, 4);
	drv_mad_register(a->dev, PORT, NULL, NULL);
	ask(b, &answer, .mgmt_class = MAD_CLASS_CM, .class_version = 2, .attr = 0x10,
	    .dlid = a->lid, .silent = true);
	expect_equal(s.requests, 4);
}
