/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both sides of a connection disconnect at the same time: each hears of it once, whoever answers first. A
 * listener that goes takes its request along, and what has been heard of that since, but nothing of
 * another listener; one that is migrated takes the same to the other channel. An id that goes while it
 * asks for its route does not wait for all the tries.
 */
/* behaviours: IBA-12.9-duplicates IBA-A11-ip-cm-service */
#include "host_driver/mlx4/mad.h"
#include "model/interface/macros.h"
#include "testbench/connect.h"

#include <arpa/inet.h>

enum { PORT = 4711, SOON_MS = 3, TRY_MS = 100, MEET_US = 5000000 };

static struct rdma_cm_id *request_of(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = NULL;

	return ip_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id) ? NULL : id;
}

static int to_route(struct rdma_event_channel *channel, uint16_t port, struct rdma_cm_id **id)
{
	return ip_resolve(channel, IP_B, port, NULL, id) ||
	       ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	       rdma_resolve_route(*id, IP_TIMEOUT_MS) ||
	       ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

/* --- both disconnect --- */

/* Whether it answers first. */
static int meets(struct rdma_event_channel *channel, struct rdma_cm_id *id, bool first)
{
	process_sleep_us(MEET_US - process_now_ns() / 1000);
	if (rdma_disconnect(id) || ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return __LINE__;
	if (first && rdma_disconnect(id))
		return __LINE__;
	/* the other one's answer is nothing new */
	if (process_poll(channel->fd, SOON_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL) ||
	    process_poll(channel->fd, SOON_MS))
		return __LINE__;
	rdma_destroy_qp(id);
	return rdma_destroy_id(id) ? __LINE__ : 0;
}

static int server_meets(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *id;
	struct ibv_cq *cq = NULL;
	int rc;

	if (ip_listen(channel, PORT, 1, &listener))
		return __LINE__;
	id = request_of(channel);
	if (!id || ip_make_qp(id, &cq, 4) || rdma_accept(id, NULL) ||
	    ip_next(channel, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return __LINE__;
	rc = meets(channel, id, !*(const bool *)arg);
	if (rc || ibv_destroy_cq(cq) || rdma_destroy_id(listener))
		return rc ? rc : __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int client_meets(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;
	int rc;

	if (to_route(channel, PORT, &id) || ip_make_qp(id, &cq, 4) || rdma_connect(id, NULL) ||
	    ip_next(channel, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return __LINE__;
	rc = meets(channel, id, *(const bool *)arg);
	if (rc || ibv_destroy_cq(cq))
		return rc ? rc : __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* --- listeners that go, or go elsewhere --- */

/* The server's channel has: a request for the first listener, that its peer has gone, a request for the
 * second one. */
static int server_goes(void *arg)
{
	const bool migrates = *(const bool *)arg;
	struct rdma_event_channel *channel = rdma_create_event_channel(),
				  *other = rdma_create_event_channel();
	struct rdma_cm_id *first, *second, *id;
	struct rdma_cm_event *event;

	if (ip_listen(channel, PORT, 4, &first) || ip_listen(channel, PORT + 1, 4, &second))
		return __LINE__;
	process_sleep_us(TRY_MS * 1000);
	if (migrates) {
		if (rdma_migrate_id(first, other))
			return __LINE__;
		id = request_of(other);
		if (!id || id->channel != other || rdma_get_cm_event(other, &event) ||
		    event->event != RDMA_CM_EVENT_REJECTED || event->id != id ||
		    rdma_ack_cm_event(event) || process_poll(other->fd, 0) || rdma_destroy_id(id))
			return __LINE__;
	}
	if (rdma_destroy_id(first) || rdma_get_cm_event(channel, &event))
		return __LINE__;
	id = event->id;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST || event->listen_id != second ||
	    id->channel != channel || rdma_ack_cm_event(event) || process_poll(channel->fd, 0) ||
	    rdma_reject(id, NULL, 0) || rdma_destroy_id(id) || rdma_destroy_id(second))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(other);
	return 0;
}

static int client_goes(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param p = {.qp_num = 0x1234, .retry_count = 7};
	struct rdma_cm_id *first, *second;

	if (to_route(channel, PORT, &first) || to_route(channel, PORT + 1, &second) ||
	    rdma_connect(first, &p))
		return __LINE__;
	process_sleep_us(1000);
	if (rdma_destroy_id(first) || rdma_connect(second, &p) ||
	    ip_next(channel, RDMA_CM_EVENT_REJECTED, NULL) != IB_CM_REJ_CONSUMER_DEFINED ||
	    rdma_destroy_id(second))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* --- a route that nobody tells --- */

static int asks(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	uint64_t ns;

	if (ip_resolve(channel, IP_B, PORT, NULL, &id) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || rdma_resolve_route(id, TRY_MS))
		return __LINE__;
	process_sleep_us(1000);
	ns = process_now_ns();
	if (rdma_destroy_id(id) || process_now_ns() - ns > (TRY_MS + SOON_MS) * UINT64_C(1000000))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static void both(struct tb *tb, struct tb_end *a, struct tb_end *b, int (*server)(void *),
		 int (*client)(void *), bool way)
{
	struct process *s = start_process(b, server, &way), *c;

	pass_time(CFG_MS(1));
	c = start_process(a, client, &way);
	expect_exit(c, 0);
	expect_exit(s, 0);
}

SCENARIO(rdma_at_once, "both sides disconnect at once; listeners go with what they have not told",
	 .no_qps = true, .any_packets = true)
{
	start_cm();
	for (unsigned way = 0; way < 2; way++) {
		name_row("%u", way);
		both(tb, a, b, server_goes, client_goes, way);
	}
	both(tb, a, b, server_meets, client_meets, true);
	if (a->ethernet || !still_right())
		return;
	drv_mad_unserve(a->dev, 1, MAD_CLASS_SUBN_ADM);
	expect_exit(start_process(b, asks, NULL), 0);
}
