/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each attribute of a queue pair and of its two paths has a value of its own, on its way from a process to
 * the device and back. The scenario asks the driver too, so two attributes that change places on both ways
 * are noticed. What a process said when it made the queue pair is what a query says; the state that the
 * library remembers changes with a transition that succeeds, and not with one that is refused.
 */
/* behaviours: PROCESS-attributes */
#include "testbench/programs.h"
#include "testbench/scenarios/programs/refuses.h"

enum { QKEY = 0x76543210, DEST = 0x123456, RQ_PSN = 0xabcdef, SQ_PSN = 0x13579b };

struct maker {
	struct program p;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr want; /* all that was set */
};

#define TO_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                                     \
	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |                           \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH)
#define TO_RTS                                                                                     \
	(IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |                    \
	 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PATH_MIG_STATE)

static const struct ibv_qp_attr connection = {
	.path_mtu = IBV_MTU_1024,
	.path_mig_state = IBV_MIG_REARM,
	.rq_psn = RQ_PSN,
	.sq_psn = SQ_PSN,
	.dest_qp_num = DEST,
	.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	.ah_attr = {.grh = {.dgid = {.raw = {0xfe, 0x80, [7] = 1, [8] = 2, [15] = 3}},
			    .flow_label = 0x9abcd,
			    .sgid_index = 1,
			    .hop_limit = 61,
			    .traffic_class = 0x7e},
		    .dlid = 0x1234,
		    .sl = 5,
		    .src_path_bits = 2,
		    .static_rate = IBV_RATE_5_GBPS,
		    .is_global = 1,
		    .port_num = 1},
	.alt_ah_attr = {.dlid = 0x2345,
			.sl = 7,
			.src_path_bits = 1,
			.static_rate = IBV_RATE_10_GBPS,
			.is_global = 1,
			.grh = {.dgid = {.raw = {0xfe, 0x80, [6] = 5, [9] = 6, [14] = 7}},
				.flow_label = 0x54321,
				.sgid_index = 2,
				.hop_limit = 17,
				.traffic_class = 0x81},
			.port_num = 2},
	.pkey_index = 3,
	.alt_pkey_index = 4,
	.max_rd_atomic = 4,
	.max_dest_rd_atomic = 8,
	.min_rnr_timer = 21,
	.port_num = 1,
	.timeout = 17,
	.retry_cnt = 5,
	.rnr_retry = 3,
	.alt_port_num = 2,
	.alt_timeout = 9,
};

static int path_is(const struct ibv_ah_attr *is, const struct ibv_ah_attr *want)
{
	if (is->dlid != want->dlid || is->sl != want->sl ||
	    is->src_path_bits != want->src_path_bits || is->static_rate != want->static_rate ||
	    is->is_global != want->is_global || is->port_num != want->port_num)
		return __LINE__;
	if (!want->is_global)
		return 0;
	return is->grh.flow_label != want->grh.flow_label ||
			       is->grh.sgid_index != want->grh.sgid_index ||
			       is->grh.hop_limit != want->grh.hop_limit ||
			       is->grh.traffic_class != want->grh.traffic_class ||
			       memcmp(is->grh.dgid.raw, want->grh.dgid.raw, 16)
		       ? __LINE__
		       : 0;
}

static int connection_is(struct maker *m)
{
	const struct ibv_qp_attr *want = &m->want;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr is;
	int rc;

	memset(&is, 0x77, sizeof(is));
	if (ibv_query_qp(m->qp, &is, IBV_QP_STATE, &init) || is.qp_state != want->qp_state ||
	    is.path_mtu != want->path_mtu || is.rq_psn != want->rq_psn ||
	    is.sq_psn != want->sq_psn || is.dest_qp_num != want->dest_qp_num)
		return __LINE__;
	if (is.qp_access_flags != want->qp_access_flags || is.pkey_index != want->pkey_index ||
	    is.alt_pkey_index != want->alt_pkey_index || is.port_num != want->port_num ||
	    is.alt_port_num != want->alt_port_num || is.path_mig_state != want->path_mig_state)
		return __LINE__;
	if (is.max_rd_atomic != want->max_rd_atomic ||
	    is.max_dest_rd_atomic != want->max_dest_rd_atomic ||
	    is.min_rnr_timer != want->min_rnr_timer)
		return __LINE__;
	if (is.timeout != want->timeout || is.retry_cnt != want->retry_cnt ||
	    is.rnr_retry != want->rnr_retry || is.alt_timeout != want->alt_timeout)
		return __LINE__;
	rc = path_is(&is.ah_attr, &want->ah_attr);
	return rc ? rc : path_is(&is.alt_ah_attr, &want->alt_ah_attr);
}

