/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection in which nothing is symmetrical: each field of REQ, REP, MRA, RTU, LAP and APR has a
 * value of its own, the LIDs, P_Key indices and ACK delays of the two ends differ, and the alternate
 * path goes through the other port. Each side hears exactly what the other has said, and in each state
 * the queue pair gets exactly the attributes that follow from both. An alternate path that the peer
 * has refused, in its REP or by an APR, is in none of them.
 */
/* behaviours: IBA-12.9-qp-attributes IBA-12.8-load-alternate-path IBA-12.6-messages */
#include "model/interface/cm.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

#include <errno.h>

enum {
	SERVICE = 0x55,
	PARTITION = 0x8012,
	LIMITED = 0x0012, /* its limited members, such as b */
	ALL_LIMITED = 0x7fff,
	KEYS = 5,     /* of a P_Key table */
	DELAY_A = 11, /* ACK delays of the devices, as codes */
	DELAY_B = 13,
	REMOTE_CODE = 15, /* within which b answers */
	LOCAL_CODE = 17,
	MRA_CODE = 21,
	QPN_B = 0x00fedc,
	PSN_B = 0x000007,
	RATE_OF_PORT = IB_RATE_10_GBPS,
	ALL_BITS = 0xff
};

/* What one side says in its REQ or REP. */
struct says {
	uint32_t qpn, psn;
	uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count,
		srq;
};

/* The index of the P_Key at each port; 0 is no port. */
static const unsigned index_a[] = {0, 1, 2}, index_b[] = {0, 3, KEYS - 1};

static unsigned lid_of(const struct tb_end *end, unsigned port)
{
	return port == 1 ? end->lid : end->lid_2;
}

/* --- partitions --- */

/* Writes the P_Key table of the port `hops` nodes away from a's port. */
static void write_table(struct tb *tb, struct tb_end *a, struct tb_end *of, unsigned port,
			unsigned hops, unsigned index, uint16_t pkey)
{
	uint16_t keys[KEYS] = {PKEY_DEFAULT};

	keys[index] = pkey;
	tb_write_pkeys(tb, TB_HERE, a, port, hops, keys, KEYS);
	expect_event(of, IBV_EVENT_PKEY_CHANGE);
}

static uint64_t guid_of(struct tb *tb, struct tb_end *end)
{
	struct drv_device_attr device = {0};

	must(drv_query_device(end->dev, &device));
	return device.node_guid;
}

/* --- paths --- */

/* From a to b through that port of both. */
static struct sa_path_rec path_of(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned port,
				  unsigned a_bits, unsigned b_bits, unsigned life, unsigned pkey)
{
	struct sa_path_rec path = {.ib = {.slid = htobe16((uint16_t)(lid_of(a, port) + a_bits)),
					  .dlid = htobe16((uint16_t)(lid_of(b, port) + b_bits))},
				   .pkey = htobe16((uint16_t)pkey),
				   .flow_label = htobe32(0x12300 + life),
				   .traffic_class = (uint8_t)(0x50 + life),
				   .hop_limit = 1,
				   .sl = (uint8_t)(port + 2),
				   .mtu = IBV_MTU_1024,
				   .rate = (uint8_t)(port + RATE_OF_PORT), /* 30 and 5 Gbit/s */
				   .packet_life_time = (uint8_t)life,
				   .reversible = 1,
				   .numb_path = 1};

	must(ib_query_gid(ib_device_of(a), port, 0, &path.sgid));
	must(ib_query_gid(ib_device_of(b), port, 0, &path.dgid));
	return path;
}

/* The path that b hears of is a's path in the other direction. Half of a's ACK timeout is an upper bound
 * of its life time. */
static void path_is_back(struct tb *tb, const struct sa_path_rec *is, const struct sa_path_rec *a,
			 unsigned timeout)
{
	expect_equal(be16toh(is->ib.dlid), be16toh(a->ib.slid));
	expect_equal(be16toh(is->ib.slid), be16toh(a->ib.dlid));
	expect_true(!memcmp(is->dgid.raw, a->sgid.raw, sizeof(a->sgid.raw)));
	expect_true(!memcmp(is->sgid.raw, a->dgid.raw, sizeof(a->dgid.raw)));
	expect_equal(be16toh(is->pkey), be16toh(a->pkey));
	expect_equal(be32toh(is->flow_label), be32toh(a->flow_label));
	expect_equal(is->traffic_class, a->traffic_class);
	expect_equal(is->hop_limit, a->hop_limit);
	expect_equal(is->sl, a->sl);
	expect_equal(is->mtu, a->mtu);
	expect_equal(is->rate, a->rate);
	expect_equal(is->packet_life_time, timeout - 1);
	expect_equal(is->reversible, 1);
}

