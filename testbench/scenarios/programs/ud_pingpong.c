/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ping-pong with datagrams. The client makes its address handle from what the server sent over the
 * socket; the server makes its own from the completion and the GRH of the first datagram, so its answers
 * have the client's flow label and traffic class. A receive buffer has 40 more bytes, for the GRH.
 * rc_pingpong describes what the programs have in common.
 */
#include "testbench/process.h"

#include <infiniband/verbs.h>

#include <arpa/inet.h>

enum { SIZE = 2048, GRH = 40, ROUNDS = 20, DEPTH = 8, QKEY = 0x11111111 };
enum { FLOW_LABEL = 0xabcde, TRAFFIC_CLASS = 0x5a };

struct address {
	uint32_t lid, qpn;
	union ibv_gid gid;
};

struct pingpong {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint32_t peer_qpn;
	uint8_t *buf;
	bool ethernet;
};

static int open_all(struct pingpong *pp)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = 2,
						.max_recv_wr = DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	pp->buf = process_memory(GRH + SIZE);
	pp->context = list ? ibv_open_device(list[0]) : NULL;
	if (!pp->context || !pp->buf)
		return -1;
	ibv_free_device_list(list);
	pp->pd = ibv_alloc_pd(pp->context);
	pp->mr = ibv_reg_mr(pp->pd, pp->buf, GRH + SIZE, IBV_ACCESS_LOCAL_WRITE);
	pp->cq = ibv_create_cq(pp->context, DEPTH + 2, NULL, NULL, 0);
	init.send_cq = init.recv_cq = pp->cq;
	pp->qp = pp->mr && pp->cq ? ibv_create_qp(pp->pd, &init) : NULL;
	return pp->qp ? 0 : -1;
}

/* A UD QP needs no peer's number to reach RTS. */
static int start_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	int rc = ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 7;
	if (!rc)
		rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return rc;
}

static int recv_one(struct pingpong *pp)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf, GRH + SIZE, pp->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(pp->qp, &wr, &bad);
}

static int send_one(struct pingpong *pp)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf + GRH, SIZE, pp->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {.ah = pp->ah,
					   .remote_qpn = pp->peer_qpn,
					   .remote_qkey = QKEY}},
			   *bad;

	return ibv_post_send(pp->qp, &wr, &bad);
}

/* The server answers whoever sends first. */
static int learn_peer(struct pingpong *pp, struct ibv_wc *wc)
{
	pp->peer_qpn = wc->src_qp;
	pp->ah = ibv_create_ah_from_wc(pp->pd, wc, (struct ibv_grh *)(void *)pp->buf, 1);
	return pp->ah ? 0 : -1;
}

/* Over Ethernet the 40 bytes may be an IPv4 header, which has no flow label. */
static bool comes_back(const struct pingpong *pp)
{
	const struct ibv_grh *grh = (const void *)pp->buf;

	return pp->ethernet ||
	       ntohl(grh->version_tclass_flow) == (6U << 28 | TRAFFIC_CLASS << 20 | FLOW_LABEL);
}

static int play(struct pingpong *pp, bool client)
{
	unsigned sent = 0, received = 0;
	struct ibv_wc wc;

	if (client && send_one(pp))
		return -1;
	while (sent < ROUNDS || received < ROUNDS) {
		int n = ibv_poll_cq(pp->cq, 1, &wc);

		if (!n) {
			process_sleep_us(1);
			continue;
		}
		if (n < 0 || wc.status != IBV_WC_SUCCESS)
			return -1;
		if (wc.opcode == IBV_WC_SEND) {
			sent++;
			continue;
		}
		received++;
		if (!comes_back(pp) || wc.byte_len != GRH + SIZE ||
		    (!pp->ah && learn_peer(pp, &wc)) || recv_one(pp) ||
		    ((!client || received < ROUNDS) && send_one(pp)))
			return -1;
	}
	return 0;
}

static int pingpong(void *arg)
{
	struct pingpong pp = {0};
	struct ibv_ah_attr ah = {.port_num = 1};
	struct address mine, peer;
	struct ibv_port_attr port;
	struct oob *o;

	if (open_all(&pp) || start_qp(pp.qp) || ibv_query_port(pp.context, 1, &port))
		return 1;
	for (unsigned i = 0; i < DEPTH; i++)
		if (recv_one(&pp))
			return 2;
	mine = (struct address){.lid = port.lid, .qpn = pp.qp->qp_num};
	if (ibv_query_gid(pp.context, 1, 0, &mine.gid))
		return 6;
	o = oob_open("ud_pingpong");
	if (oob_write(o, &mine, sizeof(mine)) || oob_read(o, &peer, sizeof(peer)))
		return 3;
	pp.ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (arg) {
		ah.dlid = (uint16_t)peer.lid;
		ah.is_global = 1;
		ah.grh = (struct ibv_global_route){.dgid = peer.gid,
						   .flow_label = FLOW_LABEL,
						   .traffic_class = TRAFFIC_CLASS,
						   .hop_limit = 1};
		pp.ah = ibv_create_ah(pp.pd, &ah);
		pp.peer_qpn = peer.qpn;
	}
	if (play(&pp, arg != NULL))
		return 4;
	return ibv_destroy_ah(pp.ah) || ibv_destroy_qp(pp.qp) || ibv_destroy_cq(pp.cq) ||
			       ibv_dereg_mr(pp.mr) || ibv_dealloc_pd(pp.pd) ||
			       ibv_close_device(pp.context)
		       ? 5
		       : 0;
}

SCENARIO(ud_pingpong, "two processes play ping-pong with datagrams", .no_qps = true,
	 .any_packets = true)
{
	struct process *server = start_process(b, pingpong, NULL);
	struct process *client = start_process(a, pingpong, "client");

	expect_exit(client, 0);
	expect_exit(server, 0);
}
