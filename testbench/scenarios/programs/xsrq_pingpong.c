/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ping-pong over XRC. Each side sends on its own XRC initiator, and receives through its own target
 * QP on one SRQ of its domain. The peer must know the numbers of that QP and of the SRQ. A domain
 * that no other process shares needs no file. rc_pingpong describes what the programs have in
 * common.
 */
#include "testbench/process.h"

#include <fcntl.h>
#include <infiniband/verbs.h>

enum { SIZE = 1024, ROUNDS = 20, DEPTH = 8, PSN = 0xfffffa };

struct address {
	uint32_t lid, send_qpn, recv_qpn, srqn;
	union ibv_gid gid;
	bool by_gid; /* an Ethernet port has no LID */
};

struct pingpong {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *send_qp, *recv_qp;
	uint32_t peer_srqn;
	uint8_t *buf;
};

static int open_srq(struct pingpong *pp, uint32_t *srqn)
{
	struct ibv_xrcd_init_attr xrcd = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = -1,
					  .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex srq = {.attr = {.max_wr = DEPTH, .max_sge = 1},
					   .comp_mask =
						   IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
						   IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
					   .srq_type = IBV_SRQT_XRC,
					   .pd = pp->pd,
					   .cq = pp->recv_cq};

	pp->xrcd = srq.xrcd = ibv_open_xrcd(pp->context, &xrcd);
	pp->srq = pp->xrcd ? ibv_create_srq_ex(pp->context, &srq) : NULL;
	return pp->srq ? ibv_get_srq_num(pp->srq, srqn) : -1;
}

static int open_qps(struct pingpong *pp)
{
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = pp->xrcd};
	struct ibv_qp_init_attr_ex initiator = {.qp_type = IBV_QPT_XRC_SEND,
						.comp_mask = IBV_QP_INIT_ATTR_PD,
						.pd = pp->pd,
						.send_cq = pp->send_cq,
						.cap = {.max_send_wr = 2, .max_send_sge = 1},
						.sq_sig_all = 1};

	pp->recv_qp = ibv_create_qp_ex(pp->context, &target);
	pp->send_qp = ibv_create_qp_ex(pp->context, &initiator);
	return pp->recv_qp && pp->send_qp ? 0 : -1;
}

static int open_all(struct pingpong *pp, uint32_t *srqn)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	pp->buf = process_memory(SIZE);
	pp->context = list ? ibv_open_device(list[0]) : NULL;
	if (!pp->context || !pp->buf)
		return -1;
	ibv_free_device_list(list);
	pp->pd = ibv_alloc_pd(pp->context);
	pp->mr = ibv_reg_mr(pp->pd, pp->buf, SIZE, IBV_ACCESS_LOCAL_WRITE);
	pp->send_cq = ibv_create_cq(pp->context, 2, NULL, NULL, 0);
	pp->recv_cq = ibv_create_cq(pp->context, DEPTH, NULL, NULL, 0);
	if (!pp->mr || !pp->send_cq || !pp->recv_cq)
		return -1;
	return open_srq(pp, srqn) || open_qps(pp);
}

static int connect_qp(struct ibv_qp *qp, const struct address *peer, uint32_t qpn, bool sends)
{
	const int both =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qpn,
				   .rq_psn = PSN,
				   .sq_psn = PSN,
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
				   sends ? both
					 : both | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (rc || !sends) /* the target only receives: RTR is all it needs */
		return rc;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int post(struct pingpong *pp, bool send)
{
	struct ibv_sge sge = {(uintptr_t)pp->buf, SIZE, pp->mr->lkey};
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr swr = {.sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .qp_type.xrc.remote_srqn = pp->peer_srqn},
			   *bad_send;

	return send ? ibv_post_send(pp->send_qp, &swr, &bad_send)
		    : ibv_post_srq_recv(pp->srq, &rwr, &bad_recv);
}

static int wait_for(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		process_sleep_us(1);
	return n < 0 || wc.status != IBV_WC_SUCCESS ? -1 : 0;
}

static int play(struct pingpong *pp, bool client)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (client && (post(pp, true) || wait_for(pp->send_cq)))
			return -1;
		if (wait_for(pp->recv_cq) || post(pp, false))
			return -1;
		if (!client && (post(pp, true) || wait_for(pp->send_cq)))
			return -1;
	}
	return 0;
}

static int pingpong(void *arg)
{
	struct pingpong pp = {0};
	struct address mine, peer;
	struct ibv_port_attr port;
	struct oob *o;
	char ready;

	if (open_all(&pp, &mine.srqn) || ibv_query_port(pp.context, 1, &port))
		return 1;
	for (unsigned i = 0; i < DEPTH / 2; i++)
		if (post(&pp, false))
			return 2;
	mine.lid = port.lid;
	mine.by_gid = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (ibv_query_gid(pp.context, 1, 0, &mine.gid))
		return 7;
	mine.send_qpn = pp.send_qp->qp_num;
	mine.recv_qpn = pp.recv_qp->qp_num;
	o = oob_open("xsrq_pingpong");
	if (oob_write(o, &mine, sizeof(mine)) || oob_read(o, &peer, sizeof(peer)))
		return 3;
	pp.peer_srqn = peer.srqn;
	if (connect_qp(pp.recv_qp, &peer, peer.send_qpn, false) ||
	    connect_qp(pp.send_qp, &peer, peer.recv_qpn, true) || oob_write(o, "r", 1) ||
	    oob_read(o, &ready, 1))
		return 4;
	return play(&pp, arg != NULL) ? 5 : 0;
}

SCENARIO(xsrq_pingpong, "two processes play ping-pong over XRC, an SRQ each", .no_qps = true,
	 .any_packets = true)
{
	struct process *server = start_process(b, pingpong, NULL);
	struct process *client = start_process(a, pingpong, "client");

	expect_exit(client, 0);
	expect_exit(server, 0);
}