/* The least code that covers twice the life time and the delay. */
static unsigned covers(unsigned delay, unsigned life)
{
	unsigned code = 0;

	while (1u << code < (1u << delay) + (2u << life))
		code++;
	return code;
}

/* --- attributes --- */

/* A way out of an end. */
struct way {
	unsigned port, pkey_index, dlid, bits, sl, rate, timeout;
};

static struct way way_of(const struct tb_end *end, const unsigned *indices, unsigned port,
			 unsigned dlid, unsigned slid, unsigned delay, unsigned life)
{
	return (struct way){.port = port,
			    .pkey_index = indices[port],
			    .dlid = dlid,
			    .bits = slid - lid_of(end, port),
			    .sl = port + 2,
			    .rate = port + RATE_OF_PORT,
			    .timeout = covers(delay, life)};
}

static void ah_is(struct tb *tb, const struct rdma_ah_attr *ah, const struct way *way)
{
	expect_equal(ah->dlid, way->dlid);
	expect_equal(ah->src_path_bits, way->bits);
	expect_equal(ah->sl, way->sl);
	expect_equal(ah->static_rate, way->rate);
	expect_equal(ah->port_num, way->port);
	expect_equal(ah->ah_flags, 0);
}

/* The attributes for INIT, RTR and RTS: in the handler of the last event, and when the body has asked for
 * them. `now` are those that are compared. */
static struct loaded {
	struct ib_qp_attr attr;
	int mask, rc;
} heard[IB_QPS_RTS + 1], asked[IB_QPS_RTS + 1], *now;

static void ask_state(struct ib_cm_id *id, enum ib_qp_state state, struct loaded *all)
{
	struct loaded *l = &all[state];

	memset(&l->attr, ALL_BITS, sizeof(l->attr));
	l->attr.qp_state = state;
	l->mask = 0;
	l->rc = ib_cm_init_qp_attr(id, &l->attr, &l->mask);
}

static void ask_states(struct ib_cm_id *id, struct loaded *all)
{
	ask_state(id, IB_QPS_INIT, all);
	ask_state(id, IB_QPS_RTR, all);
	ask_state(id, IB_QPS_RTS, all);
}

static void ask_attributes(struct ib_cm_id *id)
{
	ask_states(id, asked);
	now = asked;
}

static ib_cm_handler records; /* of the conns */

static int asks(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	if (event->event == IB_CM_REQ_RECEIVED)
		ask_state(id, IB_QPS_RTR, heard);
	else if (event->event != IB_CM_TIMEWAIT_EXIT)
		ask_states(id, heard);
	return records(id, event);
}

static const struct ib_qp_attr *attributes(struct tb *tb, enum ib_qp_state state, int mask)
{
	expect_equal((unsigned)now[state].rc, 0);
	expect_equal((unsigned)now[state].mask, (unsigned)mask);
	expect_equal(now[state].attr.qp_state, state);
	return &now[state].attr;
}

static void init_is(struct tb *tb, const struct way *way, unsigned resources)
{
	const struct ib_qp_attr *attr = attributes(
		tb, IB_QPS_INIT, IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT);

	expect_equal(attr->qp_access_flags,
		     (unsigned)(IB_ACCESS_REMOTE_WRITE |
				(resources ? IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC : 0)));
	expect_equal(attr->pkey_index, way->pkey_index);
	expect_equal(attr->port_num, way->port);
}

static void alternate_is(struct tb *tb, const struct ib_qp_attr *attr, const struct way *way)
{
	expect_equal(attr->alt_port_num, way->port);
	expect_equal(attr->alt_pkey_index, way->pkey_index);
	expect_equal(attr->alt_timeout, way->timeout);
	ah_is(tb, &attr->alt_ah_attr, way);
}

