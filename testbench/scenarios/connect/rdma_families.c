/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IPv4 and by IPv6 addresses. The server hears from which address and port the client
 * comes, which only the header of annex A11 in the private data says.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/scenarios/connect/by_address.h"

SCENARIO(rdma_families, "connections by IPv4 and by IPv6 addresses", .no_qps = true,
	 .any_packets = true)
{
	const struct way route = {.mtu = IBV_MTU_4096};

	start_cm();
	connect_both(tb, a, b, &route, IP_A, IP_B);
}
