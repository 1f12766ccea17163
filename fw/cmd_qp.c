/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP transitions. A row of qp_transitions.h says from which states a transition may start, where it
 * leads, and which fields it takes. A QP that is not valid is in RESET. The QP is stopped while its
 * context changes.
 */
#include "fw/cmds.h"
#include "fw/objects.h"
#include "fw/port.h"
#include "fw/qp_merge.h"

enum { SPECIAL_QPS = 8 };

static enum hcr_status qp_bad_state(uint32_t qpn, uint32_t state)
{
	static const char *const texts[] = {
		[QP_STATE_RST] = "not legal in RESET", [QP_STATE_INIT] = "not legal in INIT",
		[QP_STATE_RTR] = "not legal in RTR",   [QP_STATE_RTS] = "not legal in RTS",
		[QP_STATE_SQER] = "not legal in SQE",  [QP_STATE_SQD] = "not legal in SQD",
		[QP_STATE_ERR] = "not legal in ERR",
	};
	const bool known = state < sizeof(texts) / sizeof(texts[0]) && texts[state];

	fw_guest_error(RULE_qp_transition, GUEST_QP, qpn,
		       known ? texts[state] : "not legal in the QP's state");
	return HCR_STATUS_BAD_QP_STATE;
}

static bool service_offered(uint32_t service)
{
	return qp_service_opts(service) != 0;
}

static bool cq_exists(uint32_t cqn)
{
	return object_in_table(FW_TABLE_CQC, cqn) && object_valid(FW_TABLE_CQC, cqn);
}

/* Checks the objects that a new QP refers to. */
static enum hcr_status qp_check_objects(const struct qpc *q)
{
	if (qpc_get_usr_page(q) >> init_hca_get_log_uars(&fw.hca))
		return HCR_STATUS_BAD_INDEX;
	if (!cq_exists(qpc_get_cqn_send(q)))
		return cmd_no_object(GUEST_CQ, qpc_get_cqn_send(q), "no such CQ, of sends");
	if (!cq_exists(qpc_get_cqn_recv(q)))
		return cmd_no_object(GUEST_CQ, qpc_get_cqn_recv(q), "no such CQ, of receives");
	if (qpc_get_srq(q) && (!object_in_table(FW_TABLE_SRQC, qpc_get_srqn(q)) ||
			       !object_valid(FW_TABLE_SRQC, qpc_get_srqn(q))))
		return cmd_no_object(GUEST_SRQ, qpc_get_srqn(q), "no such SRQ");
	if (qpc_get_log_page_size(q) + 12 > FW_LOG_MAX_PAGE)
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

static bool path_fits(const struct qp_path *p)
{
	return port_exists(qp_path_get_port(p) + 1) &&
	       qp_path_get_pkey_index(p) >> fw_read(FW_LOG_PKEYS) == 0 &&
	       (!qp_path_get_grh(p) || port_of(qp_path_get_port(p) + 1)->ethernet ||
		qp_path_get_mgid_index(p) >> fw_read(FW_LOG_GIDS) == 0);
}

/* A QP with frames needs an Ethernet port. */
static bool frames_fit(const struct qpc *q)
{
	return qpc_has_frames(q) && port_of(qp_path_get_port(qpc_primary_const(q)) + 1)->ethernet;
}

/* Says whether the context is legal in state @to. */
static enum hcr_status qp_check(const struct qpc *q, enum qp_state to, uint32_t opts)
{
	bool connected = (SVC_RC | SVC_UC | SVC_XRC) >> qpc_get_service(q) & 1;

