/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_resolve_addr() waits for a neighbour as long as its caller says: less than the second that
 * ib_modify_qp has, or longer than a neighbour has for its three questions. Who then waits asks anew, so
 * an answer after three seconds still counts. An id can be destroyed while its address is asked for.
 */
#include "testbench/connect.h"
#include "testbench/scenarios/ethernet/neighbours.h"

#include <arpa/inet.h>

enum {
	PORT = 4711,
	LATE = 9,    /* 11.0.1.9 comes after a while */
	NOBODY = 10, /* 11.0.1.10 never does */
	SHORT_MS = 300,
	LONG_MS = 3500,
	ENOUGH_MS = 8000,
	COMES_MS = 3400, /* after the third question of the last try */
	SLACK_MS = 1,
	GIVEN_UP = 12,
	NS_PER_MS = 1000000,
};

/* Milliseconds until the event comes; negative: another one, or another status. */
static int asks_for(int timeout_ms, enum rdma_cm_event_type wanted, int status)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	const uint64_t began = process_now_ns();
	struct rdma_cm_id *id;
	uint64_t took;

	to.sin_addr.s_addr = htonl(11u << 24 | 1u << 8 | LATE);
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, timeout_ms) ||
	    ip_next(channel, wanted, &id) != status)
		return -1;
	took = process_now_ns() - began;
	if (rdma_destroy_id(id))
		return -1;
	rdma_destroy_event_channel(channel);
	return (int)(took / NS_PER_MS);
}

/* Each id goes while its address is asked for, a little later each time. */
static int gives_up(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	to.sin_addr.s_addr = htonl(11u << 24 | 1u << 8 | NOBODY);
	for (unsigned i = 0; i < GIVEN_UP; i++) {
		if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, SHORT_MS))
			return -1;
		process_sleep_us((uint64_t)i * i * i);
		if (rdma_destroy_id(id))
			return -1;
	}
	/* nothing takes the place of the last one until its question is over */
	process_sleep_us(2 * SHORT_MS * UINT64_C(1000));
	rdma_destroy_event_channel(channel);
	return 0;
}

static int client_main(void *arg)
{
	const int is_short = asks_for(SHORT_MS, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	const int is_long = asks_for(LONG_MS, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	const int answered = asks_for(ENOUGH_MS, RDMA_CM_EVENT_ADDR_RESOLVED, 0);

	if (gives_up())
		return 4;
	if (is_short < SHORT_MS || is_short > SHORT_MS + SLACK_MS)
		return 1;
	if (is_long < LONG_MS || is_long > LONG_MS + SLACK_MS)
		return 2;
	return answered < COMES_MS - SLACK_MS || answered > ENOUGH_MS / 2 ? 3 : 0;
}

SCENARIO(net_cm_timeout, "rdma_resolve_addr waits for a neighbour as long as its caller says",
	 .no_qps = true, .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct net_address late = ipv4_of(b);
	struct process *client;

	late.ip[DRV_GID_BYTES - 1] = LATE;
	start_cm();
	client = start_process(a, client_main, NULL);
	pass_time(CFG_MS(SHORT_MS + LONG_MS + COMES_MS));
	must(net_address_add(b->net, &late));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_exit(client, 0);
}
