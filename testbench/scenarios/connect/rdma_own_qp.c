/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client has made its queue pair itself, with libibverbs. It gets the event CONNECT_RESPONSE,
 * modifies the queue pair with the attributes from rdma_init_qp_attr, and establishes the
 * connection.
 */
/* behaviours: IBA-A11-ip-cm-service IBA-12.9-qp-attributes */
#include "testbench/connect.h"

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	uint32_t peer_qpn;
};

static int next(struct side *s, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;
	int rc;

	if (rdma_get_cm_event(s->channel, &event))
		return -1;
	rc = event->event != wanted || event->status;
	s->id = event->id;
	s->peer_qpn = event->param.conn.qp_num;
	return rdma_ack_cm_event(event) || rc;
}

static int make_qp(struct side *s)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};

	s->cq = ibv_create_cq(s->id->verbs, 2, NULL, NULL, 0);
	s->pd = ibv_alloc_pd(s->id->verbs);
	attr.send_cq = attr.recv_cq = s->cq;
	s->qp = ibv_create_qp(s->pd, &attr);
	return !s->qp;
}

static int move(struct side *s, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	return rdma_init_qp_attr(s->id, &attr, &mask) || ibv_modify_qp(s->qp, &attr, mask);
}

static int to_rts(struct side *s)
{
	return move(s, IBV_QPS_INIT) || move(s, IBV_QPS_RTR) || move(s, IBV_QPS_RTS);
}

static int close_all(struct side *s)
{
	return rdma_destroy_id(s->id) || ibv_destroy_qp(s->qp) || ibv_destroy_cq(s->cq) ||
	       ibv_dealloc_pd(s->pd);
}

static int server_main(void *arg)
{
	const struct rdma_addrinfo passive = {.ai_flags = RAI_PASSIVE};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct side s = {.channel = rdma_create_event_channel()};
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_addrinfo *res;
	struct rdma_cm_id *listener;

	if (rdma_getaddrinfo(NULL, "77", &passive, &res) ||
	    rdma_create_id(s.channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, res->ai_src_addr) || rdma_listen(listener, 1))
		return 1;
	rdma_freeaddrinfo(res);
	if (next(&s, RDMA_CM_EVENT_CONNECT_REQUEST) || make_qp(&s) || to_rts(&s))
		return 2;
	p.qp_num = s.qp->qp_num;
	if (rdma_accept(s.id, &p) || next(&s, RDMA_CM_EVENT_ESTABLISHED) ||
	    ibv_post_send(s.qp, &send, &bad) || ip_completion(s.cq))
		return 3;
	if (next(&s, RDMA_CM_EVENT_DISCONNECTED) || rdma_disconnect(s.id) || close_all(&s))
		return 4;
	return rdma_destroy_id(listener);
}

static int client_main(void *arg)
{
	struct side s = {.channel = rdma_create_event_channel()};
	struct rdma_conn_param p = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad;
	struct rdma_addrinfo *res;

	if (rdma_getaddrinfo(IP_B, "77", NULL, &res) ||
	    rdma_create_id(s.channel, &s.id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(s.id, NULL, res->ai_dst_addr, IP_TIMEOUT_MS) ||
	    next(&s, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(s.id, IP_TIMEOUT_MS) ||
	    next(&s, RDMA_CM_EVENT_ROUTE_RESOLVED) || make_qp(&s))
		return 10;
	rdma_freeaddrinfo(res);
	p.qp_num = s.qp->qp_num;
	if (move(&s, IBV_QPS_INIT) || ibv_post_recv(s.qp, &recv, &bad) || rdma_connect(s.id, &p) ||
	    next(&s, RDMA_CM_EVENT_CONNECT_RESPONSE) || !s.peer_qpn || to_rts(&s) ||
	    rdma_establish(s.id) || ip_completion(s.cq))
		return 11;
	if (rdma_disconnect(s.id) || next(&s, RDMA_CM_EVENT_DISCONNECTED))
		return 12;
	return close_all(&s) ? 13 : 0;
}

SCENARIO(rdma_own_qp, "connections of queue pairs that rdma_cm does not know", .no_qps = true,
	 .any_packets = true)
{
	struct process *server, *client;

	start_cm();
	server = start_process(b, server_main, NULL);
	client = start_process(a, client_main, NULL);
	expect_exit(client, 0);
	expect_exit(server, 0);
}
