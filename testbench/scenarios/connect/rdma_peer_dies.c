/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other process dies: while it is connected (its kernel sends a DREQ), with a request that it
 * has not answered (a REJ), or while it listens (the service is gone). All this with IPv6
 * addresses. A listener with room for one request rejects the second.
 */
/* behaviours: IBA-12.9-communication-release IBA-A11-ip-cm-service */
#include "testbench/connect.h"

#include <arpa/inet.h>

enum { PORT = 5, LONG_US = 100000000, WAIT_MS = 20 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
};

static int next(struct side *s, enum rdma_cm_event_type wanted)
{
	return ip_next(s->channel, wanted, &s->id);
}

static int make_qp(struct side *s)
{
	return ip_make_qp(s->id, &s->cq, 2);
}

static int listen_on(struct side *s, int backlog)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct rdma_cm_id *listener;

	s->channel = rdma_create_event_channel();
	return !s->channel || rdma_create_id(s->channel, &listener, NULL, RDMA_PS_TCP) ||
	       rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, backlog);
}

static int begin_connect(struct side *s)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};

	inet_pton(AF_INET6, "::ffff:11.0.1.2", &to.sin6_addr);
	if (!s->channel)
		s->channel = rdma_create_event_channel();
	return !s->channel || rdma_create_id(s->channel, &s->id, s, RDMA_PS_TCP) ||
	       rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&to, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ROUTE_RESOLVED) || make_qp(s) || rdma_connect(s->id, NULL);
}

/* --- programs --- */

static int is_left(void *arg)
{
	struct side s = {0};
	int rc = listen_on(&s, 0) || next(&s, RDMA_CM_EVENT_CONNECT_REQUEST) || make_qp(&s) ||
		 rdma_accept(s.id, NULL) || next(&s, RDMA_CM_EVENT_ESTABLISHED);

	if (rc || s.id->route.addr.dst_addr.sa_family != AF_INET6)
		return 1;
	return next(&s, RDMA_CM_EVENT_DISCONNECTED) ? 2 : 0;
}

static int is_connected(void *arg)
{
	struct side s = {0};

	if (begin_connect(&s) || next(&s, RDMA_CM_EVENT_ESTABLISHED))
		return 1;
	process_sleep_us(LONG_US);
	return 0;
}

/* Waits for a request, or for none, and answers nothing. */
static int does_nothing(void *arg)
{
	struct side s = {0};

	if (listen_on(&s, 1) || next(&s, RDMA_CM_EVENT_CONNECT_REQUEST))
		return 1;
	process_sleep_us(LONG_US);
	return 0;
}

static int only_listens(void *arg)
{
	struct side s = {0};

	if (listen_on(&s, 1))
		return 1;
	process_sleep_us(LONG_US);
	return 0;
}

/* Returns the reason for which it is rejected. */
static int is_rejected(void *arg)
{
	struct side s = {0};

	return begin_connect(&s) ? -1 : next(&s, RDMA_CM_EVENT_REJECTED);
}

SCENARIO(rdma_peer_dies, "the process at the other end of a connection dies", .no_qps = true,
	 .any_packets = true)
{
	struct process *server, *client, *second;

	start_cm();
	phase("connected");
	server = start_process(b, is_left, NULL);
	client = start_process(a, is_connected, NULL);
	pass_time(CFG_MS(WAIT_MS));
	kill_process(client);
	expect_exit(server, 0);
	expect_exit(client, PROCESS_KILLED);
	phase("asked, and not answered");
	server = start_process(b, does_nothing, NULL);
	client = start_process(a, is_rejected, NULL);
	pass_time(CFG_MS(WAIT_MS));
	kill_process(server);
	expect_exit(client, IB_CM_REJ_CONSUMER_DEFINED);
	expect_exit(server, PROCESS_KILLED);
	phase("no room for a second request, and nobody asked");
	server = start_process(b, only_listens, NULL);
	client = start_process(a, is_rejected, NULL);
	pass_time(CFG_MS(WAIT_MS));
	second = start_process(a, is_rejected, NULL);
	expect_exit(second, IB_CM_REJ_CONSUMER_DEFINED);
	kill_process(server);
	expect_exit(client, IB_CM_REJ_CONSUMER_DEFINED);
	expect_exit(server, PROCESS_KILLED);
	phase("nobody there");
	client = start_process(a, is_rejected, NULL);
	expect_exit(client, IB_CM_REJ_INVALID_SERVICE_ID);
}