/* `alternate` NULL: there is none. */
static void rtr_is(struct tb *tb, const struct way *way, const struct way *alternate,
		   const struct says *peer, unsigned rq_psn, unsigned resources)
{
	const struct ib_qp_attr *attr =
		attributes(tb, IB_QPS_RTR,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER |
				   (alternate ? IB_QP_ALT_PATH : 0));

	ah_is(tb, &attr->ah_attr, way);
	expect_equal(attr->path_mtu, IB_MTU_1024);
	expect_equal(attr->dest_qp_num, peer->qpn);
	expect_equal(attr->rq_psn, rq_psn);
	expect_equal(attr->max_dest_rd_atomic, resources);
	if (alternate)
		alternate_is(tb, attr, alternate);
}

static void rts_is(struct tb *tb, const struct way *way, bool has_alternate,
		   const struct says *peer, unsigned retry_count, unsigned depth)
{
	const struct ib_qp_attr *attr = attributes(
		tb, IB_QPS_RTS,
		IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC | (has_alternate ? IB_QP_PATH_MIG_STATE : 0));

	expect_equal(attr->sq_psn, peer->psn);
	expect_equal(attr->timeout, way->timeout);
	expect_equal(attr->retry_cnt, retry_count);
	expect_equal(attr->rnr_retry, peer->rnr_retry_count);
	expect_equal(attr->max_rd_atomic, depth);
	if (has_alternate)
		expect_equal(attr->path_mig_state, IB_MIG_REARM);
}

/* --- one connection --- */

struct both {
	struct conn *listener, *client, *server;
	struct sa_path_rec path, other;
	struct way a, b, alt_a, alt_b; /* and the alternate ways */
	const struct says *req, *rep;
	unsigned failover;
	uint64_t guid_a, guid_b;
};

/* --- what each side hears --- */

static void req_is(struct tb *tb, const struct both *x, const struct says *req)
{
	const struct ib_cm_req_event_param *p = &x->listener->last.cm.param.req_rcvd;

	expect_equal(p->listen_id == x->listener->id, true);
	expect_equal(p->port, x->b.port);
	expect_equal(be64toh(p->remote_ca_guid), x->guid_a);
	expect_equal(p->remote_qpn, req->qpn);
	expect_equal(p->qp_type, IB_QPT_RC);
	expect_equal(p->starting_psn, req->psn);
	/* what a serves is what b may have under way, and the other way round */
	expect_equal(p->responder_resources, req->initiator_depth);
	expect_equal(p->initiator_depth, req->responder_resources);
	expect_equal(p->local_cm_response_timeout, REMOTE_CODE);
	expect_equal(p->remote_cm_response_timeout, LOCAL_CODE);
	expect_equal(p->flow_control, req->flow_control);
	expect_equal(p->retry_count, req->retry_count);
	expect_equal(p->rnr_retry_count, req->rnr_retry_count);
	expect_equal(p->srq, req->srq);
	expect_equal(p->pkey, be16toh(x->path.pkey));
}

static void rep_is(struct tb *tb, const struct both *x, const struct says *rep)
{
	const struct ib_cm_rep_event_param *p = &x->client->last.cm.param.rep_rcvd;

	expect_equal(be64toh(p->remote_ca_guid), x->guid_b);
	expect_equal(p->remote_qpn, rep->qpn);
	expect_equal(p->starting_psn, rep->psn);
	expect_equal(p->responder_resources, rep->initiator_depth);
	expect_equal(p->initiator_depth, rep->responder_resources);
	expect_equal(p->target_ack_delay, DELAY_B);
	expect_equal(p->failover_accepted, x->failover);
	expect_equal(p->flow_control, rep->flow_control);
	expect_equal(p->rnr_retry_count, rep->rnr_retry_count);
	expect_equal(p->srq, rep->srq);
}

