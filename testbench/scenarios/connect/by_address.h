/* SPDX-License-Identifier: Apache-2.0 */
/* For scenarios that connect by an address of a family: the server's process and the client's. */
#ifndef TESTBENCH_SCENARIOS_CONNECT_BY_ADDRESS_H
#define TESTBENCH_SCENARIOS_CONNECT_BY_ADDRESS_H

#include "testbench/connect.h"

#include <arpa/inet.h>

enum { PORT = 4711, TOS = 0x20, FIRST_PORT = 32768 };

static const char hello[] = "hello", welcome[] = "welcome";

/* The server's address, the client's without a port, and what the queue pair of the client must get. */
struct way {
	enum rdma_port_space space;
	struct sockaddr_storage to, from;
	bool is_global;
	uint8_t hop_limit;
	enum ibv_mtu mtu;
};

static int send_and_wait(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	return ibv_post_send(id->qp, &send, &bad) || ip_completion(cq);
}

/* Whatever their ports are. */
static bool is_same(const struct sockaddr *is, const struct sockaddr_storage *wanted)
{
	if (is->sa_family != wanted->ss_family)
		return false;
	if (is->sa_family == AF_INET)
		return ((const struct sockaddr_in *)is)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)wanted)->sin_addr.s_addr;
	return !memcmp(&((const struct sockaddr_in6 *)is)->sin6_addr,
		       &((const struct sockaddr_in6 *)wanted)->sin6_addr, sizeof(struct in6_addr));
}

static int server_main(void *arg)
{
	const struct way *way = arg;
	struct rdma_conn_param p = {.private_data = welcome,
				    .private_data_len = sizeof(welcome),
				    .responder_resources = 1,
				    .initiator_depth = 1};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad;
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *event;
	struct ibv_cq *cq = NULL;

	if (rdma_create_id(channel, &listener, NULL, way->space) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&way->to) || rdma_listen(listener, 1) ||
	    rdma_get_cm_event(channel, &event))
		return __LINE__;
	id = event->id;
	if (id->ps != way->space || event->event != RDMA_CM_EVENT_CONNECT_REQUEST ||
	    memcmp(event->param.conn.private_data, hello, sizeof(hello)))
		return __LINE__;
	rdma_ack_cm_event(event);
	if (!is_same(rdma_get_peer_addr(id), &way->from) ||
	    !is_same(rdma_get_local_addr(id), &way->to) || ntohs(rdma_get_src_port(id)) != PORT ||
	    ntohs(rdma_get_dst_port(id)) < FIRST_PORT)
		return __LINE__;
	if (ip_make_qp(id, &cq, 4) || ibv_post_recv(id->qp, &recv, &bad) || rdma_accept(id, &p) ||
	    ip_next(channel, RDMA_CM_EVENT_ESTABLISHED, NULL) || ip_completion(cq))
		return __LINE__;
	if (ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) || rdma_destroy_id(listener) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int route_is(const struct way *way, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(id->qp, &attr, 0, &init) || attr.path_mtu != way->mtu ||
	    attr.ah_attr.is_global != way->is_global)
		return __LINE__;
	if (way->is_global &&
	    (attr.ah_attr.grh.hop_limit != way->hop_limit || attr.ah_attr.grh.traffic_class != TOS))
		return __LINE__;
	return 0;
}

static int client_main(void *arg)
{
	const struct way *way = arg;
	struct rdma_conn_param p = {.private_data = hello,
				    .private_data_len = sizeof(hello),
				    .responder_resources = 1,
				    .initiator_depth = 1,
				    .retry_count = 7};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;
	uint8_t tos = TOS;
	int rc;

	if (rdma_create_id(channel, &id, NULL, way->space) ||
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&way->to, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	if (ip_make_qp(id, &cq, 4) || rdma_connect(id, &p) || rdma_get_cm_event(channel, &event))
		return __LINE__;
	if (event->event != RDMA_CM_EVENT_ESTABLISHED ||
	    memcmp(event->param.conn.private_data, welcome, sizeof(welcome)))
		return __LINE__;
	rdma_ack_cm_event(event);
	rc = route_is(way, id);
	if (rc)
		return rc;
	if (send_and_wait(id, cq) || rdma_disconnect(id) ||
	    ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) ||
	    ip_next(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static struct sockaddr_storage ipv4(const char *text)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&s;

	v4->sin_family = AF_INET;
	v4->sin_port = htons(PORT);
	inet_pton(AF_INET, text, &v4->sin_addr);
	return s;
}

/* The same address, as an IPv4-mapped one. */
static struct sockaddr_storage ipv6(const char *text)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s;

	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(PORT);
	v6->sin6_addr.s6_addr[10] = v6->sin6_addr.s6_addr[11] = 0xff;
	inet_pton(AF_INET, text, &v6->sin6_addr.s6_addr[12]);
	return s;
}

static void connect_by(struct tb *tb, struct tb_end *a, struct tb_end *b, struct way *way)
{
	struct process *server = start_process(b, server_main, way);
	struct process *client = start_process(a, client_main, way);

	expect_exit(client, 0);
	expect_exit(server, 0);
}

/* By IPv4 and by IPv6, over a route that the queue pair must have so. */
static void connect_both(struct tb *tb, struct tb_end *a, struct tb_end *b, const struct way *route,
			 const char *from, const char *to)
{
	struct way v4 = *route, v6 = *route;

	v4.space = v6.space = RDMA_PS_TCP;
	v4.to = ipv4(to);
	v4.from = ipv4(from);
	v6.to = ipv6(to);
	v6.from = ipv6(from);
	connect_by(tb, a, b, &v4);
	connect_by(tb, a, b, &v6);
	v4.space = RDMA_PS_IB;
	connect_by(tb, a, b, &v4);
}

#endif
