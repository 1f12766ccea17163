/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ids of rdma_cm say of themselves and of their queue pairs, and what rdma_getaddrinfo makes of
 * hints: each member against what was asked for. Port numbers that nobody has asked for go round their
 * range and leave out those in use. A new connection has its listener's context, and a call that is
 * refused leaves the queue pair where it is, or in the error state when it had gone on already.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-A11-service-id */
#include "model/interface/macros.h"
#include "testbench/connect.h"
#include "testbench/scenarios/programs/refuses.h"

#include <arpa/inet.h>
#include <netdb.h>

enum {
	PORT = 4711,
	UDP_PORT = 4712,
	FIRST = 32768,
	LAST = 60999,
	TOO_LONG = 200,
	SENDS = 100, /* and no receives */
	MANY = 5000, /* more than a backlog can be */
	CODE = 20,
	LIFE = 16,
	/* READs that come in and that leave, of the client's device and of the server's */
	A_IN = 4,
	A_OUT = 16,
	B_IN = 8,
	B_OUT = 2
};
#define PORT_TEXT "4711"

static char contexts[2]; /* their addresses count */
static bool ethernet;

static struct sockaddr *at(const char *text, uint16_t port, struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, text, &to->sin_addr);
	return (struct sockaddr *)to;
}

/* --- names --- */

static int names(void)
{
	static const struct {
		struct rdma_addrinfo hints;
		int family, type, space;
	} rows[] = {
		{{0}, AF_INET, IBV_QPT_RC, RDMA_PS_TCP},
		{{.ai_family = AF_INET6}, AF_INET, IBV_QPT_RC, RDMA_PS_TCP},
		{{.ai_flags = RAI_FAMILY, .ai_family = AF_INET}, AF_INET, IBV_QPT_RC, RDMA_PS_TCP},
		{{.ai_flags = RAI_NUMERICHOST}, AF_INET, IBV_QPT_RC, RDMA_PS_TCP},
		{{.ai_qp_type = IBV_QPT_UD}, AF_INET, IBV_QPT_UD, RDMA_PS_UDP},
		{{.ai_port_space = RDMA_PS_UDP}, AF_INET, IBV_QPT_UD, RDMA_PS_UDP},
		{{.ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_IB},
		 AF_INET,
		 IBV_QPT_UD,
		 RDMA_PS_IB},
		{{.ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_UDP},
		 AF_INET,
		 IBV_QPT_RC,
		 RDMA_PS_UDP},
	};
	struct rdma_addrinfo *res;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rdma_getaddrinfo(IP_B, PORT_TEXT, &rows[i].hints, &res))
			return __LINE__;
		if (res->ai_family != rows[i].family || res->ai_qp_type != rows[i].type ||
		    res->ai_port_space != rows[i].space ||
		    res->ai_flags != rows[i].hints.ai_flags || res->ai_src_addr ||
		    res->ai_dst_len != sizeof(struct sockaddr_in) || res->ai_next)
			return __LINE__;
		rdma_freeaddrinfo(res);
	}
	rdma_freeaddrinfo(NULL);
	return 0;
}

/* --- ports --- */

/* Its source GID is one of its port's. */
static bool has_own_gid(const struct rdma_cm_id *id)
{
	const union ibv_gid *own = &id->route.addr.addr.ibaddr.sgid;
	union ibv_gid gid;

	for (int i = 0; !ibv_query_gid(id->verbs, 1, i, &gid); i++)
		if (own->global.interface_id && !memcmp(own, &gid, sizeof(gid)))
			return true;
	return false;
}

