/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_migrate_id while events wait that nobody has taken. The events of the id come through the
 * new channel, in their order, and those of other ids stay. A listener takes its waiting requests
 * along, and what has happened to them since: the first client has gone, the second one is accepted
 * there. A client that becomes synchronous waits in its next call, and one that was waits no longer. A
 * channel with ids cannot be destroyed.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/connect.h"

enum { PORT = 5, SOON_US = 20000, LONG_US = 100000000 };

/* Nothing waits in the channel. */
static bool is_empty(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	bool empty;

	if (process_nonblock(channel->fd, true))
		return false;
	errno = 0;
	empty = rdma_get_cm_event(channel, &event) == -1 && errno == EAGAIN;
	return !process_nonblock(channel->fd, false) && empty;
}

/* Takes the next event, which must be that one of that id; NULL: of a new id, which it becomes. */
static int next_of(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted,
		   struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int rc;

	if (rdma_get_cm_event(channel, &event))
		return __LINE__;
	rc = event->event != wanted || (*id && event->id != *id) ? __LINE__ : 0;
	*id = event->id;
	return rdma_ack_cm_event(event) ? __LINE__ : rc;
}

static int answer_second(struct rdma_event_channel *channel, struct rdma_cm_id *listener)
{
	struct rdma_cm_id *first = NULL, *second = NULL;
	struct ibv_cq *cq = NULL;

	if (next_of(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &first) ||
	    next_of(channel, RDMA_CM_EVENT_REJECTED, &first) ||
	    next_of(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &second) || first->channel != channel ||
	    second->channel != channel || rdma_destroy_id(first))
		return __LINE__;
	if (ip_make_qp(second, &cq, 2) || rdma_accept(second, NULL) ||
	    next_of(channel, RDMA_CM_EVENT_ESTABLISHED, &second) ||
	    next_of(channel, RDMA_CM_EVENT_DISCONNECTED, &second) || rdma_disconnect(second))
		return __LINE__;
	rdma_destroy_qp(second);
	return rdma_destroy_id(second) || rdma_destroy_id(listener) || ibv_destroy_cq(cq);
}

/* A second id of the old channel has an event there, which stays. */
static int server(void *arg)
{
	struct rdma_event_channel *old = rdma_create_event_channel();
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *stays;

	if (!channel || ip_listen(old, PORT, 0, &listener) ||
	    ip_resolve(old, IP_A, PORT, NULL, &stays))
		return __LINE__;
	process_sleep_us(4 * SOON_US);
	if (rdma_migrate_id(listener, channel) || listener->channel != channel ||
	    next_of(old, RDMA_CM_EVENT_ADDR_RESOLVED, &stays) || !is_empty(old))
		return __LINE__;
	errno = 0;
	rdma_destroy_event_channel(old);
	if (errno != EBUSY || rdma_destroy_id(stays))
		return __LINE__;
	rdma_destroy_event_channel(old);
	if (answer_second(channel, listener) || !is_empty(channel))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* What rdma_get_request() says at once; 0: it has a request. */
static int waits_as(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;

	errno = 0;
	return rdma_get_request(listener, &id) ? errno : 0;
}

/* A listener that has no request is synchronous while its channel is its own, and only then. The
 * channel of the program stays when the id goes. */
static int both_ways(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT + 1)};
	struct rdma_cm_id *id;

	if (!channel || process_nonblock(channel->fd, true) ||
	    rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&any) || rdma_listen(id, 0))
		return __LINE__;
	for (unsigned i = 0; i < 2; i++) {
		if (process_nonblock(id->channel->fd, true) || waits_as(id) != EAGAIN ||
		    rdma_migrate_id(id, channel))
			return __LINE__;
		if (waits_as(id) != EINVAL)
			return __LINE__;
		/* from one channel of the program to the same one */
		if (rdma_migrate_id(id, channel) || waits_as(id) != EINVAL ||
		    rdma_migrate_id(id, NULL) || id->channel == channel)
			return __LINE__;
	}
	if (rdma_migrate_id(id, channel) || rdma_destroy_id(id) || !is_empty(channel) ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) || id->channel != channel ||
	    rdma_destroy_id(id))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int begin_connect(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			 struct ibv_cq **cq)
{
	return ip_resolve(channel, IP_B, PORT, NULL, id) ||
	       ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	       rdma_resolve_route(*id, IP_TIMEOUT_MS) ||
	       ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || ip_make_qp(*id, cq, 2) ||
	       rdma_connect(*id, NULL);
}

static int goes(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;

	if (begin_connect(channel, &id, &cq))
		return __LINE__;
	process_sleep_us(LONG_US);
	return 0;
}

/* Its id changes its channel twice: between event and event, and to be synchronous. */
static int stays(void *arg)
{
	struct rdma_event_channel *old = rdma_create_event_channel();
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;

	if (!channel || ip_resolve(old, IP_B, PORT, NULL, &id) || rdma_migrate_id(id, channel) ||
	    !is_empty(old) || ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return __LINE__;
	rdma_destroy_event_channel(old);
	if (rdma_migrate_id(id, NULL) || id->channel == channel)
		return __LINE__;
	rdma_destroy_event_channel(channel);
	if (rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    id->event->event != RDMA_CM_EVENT_ROUTE_RESOLVED || ip_make_qp(id, &cq, 2) ||
	    rdma_connect(id, NULL) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return __LINE__;
	/* the event in id->event is acknowledged before the channel changes again */
	channel = rdma_create_event_channel();
	if (!channel || rdma_migrate_id(id, channel) || id->event || rdma_disconnect(id) ||
	    ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL))
		return __LINE__;
	rdma_destroy_qp(id);
	return rdma_destroy_id(id) || ibv_destroy_cq(cq) ? __LINE__ : 0;
}

SCENARIO(rdma_migrate, "ids that change their channel while events wait", .no_qps = true,
	 .any_packets = true)
{
	struct process *listening, *first, *second;

	start_cm();
	expect_exit(start_process(b, both_ways, NULL), 0);
	listening = start_process(b, server, NULL);
	pass_time(CFG_US(SOON_US) / 4);
	first = start_process(a, goes, NULL);
	pass_time(CFG_US(SOON_US));
	kill_process(first);
	expect_exit(first, PROCESS_KILLED);
	second = start_process(a, stays, NULL);
	expect_exit(second, 0);
	expect_exit(listening, 0);
}
