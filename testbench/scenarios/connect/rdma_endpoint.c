/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronous ids: rdma_getaddrinfo, rdma_create_ep, rdma_get_request, connect and accept without
 * an event channel and without CQs made by the program. Connecting to a port without a listener
 * fails with ECONNREFUSED. Options have their effect: the type of service shows in the path record
 * query, the timeout in the queue pair; two ids may share a port; a listener may take IPv6 alone. A client
 * keeps the port that it has bound, and a server that names no depths has those of the request.
 */
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>

enum { LEN = 64, TOS = 0x28, ACK_CODE = 17, OWN_PORT = 9, RESOURCES = 2, DEPTH = 4 };
#define THERE "11.0.1.1"
#define PORT  "4711"

static const struct ibv_qp_init_attr queue = {
	.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
	.sq_sig_all = 1};

static int one(struct ibv_cq *cq, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc))
		;
	return wc.status || wc.opcode != opcode;
}

static int server(void *arg)
{
	struct rdma_addrinfo *res, hints = {.ai_flags = RAI_PASSIVE};
	struct ibv_qp_init_attr init = queue;
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(OWN_PORT)};
	struct rdma_cm_id *bound, *listener, *id;
	struct ibv_recv_wr *bad, wr = {0};
	struct ibv_qp_attr attr;
	struct ibv_pd *pd;
	int on = 1;

	/* an id with an address has the device, whose PD those of the listener get */
	inet_pton(AF_INET, THERE, &own.sin_addr);
	if (rdma_create_id(NULL, &bound, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(bound, (struct sockaddr *)&own) || !bound->verbs)
		return __LINE__;
	pd = ibv_alloc_pd(bound->verbs);
	init.qp_context = &own;
	if (!pd || rdma_getaddrinfo(NULL, PORT, &hints, &res) ||
	    rdma_create_ep(&listener, res, pd, &init) ||
	    rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)) ||
	    rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		return __LINE__;
	rdma_freeaddrinfo(res);
	if (!id->qp || id->pd != pd || id->qp->pd != pd || id->qp->qp_context != &own)
		return __LINE__;
	if (!id->recv_cq_channel || ibv_post_recv(id->qp, &wr, &bad) ||
	    ntohs(rdma_get_dst_port(id)) != OWN_PORT || rdma_accept(id, NULL) ||
	    one(id->recv_cq, IBV_WC_RECV))
		return __LINE__;
	if (ibv_query_qp(id->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
			 &init) ||
	    attr.max_rd_atomic != RESOURCES || attr.max_dest_rd_atomic != DEPTH)
		return __LINE__;
	if (rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	return ibv_dealloc_pd(pd) || rdma_destroy_id(bound) ? __LINE__ : 0;
}

/* There is no listener. */
static int refused(void)
{
	struct rdma_addrinfo *res;
	struct ibv_qp_init_attr init = queue;
	struct rdma_cm_id *id;
	int rc;

	if (rdma_getaddrinfo(THERE, "1", NULL, &res) || rdma_create_ep(&id, res, NULL, &init))
		return -1;
	rdma_freeaddrinfo(res);
	rc = rdma_connect(id, NULL);
	rc = rc == -1 && errno == ECONNREFUSED ? 0 : -1;
	rdma_destroy_ep(id);
	return rc;
}

static int shared_port(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(5)};
	struct rdma_cm_id *x, *y, *z;
	int on = 1;

	if (rdma_create_id(NULL, &x, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(NULL, &y, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(x, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)) ||
	    rdma_bind_addr(x, (struct sockaddr *)&any) ||
	    !rdma_bind_addr(y, (struct sockaddr *)&any) || errno != EADDRINUSE ||
	    rdma_set_option(y, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)) ||
	    rdma_bind_addr(y, (struct sockaddr *)&any) || rdma_listen(x, 1))
		return -1;
	/* nobody shares a port on which somebody listens */
	if (rdma_create_id(NULL, &z, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(z, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)) ||
	    !rdma_bind_addr(z, (struct sockaddr *)&any) || errno != EADDRINUSE)
		return -1;
	return rdma_destroy_id(x) || rdma_destroy_id(y) || rdma_destroy_id(z);
}

static int client(void *arg)
{
	struct rdma_addrinfo *res;
	struct ibv_qp_init_attr init = queue, got;
	uint8_t tos = TOS, timeout = ACK_CODE;
	struct rdma_conn_param param = {.responder_resources = RESOURCES,
					.initiator_depth = DEPTH,
					.retry_count = 7,
					.rnr_retry_count = 7};
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(OWN_PORT)};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND};
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id;

	if (refused() || shared_port() || rdma_getaddrinfo(THERE, PORT, NULL, &res) ||
	    rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) ||
	    !rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 2) ||
	    !rdma_set_option(id, RDMA_OPTION_IB, 1, &tos, 1) ||
	    rdma_bind_addr(id, (struct sockaddr *)&own) ||
	    rdma_resolve_addr(id, NULL, res->ai_dst_addr, 1000) || rdma_resolve_route(id, 1000) ||
	    ntohs(rdma_get_src_port(id)) != OWN_PORT)
		return __LINE__;
	init.qp_type = IBV_QPT_RC;
	rdma_freeaddrinfo(res);
	if (rdma_create_qp(id, NULL, &init) || rdma_connect(id, &param) ||
	    id->event->event != RDMA_CM_EVENT_ESTABLISHED ||
	    ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &got) || attr.timeout != ACK_CODE)
		return __LINE__;
	if (ibv_post_send(id->qp, &wr, &bad) || one(id->send_cq, IBV_WC_SEND) ||
	    rdma_disconnect(id))
		return __LINE__;
	rdma_destroy_ep(id);
	return 0;
}

SCENARIO(rdma_endpoint, "synchronous ids and options of rdma_cm", .no_qps = true,
	 .any_packets = true)
{
	struct process *s, *c;

	start_cm();
	s = start_process(a, server, NULL);
	c = start_process(b, client, NULL);
	expect_exit(c, 0);
	expect_exit(s, 0);
}
