/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of a device whose first port is one of InfiniBand and whose second is one of Ethernet is told
 * each port's own link layer and kinds of GIDs. Over Ethernet an address needs a GRH; over InfiniBand a LID
 * suffices. The way back to the sender of a datagram is that of the port where it has come.
 */
/* behaviours: IBA-11.2.1.2-query-hca */
#include "model/interface/wire.h"
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

#include <endian.h>
#include <infiniband/driver.h>

enum { INFINIBAND = 1, ETHERNET = 2, GIDS = 512, SL = 3, HOPS = 9 };

static int ports(void *arg)
{
	struct program *p = arg;
	struct ibv_gid_entry table[GIDS];
	enum ibv_gid_type_sysfs type;
	struct ibv_port_attr port;
	unsigned of_ethernet = 0;
	ssize_t n;

	GIVES(ibv_query_port(p->context, INFINIBAND, &port), 0);
	GIVES(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
	GIVES(ibv_query_port(p->context, ETHERNET, &port), 0);
	GIVES(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	n = ibv_query_gid_table(p->context, table, GIDS, 0);
	for (ssize_t i = 0; i < n; i++) {
		const bool ib = table[i].port_num == INFINIBAND;

		if (ib != (table[i].gid_type == IBV_GID_TYPE_IB))
			return __LINE__;
		GIVES(ibv_query_gid_type(p->context, (uint8_t)table[i].port_num, table[i].gid_index,
					 &type),
		      0);
		GIVES(type == IBV_GID_TYPE_SYSFS_ROCE_V2,
		      table[i].gid_type == IBV_GID_TYPE_ROCE_V2);
		of_ethernet += !ib;
	}
	return of_ethernet ? 0 : __LINE__;
}

static int addresses(void *arg)
{
	struct program *p = arg;
	struct ibv_ah_attr attr = {.dlid = 9, .sl = SL, .port_num = INFINIBAND};
	struct ibv_ah *ah = ibv_create_ah(p->pd, &attr);

	if (!ah || ibv_destroy_ah(ah))
		return __LINE__;
	attr.port_num = ETHERNET;
	REFUSED(ibv_create_ah(p->pd, &attr), EINVAL);
	return 0;
}

static int way_back(void *arg)
{
	struct program *p = arg;
	struct ibv_grh grh = {.version_tclass_flow = htobe32(6u << 28),
			      .next_hdr = GRH_NEXT_BTH,
			      .hop_limit = HOPS};
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .sl = SL};
	struct ibv_gid_entry own = {.gid_type = IBV_GID_TYPE_IB};
	struct ibv_ah_attr is;

	for (uint32_t i = 0; own.gid_type != IBV_GID_TYPE_ROCE_V1; i++)
		GIVES(ibv_query_gid_ex(p->context, ETHERNET, i, &own, 0), 0);
	memcpy(grh.dgid.raw, own.gid.raw, sizeof(grh.dgid.raw));
	memcpy(grh.sgid.raw, own.gid.raw, sizeof(grh.sgid.raw));
	grh.sgid.raw[15] ^= 1;
	GIVES(ibv_init_ah_from_wc(p->context, ETHERNET, &wc, &grh, &is), 0);
	if (is.port_num != ETHERNET || !is.is_global || is.grh.sgid_index != own.gid_index ||
	    memcmp(is.grh.dgid.raw, grh.sgid.raw, sizeof(grh.sgid.raw)))
		return __LINE__;
	GIVES(ibv_init_ah_from_wc(p->context, INFINIBAND, &wc, &grh, &is), -1);
	return 0;
}

SCENARIO(process_mixed_ports, "a process of a device with a port of each kind", .no_qps = true,
	 .any_packets = true, .of_mlx4 = "Ethernet ports",
	 .settings = {"hca.ports=2", "hca.port1.type=ib", "hca.port2.type=eth"})
{
	struct process *worker = start_worker(a);
	struct program p = {.file = "domain"};

	run_in(worker, program_open, &p);
	run_in(worker, ports, &p);
	run_in(worker, addresses, &p);
	run_in(worker, way_back, &p);
	end_worker(worker);
}
