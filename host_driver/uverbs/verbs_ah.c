// SPDX-License-Identifier: Apache-2.0
/* The library: makes the address handle for the answer to a datagram, from the datagram's
 * completion and GRH. Also the names of enum values. */
#include "host_driver/uverbs/lib.h"
#include "model/interface/ethernet.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/wire.h"

#include <arpa/inet.h>

enum { FLOW_LABEL_MASK = 0xfffff, TCLASS_SHIFT = 20, HOPS_BACK = 0xff };

static int gid_index(struct ibv_context *context, uint8_t port, const union ibv_gid *gid)
{
	union ibv_gid g;

	for (int i = 0; !ibv_query_gid(context, port, i, &g); i++)
		if (!memcmp(g.raw, gid->raw, sizeof(g.raw)))
			return i;
	return -1;
}

/* The 40 bytes of an Ethernet port have an IPv4 header or a GRH. The kernel finds the sender's MAC when
 * the handle is created. Source: rdma-core ibv_init_ah_from_wc, which also takes the hop limit of the
 * header for that of the answer. */
static int ah_from_roce(struct ibv_context *context, uint8_t port, const struct ibv_wc *wc,
			const void *area, struct ibv_ah_attr *attr)
{
	struct ibv_ah_attr a = {.sl = wc->sl, .port_num = port, .is_global = 1};
	union ib_gid own;
	const unsigned version = drv_eth_grh_parse(area, a.grh.dgid.raw, own.raw);
	const int index = ib_find_roce_gid(UV_CONTEXT(context)->file->device, port, &own, version);
	const struct ipv4_hdr *ip =
		(const void *)((const uint8_t *)area + UD_GRH_AREA - sizeof(*ip));
	const struct grh *grh = area;

	if (index < 0 || (version == 1 && grh_get_next_hdr(grh) != GRH_NEXT_BTH))
		return -1;
	a.grh.sgid_index = (uint8_t)index;
	if (version == 2 && gid_is_ipv4(a.grh.dgid.raw)) {
		a.grh.traffic_class = (uint8_t)ipv4_hdr_get_tos(ip);
		a.grh.hop_limit = (uint8_t)ipv4_hdr_get_ttl(ip);
	} else {
		a.grh.flow_label = grh_get_flow_label(grh);
		a.grh.traffic_class = (uint8_t)grh_get_tclass(grh);
		a.grh.hop_limit = (uint8_t)grh_get_hop_limit(grh);
	}
	*attr = a;
	return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	struct ibv_ah_attr a = {.dlid = wc->slid,
				.sl = wc->sl,
				.src_path_bits = wc->dlid_path_bits,
				.port_num = port_num};
	uint32_t flow;
	int index;

	if (rdma_protocol_roce(UV_CONTEXT(context)->file->device, port_num))
		return ah_from_roce(context, port_num, wc, grh, attr);
	if (wc->wc_flags & IBV_WC_GRH) {
		/* the answer goes from the GID that the datagram was sent to, back to the sender's
		 * GID */
		index = gid_index(context, port_num, &grh->dgid);
		if (index < 0)
			return -1;
		flow = ntohl(grh->version_tclass_flow);
		a.is_global = 1;
		a.grh.dgid = grh->sgid;
		a.grh.sgid_index = (uint8_t)index;
		a.grh.hop_limit = HOPS_BACK;
		a.grh.flow_label = flow & FLOW_LABEL_MASK;
		a.grh.traffic_class = (uint8_t)(flow >> TCLASS_SHIFT);
	}
	*attr = a;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}

/* --- names --- */

#define NAME_OF(table, value)                                                                      \
	((size_t)(value) < ARRAY_SIZE(table) && (table)[value] ? (table)[value] : "unknown")

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "success",
		[IBV_WC_LOC_LEN_ERR] = "local length error",
		[IBV_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[IBV_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
		[IBV_WC_LOC_PROT_ERR] = "local protection error",
		[IBV_WC_WR_FLUSH_ERR] = "Work Request Flushed Error",
		[IBV_WC_MW_BIND_ERR] = "memory window bind error",
		[IBV_WC_BAD_RESP_ERR] = "bad response error",
		[IBV_WC_LOC_ACCESS_ERR] = "local access error",
		[IBV_WC_REM_INV_REQ_ERR] = "remote invalid request error",
		[IBV_WC_REM_ACCESS_ERR] = "remote access error",
		[IBV_WC_REM_OP_ERR] = "remote operation error",
		[IBV_WC_RETRY_EXC_ERR] = "transport retry counter exceeded",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR retry counter exceeded",
		[IBV_WC_LOC_RDD_VIOL_ERR] = "local RDD violation error",
		[IBV_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request",
		[IBV_WC_REM_ABORT_ERR] = "aborted error",
		[IBV_WC_INV_EECN_ERR] = "invalid EE context number",
		[IBV_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
		[IBV_WC_FATAL_ERR] = "fatal error",
		[IBV_WC_RESP_TIMEOUT_ERR] = "response timeout error",
		[IBV_WC_GENERAL_ERR] = "general error",
	};

	return NAME_OF(names, status);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	return ib_event_msg((enum ib_event_type)event);
}

const char *ibv_node_type_str(enum ibv_node_type type)
{
	return type == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const names[] = {
		[IBV_PORT_NOP] = "no state change (NOP)",
		[IBV_PORT_DOWN] = "down",
		[IBV_PORT_INIT] = "init",
		[IBV_PORT_ARMED] = "armed",
		[IBV_PORT_ACTIVE] = "active",
		[IBV_PORT_ACTIVE_DEFER] = "active defer",
	};

	return NAME_OF(names, state);
}
