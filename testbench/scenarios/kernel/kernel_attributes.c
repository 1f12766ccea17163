/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each attribute of a queue pair has a value of its own, on its path and on the alternate one, and a
 * query says that value; so does a query by another handle of an XRC target. What a query says of the
 * creation is what was given then: CQs, SRQ, domain, handler, and capacities that are no smaller. An
 * alternate path with one wrong field is refused, and nothing has changed behind it. A state that is
 * said must be the one that the table allows the step from. A port's query says what its SMPs said.
 */
#include "testbench/kernel_verbs.h"
#include "testbench/manage.h"

enum {
	INIT_MASK = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
	RTR_MASK = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	RTS_MASK = IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
		   IB_QP_MAX_QP_RD_ATOMIC,
	RCV_MASK = ((INIT_MASK | RTR_MASK) & ~(unsigned)IB_QP_STATE),
	PORT_2 = 2,
	RATE = 5,
	OTHER_RATE = 2,
	QKEY = 0x12345678,
	LMC = 2
};

static void no_event(struct ib_event *event, void *context)
{
}

static void other_event(struct ib_event *event, void *context)
{
}

static const struct rdma_ah_attr primary = {.dlid = 0x1234,
					    .sl = 5,
					    .src_path_bits = 3,
					    .static_rate = RATE,
					    .port_num = PORT_2,
					    .ah_flags = IB_AH_GRH,
					    .grh = {.dgid.raw = {0xfe, 0x80, [9] = 7, [15] = 9},
						    .flow_label = 0xabcde,
						    .sgid_index = 1,
						    .hop_limit = 19,
						    .traffic_class = 0x5a}},
				 alternate = {.dlid = 0x4321,
					      .sl = 11,
					      .src_path_bits = 1,
					      .static_rate = OTHER_RATE,
					      .port_num = 1,
					      .ah_flags = IB_AH_GRH,
					      .grh = {.dgid.raw = {0xfe, 0x80, [8] = 3, [14] = 4},
						      .flow_label = 0x12345,
						      .sgid_index = 2,
						      .hop_limit = 91,
						      .traffic_class = 0xa5}};

static void path_is(struct tb *tb, const struct rdma_ah_attr *got, const struct rdma_ah_attr *want)
{
	expect_equal(got->dlid, want->dlid);
	expect_equal(got->sl, want->sl);
	expect_equal(got->src_path_bits, want->src_path_bits);
	expect_equal(got->static_rate, want->static_rate);
	expect_equal(got->port_num, want->port_num);
	expect_equal(got->ah_flags, want->ah_flags);
	expect_true(!memcmp(got->grh.dgid.raw, want->grh.dgid.raw, sizeof(got->grh.dgid.raw)));
	expect_equal(got->grh.flow_label, want->grh.flow_label);
	expect_equal(got->grh.sgid_index, want->grh.sgid_index);
	expect_equal(got->grh.hop_limit, want->grh.hop_limit);
	expect_equal(got->grh.traffic_class, want->grh.traffic_class);
}

/* --- creation --- */

static void caps_are(struct tb *tb, const struct ib_qp_cap *got, const struct ib_qp_cap *made)
{
	expect_equal(got->max_send_wr, made->max_send_wr);
	expect_equal(got->max_recv_wr, made->max_recv_wr);
	expect_equal(got->max_send_sge, made->max_send_sge);
	expect_equal(got->max_recv_sge, made->max_recv_sge);
	expect_equal(got->max_inline_data, made->max_inline_data);
}

static void caps_suffice(struct tb *tb, const struct ib_qp_cap *made, const struct ib_qp_cap *asked)
{
	expect_that(made->max_send_wr, >=, asked->max_send_wr);
	expect_that(made->max_recv_wr, >=, asked->max_recv_wr);
	expect_that(made->max_send_sge, >=, asked->max_send_sge);
	expect_that(made->max_recv_sge, >=, asked->max_recv_sge);
	expect_that(made->max_inline_data, >=, asked->max_inline_data);
}

struct objects {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *send, *recv;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
};

static struct ib_qp *made_as(struct tb *tb, struct objects *o, struct ib_qp_init_attr init)
{
	const struct ib_qp_init_attr asked = init;
	struct ib_qp_attr attr = {.qp_state = IB_QPS_ERR};
	struct ib_qp_init_attr got;
	struct ib_qp *qp = kv_made(ib_create_qp(o->pd, &init));