static void request(struct tb *tb, struct both *x)
{
	const struct says *says = x->req;
	const struct ib_cm_req_param req = {.primary_path = &x->path,
					    .alternate_path = &x->other,
					    .service_id = htobe64(SERVICE),
					    .qp_num = says->qpn,
					    .qp_type = IB_QPT_RC,
					    .starting_psn = says->psn,
					    .private_data = "the request",
					    .private_data_len = 11,
					    .flow_control = says->flow_control,
					    .responder_resources = says->responder_resources,
					    .initiator_depth = says->initiator_depth,
					    .remote_cm_response_timeout = REMOTE_CODE,
					    .local_cm_response_timeout = LOCAL_CODE,
					    .retry_count = says->retry_count,
					    .rnr_retry_count = says->rnr_retry_count,
					    .max_cm_retries = 2,
					    .srq = says->srq};

	check_mads();
	must(ib_send_cm_req(x->client->id, &req));
	expect_mad(a_to_b, .qpn = QPN_GSI, .attr = CM_ATTR_REQ, .slid = be16toh(x->path.ib.slid),
		   .dlid = be16toh(x->path.ib.dlid), .sl = x->path.sl);
	ignore_mads();
	expect_cm(x->listener, IB_CM_REQ_RECEIVED);
	now = heard;
	rtr_is(tb, &x->b, &x->alt_b, says, 0, says->initiator_depth);
	req_is(tb, x, says);
	path_is_back(tb, &x->listener->last.path, &x->path, x->b.timeout);
	expect_true(x->listener->last.cm.param.req_rcvd.alternate_path);
	path_is_back(tb, &x->listener->last.alternate, &x->other, x->alt_b.timeout);
	expect_true(!memcmp(x->listener->last.data, "the request", 12));
	if (!still_right())
		return;
	*x->server = *x->listener;
	x->server->id = x->listener->last.id;
	x->server->id->context = x->server;
	ask_attributes(x->server->id);
	rts_is(tb, &x->b, true, says, says->retry_count, says->responder_resources);
	init_is(tb, &x->b, says->initiator_depth);
	ask_attributes(x->client->id);
	init_is(tb, &x->a, says->responder_resources);
	expect_equal((unsigned)now[IB_QPS_RTR].rc, (unsigned)-EINVAL);
	expect_equal((unsigned)now[IB_QPS_RTS].rc, (unsigned)-EINVAL);
}

static void reply(struct tb *tb, struct both *x)
{
	const struct says *says = x->rep;
	const bool alternate = x->failover == CM_FAILOVER_ACCEPTED;
	const struct ib_cm_rep_param rep = {.qp_num = says->qpn,
					    .starting_psn = says->psn,
					    .private_data = "the reply",
					    .private_data_len = 9,
					    .responder_resources = says->responder_resources,
					    .initiator_depth = says->initiator_depth,
					    .failover_accepted = (uint8_t)x->failover,
					    .flow_control = says->flow_control,
					    .rnr_retry_count = says->rnr_retry_count,
					    .srq = says->srq};

	check_mads();
	must(ib_send_cm_rep(x->server->id, &rep));
	expect_mad(b_to_a, .qpn = QPN_GSI, .attr = CM_ATTR_REP, .slid = be16toh(x->path.ib.dlid),
		   .dlid = be16toh(x->path.ib.slid), .sl = x->path.sl);
	ignore_mads();
	if (!still_right())
		return;
	ask_attributes(x->server->id);
	rtr_is(tb, &x->b, alternate ? &x->alt_b : NULL, x->req, says->psn,
	       says->responder_resources);
	rts_is(tb, &x->b, alternate, x->req, x->req->retry_count, says->initiator_depth);
	init_is(tb, &x->b, says->responder_resources);
	expect_equal(x->server->id->lap_state, alternate ? IB_CM_LAP_IDLE : IB_CM_LAP_UNINIT);
	expect_cm(x->client, IB_CM_REP_RECEIVED);
	now = heard;
	rtr_is(tb, &x->a, alternate ? &x->alt_a : NULL, says, x->req->psn, says->initiator_depth);
	rts_is(tb, &x->a, alternate, says, x->req->retry_count, says->responder_resources);
	init_is(tb, &x->a, says->initiator_depth);
	expect_equal(x->client->id->lap_state, alternate ? IB_CM_LAP_IDLE : IB_CM_LAP_UNINIT);
	rep_is(tb, x, says);
	expect_true(!memcmp(x->client->last.data, "the reply", 10));
}

