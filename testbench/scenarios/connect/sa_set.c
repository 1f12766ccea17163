/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SubnAdmSet that the subnet administrator refuses is answered by SubnAdmGetResp with the status,
 * as each Set is: there is no method SetResp.
 */
/* behaviours: IBA-15.4.4-sa-status */
#include "model/interface/cm.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

SCENARIO(sa_set, "a Set that the subnet administrator refuses", .no_qps = true, .any_packets = true)
{
	struct smp answer;

	start_cm();
	ask(b, &answer, .mgmt_class = MAD_CLASS_SUBN_ADM, .class_version = SA_CLASS_VERSION,
	    .method = MAD_METHOD_SET, .attr = SA_ATTR_PATH_RECORD, .dlid = a->lid,
	    .status = MAD_STATUS_BAD_METHOD_ATTR);
}
