// SPDX-License-Identifier: Apache-2.0
/* As hooks_came.c: the events that a program gets of rdma_cm. They say what the message says that they tell of. */
#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/hear/came.h"
#include "testbench/dsan/hear/hooks.h"
#include "testbench/dsan/hear/messages.h"

#include "host_driver/cm/cma_impl.h"
#include "model/interface/cm.h"
#include "model/interface/macros.h"

#include <string.h>

#define PROGRAM "the event for the program"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The peer's address as the header of the REQ has it. Source: IBA annex A11 */
static void address_told(const struct came *came, const char *what,
			 const struct sockaddr_storage *is, const uint8_t says[16], unsigned ipv)
{
	const bool v4 = ipv == 4;
	const void *at = v4 ? (const void *)&((const struct sockaddr_in *)is)->sin_addr
			    : (const void *)&((const struct sockaddr_in6 *)is)->sin6_addr;

	if (is->ss_family != (v4 ? AF_INET : AF_INET6))
		came_differs(came, PROGRAM, "the family of an address", is->ss_family,
			     v4 ? AF_INET : AF_INET6, &is->ss_family, sizeof(is->ss_family));
	else
		came_bytes_told(came, PROGRAM, what, at, says + (v4 ? 12 : 0), v4 ? 4 : 16, at);
}

static void request_told(const struct came *came, const struct cma_id *id,
			 const struct rdma_conn_param *p)
{
	const struct drv_device_attr *limits = &id->cm->device->attrs;
	const struct cm_req *req = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, qp_num, cm_req_get_local_qpn(req)),
		TOLD(p, flow_control, cm_req_get_flow_control(req)),
		TOLD(p, retry_count, cm_req_get_retry_count(req)),
		TOLD(p, rnr_retry_count, cm_req_get_rnr_retry_count(req)),
		TOLD(p, srq, cm_req_get_srq(req)),
		TOLD(p, responder_resources,
		     least(cm_req_get_initiator_depth(req), limits->max_dest_rd_atomic)),
		TOLD(p, initiator_depth,
		     least(cm_req_get_responder_resources(req), limits->max_rd_atomic)),
	};

	came_told(came, PROGRAM, told, ARRAY_SIZE(told));
}

static void requested(const struct came *came, const struct cma_id *id, const union cma_param *p)
{
	const struct came_kind *kind = came_kind(came_attr(came));
	const struct cm_ip *ip = (const void *)came_data(came, kind);
	/* IBA annex A11: port space and port. */
	const uint64_t service =
		id->ud ? cm_sidr_req_get_service_id(
				 (const struct cm_sidr_req *)(const void *)came->mad)
		       : cm_req_get_service_id((const struct cm_req *)(const void *)came->mad);
	const struct told told[] = {
		{"the private data", &p->conn.private_data, sizeof(p->conn.private_data),
		 (uintptr_t)p->conn.private_data, (uintptr_t)(ip + 1)},
		{"the length of the private data", &p->conn.private_data_len,
		 sizeof(p->conn.private_data_len), p->conn.private_data_len,
		 kind->room - sizeof(*ip)},
		{"the peer's port", &((const struct sockaddr_in *)&id->dst)->sin_port,
		 sizeof(in_port_t), cma_port(&id->dst), cm_ip_get_src_port(ip)},
		{"the own port", &((const struct sockaddr_in *)&id->src)->sin_port,
		 sizeof(in_port_t), cma_port(&id->src), service & UINT16_MAX},
		{"the port space", &id->ps, sizeof(id->ps), id->ps, service >> 16},
	};

	if (!came_told(came, PROGRAM, told, ARRAY_SIZE(told)))
		return;
	address_told(came, "the peer's address", &id->dst, cm_ip_src_cptr(ip), cm_ip_get_ipv(ip));
	address_told(came, "the own address", &id->src, cm_ip_dst_cptr(ip), cm_ip_get_ipv(ip));
	if (!id->ud)
		request_told(came, id, &p->conn);
}