	if (!qp)
		return NULL;
	if (asked.qp_type != IB_QPT_XRC_TGT)
		caps_suffice(tb, &init.cap, &asked.cap);
	expect_equal(init.cap.max_rdma_ctxs, asked.cap.max_rdma_ctxs);
	must(ib_query_qp(qp, &attr, 0, &got));
	expect_equal(attr.qp_state, IB_QPS_RESET);
	caps_are(tb, &attr.cap, &init.cap);
	caps_are(tb, &got.cap, &init.cap);
	expect_true(got.event_handler == asked.event_handler);
	expect_true(got.qp_context == asked.qp_context);
	expect_true(got.send_cq == asked.send_cq);
	expect_true(got.recv_cq == asked.recv_cq);
	expect_true(got.srq == asked.srq);
	expect_true(got.xrcd == asked.xrcd);
	expect_equal(got.qp_type, asked.qp_type);
	expect_equal(got.sq_sig_type, asked.sq_sig_type);
	expect_equal(attr.port_num, 1); /* as Linux's mlx4_ib says of RESET */
	return qp;
}

static void created(struct tb *tb, struct objects *o)
{
	const struct ib_qp_cap caps = {.max_send_wr = 70,
				       .max_recv_wr = 5,
				       .max_send_sge = 3,
				       .max_recv_sge = 6,
				       .max_inline_data = 100};
	const struct {
		const char *name;
		struct ib_qp_init_attr init;
	} rows[] = {
		{"RC with two CQs",
		 {.qp_type = IB_QPT_RC, .send_cq = o->send, .recv_cq = o->recv, .cap = caps}},
		{"RC with contexts",
		 {.qp_type = IB_QPT_RC,
		  .send_cq = o->recv,
		  .recv_cq = o->send,
		  .cap = {.max_send_wr = 1, .max_send_sge = 1, .max_rdma_ctxs = 3}}},
		{"UC with one CQ",
		 {.qp_type = IB_QPT_UC, .send_cq = o->recv, .recv_cq = o->recv, .cap = caps}},
		{"UD with an SRQ",
		 {.qp_type = IB_QPT_UD,
		  .send_cq = o->recv,
		  .recv_cq = o->send,
		  .srq = o->srq,
		  .cap = {.max_send_wr = 9, .max_send_sge = 2}}},
		{"an XRC initiator",
		 {.qp_type = IB_QPT_XRC_INI,
		  .send_cq = o->send,
		  .cap = {.max_send_wr = 3, .max_send_sge = 5}}},
		{"an XRC target", {.qp_type = IB_QPT_XRC_TGT, .xrcd = o->xrcd}},
	};

	for_each_row(i, rows) {
		struct ib_qp_init_attr init = rows[i].init;
		struct ib_qp *qp;

		name_row("%s", rows[i].name);
		init.event_handler = i % 2 ? no_event : other_event;
		init.qp_context = o + i + 1;
		init.sq_sig_type = i % 2 ? IB_SIGNAL_REQ_WR : IB_SIGNAL_ALL_WR;
		qp = made_as(tb, o, init);
		if (qp)
			must(ib_destroy_qp(qp));
	}
}

/* --- attributes --- */

static struct ib_qp_attr all_attributes(void)
{
	return (struct ib_qp_attr){.qp_state = IB_QPS_INIT,
				   .path_mtu = IB_MTU_1024,
				   .rq_psn = 0x123456,
				   .sq_psn = 0x654321,
				   .dest_qp_num = 0x0abcde,
				   .qp_access_flags =
					   IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
				   .ah_attr = primary,
				   .alt_ah_attr = alternate,
				   .pkey_index = 2,
				   .alt_pkey_index = 3,
				   .max_rd_atomic = 4,
				   .max_dest_rd_atomic = 8,
				   .min_rnr_timer = 13,
				   .port_num = PORT_2,
				   .timeout = 14,
				   .retry_cnt = 5,
				   .rnr_retry = 6,
				   .alt_port_num = 1,
				   .alt_timeout = 17};
}