static int bound(struct rdma_event_channel *channel)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct rdma_cm_id *x, *y, *z;
	struct sockaddr_in own, peer;

	if (rdma_create_id(channel, &x, contexts, RDMA_PS_TCP) || x->context != contexts ||
	    rdma_create_id(channel, &y, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &z, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(x, at("0.0.0.0", PORT, &own)))
		return __LINE__;
	FAILS(rdma_bind_addr(y, at(IP_A, PORT, &own)), EADDRINUSE);
	inet_pton(AF_INET6, "::ffff:" IP_A, &six.sin6_addr);
	FAILS(rdma_bind_addr(y, (struct sockaddr *)&six), EADDRINUSE);
	if (rdma_bind_addr(y, at(IP_A, PORT + 1, &own)) || !has_own_gid(y))
		return __LINE__;
	/* x gets its address later than y; it is bound, so no source counts */
	if (rdma_resolve_addr(x, at(IP_A, PORT + 1, &own), at(IP_B, PORT, &peer), IP_TIMEOUT_MS) ||
	    ((struct sockaddr_in *)rdma_get_local_addr(x))->sin_addr.s_addr == 0 ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return __LINE__;
	FAILS(rdma_bind_addr(z, at(IP_A, PORT + 1, &own)), EADDRINUSE);
	FAILS(rdma_bind_addr(z, at("0.0.0.0", PORT, &own)), EADDRINUSE);
	return rdma_destroy_id(x) || rdma_destroy_id(y) ||
			       rdma_bind_addr(z, at(IP_A, PORT, &own)) || rdma_destroy_id(z)
		       ? __LINE__
		       : 0;
}

/* Who listens without an address says the port that it was given. */
static int listens_anywhere(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) || rdma_listen(id, MANY) ||
	    rdma_get_local_addr(id)->sa_family != AF_INET || ntohs(rdma_get_src_port(id)) < FIRST ||
	    ntohs(rdma_get_src_port(id)) > LAST)
		return __LINE__;
	return rdma_destroy_id(id) ? __LINE__ : 0;
}

/* Each service has its own port numbers. */
static int spaces(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *tcp, *udp, *again;
	struct sockaddr_in own;

	if (rdma_create_id(channel, &tcp, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &udp, NULL, RDMA_PS_UDP) ||
	    rdma_create_id(channel, &again, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(tcp, at(IP_A, PORT, &own)) || rdma_listen(tcp, 1) ||
	    rdma_bind_addr(udp, at(IP_A, PORT, &own)) || rdma_listen(udp, 1))
		return __LINE__;
	FAILS(rdma_bind_addr(again, at(IP_A, PORT, &own)), EADDRINUSE);
	if (rdma_destroy_id(udp) || rdma_bind_addr(again, at(IP_A, PORT, &own)))
		return __LINE__;
	return rdma_destroy_id(tcp) || rdma_destroy_id(again) ? __LINE__ : 0;
}

/* Two ids have the port at different addresses, and one listens. The other one goes. */
static int not_listening(struct rdma_event_channel *channel)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct rdma_cm_id *x, *y;
	struct sockaddr_in own;

	inet_pton(AF_INET6, "::ffff:" IP_A, &six.sin6_addr);
	if (rdma_create_id(channel, &x, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &y, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(x, at(IP_A, PORT, &own)) || rdma_bind_addr(y, (struct sockaddr *)&six) ||
	    rdma_listen(x, 1))
		return __LINE__;
	FAILS(rdma_listen(y, 1), EADDRINUSE);
	return rdma_destroy_id(y) || rdma_destroy_id(x) ? __LINE__ : 0;
}

static int free_ports(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id, *has;
	struct sockaddr_in own;
	unsigned before = 0, port;

	if (rdma_create_id(channel, &has, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(has, at(IP_A, FIRST + 1, &own)))
		return __LINE__;
	for (unsigned i = 0; i < LAST - FIRST + 4; i++) {
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_bind_addr(id, at(IP_A, 0, &own)))
			return __LINE__;
		port = ntohs(rdma_get_src_port(id));
		if (port < FIRST || port > LAST || port == FIRST + 1 || port == before ||
		    rdma_destroy_id(id))
			return __LINE__;
		before = port;
	}
	return rdma_destroy_id(has) ? __LINE__ : 0;
}

/* An option can be taken back. */
static int options(struct rdma_event_channel *channel)
{
	const int values[] = {1, 0};
	struct rdma_cm_id *x, *y;
	struct sockaddr_in own;

	if (rdma_create_id(channel, &x, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &y, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(x, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, (void *)&values[0], 4) ||
	    rdma_bind_addr(x, at(IP_A, PORT, &own)))
		return __LINE__;
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		if (rdma_set_option(y, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, (void *)&values[i],
				    4))
			return __LINE__;
	FAILS(rdma_bind_addr(y, at(IP_A, PORT, &own)), EADDRINUSE);
	return rdma_destroy_id(x) || rdma_destroy_id(y) ? __LINE__ : 0;
}

/* Only datagrams have no ACK timeout. */
static int ack_timeouts(struct rdma_event_channel *channel)
{
	static const struct {
		enum rdma_port_space space;
		bool has;
	} rows[] = {{RDMA_PS_TCP, true}, {RDMA_PS_IB, true}, {RDMA_PS_UDP, false}};
	uint8_t code = CODE;
	struct rdma_cm_id *id;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rdma_create_id(channel, &id, NULL, rows[i].space) ||
		    !rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &code, 1) !=
			    rows[i].has ||
		    rdma_destroy_id(id))
			return __LINE__;
	}
	return 0;
}

