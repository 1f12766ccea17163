/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process answers a datagram that has come over Ethernet: it finds the way back in the completion and in
 * the 40 bytes before the message, which have an IPv4 header with RoCE v2 over IPv4, else a GRH. The address
 * names the sender's GID, and the entry of its own table that the datagram was sent to, in that version of
 * RoCE. Another GID than the port has is refused, and an address that nobody has gives ETIMEDOUT. The table
 * of GIDs leaves out its empty entries, also those between others.
 */
#include "testbench/programs.h"
#include "testbench/scenarios/ethernet/neighbours.h"
#include "testbench/scenarios/programs/refuses.h"

enum { QKEY = 0x1234, GRH = 40, LEN = 100, PORT = 1, NOBODY = 9, GIDS = 256, CLASS = 0x5c };

struct side {
	struct program p;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint32_t peer_qpn;
	union ibv_gid own, peer; /* that its queue pairs use */
	unsigned own_index;      /* where it stands in the table */
};

static int open_side(void *arg)
{
	struct side *s = arg;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = QKEY};

	if (program_open(&s->p))
		return __LINE__;
	init.send_cq = init.recv_cq = s->p.cq;
	s->qp = ibv_create_qp(s->p.pd, &init);
	if (!s->qp || ibv_modify_qp(s->qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return __LINE__;
	s->p.qpn = s->qp->qp_num;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE))
		return __LINE__;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) ? __LINE__ : 0;
}

