/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listener has room for one request that nobody has taken. One client after the other asks: each request
 * that the process takes makes room for the next, so all of them arrive, and the process rejects them.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/connect.h"

enum { PORT = 5, CLIENTS = 4, REFUSED = 28 /* consumer reject */ };

static int server(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id;

	if (!channel || ip_listen(channel, PORT, 1, &listener))
		return 1;
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (ip_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id))
			return 2;
		if (rdma_reject(id, NULL, 0) || rdma_destroy_id(id))
			return 3;
	}
	return rdma_destroy_id(listener) ? 4 : 0;
}

/* Returns the reason for which it is rejected. */
static int client(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;

	if (!channel || ip_resolve(channel, IP_B, PORT, NULL, &id) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, &id) ||
	    rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, &id) || ip_make_qp(id, &cq, 2) ||
	    rdma_connect(id, NULL))
		return -1;
	return ip_next(channel, RDMA_CM_EVENT_REJECTED, &id);
}

SCENARIO(rdma_backlog, "a request that was taken makes room in the backlog of the listener",
	 .no_qps = true, .any_packets = true)
{
	struct process *listening;

	start_cm();
	listening = start_process(b, server, NULL);
	pass_time(CFG_MS(1));
	for (unsigned i = 0; i < CLIENTS && still_right(); i++)
		expect_exit(start_process(a, client, NULL), REFUSED);
	expect_exit(listening, 0);
}
