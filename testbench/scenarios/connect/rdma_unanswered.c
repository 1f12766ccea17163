/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody answers a client of rdma_cm: its connection request, the question for a datagram service,
 * and the end of its connection are repeated 15 times. The first two end with UNREACHABLE. The
 * third ends with DISCONNECTED all the same. A server whose acceptance is never answered hears of
 * it, too. For programs that are slow to answer, their hosts ask for time.
 */
/* behaviours: IBA-12.9-retries IBA-12.11-sidr-retries */
#include "testbench/connect.h"

#include <arpa/inet.h>

enum { PORT = 5, TIMES = 16, SLOW_S = 30 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
};

static int next(struct side *s, enum rdma_cm_event_type wanted)
{
	return ip_next(s->channel, wanted, &s->id);
}

static int close_side(struct side *s)
{
	rdma_destroy_qp(s->id);
	if (rdma_destroy_id(s->id) || ibv_destroy_cq(s->cq))
		return __LINE__;
	rdma_destroy_event_channel(s->channel);
	return 0;
}

static int begin_connect(void *arg)
{
	struct side *s = arg;

	s->channel = rdma_create_event_channel();
	return ip_resolve(s->channel, IP_B, PORT, NULL, &s->id) ||
	       next(s, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ROUTE_RESOLVED) || ip_make_qp(s->id, &s->cq, 2);
}

static int is_unreachable(void *arg)
{
	struct side *s = arg;

	if (rdma_connect(s->id, NULL) || next(s, RDMA_CM_EVENT_UNREACHABLE) != -ETIMEDOUT)
		return __LINE__;
	return close_side(s);
}

static int sends_request(void *arg)
{
	struct side *s = arg;

	return rdma_connect(s->id, NULL);
}

static int disconnects(void *arg)
{
	struct side *s = arg;

	if (rdma_disconnect(s->id) || next(s, RDMA_CM_EVENT_DISCONNECTED) != -ETIMEDOUT ||
	    next(s, RDMA_CM_EVENT_TIMEWAIT_EXIT))
		return __LINE__;
	return close_side(s);
}

