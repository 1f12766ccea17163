/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes die at random moments while they resolve, connect, accept, are connected, or
 * disconnect. The other side hears of it, and nothing of the dead process is left in connection
 * management, kernel, driver and firmware. sim.seed decides when they die.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/sim/cfg.h"
#include "model/sim/rng.h"
#include "testbench/connect.h"

enum { DEATHS = 40, LATEST_US = 1500, PORT = 99 };

static void drop(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* Takes the step that an event asks for; every event is followed by another one. */
static void answer(struct rdma_cm_event *event, struct ibv_cq **cq)
{
	struct rdma_cm_id *id = event->id;
	const enum rdma_cm_event_type type = event->event;

	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rdma_resolve_route(id, IP_TIMEOUT_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (ip_make_qp(id, cq, 100) || rdma_connect(id, NULL))
			drop(id);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (ip_make_qp(id, cq, 100) || rdma_accept(id, NULL))
			drop(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!id->context)
			break;
		rdma_disconnect(id); /* the client's */
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		rdma_disconnect(id);
		drop(id);
		break;
	}
}

static int server(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;
	struct ibv_cq *cq = NULL;

	if (ip_listen(channel, PORT, 0, &listener))
		return 1;
	while (!rdma_get_cm_event(channel, &event))
		answer(event, &cq);
	return 2;
}

/* Makes one connection after the other, several at once. */
static int client(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_cq *cq = NULL;

	for (unsigned i = 0; channel; i++) {
		if (ip_resolve(channel, IP_B, PORT, channel, &id))
			return 1;
		for (unsigned k = 0; k < 4 && i > 2; k++) {
			if (rdma_get_cm_event(channel, &event))
				return 2;
			answer(event, &cq);
		}
	}
	return 3;
}

static unsigned held(const struct drv_device *dev)
{
	return dev->qps.used + dev->cqs.used + dev->pds.used + dev->uars.used +
	       dev->mtt_buddy.used + dev->db_records + dev->cmd.mailboxes;
}

SCENARIO(rdma_killed, "processes die while they connect; nothing of them is left", .no_qps = true,
	 .any_packets = true)
{
	unsigned at_a, at_b, sent = 0;
	struct ib_cm_counters counters;
	struct rng rng;

	start_cm();
	if (!still_right())
		return;
	rng_init(&rng, tb_machine(tb)->config->sim.sim_seed, "rdma_killed");
	at_a = held(a->dev);
	at_b = held(b->dev);
	for (unsigned i = 0; i < DEATHS && still_right(); i++) {
		struct process *p[2] = {start_process(b, server, NULL),
					start_process(a, client, NULL)};
		const unsigned first = rng_below(&rng, 2);

		pass_time(CFG_NS(1 + rng_below(&rng, LATEST_US * 1000)));
		kill_process(p[first]);
		pass_time(CFG_NS(1 + rng_below(&rng, LATEST_US * 100)));
		kill_process(p[!first]);
		expect_exit(p[0], PROCESS_KILLED);
		expect_exit(p[1], PROCESS_KILLED);
		expect_equal(held(a->dev), at_a);
		expect_equal(held(b->dev), at_b);
		if (!still_right())
			return;
		must(ib_cm_query_counters(ib_device_of(a), &counters));
		expect_equal(counters.ids, 0);
		sent += counters.tx_msgs[IB_CM_MSG_REQ];
		must(ib_cm_query_counters(ib_device_of(b), &counters));
		expect_equal(counters.ids, 0);
	}
	expect_true(sent);
}