/* --- queue pairs --- */

static int has_state(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == state;
}

static int has_depths(struct rdma_cm_id *id, unsigned in, unsigned out)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(id->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC, &init) &&
	       attr.max_dest_rd_atomic == in && attr.max_rd_atomic == out;
}

/* A path over Ethernet is exactly what it says, and nobody has been asked. */
static bool is_roce_path(const struct ibv_sa_path_rec *path)
{
	return path->mtu_selector == IB_SA_EQ && path->rate_selector == IB_SA_EQ &&
	       path->packet_life_time_selector == IB_SA_EQ && path->packet_life_time == LIFE &&
	       path->reversible == 1 && path->numb_path == 1 && path->pkey == htobe16(0xffff) &&
	       path->hop_limit > 1 && !path->dlid && !path->slid;
}

static int routed(struct rdma_event_channel *channel, struct rdma_cm_id **id)
{
	struct sockaddr_storage zeros = {0}, *dst;
	struct rdma_cm_event *event;
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct sockaddr_in to;

	inet_pton(AF_INET6, "fe80::1234:5678:9abc:def0", &six.sin6_addr);
	if (rdma_create_id(channel, id, contexts, RDMA_PS_TCP))
		return __LINE__;
	/* nobody knows this address; on an Ethernet port the id would be bound by it */
	if (!ethernet && (rdma_resolve_addr(*id, NULL, (struct sockaddr *)&six, IP_TIMEOUT_MS) ||
			  ip_next(channel, RDMA_CM_EVENT_ADDR_ERROR, NULL) >= 0))
		return __LINE__;
	if (rdma_resolve_addr(*id, NULL, at(IP_B, PORT, &to), IP_TIMEOUT_MS) ||
	    rdma_get_cm_event(channel, &event))
		return __LINE__;
	/* nothing of the first address is left */
	dst = &(*id)->route.addr.dst_storage;
	if (memcmp((const char *)dst + sizeof(to), (const char *)&zeros + sizeof(to),
		   sizeof(zeros) - sizeof(to)))
		return __LINE__;
	if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED || event->param.conn.private_data ||
	    event->param.conn.private_data_len || rdma_ack_cm_event(event))
		return __LINE__;
	return rdma_resolve_route(*id, IP_TIMEOUT_MS) ||
			       ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
			       !(*id)->route.num_paths ||
			       (ethernet && !is_roce_path((*id)->route.path_rec))
		       ? __LINE__
		       : 0;
}

/* The library makes the PD and both CQs, each with a channel. */
static int made_by_library(struct rdma_cm_id *id, struct rdma_cm_id *other)
{
	struct ibv_qp_init_attr init = {.qp_context = &contexts[1],
					.qp_type = IBV_QPT_RC,
					.sq_sig_all = 1,
					.cap = {SENDS, 0, 1, 1, 0}},
				second = init, got;
	struct rdma_conn_param nothing = {.private_data_len = 1},
			       many = {.responder_resources = 254, .initiator_depth = 1};
	struct ibv_qp_attr attr;

	if (rdma_create_qp(id, NULL, &init) || id->qp->qp_context != &contexts[1] ||
	    id->pd != id->qp->pd || id->send_cq != id->qp->send_cq ||
	    id->recv_cq != id->qp->recv_cq || id->send_cq == id->recv_cq || id->srq)
		return __LINE__;
	if (id->send_cq->cq_context != id || id->recv_cq->cq_context != id ||
	    id->send_cq->channel != id->send_cq_channel ||
	    id->recv_cq->channel != id->recv_cq_channel || !id->send_cq_channel ||
	    id->send_cq_channel == id->recv_cq_channel)
		return __LINE__;
	if (ibv_query_qp(id->qp, &attr, IBV_QP_CAP, &got) || !got.sq_sig_all ||
	    init.cap.max_send_wr != got.cap.max_send_wr || init.cap.max_send_wr < SENDS ||
	    id->send_cq->cqe < SENDS || id->recv_cq->cqe >= SENDS)
		return __LINE__;
	FAILS(rdma_create_qp(id, NULL, &second), EINVAL);
	if (rdma_create_qp(other, NULL, &second) || other->pd != id->pd)
		return __LINE__;
	/* nothing is connected */
	FAILS(rdma_disconnect(id), EINVAL);
	if (!has_state(id, IBV_QPS_INIT))
		return __LINE__;
	FAILS(rdma_connect(id, &nothing), EINVAL);
	FAILS(rdma_connect(id, &many), EINVAL);
	rdma_destroy_qp(other);
	rdma_destroy_qp(id);
	return id->qp ? __LINE__ : 0;
}