static int begin_datagrams(void *arg)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct side *s = arg;

	s->channel = rdma_create_event_channel();
	inet_pton(AF_INET, IP_B, &to.sin_addr);
	return !s->channel || rdma_create_id(s->channel, &s->id, NULL, RDMA_PS_UDP) ||
	       rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&to, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(s->id, IP_TIMEOUT_MS) ||
	       next(s, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int asks_for_datagrams(void *arg)
{
	struct side *s = arg;

	if (rdma_connect(s->id, NULL) || next(s, RDMA_CM_EVENT_UNREACHABLE) != -ETIMEDOUT ||
	    rdma_destroy_id(s->id))
		return __LINE__;
	rdma_destroy_event_channel(s->channel);
	return 0;
}

static int listens(void *arg)
{
	struct side *s = arg;
	struct rdma_cm_id *listener;

	s->channel = rdma_create_event_channel();
	return ip_listen(s->channel, PORT, 0, &listener);
}

static int takes_request(void *arg)
{
	struct side *s = arg;

	return next(s, RDMA_CM_EVENT_CONNECT_REQUEST) || ip_make_qp(s->id, &s->cq, 2);
}

static int accepts(void *arg)
{
	struct side *s = arg;

	return takes_request(s) || rdma_accept(s->id, NULL);
}

static int is_connected(void *arg)
{
	return next(arg, RDMA_CM_EVENT_ESTABLISHED);
}

static int ends_connection(struct side *s)
{
	rdma_destroy_qp(s->id);
	return rdma_destroy_id(s->id);
}

/* The peer has gone long ago, but its host answers for it. */
static int disconnects_later(void *arg)
{
	struct side *s = arg;

	if (rdma_disconnect(s->id) || next(s, RDMA_CM_EVENT_DISCONNECTED) ||
	    next(s, RDMA_CM_EVENT_TIMEWAIT_EXIT))
		return __LINE__;
	return ends_connection(s);
}

/* Its REP has no answer. */
static int hears_nothing(void *arg)
{
	struct side *s = arg;

	if (rdma_accept(s->id, NULL) || next(s, RDMA_CM_EVENT_UNREACHABLE) != -ETIMEDOUT)
		return __LINE__;
	return ends_connection(s);
}

/* From now on every MAD is lost, in both directions. */
static void lose_all(struct tb *tb)
{
	const struct fault_rule rule = {
		.name = "lost", .match = FAULT_MATCH_QPN, .qpn = QPN_GSI, .action = FAULT_DROP};

	expect_true(fault_plan_add(&tb_machine(tb)->plan, &rule) >= 0);
}

static struct ib_cm_counters counters_of(struct tb *tb, struct tb_end *end)
{
	struct ib_cm_counters counters = {0};

	must(ib_cm_query_counters(ib_device_of(end), &counters));
	return counters;
}

static void requests(struct tb *tb, struct tb_end *a, struct process *client)
{
	struct side side = {0}, datagrams = {0};

	phase("a connection request");
	run_in(client, begin_connect, &side);
	lose_mad(a_to_b, .times = TIMES + 1); /* the REJ, too, which says that it gives up */
	run_in(client, is_unreachable, &side);
	expect_equal(counters_of(tb, a).tx_retries[IB_CM_MSG_REQ], TIMES - 1);
	expect_equal(counters_of(tb, a).tx_msgs[IB_CM_MSG_REJ], 1);
	phase("a question for a datagram service");
	run_in(client, begin_datagrams, &datagrams);
	lose_mad(a_to_b, .times = TIMES);
	run_in(client, asks_for_datagrams, &datagrams);
	expect_equal(counters_of(tb, a).tx_retries[IB_CM_MSG_SIDR_REQ], TIMES - 1);
}

/* The server does not hear of it; when it disconnects, too, it gets an answer. */
static void the_end(struct tb *tb, struct tb_end *a, struct process *client, struct process *server,
		    struct side *answers)
{
	struct side asks = {0};

	phase("the end of a connection");
	run_in(client, begin_connect, &asks);
	run_in(client, sends_request, &asks);
	run_in(server, accepts, answers);
	run_in(client, is_connected, &asks);
	run_in(server, is_connected, answers);
	lose_mad(a_to_b, .times = TIMES);
	run_in(client, disconnects, &asks);
	expect_equal(counters_of(tb, a).tx_retries[IB_CM_MSG_DREQ], TIMES - 1);
	run_in(server, disconnects_later, answers);
}

static int begins_end(void *arg)
{
	return rdma_disconnect(((struct side *)arg)->id);
}

static int has_ended(void *arg)
{
	struct side *s = arg;

	if (next(s, RDMA_CM_EVENT_DISCONNECTED) || next(s, RDMA_CM_EVENT_TIMEWAIT_EXIT))
		return __LINE__;
	return close_side(s);
}

static int is_disconnected(void *arg)
{
	struct side *s = arg;

	if (next(s, RDMA_CM_EVENT_DISCONNECTED) || rdma_disconnect(s->id))
		return __LINE__;
	return ends_connection(s);
}

/* What a program is slow to answer comes again once, and its host asks for time: an MRA. */
static void slow_programs(struct tb *tb, struct tb_end *a, struct process *client,
			  struct process *server, struct side *answers)
{
	static const unsigned repeated[] = {IB_CM_MSG_REQ, IB_CM_MSG_REP};
	struct ib_cm_counters before[] = {counters_of(tb, a), counters_of(tb, a->peer)}, after;
	struct side asks = {0};

	phase("slow programs");
	run_in(client, begin_connect, &asks);
	run_in(client, sends_request, &asks);
	pass_time(CFG_S(SLOW_S));
	run_in(server, accepts, answers);
	pass_time(CFG_S(SLOW_S));
	run_in(client, is_connected, &asks);
	run_in(server, is_connected, answers);
	for_each_row(i, repeated) {
		after = counters_of(tb, i ? a->peer : a);
		expect_equal(after.tx_retries[repeated[i]] - before[i].tx_retries[repeated[i]], 1);
		expect_equal(after.tx_msgs[IB_CM_MSG_MRA] - before[i].tx_msgs[IB_CM_MSG_MRA], 1);
	}
	run_in(client, begins_end, &asks);
	run_in(server, is_disconnected, answers);
	run_in(client, has_ended, &asks);
}

static void an_acceptance(struct tb *tb, struct process *client, struct process *server,
			  struct side *answers)
{
	struct side asks = {0};

	phase("an acceptance");
	run_in(client, begin_connect, &asks);
	run_in(client, sends_request, &asks);
	run_in(server, takes_request, answers);
	lose_all(tb);
	run_in(server, hears_nothing, answers);
}

SCENARIO(rdma_unanswered, "requests of rdma_cm that nobody answers", .no_qps = true,
	 .any_packets = true, .settings = {"sim.time_limit=600s"})
{
	struct side answers = {0};
	struct process *client, *server;

	start_cm();
	client = start_worker(a);
	server = start_worker(b);
	requests(tb, a, client);
	run_in(server, listens, &answers);
	the_end(tb, a, client, server, &answers);
	slow_programs(tb, a, client, server, &answers);
	an_acceptance(tb, client, server, &answers);
	end_worker(client);
	end_worker(server);
}
