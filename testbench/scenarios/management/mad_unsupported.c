/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsupported attributes, modifiers and class versions are answered with an error status. A MAD
 * with another base version, of a class that nobody serves, or with an unknown method is dropped.
 * Afterwards all agents answer as before.
 */
/* behaviours: MAD-5 */
#include "testbench/manage.h"

SCENARIO(mad_unsupported, "MADs that no agent knows: status, or silence")
{
	struct smp answer;

	ask(a, &answer, .attr = 0x1234, .hops = 1, .status = MAD_STATUS_BAD_METHOD_ATTR);
	ask(a, &answer, .attr = SMP_ATTR_SWITCH_INFO, .hops = 1,
	    .status = MAD_STATUS_BAD_METHOD_ATTR);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_NODE_INFO, .hops = 1,
	    .status = MAD_STATUS_BAD_METHOD_ATTR);
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 9, .hops = 1,
	    .status = MAD_STATUS_BAD_VALUE);
	ask(a, &answer, .attr = SMP_ATTR_PKEY_TABLE, .mod = 1000, .hops = 1,
	    .status = MAD_STATUS_BAD_VALUE);
	ask(a, &answer, .attr = SMP_ATTR_GUID_INFO, .mod = 1000, .hops = 1,
	    .status = MAD_STATUS_BAD_VALUE);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .class_version = 9, .hops = 1,
	    .status = MAD_STATUS_BAD_VERSION);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .base_version = 2, .hops = 1, .silent = true);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .method = 0x0e, .hops = 1, .silent = true);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = 0x77, .dlid = b->lid,
	    .status = MAD_STATUS_BAD_METHOD_ATTR);
	ask(a, &answer, .mgmt_class = MAD_CLASS_VENDOR1, .attr = 0x77, .dlid = b->lid,
	    .status = MAD_STATUS_BAD_VERSION);
	ask(a, &answer, .mgmt_class = MAD_CLASS_VENDOR2, .attr = 0x77, .dlid = b->lid,
	    .status = MAD_STATUS_BAD_VERSION);
	ask(a, &answer, .mgmt_class = MAD_CLASS_CC, .attr = 0x77, .dlid = b->lid,
	    .status = MAD_STATUS_BAD_VERSION);
	ask(a, &answer, .mgmt_class = MAD_CLASS_SNMP, .attr = 0x77, .dlid = b->lid, .silent = true);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	ask(a, &answer, .mgmt_class = MAD_CLASS_SUBN_LID, .attr = SMP_ATTR_NODE_INFO,
	    .dlid = b->lid);
	ask(a, &answer, .mgmt_class = MAD_CLASS_PERF, .attr = PMA_ATTR_CLASS_PORT_INFO,
	    .dlid = b->lid);
}
