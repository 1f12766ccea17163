/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests whose destination is set by a call of its own: a datagram's address handle, queue pair and
 * Q_Key, and the number of the SRQ of an XRC request, each in one list with another request that has other
 * values. The datagram that carries a wrong Q_Key is dropped, and a list with one that has no address posts
 * nothing.
 */
/* behaviours: POST-calls */
#include "testbench/scenarios/programs/by_calls.h"

#include <stdlib.h>

enum { IMM = 0x600df00d, GRH = 40, LEN = 80, SL = 5, FROM_BITS = 2, TO_BITS = 3 };

/* The GRH, or what stands in its place, may hold anything. */
static void datagram_at(struct by_calls *x, unsigned offset, unsigned from)
{
	memcpy(x->image + offset, x->buf + offset, GRH);
	memcpy(x->image + offset + GRH, x->image + from, LEN);
}

/* A datagram without an address, after one that has one. */
static int no_address(struct by_calls *x, struct ibv_ah *ah)
{
	ibv_wr_start(x->calls);
	ibv_wr_send(x->calls);
	ibv_wr_set_ud_addr(x->calls, ah, x->qp[1]->qp_num, QKEY);
	ibv_wr_send(x->calls);
	return ibv_wr_complete(x->calls) == EINVAL ? 0 : __LINE__;
}

/* Between two LIDs of the port, with a service level: the completion says so. Over Ethernet there are none. */
static int between_lids(struct by_calls *x)
{
	struct ibv_ah_attr path = x->path;
	struct ibv_port_attr port;
	struct ibv_ah *ah;

	if (ibv_query_port(x->context, 1, &port))
		return __LINE__;
	if (port.link_layer != IBV_LINK_LAYER_INFINIBAND)
		return 0;
	path.dlid = (uint16_t)(port.lid + TO_BITS);
	path.src_path_bits = FROM_BITS;
	path.sl = SL;
	ah = ibv_create_ah(x->pd, &path);
	if (!ah || receive(x, 23, HALF + 400, 200))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_id = 7;
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(x->calls);
	ibv_wr_set_ud_addr(x->calls, ah, x->qp[1]->qp_num, QKEY);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 1000), LEN);
	if (ibv_wr_complete(x->calls) || IS(x, 0, .wr_id = 7, .opcode = IBV_WC_SEND) ||
	    IS(x, 1, .wr_id = 23, .opcode = IBV_WC_RECV, .byte_len = GRH + LEN,
	       .wc_flags = IBV_WC_GRH))
		return __LINE__;
	if (ibv_wc_read_slid(x->cq[1]) != (uint32_t)(port.lid + FROM_BITS) ||
	    ibv_wc_read_dlid_path_bits(x->cq[1]) != TO_BITS || ibv_wc_read_sl(x->cq[1]) != SL)
		return __LINE__;
	datagram_at(x, HALF + 400, 1000);
	return nothing_else(x) || ibv_destroy_ah(ah) ? __LINE__ : 0;
}

static int datagrams(struct by_calls *x)
{
	struct ibv_ah *ah = ibv_create_ah(x->pd, &x->path);
	const uint32_t peer = x->qp[1]->qp_num;

	if (!ah || receive(x, 21, HALF, 200) || receive(x, 22, HALF + 200, 200))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	x->calls->wr_id = 1;
	ibv_wr_send(x->calls);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 0), LEN);
	ibv_wr_set_ud_addr(x->calls, ah, peer, QKEY + 1);
	x->calls->wr_id = 2;
	ibv_wr_send(x->calls);
	ibv_wr_set_ud_addr(x->calls, ah, peer, QKEY);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 1000), LEN);
	x->calls->wr_id = 3;
	ibv_wr_send_imm(x->calls, htonl(IMM));
	ibv_wr_set_ud_addr(x->calls, ah, peer, QKEY);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 2000), LEN);
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	for (unsigned i = 1; i <= 3; i++)
		if (IS(x, 0, .wr_id = i, .opcode = IBV_WC_SEND))
			return __LINE__;
	if (IS(x, 1, .wr_id = 21, .opcode = IBV_WC_RECV, .byte_len = GRH + LEN,
	       .wc_flags = IBV_WC_GRH) ||
	    ibv_wc_read_src_qp(x->cq[1]) != x->qp[0]->qp_num ||
	    IS(x, 1, .wr_id = 22, .opcode = IBV_WC_RECV, .byte_len = GRH + LEN,
	       .wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM, .imm_data = htonl(IMM)))
		return __LINE__;
	datagram_at(x, HALF, 1000);
	datagram_at(x, HALF + 200, 2000);
	if (nothing_else(x) || no_address(x, ah) || between_lids(x))
		return __LINE__;
	return nothing_else(x) || ibv_destroy_ah(ah) ? __LINE__ : 0;
}

