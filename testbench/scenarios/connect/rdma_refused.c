/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of rdma_cm with a wrong argument or at a wrong time, each with the errno that the manual
 * pages give it. A refused call changes nothing: the id that was refused is bound, listens and
 * connects afterwards as if nothing had happened. Two services of a host cannot have the same port,
 * even if one is for IPv4 and the other for IPv6, and a listener that nobody has bound gets a free
 * port.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-A11-service-id */
#include "model/interface/macros.h"
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <netdb.h>

enum { PORT = 7, FIRST_FREE = 32768, NOT_IP = AF_UNIX };

/* In a function that returns an int: the call must fail with that errno. */
#define FAILS(error, call)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) != -1 || errno != (error))                                              \
			return __LINE__;                                                           \
	} while (0)

static struct sockaddr *at(const char *text, uint16_t port, struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, text, &to->sin_addr);
	return (struct sockaddr *)to;
}

static int addresses(struct rdma_event_channel *channel)
{
	struct sockaddr other = {.sa_family = NOT_IP};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct sockaddr_in own, peer;
	struct rdma_cm_id *id, *taken;

	FAILS(EPROTONOSUPPORT, rdma_create_id(channel, &id, NULL, RDMA_PS_IPOIB));
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &taken, NULL, RDMA_PS_TCP))
		return __LINE__;
	FAILS(EAFNOSUPPORT, rdma_bind_addr(id, &other));
	FAILS(EADDRNOTAVAIL, rdma_bind_addr(id, at("11.0.1.9", PORT, &own)));
	FAILS(EADDRNOTAVAIL, rdma_bind_addr(id, at(IP_B, PORT, &own)));
	FAILS(EAFNOSUPPORT, rdma_resolve_addr(id, NULL, &other, IP_TIMEOUT_MS));
	FAILS(EAFNOSUPPORT,
	      rdma_resolve_addr(id, (struct sockaddr *)&six, at(IP_B, PORT, &peer), IP_TIMEOUT_MS));
	FAILS(EADDRNOTAVAIL,
	      rdma_resolve_addr(id, at("11.0.1.9", 0, &own), at(IP_B, PORT, &peer), IP_TIMEOUT_MS));
	if (id->verbs || rdma_bind_addr(taken, at(IP_A, PORT, &own)) || !taken->verbs)
		return __LINE__;
	FAILS(EINVAL, rdma_bind_addr(taken, at(IP_A, PORT + 1, &own)));
	FAILS(EADDRINUSE, rdma_bind_addr(id, at(IP_A, PORT, &own)));
	FAILS(EADDRINUSE, rdma_bind_addr(id, at("0.0.0.0", PORT, &own)));
	FAILS(EADDRINUSE,
	      rdma_resolve_addr(id, at(IP_A, PORT, &own), at(IP_B, PORT, &peer), IP_TIMEOUT_MS));
	return rdma_destroy_id(taken) || rdma_bind_addr(id, at(IP_A, PORT, &own)) ||
			       ntohs(rdma_get_src_port(id)) != PORT || rdma_destroy_id(id)
		       ? __LINE__
		       : 0;
}

/* Two ids have a port for different addresses; only one of them can be the service. */
static int listeners(struct rdma_event_channel *channel)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
	struct sockaddr_in own;
	struct rdma_cm_id *x, *y, *unbound;

	inet_pton(AF_INET6, "::ffff:" IP_A, &six.sin6_addr);
	if (rdma_create_id(channel, &x, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &y, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &unbound, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(x, at(IP_A, PORT, &own)) || rdma_bind_addr(y, (struct sockaddr *)&six) ||
	    rdma_listen(x, 1))
		return __LINE__;
	FAILS(EADDRINUSE, rdma_listen(y, 1));
	FAILS(EINVAL, rdma_listen(x, 1));
	if (rdma_listen(unbound, 1) || ntohs(rdma_get_src_port(unbound)) < FIRST_FREE ||
	    rdma_get_local_addr(unbound)->sa_family != AF_INET || rdma_destroy_id(x) ||
	    rdma_listen(y, 1))
		return __LINE__;
	return rdma_destroy_id(y) || rdma_destroy_id(unbound) ? __LINE__ : 0;
}

static int set(struct rdma_cm_id *id, int name, int value)
{
	uint8_t small = (uint8_t)value;

	return name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT
		       ? rdma_set_option(id, RDMA_OPTION_ID, name, &small, sizeof(small))
		       : rdma_set_option(id, RDMA_OPTION_ID, name, &value, sizeof(value));
}

