/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams by IP address. A SIDR_REQ asks who serves a port, with private data behind the header
 * of annex A11; the SIDR_REP carries queue pair and Q_Key. The first request is lost and sent
 * again. A message goes there and back. If the server refuses, or nobody serves the port, the
 * client gets UNREACHABLE with the status of the SIDR_REP. An id that is migrated to another
 * channel gets its events there.
 */
/* behaviours: IBA-12.11-sidr */
#include "testbench/connect.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

enum { PORT = 4711, NO_PORT = 4712, TIMEOUT_MS = 1000, LEN = 64, GRH = 40, UNSUPPORTED = 1 };
#define THERE "11.0.1.2"

struct side {
	struct rdma_event_channel *channel, *other;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct rdma_ud_param ud; /* of the last event */
	char data[CONN_DATA];
};

/* Takes and acknowledges the next event; returns its status, or -1000. */
static int next(struct side *s, struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;
	int status;

	if (rdma_get_cm_event(channel, &event))
		return -1000;
	status = event->event == wanted ? event->status : -1000;
	s->ud = event->param.ud;
	if (s->ud.private_data_len)
		memcpy(s->data, s->ud.private_data, s->ud.private_data_len);
	if (wanted == RDMA_CM_EVENT_CONNECT_REQUEST)
		s->id = event->id;
	rdma_ack_cm_event(event);
	return status;
}

/* Makes a queue pair for the id and posts a receive. */
static int make_qp(struct side *s)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_recv_wr *bad, wr = {.num_sge = 1};
	struct ibv_sge sge = {.length = GRH + LEN};

	s->cq = ibv_create_cq(s->id->verbs, 4, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = s->cq;
	s->buf = process_memory(2 * (GRH + LEN));
	if (!s->cq || !s->buf || rdma_create_qp(s->id, NULL, &attr))
		return -1;
	s->mr = ibv_reg_mr(s->id->pd, s->buf, 2 * (GRH + LEN), IBV_ACCESS_LOCAL_WRITE);
	if (!s->mr)
		return -1;
	sge.addr = (uintptr_t)s->buf;
	sge.lkey = s->mr->lkey;
	wr.sg_list = &sge;
	return ibv_post_recv(s->id->qp, &wr, &bad);
}

static int drop(struct side *s)
{
	if (s->id->qp) {
		rdma_destroy_qp(s->id);
		if (ibv_dereg_mr(s->mr) || ibv_destroy_cq(s->cq))
			return -1;
	}
	return rdma_destroy_id(s->id);
}

static int send_to(struct side *s, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, const char *text)
{
	struct ibv_sge sge = {(uintptr_t)s->buf + GRH + LEN, LEN, s->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	strcpy((char *)s->buf + GRH + LEN, text);
	return ah ? ibv_post_send(s->id->qp, &wr, &bad) : -1;
}

/* Waits for the completion of a receive; takes completions of sends that come before it. */
static int receive(struct side *s, struct ibv_wc *wc, const char *text)
{
	do {
		while (!ibv_poll_cq(s->cq, 1, wc))
			;
		if (wc->status)
			return -1;
	} while (wc->opcode != IBV_WC_RECV);
	return strcmp((char *)s->buf + GRH, text);
}

static int server(void *arg)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct rdma_conn_param param = {.private_data = "welcome", .private_data_len = 8};
	struct side s = {.channel = rdma_create_event_channel()};
	struct rdma_cm_id *listener;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	if (rdma_create_id(s.channel, &listener, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, 1))
		return __LINE__;
	if (next(&s, s.channel, RDMA_CM_EVENT_CONNECT_REQUEST) || strcmp(s.data, "let me in") ||
	    s.id->qp_type != IBV_QPT_UD || rdma_get_dst_port(s.id) == 0 || make_qp(&s) ||
	    rdma_accept(s.id, &param))
		return __LINE__;
	if (receive(&s, &wc, "question"))
		return __LINE__;
	ah = ibv_create_ah_from_wc(s.id->pd, &wc, (struct ibv_grh *)s.buf, 1);
	if (send_to(&s, ah, wc.src_qp, RDMA_UDP_QKEY, "answer"))
		return __LINE__;
	while (!ibv_poll_cq(s.cq, 1, &wc))
		;
	if (ibv_destroy_ah(ah) || drop(&s))
		return __LINE__;
	if (next(&s, s.channel, RDMA_CM_EVENT_CONNECT_REQUEST) || rdma_reject(s.id, "no", 3) ||
	    rdma_destroy_id(s.id) || rdma_destroy_id(listener))
		return __LINE__;
	rdma_destroy_event_channel(s.channel);
	return 0;
}

static int to_route(struct side *s, uint16_t port)
{
	struct sockaddr_in dst = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, THERE, &dst.sin_addr);
	return rdma_create_id(s->channel, &s->id, s, RDMA_PS_UDP) ||
	       rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&dst, TIMEOUT_MS) ||
	       next(s, s->channel, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	       rdma_resolve_route(s->id, TIMEOUT_MS) ||
	       next(s, s->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int client(void *arg)
{
	struct side s = {.channel = rdma_create_event_channel(),
			 .other = rdma_create_event_channel()};
	struct rdma_conn_param param = {.private_data = "let me in", .private_data_len = 10};
	struct rdma_conn_param too_long = {.private_data = &s, .private_data_len = 181};
	struct ibv_ah *ah;
	struct ibv_wc wc;

	if (to_route(&s, PORT) || make_qp(&s) || !rdma_connect(s.id, &too_long) ||
	    rdma_connect(s.id, &param) || rdma_migrate_id(s.id, s.other))
		return __LINE__;
	if (next(&s, s.other, RDMA_CM_EVENT_ESTABLISHED) || strcmp(s.data, "welcome") ||
	    s.ud.qkey != RDMA_UDP_QKEY ||
	    !s.ud.ah_attr.is_global == !s.ud.ah_attr.dlid /* a LID or a GID */)
		return __LINE__;
	ah = ibv_create_ah(s.id->pd, &s.ud.ah_attr);
	if (send_to(&s, ah, s.ud.qp_num, s.ud.qkey, "question") || receive(&s, &wc, "answer") ||
	    ibv_destroy_ah(ah) || drop(&s))
		return __LINE__;
	if (to_route(&s, PORT) || rdma_connect(s.id, &param) ||
	    next(&s, s.channel, RDMA_CM_EVENT_UNREACHABLE) != IB_SIDR_REJECT ||
	    strcmp(s.data, "no") || drop(&s))
		return __LINE__;
	if (to_route(&s, NO_PORT) || rdma_connect(s.id, &param) ||
	    next(&s, s.channel, RDMA_CM_EVENT_UNREACHABLE) != UNSUPPORTED || drop(&s))
		return __LINE__;
	rdma_destroy_event_channel(s.channel);
	rdma_destroy_event_channel(s.other);
	return 0;
}

SCENARIO(rdma_datagram, "datagrams by IP address: SIDR, there and back, refused, nobody there",
	 .no_qps = true, .any_packets = true)
{
	struct process *s, *c;

	start_cm();
	lose_mad(a_to_b);
	s = start_process(b, server, NULL);
	c = start_process(a, client, NULL);
	expect_exit(c, 0);
	expect_exit(s, 0);
}