static void attributes_are(struct tb *tb, struct ib_qp *qp, const struct ib_qp_attr *want,
			   bool requester, bool responder)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr got;

	must(ib_query_qp(qp, &got, 0, &init));
	expect_equal(got.qp_state, want->qp_state);
	expect_equal(got.path_mtu, want->path_mtu);
	expect_equal(got.rq_psn, want->rq_psn);
	expect_equal(got.dest_qp_num, want->dest_qp_num);
	expect_equal(got.pkey_index, want->pkey_index);
	expect_equal(got.port_num, want->port_num);
	expect_equal(got.alt_pkey_index, want->alt_pkey_index);
	expect_equal(got.alt_port_num, want->alt_port_num);
	expect_equal(got.alt_timeout, want->alt_timeout);
	path_is(tb, &got.ah_attr, &want->ah_attr);
	path_is(tb, &got.alt_ah_attr, &want->alt_ah_attr);
	if (responder) {
		expect_equal(got.qp_access_flags, want->qp_access_flags);
		expect_equal(got.max_dest_rd_atomic, want->max_dest_rd_atomic);
		expect_equal(got.min_rnr_timer, want->min_rnr_timer);
	}
	if (requester) {
		expect_equal(got.sq_psn, want->sq_psn);
		expect_equal(got.timeout, want->timeout);
		expect_equal(got.retry_cnt, want->retry_cnt);
		expect_equal(got.rnr_retry, want->rnr_retry);
		expect_equal(got.max_rd_atomic, want->max_rd_atomic);
	}
}

/* The step to RTR with one wrong field of the alternate path. */
static void wrong_alternate(struct tb *tb, struct ib_qp *qp, const struct ib_device *device,
			    const struct ib_qp_attr *right)
{
	enum { FIELDS = 7 };
	struct ib_qp_init_attr init;
	struct ib_qp_attr got;

	for (unsigned i = 0; i < FIELDS; i++) {
		struct ib_qp_attr wrong = *right;

		name_row("alternate path, wrong field %u", i);
		if (i == 0)
			wrong.alt_port_num = 0;
		else if (i == 1)
			wrong.alt_port_num = (uint8_t)(device->phys_port_cnt + 1);
		else if (i == 2)
			wrong.alt_pkey_index = (uint16_t)device->attrs.pkeys[1];
		else if (i == 3)
			wrong.alt_ah_attr.sl = 16;
		else if (i == 4)
			wrong.alt_ah_attr.port_num = 0;
		else if (i == 5)
			wrong.alt_ah_attr.port_num = (uint8_t)(device->phys_port_cnt + 1);
		else
			wrong.alt_ah_attr.grh.sgid_index = (uint8_t)device->attrs.gids[1];
		must_fail(-EINVAL, ib_modify_qp(qp, &wrong, RTR_MASK | IB_QP_ALT_PATH));
		must(ib_query_qp(qp, &got, 0, &init));
		expect_equal(got.qp_state, IB_QPS_INIT);
	}
	name_row("%s", "");
}

/* What the mask leaves out is not looked at, however wrong it is. */
static void masked_out(struct tb *tb, struct ib_qp *qp, const struct ib_qp_attr *right)
{
	struct ib_qp_attr attr = {.qp_state = (enum ib_qp_state)(IB_QPS_ERR + 1),
				  .cur_qp_state = (enum ib_qp_state)(IB_QPS_ERR + 1),
				  .path_mig_state = (enum ib_mig_state)(IB_MIG_ARMED + 1),
				  .pkey_index = (uint16_t)(right->pkey_index + 1),
				  .alt_pkey_index = UINT16_MAX,
				  .alt_port_num = UINT8_MAX,
				  .min_rnr_timer = 32,
				  .timeout = 32,
				  .retry_cnt = 8,
				  .rnr_retry = 8,
				  .ah_attr = {.sl = 16},
				  .alt_ah_attr = {.sl = 16}};
	struct ib_qp_attr got;

	must(ib_modify_qp(qp, &attr, IB_QP_PKEY_INDEX));
	must(ib_query_qp(qp, &got, 0, NULL));
	expect_equal(got.qp_state, IB_QPS_INIT);
	expect_equal(got.pkey_index, attr.pkey_index);
	expect_equal(got.port_num, right->port_num);
	attr.pkey_index = right->pkey_index;
	must(ib_modify_qp(qp, &attr, IB_QP_PKEY_INDEX));
}

