/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait, each for a channel of its own. An event wakes who waits for its channel, and nobody
 * else gets it: when it comes, and when an id brings it along from another channel, be it the event of
 * the id itself or a request that waits for a listener. An id without a waiting event wakes nobody.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/connect.h"

enum { PORT = 9, THREADS = 2, EVENTS_MAX = 8, SOON_US = 500 };

static struct waiter {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *ids[EVENTS_MAX];
	enum rdma_cm_event_type types[EVENTS_MAX];
	unsigned n;
} waiters[THREADS];

static struct rdma_event_channel *quiet; /* nobody waits for it */
static struct rdma_cm_id *id, *other, *listener, *asks;
static struct ibv_cq *cq;

static void waits(void *arg)
{
	struct waiter *w = arg;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(w->channel, &event) && w->n < EVENTS_MAX) {
		w->types[w->n] = event->event;
		w->ids[w->n++] = event->id;
		rdma_ack_cm_event(event);
	}
}

static int begins(void *arg)
{
	memset(waiters, 0, sizeof(waiters));
	cq = NULL;
	quiet = rdma_create_event_channel();
	for (unsigned i = 0; i < THREADS; i++) {
		waiters[i].channel = rdma_create_event_channel();
		if (!waiters[i].channel || process_thread("waits", waits, &waiters[i]))
			return __LINE__;
	}
	return quiet ? 0 : __LINE__;
}

static int resolves_for_second(void *arg)
{
	return ip_resolve(waiters[1].channel, IP_B, PORT, NULL, &other) ? __LINE__ : 0;
}

static int resolves_quietly(void *arg)
{
	return ip_resolve(quiet, IP_B, PORT, NULL, &id) ? __LINE__ : 0;
}

static int id_goes_to_first(void *arg)
{
	return rdma_migrate_id(id, waiters[0].channel) ? __LINE__ : 0;
}

static int id_goes_to_second(void *arg)
{
	return rdma_migrate_id(id, waiters[1].channel) ? __LINE__ : 0;
}

static int routes(void *arg)
{
	return rdma_resolve_route(id, IP_TIMEOUT_MS) ? __LINE__ : 0;
}

static int listens_quietly(void *arg)
{
	return ip_listen(quiet, PORT, 1, &listener) ? __LINE__ : 0;
}

static int listener_goes_to_first(void *arg)
{
	return rdma_migrate_id(listener, waiters[0].channel) ? __LINE__ : 0;
}

/* Its events come to a channel of another process. */
static int connects(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (ip_resolve(channel, IP_A, PORT, NULL, &asks) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(asks, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	return ip_make_qp(asks, &cq, 2) || rdma_connect(asks, NULL) ? __LINE__ : 0;
}

static int is_rejected(void *arg)
{
	struct rdma_event_channel *channel = asks->channel;

	if (ip_next(channel, RDMA_CM_EVENT_REJECTED, NULL) != IB_CM_REJ_CONSUMER_DEFINED)
		return __LINE__;
	rdma_destroy_qp(asks);
	if (rdma_destroy_id(asks) || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int rejects_request(void *arg)
{
	struct waiter *w = &waiters[0];
	struct rdma_cm_id *request = w->ids[w->n - 1];

	return request->channel != w->channel || rdma_reject(request, "no", 2) ||
	       rdma_destroy_id(request) || rdma_destroy_id(listener);
}

static int destroys(void *arg)
{
	return rdma_destroy_id(id) || rdma_destroy_id(other) ? __LINE__ : 0;
}

/* How many events each thread has got so far. */
static void got(struct tb *tb, unsigned first, unsigned second)
{
	pass_time(CFG_US(SOON_US));
	expect_equal(waiters[0].n, first);
	expect_equal(waiters[1].n, second);
}

static void last_is(struct tb *tb, const struct waiter *w, const struct rdma_cm_id *of,
		    enum rdma_cm_event_type type)
{
	if (!still_right())
		return;
	expect_equal(w->types[w->n - 1], type);
	expect_true(w->ids[w->n - 1] == of);
}

SCENARIO(rdma_channels, "threads that wait for the events of different channels", .no_qps = true,
	 .any_packets = true)
{
	struct process *x, *y;

	start_cm();
	x = start_worker(a);
	y = start_worker(b);
	run_in(x, begins, NULL);
	got(tb, 0, 0);
	phase("an event that comes");
	run_in(x, resolves_for_second, NULL);
	got(tb, 0, 1);
	last_is(tb, &waiters[1], other, RDMA_CM_EVENT_ADDR_RESOLVED);
	phase("an event that an id brings along");
	run_in(x, resolves_quietly, NULL);
	got(tb, 0, 1);
	run_in(x, id_goes_to_first, NULL);
	got(tb, 1, 1);
	last_is(tb, &waiters[0], id, RDMA_CM_EVENT_ADDR_RESOLVED);
	phase("an id without events, and the next one");
	run_in(x, id_goes_to_second, NULL);
	got(tb, 1, 1);
	run_in(x, routes, NULL);
	got(tb, 1, 2);
	last_is(tb, &waiters[1], id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	phase("a request that a listener brings along");
	run_in(x, listens_quietly, NULL);
	run_in(y, connects, NULL);
	got(tb, 1, 2);
	run_in(x, listener_goes_to_first, NULL);
	got(tb, 2, 2);
	if (still_right())
		last_is(tb, &waiters[0], waiters[0].ids[1], RDMA_CM_EVENT_CONNECT_REQUEST);
	run_in(x, rejects_request, NULL);
	run_in(y, is_rejected, NULL);
	run_in(x, destroys, NULL);
	got(tb, 2, 2);
	end_worker(y);
	end_worker(x);
}
