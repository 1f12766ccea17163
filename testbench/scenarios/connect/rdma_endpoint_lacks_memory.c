/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory lacks at each place where a call of a synchronous id allocates some, one after the other: an
 * address, an endpoint of either side, a request that is taken, a question for a datagram service. The
 * call says ENOMEM and leaves the id as it was, or nothing of it: no descriptor, no port and no event. A
 * request that finds no memory is refused, and the client asks again.
 *
 * Then the threads that hear of a question find none, at each place in turn.
 */
/* behaviours: FAULT-no-memory IBA-12.11-sidr */
#include "testbench/connect.h"
#include "testbench/harm.h"

#include <arpa/inet.h>
#include <fcntl.h>

enum {
	PORT = 4711,
	TRIES_MAX = 200,
	REFUSED_MIN = 8,
	LACKED = 1000,
	SOON_MS = 50,
	IDLE_MS = 100000
};
#define PORT_TEXT "4711"

static struct sockaddr *at(const char *text, uint16_t port, struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, text, &to->sin_addr);
	return (struct sockaddr *)to;
}

/* What the process has: blocks of its heap, and the first descriptor that is free. */
struct held {
	unsigned blocks;
	int fd;
};

static struct held held(void)
{
	const struct drv_list *heap = &uv_process_current()->heap;
	struct held h = {.fd = process_open("probe", O_CREAT)};

	process_close(h.fd);
	for (const struct drv_list *l = heap->next; l != heap; l = l->next)
		h.blocks++;
	return h;
}

static bool holds(struct held h)
{
	const struct held now = held();

	return now.blocks == h.blocks && now.fd == h.fd;
}

/* As MADE_WITHOUT_MEMORY; the process has nothing of a call that has failed. */
#define MADE_OR_NOTHING(made)                                                                      \
	do {                                                                                       \
		const struct held before_ = held();                                                \
		MADE_WITHOUT_MEMORY((made) || !holds(before_));                                    \
	} while (0)

/* --- addresses --- */

/* A new id each time: the one whose device cannot be opened stays bound. */
static bool bound(struct rdma_event_channel *channel, struct rdma_cm_id **id)
{
	struct sockaddr_in own;
	int error;

	if (rdma_create_id(channel, id, NULL, RDMA_PS_TCP))
		return false;
	if (!rdma_bind_addr(*id, at(IP_A, PORT, &own)))
		return true;
	error = errno;
	rdma_destroy_id(*id);
	errno = error;
	return false;
}

/* How many blocks an open device is. */
static unsigned device_blocks(void)
{
	const unsigned before = held().blocks;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list ? ibv_open_device(list[0]) : NULL;
	unsigned n;

	if (!context)
		return 0;
	ibv_free_device_list(list);
	n = held().blocks - before;
	ibv_close_device(context);
	return n;
}