/* The present state may be said, and then decides; an attribute may stand beside the same state. */
static void said_state(struct tb *tb, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_INIT};
	struct ib_qp_attr got;

	must_fail(-EINVAL, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE));
	attr.cur_qp_state = IB_QPS_ERR;
	must_fail(-EINVAL, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE));
	attr.cur_qp_state = (enum ib_qp_state)(IB_QPS_ERR + 1);
	must_fail(-EINVAL, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE));
	attr.cur_qp_state = IB_QPS_RTS;
	attr.qp_state = (enum ib_qp_state)(IB_QPS_ERR + 1);
	must_fail(-EINVAL, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE));
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE));
	/* without a state in the mask, what stands in the attributes is none */
	attr.qp_state = IB_QPS_RESET;
	attr.min_rnr_timer = 21;
	must(ib_modify_qp(qp, &attr, IB_QP_MIN_RNR_TIMER));
	must(ib_query_qp(qp, &got, 0, NULL));
	expect_equal(got.qp_state, IB_QPS_RTS);
	expect_equal(got.min_rnr_timer, 21);
	attr.path_mig_state = (enum ib_mig_state)(IB_MIG_ARMED + 1);
	must_fail(-EINVAL, ib_modify_qp(qp, &attr, IB_QP_PATH_MIG_STATE));
	for (unsigned i = IB_MIG_REARM; i <= IB_MIG_REARM; i++) {
		attr.path_mig_state = i;
		must(ib_modify_qp(qp, &attr, IB_QP_PATH_MIG_STATE));
		must(ib_query_qp(qp, &got, 0, NULL));
		expect_that(got.path_mig_state, !=, IB_MIG_MIGRATED);
	}
}

static void connected(struct tb *tb, struct objects *o, enum ib_qp_type type)
{
	const struct ib_qp_init_attr init = {
		.qp_type = type,
		.send_cq = o->send,
		.recv_cq = o->recv,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	const bool requester = type != IB_QPT_UC, responder = type == IB_QPT_RC;
	struct ib_qp_init_attr made = init;
	struct ib_qp_attr attr = all_attributes();
	const unsigned path = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	struct ib_qp *qp;

	if (type == IB_QPT_XRC_INI)
		made.recv_cq = NULL;
	qp = kv_made(ib_create_qp(o->pd, &made));
	if (!qp)
		return;
	must(ib_modify_qp(qp, &attr, INIT_MASK));
	masked_out(tb, qp, &attr);
	attr.qp_state = IB_QPS_RTR;
	if (responder)
		wrong_alternate(tb, qp, o->device, &attr);
	must(ib_modify_qp(qp, &attr, (responder ? RTR_MASK : IB_QP_STATE | path) | IB_QP_ALT_PATH));
	attributes_are(tb, qp, &attr, false, responder);
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(qp, &attr, requester ? RTS_MASK : IB_QP_STATE | IB_QP_SQ_PSN));
	attributes_are(tb, qp, &attr, requester, responder);
	if (responder)
		said_state(tb, qp);
	must(ib_destroy_qp(qp));
}

/* Both handles say the same. An attribute of a requester, or of a responder only, does no harm. */
static void xrc(struct tb *tb, struct objects *o)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_TGT,
				       .xrcd = o->xrcd,
				       .event_handler = no_event,
				       .qp_context = o},
			       got;
	struct ib_qp *qp = kv_made(ib_create_qp(NULL, &init)), *handle;
	struct ib_qp_attr attr = all_attributes(), unused;
	uint32_t number;

	handle = qp ? kv_made(ib_open_qp(o->xrcd, qp->qp_num, other_event, &got)) : NULL;
	if (!handle)
		return;
	must_fail(-EINVAL, (int)PTR_ERR(ib_open_qp(o->xrcd, qp->qp_num + 1, NULL, NULL)));
	must(ib_modify_qp(qp, &attr, INIT_MASK));
	attr.qp_state = IB_QPS_RTR;
	must(ib_modify_qp(handle, &attr, RTR_MASK | IB_QP_ALT_PATH));
	attributes_are(tb, qp, &attr, false, true);
	attributes_are(tb, handle, &attr, false, true);
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(qp, &attr, RTS_MASK));
	must(ib_query_qp(handle, &unused, 0, &got));
	expect_equal(unused.qp_state, IB_QPS_RTS);
	expect_true(got.event_handler == other_event && got.qp_context == &got);
	expect_true(got.xrcd == o->xrcd && !got.send_cq && !got.recv_cq && !got.srq);
	expect_equal(got.qp_type, IB_QPT_XRC_TGT);
	must(ib_query_qp(qp, &unused, 0, &got));
	expect_true(got.event_handler == no_event && got.qp_context == o);
	must(ib_destroy_qp(qp));
	must(ib_destroy_qp(handle));
	/* a receive QP of the domain has a number and no handle. Source: OFED's ib_open_qp */
	must(ib_alloc_xrc_rcv_qp(o->xrcd, &attr, RCV_MASK, &number));
	must_fail(-EINVAL, (int)PTR_ERR(ib_open_qp(o->xrcd, number, NULL, NULL)));
}

