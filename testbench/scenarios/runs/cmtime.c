/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works like the program cmtime, with <rdma/rdma_cma.h>. A client makes many connections at once,
 * step by step: all of them resolve the address, then all resolve the route, and so on. It prints
 * how long each step takes. Where a real program uses libc, this one uses testbench/process.h.
 */
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { CONNECTIONS = 100, PORT = 7471, TIMEOUT_MS = 2000 };

enum step { CREATE, ADDR, ROUTE, QP, CONNECT, DISCONNECT, DESTROY, STEPS };
static const char *const step_names[STEPS] = {"create id", "resolve addr", "resolve route",
					      "create qp", "connect",      "disconnect",
					      "destroy"};

struct node {
	struct rdma_cm_id *id;
	uint64_t begin[STEPS], end[STEPS]; /* ns */
};

struct client {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
	struct node nodes[CONNECTIONS];
};

/* --- the client --- */

static int start(struct client *c, struct node *n, enum step step)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	n->begin[step] = process_now_ns();
	switch (step) {
	case CREATE:
		return rdma_create_id(c->channel, &n->id, n, RDMA_PS_TCP);
	case ADDR:
		inet_pton(AF_INET, IP_B, &to.sin_addr);
		return rdma_resolve_addr(n->id, NULL, (struct sockaddr *)&to, TIMEOUT_MS);
	case ROUTE:
		return rdma_resolve_route(n->id, TIMEOUT_MS);
	case QP:
		return ip_make_qp(n->id, &c->cq, CONNECTIONS);
	case CONNECT:
		return rdma_connect(n->id, NULL);
	case DISCONNECT:
		return rdma_disconnect(n->id);
	default:
		rdma_destroy_qp(n->id);
		return rdma_destroy_id(n->id);
	}
}

/* Takes CONNECTIONS events of the kind that ends the step. TIMEWAIT events may come at any time. */
static int await(struct client *c, enum step step, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	for (unsigned done = 0; done < CONNECTIONS;) {
		if (rdma_get_cm_event(c->channel, &event))
			return -1;
		if (event->event == wanted) {
			((struct node *)event->id->context)->end[step] = process_now_ns();
			done++;
		} else if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			return -1;
		}
		rdma_ack_cm_event(event);
	}
	return 0;
}

static int run_step(struct client *c, enum step step)
{
	static const int awaited[STEPS] = {[ADDR] = RDMA_CM_EVENT_ADDR_RESOLVED,
					   [ROUTE] = RDMA_CM_EVENT_ROUTE_RESOLVED,
					   [CONNECT] = RDMA_CM_EVENT_ESTABLISHED,
					   [DISCONNECT] = RDMA_CM_EVENT_DISCONNECTED};
	const bool waits = awaited[step] || step == ADDR;

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		if (start(c, &c->nodes[i], step))
			return -1;
		if (!waits)
			c->nodes[i].end[step] = process_now_ns();
	}
	return waits ? await(c, step, (enum rdma_cm_event_type)awaited[step]) : 0;
}

static void print(const struct client *c)
{
	printf("%-14s %10s %10s %10s %10s\n", "step", "total us", "max us", "min us", "us/conn");
	for (enum step s = 0; s < STEPS; s++) {
		uint64_t first = UINT64_MAX, last = 0, min = UINT64_MAX, max = 0;

		for (unsigned i = 0; i < CONNECTIONS; i++) {
			const struct node *n = &c->nodes[i];
			const uint64_t took = n->end[s] - n->begin[s];

			first = n->begin[s] < first ? n->begin[s] : first;
			last = n->end[s] > last ? n->end[s] : last;
			min = took < min ? took : min;
			max = took > max ? took : max;
		}
		printf("%-14s %10.1f %10.1f %10.1f %10.1f\n", step_names[s], (last - first) / 1e3,
		       max / 1e3, min / 1e3, (last - first) / 1e3 / CONNECTIONS);
	}
}

static int client_main(void *arg)
{
	struct client *c = arg;

	c->channel = rdma_create_event_channel();
	for (enum step s = 0; s < STEPS; s++)
		if (!c->channel || run_step(c, s))
			return 1 + (int)s;
	print(c);
	rdma_destroy_event_channel(c->channel);
	return ibv_destroy_cq(c->cq) ? -1 : 0;
}

/* --- the server: accepts every client, until all have left --- */

static int served(struct rdma_cm_event *event, struct ibv_cq **cq, unsigned *left)
{
	struct rdma_cm_id *id = event->id;
	const enum rdma_cm_event_type type = event->event;

	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		return ip_make_qp(id, cq, CONNECTIONS) || rdma_accept(id, NULL);
	if (type != RDMA_CM_EVENT_DISCONNECTED)
		return type != RDMA_CM_EVENT_ESTABLISHED && type != RDMA_CM_EVENT_TIMEWAIT_EXIT;
	--*left;
	if (rdma_disconnect(id))
		return -1;
	rdma_destroy_qp(id);
	return rdma_destroy_id(id);
}

static int server_main(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;
	struct ibv_cq *cq = NULL;
	unsigned left = CONNECTIONS;

	if (ip_listen(channel, PORT, 0, &listener))
		return 1;
	while (left)
		if (rdma_get_cm_event(channel, &event) || served(event, &cq, &left))
			return 2;
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return ibv_destroy_cq(cq) ? 3 : 0;
}

SCENARIO(cmtime, "many connections by IP address: how long each step takes", .no_qps = true,
	 .any_packets = true)
{
	struct client *c = calloc(1, sizeof(*c));
	struct process *server, *client;

	start_cm();
	server = start_process(b, server_main, NULL);
	client = start_process(a, client_main, c);
	expect_exit(client, 0);
	expect_exit(server, 0);
	free(c);
}
