/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many connections at once over a cable that loses, repeats or delays every fourth management
 * datagram. All of them are established and end, nobody gets an event twice, and nothing is left.
 * sim.seed decides which datagrams are hit.
 */
/* behaviours: IBA-12.9-retries IBA-12.9-duplicates */
#include "testbench/connect.h"

enum { CONNECTIONS = 40, PORT = 6, LOST = 120000, REPEATED = 80000, LATE = 80000 };

/* Counts of events of one side, by kind. */
struct tally {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
	unsigned established, disconnected, others, timewaits;
};

/* The client disconnects as soon as it is connected. */
static int answer(struct tally *t, struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(id, IP_TIMEOUT_MS);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return ip_make_qp(id, &t->cq, CONNECTIONS) || rdma_connect(id, NULL);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return ip_make_qp(id, &t->cq, CONNECTIONS) || rdma_accept(id, NULL);
	case RDMA_CM_EVENT_ESTABLISHED:
		t->established++;
		return id->context ? rdma_disconnect(id) : 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		t->disconnected++;
		return id->context ? 0 : rdma_disconnect(id);
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		t->timewaits++;
		rdma_destroy_qp(id);
		return rdma_destroy_id(id);
	default:
		t->others++;
		return 0;
	}
}

static int until_all_are_gone(struct tally *t)
{
	struct rdma_cm_event *event;

	while (t->timewaits < CONNECTIONS) {
		enum rdma_cm_event_type type;
		struct rdma_cm_id *id;

		if (rdma_get_cm_event(t->channel, &event))
			return 1;
		id = event->id;
		type = event->event;
		rdma_ack_cm_event(event);
		if (answer(t, id, type))
			return 2;
	}
	return 0;
}

static int server_main(void *arg)
{
	struct tally *t = arg;
	struct rdma_cm_id *listener;

	t->channel = rdma_create_event_channel();
	if (ip_listen(t->channel, PORT, 0, &listener))
		return 3;
	return until_all_are_gone(t);
}

static int client_main(void *arg)
{
	struct tally *t = arg;
	struct rdma_cm_id *id;

	t->channel = rdma_create_event_channel();
	for (unsigned i = 0; i < CONNECTIONS; i++)
		if (ip_resolve(t->channel, IP_B, PORT, t, &id))
			return 4;
	return until_all_are_gone(t);
}

SCENARIO(rdma_lossy, "connections over a cable that loses, repeats and delays management",
	 .no_qps = true, .any_packets = true)
{
	const struct fault_rule rules[] = {
		{.name = "lost", .action = FAULT_DROP, .chance_ppm = LOST},
		{.name = "repeated",
		 .action = FAULT_DUPLICATE,
		 .chance_ppm = REPEATED,
		 .copies = 1,
		 .gap_ps = CFG_MS(3)},
		{.name = "late", .action = FAULT_DELAY, .chance_ppm = LATE, .delay_ps = CFG_MS(7)}};
	struct tally server = {0}, client = {0};
	struct process *s, *c;

	start_cm();
	for_each_row(i, rules) {
		struct fault_rule rule = rules[i];

		name_row("%s", rules[i].name);
		rule.match = FAULT_MATCH_QPN;
		rule.qpn = QPN_GSI;
		expect_true(fault_plan_add(&tb_machine(tb)->plan, &rule) >= 0);
	}
	s = start_process(b, server_main, &server);
	c = start_process(a, client_main, &client);
	expect_exit(c, 0);
	expect_exit(s, 0);
	expect_equal(client.established, CONNECTIONS);
	/* a server whose RTU was lost may hear of the disconnection first */
	expect_true(server.established > CONNECTIONS / 2 && server.established <= CONNECTIONS);
	expect_equal(client.disconnected, CONNECTIONS);
	expect_equal(server.disconnected, CONNECTIONS);
	expect_equal(client.others + server.others, 0);
}
