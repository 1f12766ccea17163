/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by IP address, and what can go wrong: an address that nobody has, a service that
 * nobody listens on, a server that refuses, a client that leaves. Private data reaches the other
 * side behind the header of annex A11, a message gets through, and both sides hear of the
 * disconnection.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-A11-service-id */
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <errno.h>

enum { PORT = 4711, NO_PORT = 4712, IP_PRIVATE = 56 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
};

static int next(struct side *s, enum rdma_cm_event_type wanted)
{
	return ip_next(s->channel, wanted, &s->id);
}

static int make_qp(struct side *s)
{
	return ip_make_qp(s->id, &s->cq, 4);
}

static int drop(struct side *s)
{
	rdma_destroy_qp(s->id);
	if (s->cq && ibv_destroy_cq(s->cq))
		return -1;
	s->cq = NULL;
	return rdma_destroy_id(s->id);
}

static int to_route(struct side *s, uint16_t port)
{
	return ip_resolve(s->channel, IP_B, port, s, &s->id) ||
	       next(s, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ROUTE_RESOLVED) || make_qp(s);
}

/* --- the server --- */

static int serve(struct side *s)
{
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad;
	struct rdma_conn_param p = {.private_data = "welcome",
				    .private_data_len = 8,
				    .responder_resources = 2,
				    .initiator_depth = 1,
				    .rnr_retry_count = 7};
	struct rdma_cm_event *event;

	/* the first is refused */
	if (next(s, RDMA_CM_EVENT_CONNECT_REQUEST) || rdma_reject(s->id, "not you", 8) ||
	    rdma_destroy_id(s->id))
		return 2;
	if (rdma_get_cm_event(s->channel, &event))
		return 3;
	s->id = event->id;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST ||
	    event->param.conn.private_data_len != IP_PRIVATE ||
	    memcmp(event->param.conn.private_data, "hello", 6) ||
	    event->param.conn.retry_count != 5 || event->param.conn.initiator_depth != 3 ||
	    event->param.conn.responder_resources != 4)
		return 4;
	rdma_ack_cm_event(event);
	if (s->id->route.addr.dst_sin.sin_addr.s_addr != inet_addr(IP_A) ||
	    ntohs(rdma_get_src_port(s->id)) != PORT)
		return 5;
	if (make_qp(s) || ibv_post_recv(s->id->qp, &recv, &bad) || rdma_accept(s->id, &p) ||
	    next(s, RDMA_CM_EVENT_ESTABLISHED) || ip_completion(s->cq))
		return 6;
	if (next(s, RDMA_CM_EVENT_DISCONNECTED) || rdma_disconnect(s->id))
		return 7;
	return drop(s) ? 8 : 0;
}

static int server_main(void *arg)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct side s = {.channel = rdma_create_event_channel()};
	struct rdma_cm_id *listener, *other;
	int rc;

	if (ip_listen(s.channel, PORT, 4, &listener))
		return 1;
	if (rdma_create_id(s.channel, &other, NULL, RDMA_PS_TCP) ||
	    !rdma_bind_addr(other, (struct sockaddr *)&any) || errno != EADDRINUSE ||
	    rdma_destroy_id(other))
		return 9;
	rc = serve(&s);
	if (rc)
		return rc;
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(s.channel);
	return 0;
}

/* --- the client --- */

static int connect_well(struct side *s)
{
	struct rdma_conn_param p = {.private_data = "hello",
				    .private_data_len = 6,
				    .responder_resources = 3,
				    .initiator_depth = 4,
				    .retry_count = 5,
				    .rnr_retry_count = 6};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct rdma_cm_event *event;
	struct ibv_qp_init_attr init;
	struct rdma_conn_param too_long = p;
	struct ibv_qp_attr attr;

	/* the header of addresses takes the rest of the REQ's 92 bytes. Source: IBA A11.3 */
	too_long.private_data_len = IP_PRIVATE + 1;
	if (to_route(s, PORT) || !rdma_connect(s->id, &too_long) || errno != EINVAL)
		return 29;
	if (rdma_connect(s->id, &p) || rdma_get_cm_event(s->channel, &event))
		return 30;
	if (event->event != RDMA_CM_EVENT_ESTABLISHED ||
	    memcmp(event->param.conn.private_data, "welcome", 8))
		return 31;
	rdma_ack_cm_event(event);
	if (ibv_query_qp(s->id->qp, &attr, 0, &init) || attr.qp_state != IBV_QPS_RTS ||
	    attr.retry_cnt != 5 || attr.rnr_retry != 7 || attr.max_rd_atomic != 2)
		return 32;
	if (ibv_post_send(s->id->qp, &send, &bad) || ip_completion(s->cq))
		return 33;
	if (rdma_disconnect(s->id) || next(s, RDMA_CM_EVENT_DISCONNECTED) ||
	    next(s, RDMA_CM_EVENT_TIMEWAIT_EXIT))
		return 34;
	return drop(s) ? 35 : 0;
}

static int client_main(void *arg)
{
	struct side s = {.channel = rdma_create_event_channel()};
	const int *no_way = arg;

	if (ip_resolve(s.channel, "11.0.9.9", PORT, &s, &s.id) ||
	    next(&s, RDMA_CM_EVENT_ADDR_ERROR) != *no_way || rdma_destroy_id(s.id))
		return 20;
	if (to_route(&s, NO_PORT) || rdma_connect(s.id, NULL) ||
	    next(&s, RDMA_CM_EVENT_REJECTED) != IB_CM_REJ_INVALID_SERVICE_ID || drop(&s))
		return 21;
	if (to_route(&s, PORT) || rdma_connect(s.id, NULL) ||
	    next(&s, RDMA_CM_EVENT_REJECTED) != IB_CM_REJ_CONSUMER_DEFINED || drop(&s))
		return 22;
	if (connect_well(&s))
		return 23;
	rdma_destroy_event_channel(s.channel);
	return 0;
}

SCENARIO(rdma_connect, "connections by IP address, and what can go wrong", .no_qps = true,
	 .any_packets = true)
{
	/* over Ethernet there is no way to another subnet; over InfiniBand the table has no such host */
	int no_way = a->ethernet ? -ENETUNREACH : -EHOSTUNREACH;
	struct process *server, *client;

	start_cm();
	server = start_process(b, server_main, NULL);
	client = start_process(a, client_main, &no_way);
	expect_exit(client, 0);
	expect_exit(server, 0);
}