static int options(struct rdma_event_channel *channel)
{
	struct sockaddr_in own;
	struct rdma_cm_id *id, *ud;
	int number = 1;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(channel, &ud, NULL, RDMA_PS_UDP))
		return __LINE__;
	FAILS(ENOSYS, rdma_set_option(id, RDMA_OPTION_IB, 1, &number, sizeof(number)));
	FAILS(ENOSYS, set(id, RDMA_OPTION_ID_ACK_TIMEOUT + 1, 1));
	FAILS(EINVAL, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, 1));
	FAILS(EINVAL, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &number, 4));
	FAILS(EINVAL, set(id, RDMA_OPTION_ID_ACK_TIMEOUT, 32));
	FAILS(EINVAL, set(ud, RDMA_OPTION_ID_ACK_TIMEOUT, 14));
	if (set(id, RDMA_OPTION_ID_ACK_TIMEOUT, 31) || set(ud, RDMA_OPTION_ID_TOS, 1) ||
	    rdma_bind_addr(id, at(IP_A, 0, &own)))
		return __LINE__;
	FAILS(EINVAL, set(id, RDMA_OPTION_ID_REUSEADDR, 1));
	if (set(id, RDMA_OPTION_ID_AFONLY, 1) || rdma_listen(id, 1))
		return __LINE__;
	FAILS(EINVAL, set(id, RDMA_OPTION_ID_AFONLY, 0));
	return rdma_destroy_id(id) || rdma_destroy_id(ud) ? __LINE__ : 0;
}

/* What an id without a connection refuses. */
static int too_early(struct rdma_event_channel *channel)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	/* a datagram service has room for 180 */
	static const uint8_t too_long[] = {57, 180, 181, 255}, data[255];
	struct rdma_conn_param many = {.responder_resources = 1, .initiator_depth = 254};
	struct ibv_pd *const ex_pd = (struct ibv_pd *)(void *)&many;
	struct ibv_qp_init_attr_ex ex = {
		.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}, .pd = ex_pd};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_cm_id *id;
	int mask;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return __LINE__;
	FAILS(EINVAL, rdma_connect(id, NULL));
	FAILS(EINVAL, rdma_accept(id, NULL));
	FAILS(EINVAL, rdma_establish(id));
	FAILS(EINVAL, rdma_reject(id, NULL, 0));
	FAILS(EINVAL, rdma_disconnect(id));
	FAILS(EINVAL, rdma_notify(id, IBV_EVENT_COMM_EST));
	FAILS(EINVAL, rdma_resolve_route(id, IP_TIMEOUT_MS));
	FAILS(EINVAL, rdma_init_qp_attr(id, &attr, &mask));
	FAILS(EINVAL, rdma_create_qp(id, NULL, &init));
	FAILS(EINVAL, rdma_get_request(id, &id));
	FAILS(EINVAL, rdma_ack_cm_event(NULL));
	if (rdma_destroy_id(id) || ip_resolve(channel, IP_B, PORT, NULL, &id) ||
	    ip_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return __LINE__;
	FAILS(EINVAL, rdma_resolve_route(id, 0));
	FAILS(EINVAL, rdma_connect(id, NULL));
	if (rdma_resolve_route(id, IP_TIMEOUT_MS) ||
	    ip_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL))
		return __LINE__;
	attr.qp_state = IBV_QPS_RTR;
	FAILS(EINVAL, rdma_init_qp_attr(id, &attr, &mask));
	FAILS(EINVAL, rdma_connect(id, &many));
	for (size_t i = 0; i < ARRAY_SIZE(too_long); i++) {
		many = (struct rdma_conn_param){.private_data = data,
						.private_data_len = too_long[i]};
		FAILS(EINVAL, rdma_connect(id, &many));
	}
	init.qp_type = IBV_QPT_UC;
	FAILS(EINVAL, rdma_create_qp(id, NULL, &init));
	/* a PD counts only where the mask says so */
	if (rdma_create_qp_ex(id, &ex) || !id->pd || id->pd == ex_pd)
		return __LINE__;
	FAILS(EINVAL, rdma_create_qp_ex(id, &ex));
	rdma_destroy_qp(id);
	return rdma_destroy_id(id) ? __LINE__ : 0;
}

static int program(void *arg)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int rc = channel ? addresses(channel) : __LINE__;

	rc = rc ? rc : listeners(channel);
	rc = rc ? rc : options(channel);
	rc = rc ? rc : too_early(channel);
	if (channel)
		rdma_destroy_event_channel(channel);
	return rc;
}

SCENARIO(rdma_refused, "calls of rdma_cm that are refused, and why", .no_qps = true,
	 .any_packets = true)
{
	start_cm();
	expect_exit(start_process(a, program, NULL), 0);
}
