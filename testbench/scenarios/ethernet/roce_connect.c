/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IP address over Ethernet. The route needs no subnet administration: it is what the port
 * and the neighbour say. Queue pairs get the GIDs, the hop limit and the MAC of that route, and private
 * data and a message get through, by IPv4 and by IPv6.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "host_driver/cm/cma.h"
#include "testbench/scenarios/connect/by_address.h"

#include <errno.h>

SCENARIO(roce_connect, "connections by IP address over Ethernet, by IPv4 and by IPv6",
	 .no_qps = true, .any_packets = true, .settings = {"hca.port1.type=eth"})
{
	const struct way route = {.is_global = true, .hop_limit = 64, .mtu = IBV_MTU_4096};

	start_cm();
	/* this device lacks version 2 */
	must_fail(-EINVAL, cma_set_roce_version(ib_device_of(a), 2));
	connect_both(tb, a, b, &route, IP_A, IP_B);
}
