/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ping-pong over several RC queue pairs that share one receive queue: the queue pair number in the
 * completion tells which one must answer. Two programs that use <infiniband/verbs.h>; rc_pingpong
 * describes what the programs have in common.
 */
#include "testbench/process.h"

#include <infiniband/verbs.h>

enum { SIZE = 1024, QPS = 4, ROUNDS = 10, DEPTH = 32 };

struct side {
	uint32_t lid, qpn[QPS];
	union ibv_gid gid;
	bool by_gid; /* an Ethernet port has no LID */
};

struct pingpong {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp[QPS];
	uint8_t *buf;
	unsigned received[QPS], sent[QPS];
};

static int open_all(struct pingpong *pp)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 2, .max_send_sge = 1},
					.sq_sig_all = 1};

	pp->buf = process_memory(2 * SIZE);
	pp->context = list ? ibv_open_device(list[0]) : NULL;
	if (!pp->context || !pp->buf)
		return -1;
	ibv_free_device_list(list);
	pp->pd = ibv_alloc_pd(pp->context);
	pp->mr = ibv_reg_mr(pp->pd, pp->buf, 2 * SIZE, IBV_ACCESS_LOCAL_WRITE);
	pp->cq = ibv_create_cq(pp->context, DEPTH + 2 * QPS, NULL, NULL, 0);
	pp->srq = ibv_create_srq(pp->pd, &srq_init);
	if (!pp->mr || !pp->cq || !pp->srq)
		return -1;
	init.send_cq = init.recv_cq = pp->cq;
	init.srq = pp->srq;
	for (unsigned i = 0; i < QPS; i++) {
		pp->qp[i] = ibv_create_qp(pp->pd, &init);
		if (!pp->qp[i])
			return -1;
	}
	return 0;
}

/* Takes the QP from RESET to RTS; both sides send from PSN 0. */
static int connect_qp(struct ibv_qp *qp, const struct side *peer, uint32_t qpn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qpn,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 12,
				   .ah_attr = {.dlid = (uint16_t)peer->lid,
					       .port_num = 1,
					       .is_global = peer->by_gid,
					       .grh = {.dgid = peer->gid, .hop_limit = 1}},
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = 1};
	int rc = ibv_modify_qp(
		qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = ibv_modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = ibv_modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC);
	return rc;
}

static int recv_one(struct pingpong *pp)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf, SIZE, pp->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_srq_recv(pp->srq, &wr, &bad);
}

static int send_one(struct pingpong *pp, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf + SIZE, SIZE, pp->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	return ibv_post_send(pp->qp[i], &wr, &bad);
}

static unsigned index_of(const struct pingpong *pp, uint32_t qpn)
{
	unsigned i = 0;

	while (i < QPS && pp->qp[i]->qp_num != qpn)
		i++;
	return i;
}

static int play(struct pingpong *pp, bool client)
{
	unsigned left = 2 * QPS * ROUNDS; /* completions */
	struct ibv_wc wc;

	for (unsigned i = 0; client && i < QPS; i++)
		if (send_one(pp, i))
			return -1;
	while (left) {
		int n = ibv_poll_cq(pp->cq, 1, &wc);
		unsigned i;

		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
			return -1;
		if (!n) {
			process_sleep_us(1);
			continue;
		}
		left--;
		i = index_of(pp, wc.qp_num);
		if (i == QPS)
			return -1;
		if (!(wc.opcode & IBV_WC_RECV)) {
			pp->sent[i]++;
			continue;
		}
		pp->received[i]++;
		if (recv_one(pp) || ((!client || pp->received[i] < ROUNDS) && send_one(pp, i)))
			return -1;
	}
	for (unsigned i = 0; i < QPS; i++)
		if (pp->sent[i] != ROUNDS || pp->received[i] != ROUNDS)
			return -1;
	return 0;
}

/* Nothing is closed here: the end of the process frees it. */
static int pingpong(void *arg)
{
	struct pingpong pp = {0};
	struct side mine, peer;
	struct ibv_port_attr port;
	struct oob *o;
	char ready;

	if (open_all(&pp) || ibv_query_port(pp.context, 1, &port))
		return 1;
	for (unsigned i = 0; i < DEPTH; i++)
		if (recv_one(&pp))
			return 2;
	mine.lid = port.lid;
	mine.by_gid = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (ibv_query_gid(pp.context, 1, 0, &mine.gid))
		return 7;
	for (unsigned i = 0; i < QPS; i++)
		mine.qpn[i] = pp.qp[i]->qp_num;
	o = oob_open("srq_pingpong");
	if (oob_write(o, &mine, sizeof(mine)) || oob_read(o, &peer, sizeof(peer)))
		return 3;
	for (unsigned i = 0; i < QPS; i++)
		if (connect_qp(pp.qp[i], &peer, peer.qpn[i]))
			return 4;
	if (oob_write(o, "r", 1) || oob_read(o, &ready, 1))
		return 5;
	return play(&pp, arg != NULL) ? 6 : 0;
}

SCENARIO(srq_pingpong, "two processes play ping-pong over four RC queue pairs and one SRQ each",
	 .no_qps = true, .any_packets = true)
{
	struct process *server = start_process(b, pingpong, NULL);
	struct process *client = start_process(a, pingpong, "client");

	expect_exit(client, 0);
	expect_exit(server, 0);
}