static int addresses(void)
{
	const unsigned device = device_blocks();
	const struct held none = held();
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *first, *id;
	struct sockaddr_in to;
	struct held h;

	if (!channel)
		return __LINE__;
	h = held();
	MADE_WITHOUT_MEMORY(bound(channel, &first));
	if (held().blocks != h.blocks + 1 + device ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return __LINE__;
	MADE_OR_NOTHING(!rdma_resolve_addr(id, NULL, at(IP_B, PORT, &to), IP_TIMEOUT_MS));
	if (ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || process_poll(channel->fd, 0))
		return __LINE__;
	MADE_OR_NOTHING(!rdma_resolve_route(id, IP_TIMEOUT_MS));
	if (ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || process_poll(channel->fd, 0))
		return __LINE__;
	h = held();
	MADE_OR_NOTHING(!rdma_migrate_id(first, NULL) || first->channel != channel);
	if (first->channel == channel || held().blocks != h.blocks + 1)
		return __LINE__;
	h = held();
	/* from its own channel to another one of its own, and back */
	if (rdma_migrate_id(first, NULL) || held().blocks != h.blocks ||
	    rdma_resolve_addr(first, NULL, at(IP_B, PORT, &to), IP_TIMEOUT_MS) ||
	    rdma_resolve_route(first, IP_TIMEOUT_MS) || !first->event ||
	    first->event->event != RDMA_CM_EVENT_ROUTE_RESOLVED || !first->route.num_paths ||
	    process_poll(channel->fd, 0) || rdma_migrate_id(first, channel) ||
	    held().blocks != h.blocks - 1 || rdma_destroy_id(id) || rdma_destroy_id(first))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	h = held();
	/* the device stays open */
	return h.blocks == none.blocks + device && h.fd == none.fd ? 0 : __LINE__;
}

/* --- endpoints --- */

static const struct ibv_qp_init_attr queue = {
	.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
	.qp_type = IBV_QPT_RC};

/* Makes an endpoint and drops it, with each allocation failing in turn; what is made but once, such as the
 * default PD, is there. */
static int made(const char *node, int flags)
{
	const struct rdma_addrinfo hints = {.ai_flags = flags};
	const struct held none = held();
	struct ibv_qp_init_attr init = queue;
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;

	MADE_OR_NOTHING(!rdma_getaddrinfo(node, PORT_TEXT, &hints, &res));
	if (rdma_create_ep(&id, res, NULL, &init))
		return __LINE__;
	rdma_destroy_ep(id);
	MADE_OR_NOTHING(!rdma_create_ep(&id, res, NULL, &init));
	rdma_freeaddrinfo(res);
	rdma_destroy_ep(id);
	return held().fd == none.fd ? 0 : __LINE__;
}

/* Nobody listens. What has found no memory on its way to a connection is destroyed at once. */
static int refused(void)
{
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;
	bool came = true;
	int error;

	if (rdma_getaddrinfo(IP_B, PORT_TEXT, NULL, &res))
		return __LINE__;
	for (unsigned nth = 1; came; nth++) {
		struct ibv_qp_init_attr init = queue;

		if (rdma_create_ep(&id, res, NULL, &init))
			return __LINE__;
		lack_memory(nth);
		error = rdma_connect(id, NULL) ? errno : 0;
		came = lack_memory(0);
		/* a rejected id's queue pair goes to the error state if there is memory for that */
		if (error != ECONNREFUSED && (!came || error != ENOMEM))
			return __LINE__;
		rdma_destroy_ep(id);
	}
	rdma_freeaddrinfo(res);
	return 0;
}

static int alone(void *arg)
{
	struct held h;
	int rc = addresses();

	rc = rc ? rc : made(IP_B, 0);
	h = held();
	rc = rc ? rc : refused();
	rc = rc ? rc : made(IP_B, 0);
	rc = rc ? rc : made(NULL, RAI_PASSIVE);
	return rc ? rc : holds(h) ? 0 : __LINE__;
}

/* Takes a request, with the nth allocation failing. It has a listener of its own. Returns whether the
 * allocation came, or -1. */
static int take(struct rdma_addrinfo *res, unsigned nth)
{
	struct ibv_qp_init_attr init = queue;
	struct rdma_cm_id *listener, *id;
	int came;

	if (rdma_create_ep(&listener, res, NULL, &init) || rdma_listen(listener, 1))
		return -1;
	errno = 0;
	lack_memory(nth);
	if (!rdma_get_request(listener, &id)) {
		came = lack_memory(0);
		if (came || !id->qp || rdma_accept(id, NULL) ||
		    id->event->event != RDMA_CM_EVENT_ESTABLISHED || rdma_disconnect(id))
			return -1;
		rdma_destroy_ep(id);
	} else {
		came = errno == ENOMEM && lack_memory(0) ? 1 : -1;
	}
	rdma_destroy_ep(listener);
	return came;
}

/* The first request that is accepted opens the device, and makes the default PD. Nothing is left of those
 * behind it. Returns how many find no memory. */
static int server(void *arg)
{
	const struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE};
	struct rdma_addrinfo *res;
	unsigned twice_nth = 2;
	struct held h;
	int came = 1;

	if (rdma_getaddrinfo(NULL, PORT_TEXT, &hints, &res) || take(res, 0))
		return -1;
	for (h = held(); came == 1; twice_nth++) {
		came = take(res, twice_nth / 2);
		if (!holds(h))
			return -1;
	}
	return came ? -1 : (int)twice_nth - 3;
}

/* What comes next, soon. */
static struct rdma_cm_event *soon(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	return process_poll(channel->fd, SOON_MS) == 1 && !rdma_get_cm_event(channel, &event)
		       ? event
		       : NULL;
}

