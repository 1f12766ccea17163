/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call of librdmacm allocates some, one after the other, on the way
 * to a connection and back. Each call that finds none says ENOMEM and gives back what it had taken until
 * then. The next one succeeds, and the connection comes to be.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/connect.h"
#include "testbench/harm.h"

#include <arpa/inet.h>

enum { PORT = 4711 };

static struct rdma_cm_event *event_of(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = NULL;

	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

/* Takes the next event, with each allocation failing in turn. */
static int take(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted,
		struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	bool right;

	MADE_WITHOUT_MEMORY((event = event_of(channel)));
	right = event->event == wanted && !event->status;
	if (id)
		*id = event->id;
	rdma_ack_cm_event(event);
	return right ? 0 : __LINE__;
}

static int server_main(void *arg)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htobe16(PORT)};
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	struct ibv_cq *cq = NULL;

	MADE_WITHOUT_MEMORY((channel = rdma_create_event_channel()));
	MADE_WITHOUT_MEMORY(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MADE_WITHOUT_MEMORY(!rdma_bind_addr(listener, (struct sockaddr *)&any));
	MADE_WITHOUT_MEMORY(!rdma_listen(listener, 1));
	if (take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id) || ip_make_qp(id, &cq, 4))
		return __LINE__;
	if (rdma_accept(id, &p) || take(channel, RDMA_CM_EVENT_ESTABLISHED, NULL) ||
	    take(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) || rdma_destroy_id(listener) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int client_main(void *arg)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htobe16(PORT)};
	struct rdma_conn_param p = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct rdma_event_channel *channel;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;

	inet_pton(AF_INET, IP_B, &peer.sin_addr);
	MADE_WITHOUT_MEMORY((channel = rdma_create_event_channel()));
	MADE_WITHOUT_MEMORY(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, IP_TIMEOUT_MS) ||
	    take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return __LINE__;
	MADE_WITHOUT_MEMORY(!rdma_resolve_route(id, IP_TIMEOUT_MS));
	if (take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	MADE_WITHOUT_MEMORY(!ip_make_qp(id, &cq, 4));
	MADE_WITHOUT_MEMORY(!rdma_connect(id, &p));
	if (take(channel, RDMA_CM_EVENT_ESTABLISHED, NULL) || rdma_disconnect(id) ||
	    take(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) ||
	    take(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

SCENARIO(rdma_lacks_memory, "each call of librdmacm finds no memory at each place in turn",
	 .no_qps = true, .any_packets = true)
{
	struct process *server, *client;

	start_cm();
	server = start_process(b, server_main, NULL);
	client = start_process(a, client_main, NULL);
	expect_exit(client, 0);
	expect_exit(server, 0);
}