/* The program makes them. */
static int made_by_program(struct rdma_cm_id *id)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, channel, 0);
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 0, 1, 0, 0}};
	struct ibv_qp_init_attr got;
	struct ibv_qp_attr attr;

	init.send_cq = init.recv_cq = cq;
	init.srq = pd ? ibv_create_srq(pd, &srq) : NULL;
	if (!cq || !init.srq || rdma_create_qp(id, pd, &init) || id->pd != pd ||
	    id->send_cq != cq || id->recv_cq != cq || id->send_cq_channel || id->recv_cq_channel ||
	    id->srq != init.srq)
		return __LINE__;
	if (ibv_query_qp(id->qp, &attr, IBV_QP_CAP, &got) || got.sq_sig_all)
		return __LINE__;
	rdma_destroy_qp(id);
	return ibv_destroy_srq(init.srq) || ibv_dealloc_pd(pd) || ibv_destroy_cq(cq) ||
			       ibv_destroy_comp_channel(channel)
		       ? __LINE__
		       : 0;
}

static int queues(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id, *other;
	int rc = routed(channel, &id);

	if (rc)
		return rc;
	rc = routed(channel, &other);
	rc = rc ? rc : made_by_library(id, other);
	rc = rc ? rc : made_by_program(id);
	if (rc)
		return rc;
	return rdma_destroy_id(id) || rdma_destroy_id(other) ? __LINE__ : 0;
}

static int alone(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int rc = channel ? names() : __LINE__;

	rc = rc ? rc : bound(channel);
	rc = rc ? rc : listens_anywhere(channel);
	rc = rc ? rc : spaces(channel);
	rc = rc ? rc : not_listening(channel);
	rc = rc ? rc : options(channel);
	rc = rc ? rc : ack_timeouts(channel);
	rc = rc ? rc : free_ports(channel);
	rc = rc ? rc : queues(channel);
	if (channel)
		rdma_destroy_event_channel(channel);
	return rc;
}

/* --- two sides --- */

static struct rdma_cm_id *request_of(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = NULL;

	return ip_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id) ? NULL : id;
}

/* The number of the first packet that the peer sends. */
static int64_t first_psn(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask) || !(mask & IBV_QP_RQ_PSN))
		return -1;
	return attr.rq_psn;
}

