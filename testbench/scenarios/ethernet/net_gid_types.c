/* SPDX-License-Identifier: Apache-2.0 */
/* A process is told which version of RoCE each GID of an Ethernet port belongs to. Source:
 * ibv_query_gid_ex(3), ibv_query_gid_table(3): gid_type is IBV_GID_TYPE_ROCE_V1 or _V2 there. */
/* behaviours: ROCE-gid-types */
#include "testbench/programs.h"
#include "testbench/scenarios/ethernet/neighbours.h"

#include <infiniband/driver.h>

enum { GIDS = 256 };

struct version {
	unsigned index;
	uint32_t type;
};

static int types(void *arg)
{
	const struct version *v = arg;
	struct program p = {.file = "domain"};
	struct ibv_gid_entry entries[GIDS], e;
	enum ibv_gid_type_sysfs sysfs;
	ssize_t n;

	if (program_open(&p))
		return __LINE__;
	if (ibv_query_gid_ex(p.context, 1, v->index, &e, 0) || e.gid_type != v->type)
		return __LINE__;
	n = ibv_query_gid_table(p.context, entries, GIDS, 0);
	for (ssize_t i = 0; i < n; i++)
		if (entries[i].gid_index == v->index && entries[i].gid_type != v->type)
			return __LINE__;
	if (ibv_query_gid_type(p.context, 1, v->index, &sysfs) ||
	    sysfs != (v->type == IBV_GID_TYPE_ROCE_V2 ? IBV_GID_TYPE_SYSFS_ROCE_V2
						      : IBV_GID_TYPE_SYSFS_IB_ROCE_V1))
		return __LINE__;
	return ibv_close_device(p.context);
}

SCENARIO(net_gid_types, "the version of RoCE of each GID", .no_qps = true, .any_packets = true,
	 .settings = {NET_SETTINGS("v2_ipv4")})
{
	const struct net_address own = ipv4_of(a);
	struct version rows[] = {{(unsigned)gid_index(a, &own, 1), IBV_GID_TYPE_ROCE_V1},
				 {(unsigned)gid_index(a, &own, 2), IBV_GID_TYPE_ROCE_V2}};

	for_each_row(i, rows)
		expect_exit(start_process(a, types, &rows[i]), 0);
}
