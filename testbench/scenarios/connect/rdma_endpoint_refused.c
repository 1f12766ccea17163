/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronous ids when something goes wrong, and what rdma_getaddrinfo takes. An address that
 * nobody has gives EHOSTUNREACH, a port or an address that is not numeric EAI_NONAME. A listener
 * whose queue pairs cannot be made rejects the request and takes the next one. An endpoint without
 * attributes has a route, but no queue pair. IPv6 addresses work as IPv4 addresses do.
 */
/* behaviours: IBA-A11-ip-cm-service */
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <netdb.h>

enum { PORT = 4711, TOO_MANY = 1 << 30 };
#define PORT_TEXT "4711"
#define SIX_B     "::ffff:" IP_B

static const struct ibv_qp_init_attr queue = {
	.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	.qp_type = IBV_QPT_RC};

/* --- rdma_getaddrinfo --- */

static int has_no_name(const char *node, const char *service, int flags, int family)
{
	const struct rdma_addrinfo hints = {.ai_flags = flags, .ai_family = family};
	struct rdma_addrinfo *res = NULL;

	return rdma_getaddrinfo(node, service, &hints, &res) != EAI_NONAME || res;
}

static int is_missing(const char *node, const char *service)
{
	struct rdma_addrinfo *res = NULL;

	errno = 0;
	return rdma_getaddrinfo(node, service, NULL, &res) != -1 || errno != EINVAL || res;
}

/* The address that the text stands for. */
static int six_is(const char *node, const char *service, int flags, uint16_t port)
{
	const struct rdma_addrinfo hints = {.ai_flags = flags, .ai_family = AF_INET6};
	const struct sockaddr_in6 *six;
	struct in6_addr wanted = {0};
	struct rdma_addrinfo *res;
	int rc;

	if (rdma_getaddrinfo(node, service, &hints, &res) ||
	    (node && inet_pton(AF_INET6, node, &wanted) != 1))
		return __LINE__;
	six = (const struct sockaddr_in6 *)(flags & RAI_PASSIVE ? res->ai_src_addr
								: res->ai_dst_addr);
	rc = res->ai_family != AF_INET6 || six->sin6_family != AF_INET6 ||
	     six->sin6_port != htons(port) || memcmp(&six->sin6_addr, &wanted, sizeof(wanted)) ||
	     (flags & RAI_PASSIVE ? res->ai_src_len : res->ai_dst_len) != sizeof(*six) ||
	     res->ai_port_space != RDMA_PS_TCP || res->ai_qp_type != IBV_QPT_RC;
	rdma_freeaddrinfo(res);
	return rc;
}

static int texts(void *arg)
{
	if (has_no_name("hostb", "1", 0, 0) || has_no_name(IP_B, "rdma", 0, 0) ||
	    has_no_name(IP_B, "", 0, 0) || has_no_name(IP_B, "65536", 0, 0) ||
	    has_no_name(IP_B, "-1", 0, 0) || has_no_name(IP_B, "1", RAI_FAMILY, AF_INET6) ||
	    has_no_name(SIX_B, "1", RAI_FAMILY, AF_INET))
		return __LINE__;
	if (is_missing(NULL, NULL) || is_missing(NULL, "1"))
		return __LINE__;
	return six_is(SIX_B, PORT_TEXT, 0, PORT) || six_is("fe80::1", NULL, 0, 0) ||
			       six_is(SIX_B, "65535", RAI_FAMILY, 65535) ||
			       six_is(NULL, "0", RAI_FAMILY | RAI_PASSIVE, 0)
		       ? __LINE__
		       : 0;
}

/* --- endpoints --- */

static int endpoint(const char *node, struct ibv_qp_init_attr *init, struct rdma_cm_id **id)
{
	struct rdma_addrinfo *res;
	int rc;

	if (rdma_getaddrinfo(node, PORT_TEXT, NULL, &res))
		return __LINE__;
	errno = 0;
	rc = rdma_create_ep(id, res, NULL, init) ? errno : 0;
	rdma_freeaddrinfo(res);
	return rc;
}

static int server(void *arg)
{
	const struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE | RAI_FAMILY,
					    .ai_family = AF_INET6};
	struct ibv_qp_init_attr init = queue, many = queue;
	struct rdma_cm_id *listener, *strict, *id, *second = NULL;
	struct rdma_addrinfo *res;

	many.cap.max_send_wr = TOO_MANY;
	if (rdma_getaddrinfo(NULL, PORT_TEXT, &hints, &res) ||
	    rdma_create_ep(&strict, res, NULL, &many))
		return __LINE__;
	errno = 0;
	if (rdma_create_ep(&second, res, NULL, &init) != -1 || errno != EADDRINUSE || second ||
	    rdma_listen(strict, 1))
		return __LINE__;
	errno = 0;
	if (rdma_get_request(strict, &id) != -1 || errno != EINVAL)
		return __LINE__;
	rdma_destroy_ep(strict);
	if (rdma_create_ep(&listener, res, NULL, &init) || rdma_listen(listener, 1) ||
	    rdma_get_request(listener, &id) || !id->qp || rdma_accept(id, NULL) ||
	    id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return __LINE__;
	rdma_freeaddrinfo(res);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	return 0;
}

static int connect_to(struct rdma_cm_id *id)
{
	errno = 0;
	return rdma_connect(id, NULL) ? errno : 0;
}

static int client(void *arg)
{
	struct ibv_qp_init_attr init = queue, many = queue;
	struct rdma_cm_id *id = NULL;

	many.cap.max_recv_wr = TOO_MANY;
	if (endpoint("11.0.1.9", &init, &id) != EHOSTUNREACH ||
	    endpoint(IP_B, &many, &id) != EINVAL || id)
		return __LINE__;
	if (endpoint(IP_B, NULL, &id) || id->qp || !id->route.num_paths ||
	    rdma_create_qp(id, NULL, &init) || connect_to(id) != ECONNREFUSED ||
	    id->event->event != RDMA_CM_EVENT_REJECTED ||
	    id->event->status != IB_CM_REJ_CONSUMER_DEFINED)
		return __LINE__;
	rdma_destroy_ep(id);
	process_sleep_us(1000);
	if (endpoint(SIX_B, &init, &id) || connect_to(id) || !id->qp ||
	    rdma_get_peer_addr(id)->sa_family != AF_INET6 || rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_ep(id);
	return 0;
}

SCENARIO(rdma_endpoint_refused, "synchronous ids and addresses that are refused", .no_qps = true,
	 .any_packets = true)
{
	struct process *s, *c;

	start_cm();
	expect_exit(start_process(a, texts, NULL), 0);
	s = start_process(b, server, NULL);
	pass_time(CFG_MS(1));
	c = start_process(a, client, NULL);
	expect_exit(c, 0);
	expect_exit(s, 0);
}
