/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call of librdmacm allocates some, one after the other, on the way
 * to a connection and back. Each call that finds none says ENOMEM and gives back what it had taken until
 * then. The next one succeeds, and the connection comes to be.
 *
 * Then the threads that hear of messages find none, at each place in turn: a request is refused or
 * comes again, and nothing of it is left.
 */
/* behaviours: FAULT-no-memory */
#include "testbench/connect.h"
#include "testbench/harm.h"

#include <arpa/inet.h>

enum { PORT = 4711, LACKED = 1000, IDLE_MS = 10000 };

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

/* Accepts what comes, until the client has been refused or has gone. */
static int accepts_main(void *arg)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htobe16(PORT)};
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id = NULL;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_event *event;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, 1))
		return __LINE__;
	while (process_poll(channel->fd, IDLE_MS) == 1) {
		/* this thread may find no memory, too */
		if (rdma_get_cm_event(channel, &event))
			continue;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && !id) {
			id = event->id;
			if (ip_make_qp(id, &cq, 4) || rdma_accept(id, &p))
				rdma_reject(id, NULL, 0);
		}
		rdma_ack_cm_event(event);
	}
	if (id) {
		rdma_disconnect(id);
		if (id->qp)
			rdma_destroy_qp(id);
		if (rdma_destroy_id(id))
			return __LINE__;
	}
	if (rdma_destroy_id(listener))
		return __LINE__;
	if (cq && ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* Connects, with the nth allocation of the others failing. Returns whether one of them did. */
static int asks_main(void *arg)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htobe16(PORT)};
	struct rdma_conn_param p = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;
	bool lacked, connected = false;

	inet_pton(AF_INET, IP_B, &peer.sin_addr);
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || ip_make_qp(id, &cq, 4))
		return __LINE__;
	lack_memory_elsewhere(*(const unsigned *)arg);
	if (rdma_connect(id, &p))
		return __LINE__;
	/* none comes if there is no memory for the event itself */
	if (process_poll(channel->fd, IDLE_MS) == 1) {
		if (rdma_get_cm_event(channel, &event))
			return __LINE__;
		connected = event->event == RDMA_CM_EVENT_ESTABLISHED;
		rdma_ack_cm_event(event);
	}
	lacked = lack_memory_elsewhere(0);
	if (!connected && !lacked)
		return __LINE__;
	if (connected && rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return lacked ? LACKED : 0;
}

SCENARIO(rdma_lacks_memory, "each call of librdmacm finds no memory at each place in turn",
	 .no_qps = true, .any_packets = true, .settings = {"sim.time_limit=1000s"})
{
	struct process *server, *client;
	unsigned nth = 1;

	start_cm();
	server = start_process(b, server_main, NULL);
	client = start_process(a, client_main, NULL);
	expect_exit(client, 0);
	expect_exit(server, 0);
	phase("messages");
	for (int rc = LACKED; rc == LACKED && still_right(); nth++) {
		name_row("allocation %u", nth);
		server = start_process(b, accepts_main, NULL);
		pass_time(CFG_MS(1));
		client = start_process(a, asks_main, &nth);
		rc = await_exit(client);
		expect_exit(server, 0);
		expect_true(rc == LACKED || !rc);
	}
}