/* What the maker said, and sizes that are at least what it asked for. */
static int init_is(struct maker *m, const struct ibv_qp_cap *asked)
{
	const struct ibv_qp_cap *got = &m->init.cap;
	struct ibv_qp_init_attr is;
	struct ibv_qp_attr attr;

	memset(&is, 0x77, sizeof(is));
	if (ibv_query_qp(m->qp, &attr, IBV_QP_CAP, &is) || is.qp_context != m->init.qp_context ||
	    is.send_cq != m->init.send_cq || is.recv_cq != m->init.recv_cq ||
	    is.srq != m->init.srq || is.qp_type != m->init.qp_type ||
	    is.sq_sig_all != m->init.sq_sig_all)
		return __LINE__;
	if (memcmp(&is.cap, got, sizeof(*got)) || memcmp(&attr.cap, got, sizeof(*got)))
		return __LINE__;
	if (got->max_send_wr < asked->max_send_wr || got->max_recv_wr < asked->max_recv_wr ||
	    got->max_send_sge < asked->max_send_sge || got->max_recv_sge < asked->max_recv_sge ||
	    got->max_inline_data < asked->max_inline_data)
		return __LINE__;
	return m->qp->context != m->p.context || m->qp->qp_context != m->init.qp_context ||
			       m->qp->pd != m->p.pd || m->qp->send_cq != m->init.send_cq ||
			       m->qp->recv_cq != m->init.recv_cq || m->qp->srq != m->init.srq ||
			       m->qp->qp_type != m->init.qp_type || m->qp->state != IBV_QPS_RESET ||
			       m->qp->events_completed
		       ? __LINE__
		       : 0;
}

static int open_all(void *arg)
{
	struct maker *m = arg;

	if (program_open(&m->p))
		return __LINE__;
	for (unsigned i = 0; i < 2; i++) {
		m->cq[i] = ibv_create_cq(m->p.context, 100, &m->cq[i], NULL, 0);
		if (!m->cq[i] || m->cq[i]->cq_context != &m->cq[i] || m->cq[i]->channel ||
		    m->cq[i]->context != m->p.context)
			return __LINE__;
	}
	return 0;
}

static int make(struct maker *m, enum ibv_qp_type type, int all, struct ibv_srq *srq)
{
	const struct ibv_qp_cap asked = {.max_send_wr = 33,
					 .max_recv_wr = srq ? 0 : 9,
					 .max_send_sge = 5,
					 .max_recv_sge = srq ? 0 : 3,
					 .max_inline_data = 70};

	m->init = (struct ibv_qp_init_attr){.qp_context = m,
					    .send_cq = m->cq[0],
					    .recv_cq = m->cq[1],
					    .srq = srq,
					    .cap = asked,
					    .qp_type = type,
					    .sq_sig_all = all};
	m->qp = ibv_create_qp(m->p.pd, &m->init);
	return m->qp ? init_is(m, &asked) : __LINE__;
}

static int move(struct maker *m, enum ibv_qp_state to, int mask)
{
	const enum ibv_qp_state before = m->qp->state;

	/* refused: one attribute is lacking */
	m->want.qp_state = to;
	GIVES(ibv_modify_qp(m->qp, &m->want, IBV_QP_STATE | (mask & (mask - 1))), EINVAL);
	GIVES(m->qp->state, before);
	GIVES(ibv_modify_qp(m->qp, &m->want, IBV_QP_STATE | mask), 0);
	GIVES(m->qp->state, to);
	return 0;
}

static int connect(void *arg)
{
	struct maker *m = arg;
	int rc = make(m, IBV_QPT_RC, 1, NULL);

	m->want = connection;
	if (!rc)
		rc = move(m, IBV_QPS_INIT, TO_INIT);
	if (!rc)
		rc = move(m, IBV_QPS_RTR, TO_RTR);
	if (!rc)
		rc = move(m, IBV_QPS_RTS, TO_RTS);
	return rc ? rc : connection_is(m);
}

/* A change without a transition: the state that stands in the attributes does not count. */
static int change(void *arg)
{
	struct maker *m = arg;

	m->want.min_rnr_timer = 11;
	m->want.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	m->want.qp_state = IBV_QPS_SQD;
	GIVES(ibv_modify_qp(m->qp, &m->want, IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS), 0);
	GIVES(m->qp->state, IBV_QPS_RTS);
	m->want.qp_state = IBV_QPS_RTS;
	return connection_is(m);
}

