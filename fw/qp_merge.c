/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/qp_merge.h"
#include "fw/lib.h"
#include "model/interface/wire.h"

/* Copies the path, except the fields that have an opt bit of their own. */
static void primary_take(struct qp_path *p, const struct qp_path *in)
{
	struct qp_path was = *p;

	*p = *in;
	qp_path_set_pkey_index(p, qp_path_get_pkey_index(&was));
	qp_path_set_ack_timeout(p, qp_path_get_ack_timeout(&was));
	qp_path_set_sched_queue(p, qp_path_get_sched_queue(&was));
	qp_path_set_counter_index(p, qp_path_get_counter_index(&was));
}

static void path_opts_take(struct qpc *q, const struct qpc *in, uint32_t opts)
{
	struct qp_path *p = qpc_primary(q);
	const struct qp_path *from = qpc_primary_const(in);

	if (opts & QP_OPT_BIT_PRIMARY_PATH)
		primary_take(p, from);
	if (opts & QP_OPT_BIT_PKEY_INDEX)
		qp_path_set_pkey_index(p, qp_path_get_pkey_index(from));
	if (opts & QP_OPT_BIT_ACK_TIMEOUT)
		qp_path_set_ack_timeout(p, qp_path_get_ack_timeout(from));
	if (opts & QP_OPT_BIT_SCHED_QUEUE)
		qp_path_set_sched_queue(p, qp_path_get_sched_queue(from));
	if (opts & QP_OPT_BIT_COUNTER_INDEX)
		qp_path_set_counter_index(p, qp_path_get_counter_index(from));
	if (opts & QP_OPT_BIT_ALT_PATH)
		*qpc_alternate(q) = *qpc_alternate_const(in);
}

static void opts_take(struct qpc *q, const struct qpc *in, uint32_t opts)
{
	if (opts & QP_OPT_BIT_RRE)
		qpc_set_rre(q, qpc_get_rre(in));
	if (opts & QP_OPT_BIT_RAE)
		qpc_set_rae(q, qpc_get_rae(in));
	if (opts & QP_OPT_BIT_RWE)
		qpc_set_rwe(q, qpc_get_rwe(in));
	if (opts & QP_OPT_BIT_QKEY)
		qpc_set_qkey(q, qpc_get_qkey(in));
	if (opts & QP_OPT_BIT_MIN_RNR)
		qpc_set_min_rnr_timer(q, qpc_get_min_rnr_timer(in));
	if (opts & QP_OPT_BIT_SRA_MAX)
		qpc_set_sra_max(q, qpc_get_sra_max(in));
	if (opts & QP_OPT_BIT_RRA_MAX)
		qpc_set_rra_max(q, qpc_get_rra_max(in));
	if (opts & QP_OPT_BIT_PM_STATE)
		qpc_set_pm_state(q, qpc_get_pm_state(in) == QP_PM_MIGRATED &&
						    qpc_get_pm_state(q) == QP_PM_ARMED
					    ? QP_PM_ASKED
					    : qpc_get_pm_state(in));
	if (opts & QP_OPT_BIT_RETRY_COUNT) {
		qpc_set_retry_cnt(q, qpc_get_retry_cnt(in));
		qpc_set_cur_retry_cnt(q, qpc_get_retry_cnt(in));
	}
	if (opts & QP_OPT_BIT_RNR_RETRY) {
		qpc_set_rnr_retry(q, qpc_get_rnr_retry(in));
		qpc_set_cur_rnr_retry(q, qpc_get_rnr_retry(in));
	}
	if (opts & QP_OPT_BIT_VLAN_STRIP)
		qpc_set_vlan_keep(q, qpc_get_vlan_keep(in));
}

static void all_take(struct qpc *q, const struct qpc *in)
{
	uint32_t state = qpc_get_state(q), qpn = qpc_get_local_qpn(q);

	*q = *in;
	qpc_set_state(q, state);
	qpc_set_local_qpn(q, qpn);
	qpc_set_cur_rnr_retry(q, 0);
	qpc_set_cur_retry_cnt(q, 0);
	qpc_set_sqd_event(q, 0);
	/* IBA 9.7.7.2: LSN 0, because there are no credits before the first acknowledge gives some. */
	qpc_set_send_limited(q, (SVC_RC | SVC_XRC) >> qpc_get_service(in) & 1);
	qpc_set_send_limit(q, 0);
	qpc_set_last_acked_psn(q, 0);
	qpc_set_ssn(q, 0);
	qpc_set_msn(q, 0);
	qpc_set_rq_wqe_counter(q, 0);
	qpc_set_sq_wqe_counter(q, 0);
}

void qp_merge(struct qpc *q, const struct qpc *in, uint32_t opts, enum qp_take take)
{
	switch (take) {
	case QP_TAKE_ALL:
		all_take(q, in);
		return;
	case QP_TAKE_RECV:
		qpc_set_mtu(q, qpc_get_mtu(in));
		qpc_set_log_msg_max(q, qpc_get_log_msg_max(in));
		qpc_set_remote_qpn(q, qpc_get_remote_qpn(in));
		qpc_set_next_rcv_psn(q, qpc_get_next_rcv_psn(in));
		if (qp_path_get_link_type(qpc_primary_const(in)))
			qpc_set_roce_mode(q, qpc_get_roce_mode(in));
		break;
	case QP_TAKE_SEND_PSN:
		if (qp_path_get_link_type(qpc_primary_const(q)))
			qpc_set_roce_entropy(q, qpc_get_roce_entropy(in));
		qpc_set_next_send_psn(q, qpc_get_next_send_psn(in));
		qpc_set_last_acked_psn(q, psn_add(qpc_get_next_send_psn(in), PSN_MASK));
		break;
	case QP_TAKE_NOTHING:
		break;
	}
	path_opts_take(q, in, opts);
	opts_take(q, in, opts);
}