/* An initiator has no responder: attributes of one do no harm, nor do the sizes of receives. */
static void initiator(struct tb *tb, struct objects *o)
{
	struct ib_qp_init_attr init = {.qp_type = IB_QPT_XRC_INI,
				       .send_cq = o->send,
				       .cap = {.max_send_wr = 1,
					       .max_recv_wr = UINT32_MAX,
					       .max_send_sge = 1,
					       .max_recv_sge = UINT32_MAX}};
	struct ib_qp *qp = kv_made(ib_create_qp(o->pd, &init));
	struct ib_qp_attr attr = all_attributes();

	if (!qp)
		return;
	must(ib_modify_qp(qp, &attr, INIT_MASK));
	attr.qp_state = IB_QPS_RTR;
	must(ib_modify_qp(qp, &attr, RTR_MASK));
	attr.qp_state = IB_QPS_RTS;
	must(ib_modify_qp(qp, &attr, RTS_MASK));
	must(ib_destroy_qp(qp));
}

/* --- the port --- */

static void port(struct tb *tb, struct tb_end *a, struct objects *o)
{
	const struct sm_options options = {
		.lid = 8, .lmc = LMC, .subnet_timeout = 16, .mtu = IBV_MTU_1024};
	const struct port_info *info;
	struct ib_port_attr attr;
	struct smp answer;

	must(sm_run(a->dev, 1, &options, NULL));
	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .mod = 1);
	info = (const struct port_info *)(const void *)smp_data_cptr(&answer);
	must(ib_query_port(o->device, 1, &attr));
	expect_equal(attr.state, port_info_get_state(info));
	expect_equal(attr.phys_state, port_info_get_phys_state(info));
	expect_equal(attr.max_mtu, port_info_get_mtu_cap(info));
	expect_equal(attr.active_mtu, IB_MTU_1024);
	expect_equal(attr.lid, 8);
	expect_equal(attr.lmc, LMC);
	expect_equal(attr.sm_lid, 8);
	expect_equal(attr.sm_sl, port_info_get_sm_sl(info));
	expect_equal(attr.subnet_timeout, 16);
	expect_equal(attr.max_vl_num, port_info_get_vl_cap(info));
	expect_equal(attr.active_width, port_info_get_width_active(info));
	expect_equal(attr.port_cap_flags, port_info_get_cap_mask(info));
	expect_equal((unsigned)attr.gid_tbl_len, o->device->attrs.gids[1]);
	expect_equal((unsigned)attr.pkey_tbl_len, o->device->attrs.pkeys[1]);
	expect_equal(attr.max_msg_sz, o->device->attrs.max_message);
}

SCENARIO(kernel_attributes,
	 "kernel verbs: each attribute of a queue pair and of a port, and what is "
	 "refused beside it",
	 .no_qps = true, .settings = {"hca.ports=2", "hca.port2.type=ib", "hca.log_gids=4"})
{
	static const enum ib_qp_type types[] = {IB_QPT_RC, IB_QPT_UC, IB_QPT_XRC_INI};
	const struct ib_cq_init_attr cq = {.cqe = 4};
	struct ib_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct objects o = {.device = ib_device_of(a)};

	if (!o.device)
		return;
	ignore_events(a);
	ignore_events(b);
	o.pd = kv_made(ib_alloc_pd(o.device, 0));
	o.send = kv_made(ib_create_cq(o.device, NULL, NULL, NULL, &cq));
	o.recv = kv_made(ib_create_cq(o.device, NULL, NULL, NULL, &cq));
	o.srq = o.pd ? kv_made(ib_create_srq(o.pd, &srq)) : NULL;
	o.xrcd = kv_made(ib_alloc_xrcd(o.device));
	if (!still_right())
		return;
	created(tb, &o);
	for_each_row(i, types) {
		name_row("type %u", types[i]);
		connected(tb, &o, types[i]);
	}
	xrc(tb, &o);
	initiator(tb, &o);
	port(tb, a, &o);
	must(ib_dealloc_xrcd(o.xrcd));
	must(ib_destroy_srq(o.srq));
	must(ib_destroy_cq(o.recv));
	must(ib_destroy_cq(o.send));
	must(ib_dealloc_pd(o.pd));
}
