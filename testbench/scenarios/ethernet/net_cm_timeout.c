/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_resolve_addr() waits for a neighbour as long as its caller says: less than the second that
 * ib_modify_qp has, or longer than a neighbour has for its three questions. Who then waits asks anew, so
 * an answer after three seconds still counts. A negative limit is none; one of 0 is over at once. An id can be destroyed while its address is asked for.
 * An id whose neighbour did not answer is bound as before, to the same address and the same port, whether
 * its caller or the first try has bound it: it can resolve again, also another address, or listen.
 */
#include "testbench/connect.h"
#include "testbench/scenarios/ethernet/neighbours.h"
#include "testbench/scenarios/programs/refuses.h"

#include <arpa/inet.h>

enum {
	PORT = 4711,
	OWN = 5000,
	LATE = 9,    /* 11.0.1.9 comes after a while */
	NEXT = 11,   /* so does 11.0.1.11, later */
	NOBODY = 10, /* 11.0.1.10 never does */
	SHORT_MS = 300,
	LONG_MS = 3500,
	ENOUGH_MS = 8000,
	COMES_MS = 3400, /* after the third question of the last try */
	NEXT_MS = 6000,  /* after the last question for who came before has been answered */
	SLACK_MS = 1,
	GIVEN_UP = 12,
	NS_PER_MS = 1000000,
};

/* Milliseconds until the event comes; negative: another one, or another status. */
static int asks_for(unsigned host, int timeout_ms, enum rdma_cm_event_type wanted, int status)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)},
			   any = {.sin_family = AF_INET};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	const uint64_t began = process_now_ns();
	struct rdma_cm_id *id;
	uint64_t took;

	to.sin_addr.s_addr = htonl(11u << 24 | 1u << 8 | host);
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, timeout_ms) ||
	    ip_next(channel, wanted, &id) != status)
		return -1;
	took = process_now_ns() - began;
	/* whatever came, the id is bound */
	if (!rdma_bind_addr(id, (struct sockaddr *)&any) || errno != EINVAL || rdma_destroy_id(id))
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

static struct sockaddr *ipv4(struct sockaddr_in *to, unsigned host, uint16_t port)
{
	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	to->sin_addr.s_addr = htonl(11u << 24 | 1u << 8 | host);
	return (struct sockaddr *)to;
}

/* What the id is bound to; 0: as it should be. */
static int bound_to(struct rdma_cm_id *id, uint16_t port)
{
	const struct sockaddr_in *own = (struct sockaddr_in *)rdma_get_local_addr(id);

	return ntohs(rdma_get_src_port(id)) != port || ntohs(own->sin_port) != port ||
	       own->sin_family != AF_INET ||
	       ntohl(own->sin_addr.s_addr) != (11u << 24 | 1u << 8 | 1);
}

/* `own`: the port that the caller binds; 0: none. */
static int stays_bound(uint16_t own)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id, *second;
	struct sockaddr_in to, from;
	uint16_t port;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    (own && rdma_bind_addr(id, ipv4(&from, 1, own))))
		return __LINE__;
	if (rdma_resolve_addr(id, NULL, ipv4(&to, NOBODY, PORT), SHORT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_ERROR, NULL) != -ETIMEDOUT)
		return __LINE__;
	port = ntohs(rdma_get_src_port(id));
	if (!port || (own && port != own) || bound_to(id, port))
		return __LINE__;
	FAILS(rdma_bind_addr(id, ipv4(&from, 1, port + 1)), EINVAL);
	FAILS(rdma_resolve_route(id, SHORT_MS), EINVAL);
	/* another one cannot have the port */
	if (rdma_create_id(channel, &second, NULL, RDMA_PS_TCP))
		return __LINE__;
	FAILS(rdma_bind_addr(second, ipv4(&from, 1, port)), EADDRINUSE);
	if (rdma_destroy_id(second))
		return __LINE__;
	/* the second try fails, too, and the third one finds somebody else */
	if (rdma_resolve_addr(id, NULL, ipv4(&to, NOBODY, PORT), SHORT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_ERROR, NULL) != -ETIMEDOUT || bound_to(id, port))
		return __LINE__;
	if (rdma_resolve_addr(id, NULL, ipv4(&to, 2, PORT), SHORT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || bound_to(id, port) ||
	    rdma_resolve_route(id, SHORT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || rdma_destroy_id(id))
		return __LINE__;
	/* one that listens after it has failed is bound to the same */
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    (own && rdma_bind_addr(id, ipv4(&from, 1, own))))
		return __LINE__;
	if (rdma_resolve_addr(id, NULL, ipv4(&to, NOBODY, PORT), SHORT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_ERROR, NULL) != -ETIMEDOUT)
		return __LINE__;
	port = ntohs(rdma_get_src_port(id));
	if (rdma_listen(id, 1) || bound_to(id, port) || (own && port != own) || rdma_destroy_id(id))
		return __LINE__;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int client_main(void *arg)
{
	const int at_once = asks_for(NOBODY, 0, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	const int is_short = asks_for(LATE, SHORT_MS, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	const int is_long = asks_for(LATE, LONG_MS, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	const int answered = asks_for(LATE, ENOUGH_MS, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	const int no_limit = asks_for(NEXT, -1, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	int rc;

	if (at_once < 0 || at_once > SLACK_MS)
		return 6;
	if (gives_up())
		return 4;
	if (is_short < SHORT_MS || is_short > SHORT_MS + SLACK_MS)
		return 1;
	if (is_long < LONG_MS || is_long > LONG_MS + SLACK_MS)
		return 2;
	if (answered < COMES_MS - SLACK_MS || answered > ENOUGH_MS / 2)
		return 3;
	if (no_limit < NEXT_MS - 2 * 1000 || no_limit > NEXT_MS + SLACK_MS)
		return 5;
	rc = stays_bound(OWN);
	return rc ? rc : stays_bound(0);
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
	pass_time(CFG_MS(NEXT_MS));
	late.ip[DRV_GID_BYTES - 1] = NEXT;
	must(net_address_add(b->net, &late));
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_event(b, IBV_EVENT_GID_CHANGE);
	expect_exit(client, 0);
}