static int datagram(void *arg)
{
	struct maker *m = arg;
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 7, .max_sge = 2}, .srq_context = m};
	struct ibv_srq *srq = ibv_create_srq(m->p.pd, &srq_init);
	struct ibv_qp_init_attr init;
	struct ibv_srq_attr size;
	struct ibv_qp_attr is;
	int rc;

	if (ibv_destroy_qp(m->qp) || !srq || srq->context != m->p.context || srq->pd != m->p.pd ||
	    srq->srq_context != m || ibv_query_srq(srq, &size) ||
	    size.max_wr != srq_init.attr.max_wr || size.max_sge != srq_init.attr.max_sge ||
	    size.max_wr < 7 || size.max_sge < 2 || size.srq_limit)
		return __LINE__;
	rc = make(m, IBV_QPT_UD, 0, srq);
	if (rc)
		return rc;
	m->want = (struct ibv_qp_attr){
		.qkey = QKEY, .sq_psn = SQ_PSN, .pkey_index = 5, .port_num = 2};
	rc = move(m, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	if (rc || ibv_query_qp(m->qp, &is, IBV_QP_STATE, &init) || is.qkey != QKEY ||
	    is.pkey_index != 5 || is.port_num != 2 || is.qp_state != IBV_QPS_INIT)
		return rc ? rc : __LINE__;
	return ibv_destroy_qp(m->qp) || ibv_destroy_srq(srq) || ibv_destroy_cq(m->cq[0]) ||
			       ibv_destroy_cq(m->cq[1])
		       ? __LINE__
		       : 0;
}

/* --- the same as the driver has it --- */

static void same_path(struct tb *tb, const struct drv_ah_attr *got, const struct ibv_ah_attr *want)
{
	expect_equal(got->dlid, want->dlid);
	expect_equal(got->sl, want->sl);
	expect_equal(got->src_path_bits, want->src_path_bits);
	expect_equal(got->static_rate, want->static_rate);
	expect_equal(got->port_num, want->port_num);
	expect_equal(got->is_global, want->is_global);
	if (!want->is_global)
		return;
	expect_equal(got->flow_label, want->grh.flow_label);
	expect_equal(got->sgid_index, want->grh.sgid_index);
	expect_equal(got->hop_limit, want->grh.hop_limit);
	expect_equal(got->traffic_class, want->grh.traffic_class);
	expect_true(!memcmp(got->dgid, want->grh.dgid.raw, DRV_GID_BYTES));
}

static void driver_has(struct tb *tb, struct tb_end *end, const struct maker *m)
{
	const struct ibv_qp_attr *want = &m->want;
	struct drv_qp_attr got;

	if (!still_right())
		return;
	must(drv_qp_query(drv_qp_find(end->dev, m->qp->qp_num), &got));
	expect_equal(got.qp_state, want->qp_state);
	expect_equal(got.path_mtu, want->path_mtu);
	expect_equal(got.rq_psn, want->rq_psn);
	expect_equal(got.sq_psn, want->sq_psn);
	expect_equal(got.dest_qp_num, want->dest_qp_num);
	expect_equal(got.qp_access_flags, want->qp_access_flags);
	expect_equal(got.pkey_index, want->pkey_index);
	expect_equal(got.alt_pkey_index, want->alt_pkey_index);
	expect_equal(got.alt_port_num, want->alt_port_num);
	expect_equal(got.max_rd_atomic, want->max_rd_atomic);
	expect_equal(got.max_dest_rd_atomic, want->max_dest_rd_atomic);
	expect_equal(got.min_rnr_timer, want->min_rnr_timer);
	expect_equal(got.timeout, want->timeout);
	expect_equal(got.retry_cnt, want->retry_cnt);
	expect_equal(got.rnr_retry, want->rnr_retry);
	expect_equal(got.alt_timeout, want->alt_timeout);
	same_path(tb, &got.ah_attr, &want->ah_attr);
	same_path(tb, &got.alt_ah_attr, &want->alt_ah_attr);
}

SCENARIO(process_attributes,
	 "each attribute of a queue pair, from a process to the device and back", .no_qps = true,
	 .any_packets = true, .lmc = 2, .settings = {"hca.ports=2", "hca.log_gids=4"})
{
	struct process *worker = start_worker(a);
	struct maker m = {.p = {.file = "domain"}};

	run_in(worker, open_all, &m);
	run_in(worker, connect, &m);
	driver_has(tb, a, &m);
	run_in(worker, change, &m);
	driver_has(tb, a, &m);
	run_in(worker, datagram, &m);
	end_worker(worker);
}