/* Every XRC request carries the number, not only those that take a receive. */
static int shared(struct by_calls *x)
{
	uint32_t number;

	if (ibv_get_srq_num(x->srq, &number) || receive(x, 31, HALF, 200))
		return __LINE__;
	ibv_wr_start(x->calls);
	x->calls->wr_flags = IBV_SEND_SIGNALED;
	x->calls->wr_id = 4;
	ibv_wr_rdma_write(x->calls, x->mr->rkey, at(x, HALF + 500));
	ibv_wr_set_xrc_srqn(x->calls, number);
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 100), LEN);
	x->calls->wr_id = 5;
	ibv_wr_send_imm(x->calls, htonl(IMM));
	ibv_wr_set_inline_data(x->calls, x->image + 7, INLINE);
	ibv_wr_set_xrc_srqn(x->calls, number);
	x->calls->wr_id = 6;
	ibv_wr_rdma_read(x->calls, x->mr->rkey, at(x, HALF + 600));
	ibv_wr_set_sge(x->calls, x->mr->lkey, at(x, 3000), LEN);
	ibv_wr_set_xrc_srqn(x->calls, number);
	if (ibv_wr_complete(x->calls))
		return __LINE__;
	memcpy(x->image + HALF + 500, x->image + 100, LEN);
	memcpy(x->image + HALF, x->image + 7, INLINE);
	memcpy(x->image + 3000, x->image + HALF + 600, LEN);
	if (IS(x, 0, .wr_id = 4, .opcode = IBV_WC_RDMA_WRITE) ||
	    IS(x, 0, .wr_id = 5, .opcode = IBV_WC_SEND) ||
	    IS(x, 0, .wr_id = 6, .opcode = IBV_WC_RDMA_READ, .byte_len = LEN) ||
	    IS(x, 1, .wr_id = 31, .opcode = IBV_WC_RECV, .byte_len = INLINE,
	       .wc_flags = IBV_WC_WITH_IMM, .imm_data = htonl(IMM)))
		return __LINE__;
	return nothing_else(x) ? __LINE__ : 0;
}

enum { OPS_UD = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM };

static int program(void *arg)
{
	const enum ibv_qp_type type = *(const enum ibv_qp_type *)arg;
	struct by_calls *x = calloc(1, sizeof(*x));
	int rc;

	*x = (struct by_calls){.type = type, .ops = OPS_UD};
	if (type == IBV_QPT_XRC_SEND)
		x->ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;
	rc = open_by_calls(x);
	if (!rc)
		rc = type == IBV_QPT_UD ? datagrams(x) : shared(x);
	if (!rc)
		rc = close_by_calls(x);
	free(x);
	return rc;
}

SCENARIO(wr_calls_addressed, "posting by calls: the address of a datagram, the SRQ of XRC",
	 .no_qps = true, .any_packets = true, .lmc = 2)
{
	enum ibv_qp_type types[] = {IBV_QPT_UD, IBV_QPT_XRC_SEND};

	for_each_row(i, types)
		expect_exit(start_process(a, program, &types[i]), 0);
}