	if (!path_fits(qpc_primary_const(q)))
		return HCR_STATUS_BAD_PARAM;
	if (opts & QP_OPT_BIT_ALT_PATH && !path_fits(qpc_alternate_const(q)))
		return HCR_STATUS_BAD_PARAM;
	if (to != QP_STATE_RTR && to != QP_STATE_RTS)
		return HCR_STATUS_OK;
	if ((qpc_get_mtu(q) < IB_MTU_256 || qpc_get_mtu(q) > IB_MTU_4096) && !frames_fit(q))
		return HCR_STATUS_BAD_PARAM;
	if (connected && qpc_get_log_msg_max(q) > fw_read(FW_LOG_MAX_MSG))
		return HCR_STATUS_BAD_PARAM;
	if (qpc_get_rra_max(q) > init_hca_get_log_rd_per_qp(&fw.hca) ||
	    qpc_get_sra_max(q) > FW_LOG_MAX_RDMA)
		return HCR_STATUS_EXCEED_LIM;
	return HCR_STATUS_OK;
}

static enum hcr_status qpn_check(uint32_t in_mod)
{
	if (in_mod & ~(uint32_t)QPN_MASK)
		return cmd_reserved("reserved bits of the modifier are set");
	return HCR_STATUS_OK;
}

enum hcr_status cmd_rst2init_qp(struct fw_cmd *c)
{
	const struct qp_transition *t = qp_transition_find(c->op);
	const struct qpc *in = qp_mbox_context_const((const struct qp_mbox *)fw.in);
	enum hcr_status status = qpn_check(c->in_mod);
	struct qpc q = {0};

	if (status != HCR_STATUS_OK)
		return status;
	if (!reserved_clear_qp() && !reserved_clear_rss_qp())
		return cmd_reserved("reserved bits are set");
	if (object_valid(FW_TABLE_QPC, c->in_mod)) {
		if (object_query(FW_TABLE_QPC, c->in_mod, &q, sizeof(q)) != HCR_STATUS_OK)
			return HCR_STATUS_ICM_ERROR;
		return qp_bad_state(c->in_mod, qpc_get_state(&q));
	}
	if (!service_offered(qpc_get_service(in)) || qpc_get_local_qpn(in) != c->in_mod)
		return HCR_STATUS_BAD_PARAM;
	qpc_set_local_qpn(&q, c->in_mod);
	qp_merge(&q, in, QP_OPT_ALL, t->take);
	qpc_set_state(&q, t->to);
	status = qp_check_objects(&q);
	if (status == HCR_STATUS_OK)
		status = qp_check(&q, t->to, 0);
	if (status != HCR_STATUS_OK)
		return status;
	return object_make(FW_TABLE_QPC, c->in_mod, &q, sizeof(q));
}

/* Software may load a path (REARM), and may migrate an armed QP that sends. Only a packet of the
 * peer arms the QP (IBA 17.2.8). */
static bool migration_legal(uint32_t now, uint32_t next, uint32_t state)
{
	if (next == QP_PM_REARM || next == now)
		return true;
	return next == QP_PM_MIGRATED && now == QP_PM_ARMED &&
	       (state == QP_STATE_RTS || state == QP_STATE_SQD);
}

/* @in: NULL if the command has no mailbox. */
static enum hcr_status qp_change(struct qpc *q, const struct qp_transition *t,
				 const struct qp_mbox *in)
{
	struct qpc next = *q;
	uint32_t opts = 0;
	enum hcr_status status;

	if (!(t->from >> qpc_get_state(q) & 1))
		return qp_bad_state(qpc_get_local_qpn(q), qpc_get_state(q));
	if (in) {
		opts = qp_transition_opts(t, qpc_get_service(q), qp_mbox_get_opt_mask(in));
		if (opts & QP_OPT_BIT_PM_STATE &&
		    !migration_legal(qpc_get_pm_state(q),
				     qpc_get_pm_state(qp_mbox_context_const(in)), qpc_get_state(q)))
			return HCR_STATUS_BAD_PARAM;
		qp_merge(&next, qp_mbox_context_const(in), opts, t->take);
		status = qp_check(&next, t->to, opts);
		if (status != HCR_STATUS_OK)
			return status;
	}
	qpc_set_state(&next, t->to);
	*q = next;
	return HCR_STATUS_OK;
}

/* A QP in RESET has no context. The one that this gives it has no queues. */
static enum hcr_status qp_reset_to_error(uint32_t qpn)
{
	struct qpc q = {0};