static void responded(const struct came *came, const struct rdma_conn_param *p)
{
	const struct cm_rep *rep = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, qp_num, cm_rep_get_local_qpn(rep)),
		TOLD(p, flow_control, cm_rep_get_flow_control(rep)),
		TOLD(p, rnr_retry_count, cm_rep_get_rnr_retry_count(rep)),
		TOLD(p, srq, cm_rep_get_srq(rep)),
		TOLD(p, responder_resources, cm_rep_get_initiator_depth(rep)),
		TOLD(p, initiator_depth, cm_rep_get_responder_resources(rep)),
	};

	came_told(came, PROGRAM, told, ARRAY_SIZE(told));
}

static void resolved(const struct came *came, const struct rdma_ud_param *p)
{
	const struct cm_sidr_rep *rep = (const void *)came->mad;
	const struct told told[] = {
		TOLD(p, qp_num, cm_sidr_rep_get_qpn(rep)),
		TOLD(p, qkey, cm_sidr_rep_get_qkey(rep)),
	};

	came_told(came, PROGRAM, told, ARRAY_SIZE(told));
}

/* What a program hears of each message. Source: Linux cma_ib_handler, cma_sidr_rep_handler */
static bool event_fits(unsigned attr, enum rdma_cm_event_type type)
{
	switch (attr) {
	case CM_ATTR_REQ:
	case CM_ATTR_SIDR_REQ:
		return type == RDMA_CM_EVENT_CONNECT_REQUEST;
	case CM_ATTR_REP:
		return type == RDMA_CM_EVENT_CONNECT_RESPONSE || type == RDMA_CM_EVENT_UNREACHABLE;
	case CM_ATTR_RTU:
		return type == RDMA_CM_EVENT_ESTABLISHED;
	case CM_ATTR_REJ:
		return type == RDMA_CM_EVENT_REJECTED;
	case CM_ATTR_DREQ:
	case CM_ATTR_DREP:
		return type == RDMA_CM_EVENT_DISCONNECTED;
	case CM_ATTR_SIDR_REP:
		return type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_UNREACHABLE ||
		       type == RDMA_CM_EVENT_ADDR_ERROR;
	default:
		return false;
	}
}

static void program_told(const struct came *came, const struct cma_id *id,
			 enum rdma_cm_event_type type, int status, const union cma_param *p)
{
	const struct cm_rej *rej = (const void *)came->mad;

	if (!event_fits(came_attr(came), type))
		came_differs(came, PROGRAM, rdma_event_str(type), type, came_attr(came), NULL, 0);
	else if (type == RDMA_CM_EVENT_REJECTED && (unsigned)status != cm_rej_get_reason(rej))
		came_differs(came, PROGRAM, "the status", (unsigned)status, cm_rej_get_reason(rej),
			     NULL, 0);
	else if (!p)
		return;
	else if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		requested(came, id, p);
	else if (type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		responded(came, &p->conn);
	else if (type == RDMA_CM_EVENT_ESTABLISHED && id->ud)
		resolved(came, &p->ud);
	if (type != RDMA_CM_EVENT_CONNECT_REQUEST && p && p->conn.private_data)
		came_told(came, PROGRAM,
			  &(struct told){"the private data", &p->conn.private_data,
					 sizeof(p->conn.private_data),
					 (uintptr_t)p->conn.private_data,
					 (uintptr_t)came_data(came, came_kind(came_attr(came)))},
			  1);
}

/* An id that has an address and port keeps them when something fails. Source: Linux addr_handler, which goes back
 * to RDMA_CM_ADDR_BOUND */
static void bound_check(const struct cma_id *id)
{
	struct checker *c = checker_of_host(id->channel->process->host->platform->host);

	if (c && id->state == CMA_IDLE && cma_port(&id->src))
		c->tell(c, &(struct breach){RULE_event_differs, {0}, NULL, NULL},
			"an id gets an event and counts as not bound, and it has port %u",
			cma_port(&id->src));
}

W(int, cma_event, struct cma_id *id, struct cma_id *listener, enum rdma_cm_event_type type,
  int status, const union cma_param *param)
{
	const struct came *came = came_of(id->channel->process->host->platform);

	bound_check(id);
	if (type == RDMA_CM_EVENT_CONNECT_RESPONSE)
		rdma_held_up_check(id->ib, IB_CM_REP_RCVD, NULL);
	/* what another thread finds is no message */
	if (came->mad && id->cm && param)
		program_told(came, id, type, status, param);
	return __real_cma_event(id, listener, type, status, param);
}