static int receive(void *arg)
{
	struct side *s = arg;
	struct ibv_sge sge = {(uintptr_t)s->p.buf, GRH + LEN, s->p.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(s->qp, &wr, &bad) ? __LINE__ : 0;
}

static int send_one(void *arg)
{
	struct side *s = arg;
	struct ibv_sge sge = {(uintptr_t)s->p.buf + PROGRAM_BYTES / 2, LEN, s->p.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 2,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {s->ah, s->peer_qpn, QKEY}},
			   *bad;

	memset(s->p.buf + PROGRAM_BYTES / 2, s->p.buf[GRH] + 1, LEN);
	return ibv_post_send(s->qp, &wr, &bad) || program_wait(&s->p) || s->p.wc.wr_id != 2
		       ? __LINE__
		       : 0;
}

/* The address by the peer's GID. The next one is nobody's. */
static int address(void *arg)
{
	struct side *s = arg;
	struct ibv_ah_attr attr = {.port_num = PORT, .is_global = 1};

	attr.grh.dgid = s->peer;
	attr.grh.traffic_class = CLASS;
	attr.grh.sgid_index = (uint8_t)s->own_index;
	attr.grh.dgid.raw[15] = NOBODY;
	REFUSED(ibv_create_ah(s->p.pd, &attr), ETIMEDOUT);
	attr.grh.dgid = s->peer;
	s->ah = ibv_create_ah(s->p.pd, &attr);
	return s->ah ? 0 : __LINE__;
}

/* The way back to the sender of what has come. */
static int way_back(void *arg)
{
	struct side *s = arg;
	struct ibv_grh *grh = (void *)s->p.buf;
	struct ibv_ah_attr attr;
	uint8_t other[GRH];

	if (program_wait(&s->p) || s->p.wc.wr_id != 1 || s->p.wc.byte_len != GRH + LEN)
		return __LINE__;
	if (ibv_init_ah_from_wc(s->p.context, PORT, &s->p.wc, grh, &attr) || !attr.is_global ||
	    attr.port_num != PORT || attr.grh.sgid_index != s->own_index || !attr.grh.hop_limit ||
	    attr.grh.traffic_class != CLASS ||
	    memcmp(attr.grh.dgid.raw, s->peer.raw, sizeof(s->peer.raw)))
		return __LINE__;
	/* the same as if it had come to another address */
	memset(other, 0, GRH);
	if (ibv_init_ah_from_wc(s->p.context, PORT, &s->p.wc, (void *)other, &attr) != -1 ||
	    ibv_create_ah_from_wc(s->p.pd, &s->p.wc, (void *)other, PORT))
		return __LINE__;
	s->peer_qpn = s->p.wc.src_qp;
	s->ah = ibv_create_ah_from_wc(s->p.pd, &s->p.wc, grh, PORT);
	return s->ah ? 0 : __LINE__;
}

static int answered(void *arg)
{
	struct side *s = arg;

	if (program_wait(&s->p) || s->p.wc.wr_id != 1 || s->p.wc.src_qp != s->peer_qpn)
		return __LINE__;
	for (unsigned i = 0; i < LEN; i++)
		if (s->p.buf[GRH + i] != 2)
			return __LINE__;
	return 0;
}

/* Every entry that is listed has a GID, and every other one is empty. */
static int table(void *arg)
{
	static const union ibv_gid none;
	struct side *s = arg;
	struct ibv_gid_entry entries[GIDS], e;
	struct ibv_port_attr port;
	unsigned listed = 0;
	ssize_t n = ibv_query_gid_table(s->p.context, entries, GIDS, 0);
	union ibv_gid gid;

	if (n < 1 || ibv_query_port(s->p.context, PORT, &port))
		return __LINE__;
	GIVES(ibv_query_gid_table(s->p.context, entries, (size_t)n, 0), n); /* just enough room */
	for (int i = 0; i < port.gid_tbl_len; i++) {
		const int rc = ibv_query_gid_ex(s->p.context, PORT, (uint32_t)i, &e, 0);

		if (ibv_query_gid(s->p.context, PORT, i, &gid))
			return __LINE__;
		if (!memcmp(&gid, &none, sizeof(gid))) {
			GIVES(rc, ENODATA);
			continue;
		}
		if (rc || listed == n || memcmp(&e.gid, &gid, sizeof(gid)) ||
		    entries[listed].gid_index != (uint32_t)i ||
		    memcmp(&entries[listed++].gid, &gid, sizeof(gid)))
			return __LINE__;
	}
	GIVES(ibv_query_gid_ex(s->p.context, PORT, (uint32_t)port.gid_tbl_len, &e, 0), EINVAL);
	return listed == n && n < port.gid_tbl_len ? 0 : __LINE__;
}

static int close_side(void *arg)
{
	struct side *s = arg;

	return ibv_destroy_ah(s->ah) || ibv_destroy_qp(s->qp) || ibv_dereg_mr(s->p.mr) ||
	       ibv_destroy_cq(s->p.cq) || ibv_dealloc_pd(s->p.pd) || ibv_close_device(s->p.context);
}

/* An address goes that came before another one: its entries are empty, those after them are not. */
static void table_with_hole(struct tb *tb, struct tb_end *end)
{
	struct net_address more[2] = {ipv4_of(end), ipv4_of(end)};

	for (unsigned i = 0; i < 2; i++) {
		more[i].ip[15] = (uint8_t)(NOBODY + 1 + i);
		must(net_address_add(end->net, &more[i]));
	}
	must(net_address_remove(end->net, more[0].ip, VLAN_NONE));
	for (unsigned i = 0; i < 6; i++)
		expect_event(end, IBV_EVENT_GID_CHANGE);
}

SCENARIO(net_answer, "a process answers a datagram over Ethernet", .no_qps = true,
	 .any_packets = true, .settings = {NET_SETTINGS("v2_ipv4")})
{
	struct process *client = start_worker(a), *server = start_worker(b);
	struct side c = {.own_index = a->gid_index}, s = {.own_index = b->gid_index};

	memcpy(c.own.raw, a->gid, DRV_GID_BYTES);
	memcpy(c.peer.raw, b->gid, DRV_GID_BYTES);
	memcpy(s.peer.raw, a->gid, DRV_GID_BYTES);
	run_in(client, open_side, &c);
	run_in(server, open_side, &s);
	c.peer_qpn = s.p.qpn;
	table_with_hole(tb, b);
	run_in(server, table, &s);
	run_in(server, receive, &s);
	run_in(client, receive, &c);
	run_in(client, address, &c);
	run_in(client, send_one, &c);
	run_in(server, way_back, &s);
	run_in(server, send_one, &s);
	run_in(client, answered, &c);
	run_in(client, close_side, &c);
	run_in(server, close_side, &s);
	end_worker(client);
	end_worker(server);
}
