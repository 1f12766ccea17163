/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager says on which service level it wants to be asked. Questions to subnet
 * administration leave on it, and are answered on it.
 */
/* behaviours: IBA-15.2.5.16-path-record IBA-13.5-way-back */
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { SL = 5 };

SCENARIO(sa_service_level,
	 "questions to subnet administration leave on the manager's service level", .no_qps = true,
	 .any_packets = true)
{
	struct sa_path_rec path;
	struct port_info info;
	struct smp answer;

	start_cm();
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1);
	info = port_info_to_set(&answer);
	port_info_set_sm_sl(&info, SL);
	port_info_set_client_rereg(&info, 1);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_PORT_INFO, .mod = 1, .hops = 1,
	    .data = &info);
	expect_event(b, IBV_EVENT_CLIENT_REREGISTER);
	check_mads();
	ask_path(b, &path);
	expect_mad(b_to_a, .sl = SL);
	expect_mad(a_to_b, .sl = SL);
	ignore_mads();
	expect_equal(be16toh(path.ib.dlid), a->lid);
}
