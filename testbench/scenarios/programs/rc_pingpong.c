/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The well-known RC ping-pong, as two programs that use <infiniband/verbs.h>. They exchange LID, GID,
 * QPN and PSN over a socket, connect, and send a message back and forth, asleep until the
 * completion channel wakes them. Where a real program uses libc, this one uses testbench/process.h.
 */
#include "testbench/process.h"

#include <infiniband/verbs.h>

enum { SIZE = 4096, ROUNDS = 20, DEPTH = 8, RECV_ID = 1, SEND_ID = 2 };

struct address {
	uint32_t lid, qpn, psn;
	union ibv_gid gid;
	bool by_gid; /* an Ethernet port has no LID */
};

struct pingpong {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *buf;
};

static int open_all(struct pingpong *pp)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 1,
						.max_recv_wr = DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	pp->buf = process_memory(SIZE);
	if (!list || !list[0] || !pp->buf)
		return -1;
	pp->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!pp->context)
		return -1;
	pp->channel = ibv_create_comp_channel(pp->context);
	pp->pd = ibv_alloc_pd(pp->context);
	pp->mr = ibv_reg_mr(pp->pd, pp->buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	pp->cq = ibv_create_cq(pp->context, DEPTH + 1, NULL, pp->channel, 0);
	init.send_cq = init.recv_cq = pp->cq;
	pp->qp = ibv_create_qp(pp->pd, &init);
	if (!pp->qp)
		return -1;
	return ibv_modify_qp(pp->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int connect_to(struct pingpong *pp, const struct address *mine, const struct address *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer->qpn,
				   .rq_psn = peer->psn,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 12,
				   .ah_attr = {.dlid = (uint16_t)peer->lid,
					       .port_num = 1,
					       .is_global = mine->by_gid,
					       .grh = {.dgid = peer->gid, .hop_limit = 1}}};
	int rc = ibv_modify_qp(pp->qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER);

	if (rc)
		return rc;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .sq_psn = mine->psn,
				    .max_rd_atomic = 1};
	return ibv_modify_qp(pp->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int post(struct pingpong *pp, bool send)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf, SIZE, pp->mr->lkey};
	struct ibv_send_wr swr = {.wr_id = SEND_ID,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED},
			   *bad_send;
	struct ibv_recv_wr rwr = {.wr_id = RECV_ID, .sg_list = &sge, .num_sge = 1}, *bad_recv;

	return send ? ibv_post_send(pp->qp, &swr, &bad_send)
		    : ibv_post_recv(pp->qp, &rwr, &bad_recv);
}

/* Waits until both the message sent and the message received are complete. */
static int play(struct pingpong *pp, bool client)
{
	unsigned sent = 0, received = 0;
	struct ibv_wc wc[2];
	struct ibv_cq *cq;
	void *context;

	if (client && post(pp, true))
		return -1;
	while (sent < ROUNDS || received < ROUNDS) {
		if (ibv_get_cq_event(pp->channel, &cq, &context))
			return -1;
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			return -1;
		for (int n; (n = ibv_poll_cq(cq, 2, wc));)
			for (int i = 0; i < n; i++) {
				if (wc[i].status != IBV_WC_SUCCESS)
					return (int)wc[i].status;
				if (wc[i].wr_id == SEND_ID) {
					sent++;
					continue;
				}
				received++;
				pp->buf[SIZE - 1]++;
				if (post(pp, false) ||
				    ((!client || received < ROUNDS) && post(pp, true)))
					return -1;
			}
	}
	return 0;
}

static int close_all(struct pingpong *pp)
{
	return ibv_destroy_qp(pp->qp) || ibv_destroy_cq(pp->cq) || ibv_dereg_mr(pp->mr) ||
	       ibv_dealloc_pd(pp->pd) || ibv_destroy_comp_channel(pp->channel) ||
	       ibv_close_device(pp->context);
}

static int pingpong(bool client)
{
	struct pingpong pp = {0};
	struct address mine, peer;
	struct ibv_port_attr port;
	struct oob *o;
	char ready;
	int rc;

	if (open_all(&pp) || ibv_query_port(pp.context, 1, &port))
		return 1;
	for (unsigned i = 0; i < DEPTH; i++)
		if (post(&pp, false))
			return 2;
	if (ibv_req_notify_cq(pp.cq, 0))
		return 3;
	mine = (struct address){.lid = port.lid,
				.qpn = pp.qp->qp_num,
				.psn = client ? 0xfffffe : 0xfffff0,
				.by_gid = port.link_layer == IBV_LINK_LAYER_ETHERNET};
	if (ibv_query_gid(pp.context, 1, 0, &mine.gid))
		return 7;
	o = oob_open("rc_pingpong");
	if (oob_write(o, &mine, sizeof(mine)) || oob_read(o, &peer, sizeof(peer)) ||
	    connect_to(&pp, &mine, &peer) || oob_write(o, "r", 1) || oob_read(o, &ready, 1))
		return 4;
	oob_close(o);
	rc = play(&pp, client);
	if (rc)
		return 100 + rc;
	/* each side adds 1 to this byte of the message for each receive */
	if (pp.buf[SIZE - 1] != (client ? 2 * ROUNDS : 2 * ROUNDS - 1))
		return 5;
	return close_all(&pp) ? 6 : 0;
}

static int client_main(void *arg)
{
	return pingpong(true);
}

static int server_main(void *arg)
{
	return pingpong(false);
}

SCENARIO(rc_pingpong, "two processes play ping-pong over RC, asleep between the strokes",
	 .no_qps = true, .any_packets = true)
{
	struct process *server = start_process(b, server_main, NULL);
	struct process *client = start_process(a, client_main, NULL);

	expect_exit(client, 0);
	expect_exit(server, 0);
}