	qpc_set_local_qpn(&q, qpn);
	qpc_set_state(&q, QP_STATE_ERR);
	return object_make(FW_TABLE_QPC, qpn, &q, sizeof(q));
}

static enum hcr_status qp_modify_valid(struct fw_cmd *c, uint32_t qpn,
				       const struct qp_transition *t, const struct qp_mbox *in)
{
	struct qpc q;
	enum hcr_status status = object_stop(FW_TABLE_QPC, qpn, &q, sizeof(q));

	if (status == HCR_STATUS_OK && qpc_get_local_qpn(&q) != qpn)
		status = cmd_no_object(GUEST_QP, qpn, "no such QP");
	if (status == HCR_STATUS_OK)
		status = qp_change(&q, t, in);
	if (status == HCR_STATUS_OK && c->op == HCR_RTS2SQD_QP)
		qpc_set_sqd_event(&q, c->in_mod >> RTS2SQD_EVENT_SHIFT);
	if (status == HCR_STATUS_OK)
		status = object_write(FW_TABLE_QPC, qpn, &q, sizeof(q));
	object_resume(FW_TABLE_QPC, qpn);
	return status;
}

enum hcr_status cmd_modify_qp(struct fw_cmd *c)
{
	const struct qp_transition *t = qp_transition_find(c->op);
	bool has_mailbox = c->op != HCR_2ERR_QP && c->op != HCR_RTS2SQD_QP;
	uint32_t event = c->op == HCR_RTS2SQD_QP ? 1u << RTS2SQD_EVENT_SHIFT : 0;
	uint32_t qpn = c->in_mod & QPN_MASK;
	enum hcr_status status = qpn_check(c->in_mod & ~event);

	if (status != HCR_STATUS_OK)
		return status;
	if (has_mailbox && !reserved_clear_qp() && !reserved_clear_rss_qp())
		return cmd_reserved("reserved bits are set");
	if (object_valid(FW_TABLE_QPC, qpn))
		return qp_modify_valid(c, qpn, t,
				       has_mailbox ? (const struct qp_mbox *)fw.in : NULL);
	if (!(t->from & QP_IN(RST)))
		return qp_bad_state(qpn, QP_STATE_RST);
	return qp_reset_to_error(qpn);
}

/* True if the valid QP at this place of the table has this number. */
static bool qp_is(uint32_t qpn, struct qpc *q)
{
	return object_query(FW_TABLE_QPC, qpn, q, sizeof(*q)) == HCR_STATUS_OK &&
	       qpc_get_local_qpn(q) == qpn;
}

enum hcr_status cmd_2rst_qp(struct fw_cmd *c)
{
	uint32_t qpn = c->in_mod & QPN_MASK;
	struct qpc q;

	qpn_check(c->in_mod);
	if (!object_valid(FW_TABLE_QPC, qpn))
		return HCR_STATUS_OK;
	if (object_query(FW_TABLE_QPC, qpn, &q, sizeof(q)) == HCR_STATUS_OK &&
	    qpc_get_local_qpn(&q) != qpn)
		return cmd_no_object(GUEST_QP, qpn, "no such QP");
	object_do(FW_TABLE_QPC, qpn, FW_OBJ_INVALIDATE);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_qp(struct fw_cmd *c)
{
	struct qpc *q = qp_mbox_context((struct qp_mbox *)fw.out);
	uint32_t qpn = c->in_mod & QPN_MASK;
	enum hcr_status status = qpn_check(c->in_mod);

	if (status != HCR_STATUS_OK)
		return status;
	if (object_valid(FW_TABLE_QPC, qpn) && !qp_is(qpn, q))
		return cmd_no_object(GUEST_QP, qpn, "no such QP");
	if (!qpc_get_local_qpn(q))
		qpc_set_local_qpn(q, qpn);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_conf_special_qp(struct fw_cmd *c)
{
	if (c->in_mod & ~(uint32_t)QPN_MASK || c->in_mod % SPECIAL_QPS)
		return cmd_reserved("not a multiple of 8 with 24 bits");
	if (!object_in_table(FW_TABLE_QPC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	fw_write(FW_SPECIAL_QP, c->in_mod);
	return HCR_STATUS_OK;
}
