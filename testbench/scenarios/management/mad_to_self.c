/* SPDX-License-Identifier: Apache-2.0 */
/* A manager on this port queries its own agents through its own LID, over QP0 and QP1. The MADs are
 * looped back inside the port. */
/* behaviours: MAD-7 */
#include "testbench/manage.h"

SCENARIO(mad_to_self, "MADs to the own LID come back inside the port")
{
	const uint64_t sent = tb_stat(a, "port1", "xmit_pkts");
	struct drv_device_attr attr;
	struct smp answer;

	must(drv_query_device(a->dev, &attr));
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_NODE_INFO,
	    .dlid = a->lid);
	expect_equal(node_info_get_node_guid((const void *)smp_data_cptr(&answer)), attr.node_guid);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = PMA_ATTR_CLASS_PORT_INFO,
	    .dlid = a->lid);
	expect_equal(tb_stat(a, "port1", "xmit_pkts"), sent);
}
