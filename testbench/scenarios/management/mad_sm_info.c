/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subnet manager asks another one for its SMInfo. The port's own agents know nothing of managers, so the
 * question goes to the manager on the host, and its answer back. Source: IBA 14.2.5.13, 14.4; Linux
 * mlx4's ib_process_mad, which leaves SMInfo to software, too.
 */
/* behaviours: IBA-14.4-sm-info */
#include "testbench/manage.h"

#include <string.h>

enum { PORT = 1, SM_KEY_AT = 8, MARK = 0x5a };

struct manager {
	struct drv_device *dev;
	unsigned asked;
};

static void answer_sm_info(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
			   const struct drv_mad_addr *from, const struct smp *mad)
{
	struct manager *m = arg;
	struct smp answer = *mad;

	if (mad_hdr_get_attr_id(smp_hdr_const(mad)) != SMP_ATTR_SM_INFO)
		return;
	m->asked++;
	if (mad_hdr_get_mgmt_class(smp_hdr_const(mad)) == MAD_CLASS_SUBN_DR)
		return;
	mad_hdr_set_method(smp_hdr(&answer), MAD_METHOD_GET_RESP);
	smp_data_ptr(&answer)[SM_KEY_AT] = MARK;
	drv_mad_send(m->dev, port, qpn, from, &answer);
}

SCENARIO(mad_sm_info, "SMInfo is answered by the manager on the host, not by the device")
{
	struct manager m = {.dev = b->dev};
	struct smp answer;

	ignore_packets();
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_SM_INFO, .dlid = b->lid,
	    .silent = true); /* there is no manager */
	drv_mad_register(b->dev, PORT, answer_sm_info, &m);
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_SM_INFO, .dlid = b->lid);
	expect_equal(smp_data_cptr(&answer)[SM_KEY_AT], MARK);
	expect_equal(m.asked, 1);
	/* on a directed route, too: this manager does not answer that */
	ask(a, &answer, .attr = SMP_ATTR_SM_INFO, .hops = 1, .silent = true);
	expect_equal(m.asked, 2);
	/* the others are the agents' as before */
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_NODE_INFO,
	    .dlid = b->lid);
	expect_equal(m.asked, 2);
	drv_mad_register(b->dev, PORT, NULL, NULL);
}
