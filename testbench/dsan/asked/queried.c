// SPDX-License-Identifier: Apache-2.0
/* What a query of a queue pair returns, against the context that the device has answered it with. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/members.h"
#include "testbench/dsan/hear/history.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/static_rates.h"

enum { HOSTS = 2, ETHERNET = 1 /* qp_path.link_type */ };

/* The newest answer. */
static struct queried {
	const struct checker *c;
	uint32_t qpn;
	struct qp_mbox mbox;
} queried[HOSTS];

void queried_done(const struct checker *c, const struct hcr *command,
		  const struct hca_command_answer *answer)
{
	struct queried *q = &queried[c->host.platform->host % HOSTS];

	if (hcr_get_opcode(command) != HCR_QUERY_QP || answer->status)
		return;
	*q = (struct queried){c, hcr_get_in_mod(command), {{0}}};
	if (!checker_read(c, hcr_get_out_param(command), &q->mbox, sizeof(q->mbox)))
		q->c = NULL;
}

static void path_check(const struct passing *p, const struct qp_path *path,
		       const struct drv_ah_attr *ah)
{
	const unsigned rate = qp_path_get_static_rate(path);
	const bool ethernet = qp_path_get_link_type(path) == ETHERNET;

	MEMBERS_CHECK(
		p, MEMBER("static_rate", ah->static_rate, rate ? rate - STATIC_RATE_OFFSET : 0),
		MEMBER("port_num", ah->port_num, qp_path_get_port(path) + 1),
		MEMBER("is_global", ah->is_global, qp_path_get_grh(path)),
		MEMBER("sl", ah->sl, ethernet ? qp_path_get_priority(path) : qp_path_get_sl(path)),
		MEMBER("dlid", ethernet ? 0 : ah->dlid, ethernet ? 0 : qp_path_get_rlid(path)),
		MEMBER("src_path_bits", ethernet ? 0 : ah->src_path_bits,
		       ethernet ? 0 : qp_path_get_path_bits(path)));
	if (qp_path_get_grh(path))
		MEMBERS_CHECK(p, MEMBER("sgid_index", ah->sgid_index, qp_path_get_mgid_index(path)),
			      MEMBER("hop_limit", ah->hop_limit, qp_path_get_hop_limit(path)),
			      MEMBER("traffic_class", ah->traffic_class, qp_path_get_tclass(path)),
			      MEMBER("flow_label", ah->flow_label, qp_path_get_flow_label(path)),
			      MEMBER("dgid, first half", be64_load(ah->dgid),
				     be64_load(qp_path_rgid_cptr(path))),
			      MEMBER("dgid, second half", be64_load(ah->dgid + 8),
				     be64_load(qp_path_rgid_cptr(path) + 8)));
}

/* The answer is what the driver takes for the state from now on. Source: Linux mlx4_ib_query_qp */
static void state_check(const struct passing *p, const struct qpc *qpc, const struct drv_qp *qp,
			const struct drv_qp_attr *attr)
{
	const unsigned is = qpc_get_state(qpc);

	MEMBERS_CHECK(p, MEMBER("qp_state", asked_device_state(attr->qp_state),
				is == QP_STATE_SQD_BUSY ? QP_STATE_SQD : is));
	if (qp->state != attr->qp_state)
		checker_report(
			p->c, &(struct breach){RULE_qp_state_differs, p->object, NULL, NULL},
			"the query has returned %s, and the driver goes on to take it for %s",
			asked_state_name(attr->qp_state), asked_state_name(qp->state));
}

void queried_begin(const struct drv_qp *qp)
{
	history_about(GUEST_QP, qp->qpn);
}

/* Source: Linux mlx4_ib_query_qp, to_rdma_ah_attr */
void queried_check(struct checker *c, const struct drv_qp *qp, const struct drv_qp_attr *attr)
{
	const uint32_t qpn = qp->qpn;
	const struct queried *q = &queried[c->host.platform->host % HOSTS];
	const struct qpc *qpc = qp_mbox_context_const(&q->mbox);
	const struct qp_path *primary = qpc_primary_const(qpc),
			     *alternate = qpc_alternate_const(qpc);
	const struct passing p = {c,    RULE_context_differs, {GUEST_QP, qpn}, "drv_qp_query",
				  attr, sizeof(*attr)};

	if (q->c != c || q->qpn != qpn)
		return;
	state_check(&p, qpc, qp, attr);
	MEMBERS_CHECK(
		&p, MEMBER("path_mtu", attr->path_mtu, qpc_get_mtu(qpc)),
		MEMBER("qkey", attr->qkey, qpc_get_qkey(qpc)),
		MEMBER("rq_psn", attr->rq_psn, qpc_get_next_rcv_psn(qpc)),
		MEMBER("sq_psn", attr->sq_psn, qpc_get_next_send_psn(qpc)),
		MEMBER("dest_qp_num", attr->dest_qp_num, qpc_get_remote_qpn(qpc)),
		MEMBER("remote READ", !!(attr->qp_access_flags & IBV_ACCESS_REMOTE_READ),
		       qpc_get_rre(qpc)),
		MEMBER("remote WRITE", !!(attr->qp_access_flags & IBV_ACCESS_REMOTE_WRITE),
		       qpc_get_rwe(qpc)),
		MEMBER("remote atomics", !!(attr->qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC),
		       qpc_get_rae(qpc)),
		MEMBER("pkey_index", attr->pkey_index, qp_path_get_pkey_index(primary)),
		MEMBER("alt_pkey_index", attr->alt_pkey_index, qp_path_get_pkey_index(alternate)),
		MEMBER("timeout", attr->timeout, qp_path_get_ack_timeout(primary)),
		MEMBER("alt_timeout", attr->alt_timeout, qp_path_get_ack_timeout(alternate)),
		MEMBER("max_rd_atomic", attr->max_rd_atomic, 1U << qpc_get_sra_max(qpc)),
		MEMBER("max_dest_rd_atomic", attr->max_dest_rd_atomic, 1U << qpc_get_rra_max(qpc)),
		MEMBER("min_rnr_timer", attr->min_rnr_timer, qpc_get_min_rnr_timer(qpc)),
		MEMBER("retry_cnt", attr->retry_cnt, qpc_get_retry_cnt(qpc)),
		MEMBER("rnr_retry", attr->rnr_retry, qpc_get_rnr_retry(qpc)));
	path_check(&p, primary, &attr->ah_attr);
	path_check(&p, alternate, &attr->alt_ah_attr);
}