/* The state is the only thing that has changed, on both sides. */
static void established(struct tb *tb, struct both *x)
{
	const bool alternate = x->failover == CM_FAILOVER_ACCEPTED;

	must(ib_send_cm_rtu(x->client->id, "ready", 5));
	expect_cm(x->server, IB_CM_RTU_RECEIVED);
	now = heard;
	rts_is(tb, &x->b, alternate, x->req, x->req->retry_count, x->rep->initiator_depth);
	expect_true(!memcmp(x->server->last.data, "ready", 6));
	if (!still_right())
		return;
	ask_attributes(x->client->id);
	rts_is(tb, &x->a, alternate, x->rep, x->req->retry_count, x->rep->responder_resources);
}

/* A LAP loads nothing but the alternate path, and nothing at all when it is refused. */
static void next_path(struct tb *tb, struct both *x, bool takes)
{
	const int mask = IB_QP_STATE | IB_QP_PATH_MIG_STATE | IB_QP_ALT_PATH;
	const bool alternate = x->failover == CM_FAILOVER_ACCEPTED;
	struct sa_path_rec path = x->other;
	struct way a = x->alt_a, b = x->alt_b;

	path.ib.slid = htobe16((uint16_t)(be16toh(path.ib.slid) ^ 1));
	a.bits ^= 1;
	b.dlid = be16toh(path.ib.slid);
	/* an alternate path is not less patient than the primary one */
	a.timeout = covers(DELAY_A, path.packet_life_time);
	a.timeout = a.timeout > x->a.timeout ? a.timeout : x->a.timeout;
	b.timeout = a.timeout;
	must(ib_send_cm_lap(x->client->id, &path, "another way", 11));
	expect_cm(x->server, IB_CM_LAP_RECEIVED);
	if (!still_right())
		return;
	path_is_back(tb, &x->server->last.path, &path, b.timeout);
	expect_true(!memcmp(x->server->last.data, "another way", 12));
	must(ib_send_cm_mra(x->server->id, MRA_CODE, "wait", 4));
	expect_cm(x->client, IB_CM_MRA_RECEIVED);
	expect_equal(x->client->last.cm.param.mra_rcvd.service_timeout, MRA_CODE);
	expect_true(!memcmp(x->client->last.data, "wait", 5));
	must(ib_send_cm_apr(x->server->id, takes ? IB_CM_APR_SUCCESS : IB_CM_APR_INVALID_SL, "info",
			    4, "the answer", 10));
	expect_cm(x->client, IB_CM_APR_RECEIVED);
	now = heard;
	if (takes)
		alternate_is(tb, attributes(tb, IB_QPS_RTS, mask), &a);
	else
		rts_is(tb, &x->a, alternate, x->rep, x->req->retry_count,
		       x->rep->responder_resources);
	expect_equal(x->client->last.cm.param.apr_rcvd.ap_status,
		     takes ? IB_CM_APR_SUCCESS : IB_CM_APR_INVALID_SL);
	expect_equal(x->client->last.cm.param.apr_rcvd.info_len, 4);
	expect_true(!memcmp(x->client->last.info, "info", 5));
	expect_true(!memcmp(x->client->last.data, "the answer", 11));
	if (!still_right())
		return;
	ask_attributes(x->server->id);
	if (takes)
		alternate_is(tb, attributes(tb, IB_QPS_RTS, mask), &b);
	else
		rts_is(tb, &x->b, alternate, x->req, x->req->retry_count, x->rep->initiator_depth);
}

static void ends(struct tb *tb, struct both *x)
{
	must(ib_send_cm_dreq(x->server->id, "I go", 4));
	expect_cm(x->client, IB_CM_DREQ_RECEIVED);
	expect_true(!memcmp(x->client->last.data, "I go", 5));
	must(ib_send_cm_drep(x->client->id, "go", 2));
	expect_cm(x->server, IB_CM_DREP_RECEIVED);
	expect_true(!memcmp(x->server->last.data, "go", 3));
	expect_cm(x->client, IB_CM_TIMEWAIT_EXIT);
	expect_cm(x->server, IB_CM_TIMEWAIT_EXIT);
}

