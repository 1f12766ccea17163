/* SPDX-License-Identifier: Apache-2.0 */
/* MADs that a scenario writes itself, because manage.h makes only right ones. */
#ifndef TESTBENCH_SCENARIOS_MANAGEMENT_OWN_MADS_H
#define TESTBENCH_SCENARIOS_MANAGEMENT_OWN_MADS_H

#include "testbench/manage.h"

/* Offsets in a packet of InfiniBand without GRH: the MAD is behind LRH, BTH and DETH. */
enum { MAD_AT = 28, DIRECTION_AT = MAD_AT + 4, POINTER_AT = MAD_AT + 6, COUNT_AT = MAD_AT + 7 };

/* For NodeInfo, with permissive LIDs at both ends of its route. */
static inline void own_mad(struct smp *smp, unsigned mgmt_class, unsigned method)
{
	struct mad_hdr *hdr = smp_hdr(smp);

	memset(smp, 0, sizeof(*smp));
	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, mgmt_class);
	mad_hdr_set_class_version(hdr, 1);
	mad_hdr_set_method(hdr, method);
	mad_hdr_set_attr_id(hdr, SMP_ATTR_NODE_INFO);
	smp_set_dr_slid(smp, LID_PERMISSIVE);
	smp_set_dr_dlid(smp, LID_PERMISSIVE);
}

#endif