static int server(void *arg)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param too_long = {.private_data = contexts, .private_data_len = TOO_LONG};
	struct rdma_cm_id *listener, *id, *ud;
	struct sockaddr_in any;
	struct ibv_cq *cq = NULL;
	int64_t psn;
	int mask;

	if (rdma_create_id(channel, &listener, &contexts[1], RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, at("0.0.0.0", PORT, &any)) || rdma_listen(listener, 1) ||
	    rdma_create_id(channel, &ud, contexts, RDMA_PS_UDP) ||
	    rdma_bind_addr(ud, at("0.0.0.0", UDP_PORT, &any)) || rdma_listen(ud, 1))
		return __LINE__;
	/* a listener has no connection, but a queue pair could be made for it */
	FAILS(rdma_accept(listener, NULL), EINVAL);
	FAILS(rdma_reject(listener, NULL, 0), EINVAL);
	FAILS(rdma_reject(ud, NULL, 0), EINVAL);
	id = request_of(channel);
	if (!id || id->context != &contexts[1] || id->ps != RDMA_PS_TCP || ip_make_qp(id, &cq, 2))
		return __LINE__;
	psn = first_psn(id);
	FAILS(rdma_accept(id, &too_long), EINVAL);
	if (!has_state(id, IBV_QPS_ERR) || rdma_reject(id, NULL, 0))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		return __LINE__;
	id = request_of(channel);
	/* a packet of an old connection is none of the new one */
	if (!id || psn < 0 || first_psn(id) < 0 || first_psn(id) == psn)
		return __LINE__;
	if (ip_make_qp(id, &cq, 2) || rdma_accept(id, NULL) || !has_depths(id, B_IN, B_OUT) ||
	    ip_next(channel, RDMA_CM_EVENT_ESTABLISHED, NULL) ||
	    ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		return __LINE__;
	id = request_of(channel);
	if (!id || id->context != contexts || id->ps != RDMA_PS_UDP)
		return __LINE__;
	FAILS(rdma_establish(id), EINVAL);
	if (rdma_init_qp_attr(id, &attr, &mask) || attr.qp_state != IBV_QPS_RTS ||
	    attr.qkey != RDMA_UDP_QKEY || rdma_reject(id, NULL, 0) || rdma_destroy_id(id))
		return __LINE__;
	if (rdma_destroy_id(listener) || rdma_destroy_id(ud) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static struct rdma_cm_id *endpoint(const char *service, int type)
{
	const struct rdma_addrinfo hints = {.ai_qp_type = type};
	struct ibv_qp_init_attr init = {.cap = {1, 1, 1, 1, 0}};
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id = NULL;

	if (rdma_getaddrinfo(IP_B, service, &hints, &res))
		return NULL;
	if (rdma_create_ep(&id, res, NULL, &init))
		id = NULL;
	rdma_freeaddrinfo(res);
	return id;
}

static int client(void *arg)
{
	struct rdma_cm_id *id = endpoint(PORT_TEXT, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rdma_cm_event *event, *kept;
	uint8_t none = 0; /* no timeout is one, too */

	if (!id)
		return __LINE__;
	FAILS(rdma_connect(id, NULL), ECONNREFUSED);
	if (!has_state(id, IBV_QPS_ERR))
		return __LINE__;
	rdma_destroy_ep(id);
	id = endpoint(PORT_TEXT, IBV_QPT_RC);
	if (!id || rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &none, 1) ||
	    rdma_connect(id, NULL) || ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init) ||
	    attr.timeout || !has_depths(id, B_OUT, B_IN))
		return __LINE__;
	if (rdma_disconnect(id) || id->event->event != RDMA_CM_EVENT_DISCONNECTED ||
	    !has_state(id, IBV_QPS_ERR))
		return __LINE__;
	/* the program takes an event itself: the id's own one stays */
	kept = id->event;
	if (rdma_get_cm_event(id->channel, &event) || event == kept ||
	    event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT || rdma_ack_cm_event(event) ||
	    id->event != kept || kept->event != RDMA_CM_EVENT_DISCONNECTED)
		return __LINE__;
	rdma_destroy_ep(id);
	id = endpoint("4712", IBV_QPT_UD);
	errno = 0;
	if (!id || !rdma_connect(id, NULL) || id->event->event != RDMA_CM_EVENT_UNREACHABLE ||
	    id->event->status != IB_SIDR_REJECT || errno != IB_SIDR_REJECT)
		return __LINE__;
	rdma_destroy_ep(id);
	return 0;
}

static void both(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct process *s, *c;

	ethernet = a->ethernet;
	start_cm();
	expect_exit(start_process(a, alone, NULL), 0);
	/* as of two devices that can do less */
	ib_device_of(a)->attrs.max_dest_rd_atomic = A_IN;
	ib_device_of(a)->attrs.max_rd_atomic = A_OUT;
	ib_device_of(b)->attrs.max_dest_rd_atomic = B_IN;
	ib_device_of(b)->attrs.max_rd_atomic = B_OUT;
	s = start_process(b, server, NULL);
	pass_time(CFG_MS(1));
	c = start_process(a, client, NULL);
	expect_exit(c, 0);
	expect_exit(s, 0);
}

SCENARIO(rdma_ids, "what ids of rdma_cm say of themselves and of their queue pairs", .no_qps = true,
	 .any_packets = true)
{
	both(tb, a, b);
}

SCENARIO(rdma_ids_roce, "what ids of rdma_cm say of themselves on an Ethernet port", .no_qps = true,
	 .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv4"})
{
	both(tb, a, b);
}