/* Asks until the server has all it needs. */
static int client(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_event *event;
	struct ibv_cq *cq = NULL;
	struct rdma_cm_id *id;
	unsigned connected = 0;

	for (unsigned i = 0; connected < 2 && i < TRIES_MAX; i++) {
		bool accepted;

		if (ip_resolve(channel, IP_B, PORT, NULL, &id) ||
		    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
		    rdma_resolve_route(id, IP_TIMEOUT_MS) ||
		    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
		    ip_make_qp(id, &cq, 4) || rdma_connect(id, &p))
			return __LINE__;
		event = soon(channel);
		if (!event)
			return __LINE__;
		accepted = event->event == RDMA_CM_EVENT_ESTABLISHED;
		connected += accepted;
		/* a listener goes with its request, or the next one is not there yet */
		if (!accepted && (event->event != RDMA_CM_EVENT_REJECTED ||
				  (event->status != IB_CM_REJ_CONSUMER_DEFINED &&
				   event->status != IB_CM_REJ_INVALID_SERVICE_ID)))
			return __LINE__;
		rdma_ack_cm_event(event);
		if (accepted &&
		    (ip_next(channel, RDMA_CM_EVENT_DISCONNECTED, NULL) || rdma_disconnect(id)))
			return __LINE__;
		rdma_destroy_qp(id);
		if (rdma_destroy_id(id))
			return __LINE__;
	}
	if (connected < 2 || ibv_destroy_cq(cq))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* --- datagrams --- */

/* Answers the questions that come, until none has come for a while. */
static int answers_main(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	const struct rdma_conn_param param = {.qp_num = 0x1234};
	struct rdma_cm_id *listener;
	struct rdma_cm_event *event;
	struct sockaddr_in any;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(listener, at("0.0.0.0", PORT, &any)) || rdma_listen(listener, 1))
		return __LINE__;
	while (process_poll(channel->fd, IDLE_MS) == 1) {
		struct rdma_conn_param p = param;
		struct rdma_cm_id *id;

		/* this thread may find no memory, too */
		if (rdma_get_cm_event(channel, &event))
			continue;
		id = event->id;
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
			return __LINE__;
		rdma_ack_cm_event(event);
		if (rdma_accept(id, &p) || rdma_destroy_id(id))
			return __LINE__;
	}
	if (rdma_destroy_id(listener))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* What the server says when it has no memory: no queue pair, or it is refused. */
static bool is_answer(const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		return !event->status && event->param.ud.qp_num == 0x1234;
	return event->event == RDMA_CM_EVENT_UNREACHABLE &&
	       (event->status == IB_SIDR_NO_QP || event->status == IB_SIDR_REJECT);
}

static int asks_main(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	const unsigned nth = *(const unsigned *)arg;
	struct rdma_conn_param p = {0};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct sockaddr_in to;
	bool lacked, answered = false;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) ||
	    rdma_resolve_addr(id, NULL, at(IP_B, PORT, &to), IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
	    rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	if (nth == 1)
		MADE_WITHOUT_MEMORY(!rdma_connect(id, &p));
	else if (lack_memory_elsewhere(nth - 1), rdma_connect(id, &p))
		return __LINE__;
	/* none comes if there is no memory for the event itself */
	if (process_poll(channel->fd, IDLE_MS / 2) == 1) {
		if (rdma_get_cm_event(channel, &event) || !is_answer(event))
			return __LINE__;
		answered = event->event == RDMA_CM_EVENT_ESTABLISHED;
		rdma_ack_cm_event(event);
	} else if (nth == 1) {
		return __LINE__;
	}
	lacked = lack_memory_elsewhere(0);
	/* requests that were lost take no place of the listener, which keeps one */
	if (!lacked && !answered)
		return __LINE__;
	if (rdma_destroy_id(id))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return lacked || nth == 1 ? LACKED : 0;
}

static void run(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct process *s, *c;
	unsigned nth = 1;
	int rc = LACKED;

	start_cm();
	expect_exit(start_process(a, alone, NULL), 0);
	/* while the server waits, nobody else asks for a lack */
	phase("requests");
	s = start_process(b, server, NULL);
	pass_time(CFG_MS(1));
	c = start_process(a, client, NULL);
	expect_exit(c, 0);
	expect_that(await_exit(s), >=, REFUSED_MIN);
	phase("datagrams");
	s = start_process(b, answers_main, NULL);
	pass_time(CFG_MS(1));
	for (; rc == LACKED && still_right(); nth++) {
		name_row("allocation %u", nth - 1);
		c = start_process(a, asks_main, &nth);
		rc = await_exit(c);
		expect_true(rc == LACKED || !rc);
	}
	expect_exit(s, 0);
}

SCENARIO(rdma_endpoint_lacks_memory, "each call of a synchronous id finds no memory at each place",
	 .no_qps = true, .any_packets = true, .settings = {"sim.time_limit=3000s"})
{
	run(tb, a, b);
}

SCENARIO(rdma_endpoint_lacks_roce, "the same over Ethernet, where nobody is asked for the route",
	 .no_qps = true, .any_packets = true,
	 .settings = {"hca.port1.type=eth", "hca.device=cx3pro", "sim.ethernet.roce=v2_ipv4",
		      "sim.time_limit=3000s"})
{
	run(tb, a, b);
}