SCENARIO(cm_attributes, "a connection in which nothing is symmetrical: what is heard and loaded",
	 .no_qps = true, .any_packets = true, .lmc = 2,
	 .settings = {"hca.ports=2", "hca.port2.type=ib", "hca0.local_ack_delay=11",
		      "hca1.local_ack_delay=13"})
{
	static const struct {
		const char *name;
		unsigned port, failover, life, other_life, pkey;
		bool takes; /* the next path */
		struct says req, rep;
	} rows[] = {{"the alternate path is rejected",
		     1,
		     CM_FAILOVER_REJECTED,
		     12,
		     13,
		     ALL_LIMITED,
		     false,
		     {0x000002, 0, 6, 0, 0, 7, 1, 1},
		     {QPN_B + 2, 0xffffff, 0, 5, 0, 0, 2, 1}},
		    {"an alternate path, and another one by LAP",
		     1,
		     CM_FAILOVER_ACCEPTED,
		     10,
		     14,
		     PARTITION,
		     true,
		     {0x123456, 0xabcdef, 200, 3, 1, 5, 3, 1},
		     {QPN_B, PSN_B, 7, 90, 0, 0, 6, 0}},
		    {"through port 2; another one is refused",
		     2,
		     CM_FAILOVER_ACCEPTED,
		     14,
		     10,
		     LIMITED,
		     false,
		     {0xfffffe, 0xffffff, 0, 255, 0, 0, 7, 0},
		     {QPN_B + 1, 0, 4, 0, 1, 0, 0, 1}},
		    {"it is not supported, but the next one is taken",
		     2,
		     CM_FAILOVER_UNSUPPORTED,
		     11,
		     12,
		     PARTITION,
		     true,
		     {0x400000, 1, 1, 2, 1, 1, 0, 0},
		     {QPN_B + 3, 0x800000, 2, 1, 1, 0, 7, 0}}};
	struct both x = {0};
	struct conn server = {0};

	for (unsigned port = 1; port <= 2; port++) {
		write_table(tb, a, a, port, 0, index_a[port], PARTITION);
		write_table(tb, a, b, port, 1, index_b[port], LIMITED);
	}
	start_cm();
	x.listener = conn_listen(b, SERVICE);
	x.client = conn_new(a);
	if (!still_right())
		return;
	records = x.listener->id->cm_handler;
	x.listener->id->cm_handler = x.client->id->cm_handler = asks;
	x.guid_a = guid_of(tb, a);
	x.guid_b = guid_of(tb, b);
	x.server = &server;
	for_each_row(i, rows) {
		const unsigned port = rows[i].port, other = 3 - port;
		/* the partition of all is at the first place */
		static const unsigned firsts[] = {0, 0, 0};
		const bool all = rows[i].pkey == ALL_LIMITED;
		const unsigned *at_a = all ? firsts : index_a, *at_b = all ? firsts : index_b;

		name_row("%s", rows[i].name);
		phase(rows[i].name);
		x.req = &rows[i].req;
		x.rep = &rows[i].rep;
		x.failover = rows[i].failover;
		x.path = path_of(tb, a, b, port, 1, 2, rows[i].life, rows[i].pkey);
		x.other = path_of(tb, a, b, other, 3, 1, rows[i].other_life, rows[i].pkey);
		x.a = way_of(a, at_a, port, be16toh(x.path.ib.dlid), be16toh(x.path.ib.slid),
			     DELAY_B, rows[i].life);
		x.b = way_of(b, at_b, port, be16toh(x.path.ib.slid), be16toh(x.path.ib.dlid),
			     DELAY_A, rows[i].life);
		x.alt_a = way_of(a, at_a, other, be16toh(x.other.ib.dlid), be16toh(x.other.ib.slid),
				 DELAY_B, rows[i].other_life);
		x.alt_b = way_of(b, at_b, other, be16toh(x.other.ib.slid), be16toh(x.other.ib.dlid),
				 DELAY_A, rows[i].other_life);
		request(tb, &x);
		reply(tb, &x);
		established(tb, &x);
		next_path(tb, &x, rows[i].takes);
		ends(tb, &x);
		if (server.id)
			ib_destroy_cm_id(server.id);
		server.id = NULL;
	}
	conn_end(x.client);
	conn_end(x.listener);
}
