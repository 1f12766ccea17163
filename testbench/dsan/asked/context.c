// SPDX-License-Identifier: Apache-2.0
/* Contexts: what the mailbox of a command says, against what the driver was asked for. Judged when GO
 * is written, so the caller of the driver is still there. */
#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/device/given.h"

#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/ethernet.h"
#include "model/interface/fwregs.h"
#include "model/interface/mailboxes.h"
#include "model/interface/qp_transitions.h"
#include "model/interface/queues.h"
#include "model/interface/static_rates.h"

#include <string.h>

enum {
	QUEUE_BYTE = 0x83, /* of a path's schedule queue, without port and SL */
	QUEUE_BYTE_QP0 = 0x3f,
	LOG_WQE_UNIT = 4,
	LOG_PAGE_MIN = 12,
	LOG_DATAGRAM = 12, /* of 4 KiB, the longest that a path takes */
	LOG_MAD = 8,
	NO_COUNTER = 0xff,
	HCR_MBOX_BYTES = 4096,
};

/* In a report of a field that is 0 and must not be. */
#define ASKED_SOME UINT64_MAX

static unsigned log2_up(uint64_t n)
{
	return n <= 1 ? 0 : 64u - (unsigned)__builtin_clzll(n - 1);
}

/* A new queue begins with index 0. Source: Linux create_qp_common, mlx4_ib_create_cq: *db.db = 0 */
static void record_is_clear(const struct compared *c, uint64_t bus)
{
	const uintptr_t at = checker_address(c->ask->c, bus);

	if (at && *(const uint32_t *)at)
		ask_report(c->ask, RULE_context_differs, c->object,
			   "the doorbell record of a new queue still holds 0x%x",
			   be32_load((const uint8_t *)at));
}

/* The doorbell page is that of the process, or the kernel's: each is learned from the first context. */
static void page_says(struct compared *c, const struct layout *layout, const void *context,
		      uint32_t is, const struct drv_uar *uar)
{
	struct checker *checker = c->ask->c;
	struct made *made = made_find(uar);
	char names[CHAIN_BYTES] = "";
	uint32_t should = is;

	if (made) {
		should = pdn_learn(made, is);
	} else if (!uar) {
		if (!checker->kernel_page)
			chain_take(&checker->kernel_page_by);
		if (!checker->kernel_page)
			checker->kernel_page = is;
		should = checker->kernel_page;
	}
	given_page_check(checker, c->object, is);
	if (is != should && !uar) {
		chain_format(&checker->kernel_page_by, names, sizeof(names));
		ask_report(c->ask, RULE_context_differs, c->object,
			   "usr_page is 0x%x, and it was 0x%x in the first context of the kernel, "
			   "which came by %s",
			   is, should, names);
	} else if (is != should)
		field_differs(c, layout, "usr_page", context, is, should);
	else if (made && is == checker->kernel_page)
		bytes_differ(c, "usr_page of a process, which is the page of the kernel,",
			     (const uint8_t *)context + layout_field(layout, "usr_page")->offset,
			     4);
}

/* Domain 0 is reserved. Source: Linux mlx4_init_pd_table: mlx4_pd_alloc gives none below
 * num_reserved_pds */
static void domain_says(struct compared *c, const struct layout *layout, const void *context,
			uint32_t is, struct made *pd)
{
	if (!pd)
		return;
	if (!is)
		field_differs(c, layout, "pd", context, 0, ASKED_SOME);
	else if (is != pdn_learn(pd, is))
		field_differs(c, layout, "pd", context, is, pdn_learn(pd, is));
}

/* So is XRC domain 0. Source: Linux mlx4_init_xrcd_table: reserved_xrcds + 1 */
static void xrc_domain_says(struct compared *c, const struct layout *layout, const void *context,
			    uint32_t is, struct made *xrcd)
{
	if (!xrcd && is)
		field_differs(c, layout, "xrcd", context, is, 0);
	else if (xrcd && !is)
		field_differs(c, layout, "xrcd", context, 0, ASKED_SOME);
	else if (xrcd && is != pdn_learn(xrcd, is))
		field_differs(c, layout, "xrcd", context, is, pdn_learn(xrcd, is));
}

/* --- queue pairs --- */

static void path_says(struct compared *c, const struct qp_path *p, const struct drv_ah_attr *ah,
		      unsigned port)
{
	SAYS(c, qp_path, p, static_rate,
	     ah->static_rate ? ah->static_rate + STATIC_RATE_OFFSET : 0);
	/* an Ethernet port has MAC addresses where InfiniBand's have LIDs */
	if (ask_on_ethernet(c->ask, port)) {
		SAYS(c, qp_path, p, smac_index, 0);
		SAYS(c, qp_path, p, link_type, 1);
		SAYS(c, qp_path, p, priority, ah->sl % ETH_PRIORITIES);
		if (memcmp(qp_path_dmac_cptr(p), ah->dmac, sizeof(ah->dmac)))
			bytes_differ(c, "qp_path.dmac", qp_path_dmac_cptr(p), sizeof(ah->dmac));
	} else {
		SAYS(c, qp_path, p, path_bits, ah->src_path_bits);
		SAYS(c, qp_path, p, rlid, ah->dlid);
		SAYS(c, qp_path, p, sl, ah->sl);
		SAYS(c, qp_path, p, sched_low, 3);
	}
	if (port)
		SAYS(c, qp_path, p, port, port - 1);
	SAYS(c, qp_path, p, sched_one, 1);
	SAYS(c, qp_path, p, grh, ah->is_global);
	if (!ah->is_global)
		return;
	SAYS(c, qp_path, p, mgid_index, ah->sgid_index);
	SAYS(c, qp_path, p, hop_limit, ah->hop_limit);
	SAYS(c, qp_path, p, tclass, ah->traffic_class);
	SAYS(c, qp_path, p, flow_label, ah->flow_label);
	if (memcmp(qp_path_rgid_cptr(p), ah->dgid, sizeof(ah->dgid)))
		bytes_differ(c, "qp_path.rgid", qp_path_rgid_cptr(p), sizeof(ah->dgid));
}

/* The device takes an attribute of a later transition only if its bit is set. */
struct attribute {
	unsigned mask;
	uint32_t option;
};

static const struct attribute attributes[] = {
	{IBV_QP_ACCESS_FLAGS, QP_OPT_BIT_RRE | QP_OPT_BIT_RWE | QP_OPT_BIT_RAE},
	{IBV_QP_PKEY_INDEX, QP_OPT_BIT_PKEY_INDEX},
	{IBV_QP_AV, QP_OPT_BIT_PRIMARY_PATH},
	{IBV_QP_TIMEOUT, QP_OPT_BIT_ACK_TIMEOUT},
	{IBV_QP_ALT_PATH, QP_OPT_BIT_ALT_PATH},
	{IBV_QP_RETRY_CNT, QP_OPT_BIT_RETRY_COUNT},
	{IBV_QP_RNR_RETRY, QP_OPT_BIT_RNR_RETRY},
	{IBV_QP_MAX_QP_RD_ATOMIC, QP_OPT_BIT_SRA_MAX},
	{IBV_QP_MAX_DEST_RD_ATOMIC, QP_OPT_BIT_RRA_MAX},
	{IBV_QP_MIN_RNR_TIMER, QP_OPT_BIT_MIN_RNR},
	{IBV_QP_QKEY, QP_OPT_BIT_QKEY},
	{IBV_QP_PATH_MIG_STATE, QP_OPT_BIT_PM_STATE},
};

static void options_say(struct compared *c, const struct qp_mbox *mbox, unsigned mask)
{
	uint32_t asked = qp_mbox_get_opt_mask(mbox);

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (mask & attributes[i].mask)
			asked |= attributes[i].option;
	SAYS(c, qp_mbox, mbox, opt_mask, asked);
}

static void access_says(struct compared *c, const struct qpc *q, const struct made *qp,
			const struct drv_qp_attr *attr, unsigned mask)
{
	const unsigned access = mask & IBV_QP_ACCESS_FLAGS ? attr->qp_access_flags : qp->access;
	const unsigned depth =
		mask & IBV_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : qp->dest_depth;

	if (!(mask & (IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_DEST_RD_ATOMIC)))
		return;
	SAYS(c, qpc, q, rwe, !!(access & IBV_ACCESS_REMOTE_WRITE));
	/* Source: Linux to_mlx4_access_flags: without responder resources WRITEs only */
	SAYS(c, qpc, q, rre, depth && access & IBV_ACCESS_REMOTE_READ);
	SAYS(c, qpc, q, rae, depth && access & IBV_ACCESS_REMOTE_ATOMIC);
}

static void transport_says(struct compared *c, const struct qpc *q, const struct drv_qp_attr *attr,
			   unsigned mask)
{
	static const enum qp_pm_state pm[] = {QP_PM_MIGRATED, QP_PM_REARM, QP_PM_ARMED};

	if (mask & IBV_QP_RETRY_CNT)
		SAYS(c, qpc, q, retry_cnt, attr->retry_cnt);
	if (mask & IBV_QP_RNR_RETRY)
		SAYS(c, qpc, q, rnr_retry, attr->rnr_retry);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		SAYS(c, qpc, q, sra_max, log2_up(attr->max_rd_atomic));
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		SAYS(c, qpc, q, rra_max, log2_up(attr->max_dest_rd_atomic));
	if (mask & IBV_QP_MIN_RNR_TIMER)
		SAYS(c, qpc, q, min_rnr_timer, attr->min_rnr_timer);
	if (mask & IBV_QP_QKEY)
		SAYS(c, qpc, q, qkey, attr->qkey);
	if (mask & IBV_QP_RQ_PSN)
		SAYS(c, qpc, q, next_rcv_psn, attr->rq_psn & 0xffffff);
	if (mask & IBV_QP_SQ_PSN)
		SAYS(c, qpc, q, next_send_psn, attr->sq_psn & 0xffffff);
	if (mask & IBV_QP_DEST_QPN)
		SAYS(c, qpc, q, remote_qpn, attr->dest_qp_num);
	if (mask & IBV_QP_PATH_MIG_STATE)
		SAYS(c, qpc, q, pm_state, pm[attr->path_mig_state % 3]);
}

static void attributes_say(struct compared *c, const struct qpc *q, const struct made *qp,
			   const struct drv_qp_attr *attr, unsigned mask)
{
	const bool connected = qp->init.type != IBV_QPT_UD && !qp->special;
	const unsigned port = mask & IBV_QP_PORT ? attr->port_num : qp->port;

	access_says(c, q, qp, attr, mask);
	transport_says(c, q, attr, mask);
	if (mask & IBV_QP_PATH_MTU && connected)
		SAYS(c, qpc, q, mtu, attr->path_mtu);
	if (mask & IBV_QP_PKEY_INDEX)
		SAYS(c, qp_path, qpc_primary_const(q), pkey_index, attr->pkey_index);
	if (mask & IBV_QP_AV)
		path_says(c, qpc_primary_const(q), &attr->ah_attr, port);
	if (mask & IBV_QP_TIMEOUT)
		SAYS(c, qp_path, qpc_primary_const(q), ack_timeout, attr->timeout);
	if (!(mask & IBV_QP_ALT_PATH))
		return;
	path_says(c, qpc_alternate_const(q), &attr->alt_ah_attr, attr->alt_port_num);
	SAYS(c, qp_path, qpc_alternate_const(q), pkey_index, attr->alt_pkey_index);
	SAYS(c, qp_path, qpc_alternate_const(q), ack_timeout, attr->alt_timeout);
}

static enum qp_service service_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return QP_ST_UC;
	case IBV_QPT_UD:
		return QP_ST_UD;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return QP_ST_XRC;
	case IBV_QPT_RAW_PACKET:
		return QP_ST_MLX;
	default:
		return QP_ST_RC;
	}
}

/* The sizes are those that the driver has told the caller. */
static void queues_say(struct compared *c, const struct qpc *q, const struct made *qp)
{
	const bool xrc = service_of(qp->init.type) == QP_ST_XRC;
	struct drv_qp_cap cap;

	drv_qp_cap(qp->object, &cap);
	if (qp->init.type != IBV_QPT_XRC_RECV && cap.max_send_wr)
		SAYS(c, qpc, q, log_sq_size,
		     log2_up((uint64_t)cap.max_send_wr +
			     (HEADROOM_BYTES >> (LOG_WQE_UNIT + qpc_get_log_sq_stride(q))) + 1));
	if (!qp->init.srq && !xrc) {
		SAYS(c, qpc, q, log_rq_size, log2_up(cap.max_recv_wr));
		if (!qpc_get_db_rec_addr(q))
			bytes_differ(c, "qpc.db_rec_addr, the doorbell record of receives,",
				     q->b + layout_field(&layout_qpc, "db_rec_addr")->offset, 8);
	}
	if (!qpc_get_mtt_addr(q))
		bytes_differ(c, "qpc.mtt_addr, the buffer,",
			     q->b + layout_field(&layout_qpc, "mtt_addr")->offset, 8);
}

/* What a queue pair is from its creation to its end. */
static void creation_says(struct compared *c, const struct qpc *q, const struct made *qp)
{
	const struct drv_qp_init *init = &qp->init;
	const bool xrc = service_of(init->type) == QP_ST_XRC;
	struct made *pd = made_find(qp->pd);

	record_is_clear(c, qpc_get_db_rec_addr(q));
	SAYS(c, qpc, q, service, qp->special ? QP_ST_MLX : service_of(init->type));
	SAYS(c, qpc, q, local_qpn, c->ask->number);
	SAYS(c, qpc, q, fre, !init->user);
	SAYS(c, qpc, q, rlkey, !init->user);
	if (init->type != IBV_QPT_XRC_RECV && init->send_cq)
		SAYS(c, qpc, q, cqn_send, drv_cq_num(init->send_cq));
	if (!xrc && init->recv_cq)
		SAYS(c, qpc, q, cqn_recv, drv_cq_num(init->recv_cq));
	SAYS(c, qpc, q, srq, !xrc && init->srq);
	if (!xrc && init->srq)
		SAYS(c, qpc, q, srqn, drv_srq_num(init->srq));
	/* a receiver behind an SRQ tells no credits. Source: Linux __mlx4_ib_modify_qp, MLX4_QP_BIT_RIC */
	SAYS(c, qpc, q, ric, !xrc && init->srq);
	xrc_domain_says(c, &layout_qpc, q, qpc_get_xrcd(q),
			init->type == IBV_QPT_XRC_RECV ? made_find(init->xrcd) : NULL);
	SAYS(c, qp_path, qpc_primary_const(q), counter_index, NO_COUNTER);
	if (!qpc_get_ack_req_freq(q)) /* Source: Linux MLX4_IB_ACK_REQ_FREQ */
		field_differs(c, &layout_qpc, "ack_req_freq", q, 0, ASKED_SOME);
	queues_say(c, q, qp);
	page_says(c, &layout_qpc, q, qpc_get_usr_page(q), init->uar);
	domain_says(c, &layout_qpc, q, qpc_get_pd(q), pd);
}

/* Attributes that later transitions need. */
static void attributes_keep(struct made *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	if (mask & IBV_QP_PORT)
		qp->port = attr->port_num;
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		qp->dest_depth = attr->max_dest_rd_atomic;
}

/* The longest message. Source: Linux __mlx4_ib_modify_qp: the device's limit, or a datagram */
static void longest_says(struct compared *c, const struct qpc *q, const struct made *qp)
{
	const struct given *given = &c->ask->c->given;
	const unsigned is = qpc_get_log_msg_max(q);

	if (qp->init.type == IBV_QPT_RAW_PACKET)
		return;
	if (qp->special && is < LOG_MAD)
		field_differs(c, &layout_qpc, "log_msg_max", q, is, LOG_MAD);
	else if (!qp->special && qp->init.type == IBV_QPT_UD && is < LOG_DATAGRAM)
		field_differs(c, &layout_qpc, "log_msg_max", q, is, LOG_DATAGRAM);
	else if (!qp->special && qp->init.type != IBV_QPT_UD && given->has_cap)
		SAYS(c, qpc, q, log_msg_max, dev_cap_get_log_max_msg(&given->cap));
}

/* A queue pair of datagrams has no address vector. Source: Linux __mlx4_ib_modify_qp */
static void datagrams_say(struct compared *c, const struct qpc *q, const struct made *qp)
{
	const bool is_qp0 = qp->special && !qp->special_qpn;

	if (qp->init.type == IBV_QPT_RAW_PACKET)
		SAYS(c, qpc, q, mtu, QPC_MTU_FRAME);
	if (!qp->special && qp->init.type != IBV_QPT_UD)
		return;
	SAYS(c, qp_path, qpc_primary_const(q), sched_queue,
	     (is_qp0 ? QUEUE_BYTE_QP0 : QUEUE_BYTE) | (qp->port - 1) << 6);
	SAYS(c, qpc, q, mtu, IBV_MTU_4096);
}

/* The block of CONF_SPECIAL_QP has QP0 of both ports first, then QP1 of both. Source: Linux
 * mlx4_init_qp_table, mlx4_ib create_qp_common: sqpn + 2 * (qp_type == GSI) + port - 1 */
static void special_number_says(const struct compared *c, const struct ask *a)
{
	const uint32_t base = a->c->given.special_base;
	const uint32_t should = base + 2 * a->made->special_qpn + a->made->port - 1;

	if (base && a->number != should)
		ask_report(a, RULE_context_differs, c->object,
			   "QP%u of port %u has the number %06x, and the device has it at %06x",
			   a->made->special_qpn, a->made->port, a->number, should);
}

static void modify_says(struct compared *c, struct ask *a, uint32_t opcode, uintptr_t at)
{
	const struct qp_mbox *mbox = (const void *)at;
	const struct qpc *q = qp_mbox_context_const(mbox);
	const unsigned mask = a->modify.mask;

	if (!a->made)
		return;
	if (opcode == HCR_RST2INIT_QP) {
		const unsigned port = mask & IBV_QP_PORT ? a->modify.attr->port_num : a->made->port;

		buffer_of_qp_says(c, q);
		creation_says(c, q, a->made);
		SAYS(c, qp_path, qpc_primary_const(q), sched_queue, QUEUE_BYTE | (port - 1) << 6);
	} else {
		options_say(c, mbox, mask);
		if (opcode == HCR_INIT2RTR_QP) {
			datagrams_say(c, q, a->made);
			longest_says(c, q, a->made);
		}
	}
	attributes_say(c, q, a->made, a->modify.attr, mask);
	SAYS(c, qpc, q, local_qpn, a->number);
	if (opcode == HCR_RST2INIT_QP && a->made->special)
		special_number_says(c, a);
}

void asked_modified(struct ask *a)
{
	if (a->made)
		attributes_keep(a->made, a->modify.attr, a->modify.mask);
}

/* The command itself, without its mailbox. */
static void transition_says(const struct ask *a, const struct hcr *command)
{
	const struct qp_transition *t = qp_transition_find(hcr_get_opcode(command));
	const struct guest_object qp = {GUEST_QP, a->number};
	const unsigned mask = a->modify.mask;
	const bool event = mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && a->modify.attr->en_sqd_async_notify;
	static const uint8_t to[] = {
		[IBV_QPS_RESET] = QP_STATE_RST,    [IBV_QPS_INIT] = QP_STATE_INIT,
		[IBV_QPS_RTR] = QP_STATE_RTR,      [IBV_QPS_RTS] = QP_STATE_RTS,
		[IBV_QPS_SQD] = QP_STATE_SQD_BUSY, [IBV_QPS_SQE] = QP_STATE_SQER,
		[IBV_QPS_ERR] = QP_STATE_ERR,
	};

	if (mask & IBV_QP_STATE && t->to != to[a->modify.attr->qp_state] && t->op != HCR_SQD2SQD_QP)
		ask_report(a, RULE_context_differs, qp,
			   "%s leads to another state than the one asked for",
			   hcr_row_find((uint32_t)t->op)->name);
	else if (t->op == HCR_RTS2SQD_QP && event != hcr_get_in_mod(command) >> RTS2SQD_EVENT_SHIFT)
		ask_report(a, RULE_context_differs, qp,
			   "an event of the drained queue is %s, modifier 0x%x",
			   event ? "asked for" : "not asked for", hcr_get_in_mod(command));
	else if (t->op == HCR_2RST_QP && !hcr_get_out_param(command) &&
		 !(hcr_get_op_mod(command) & HCR_OM_2RST_NO_MBOX))
		ask_report(a, RULE_context_differs, qp,
			   "2RST_QP asks for an output mailbox (opcode modifier %u), and there is "
			   "none",
			   (unsigned)hcr_get_op_mod(command));
}

/* --- completion and shared receive queues --- */

static void memory_says(struct compared *c, const struct layout *layout, const void *context,
			uint64_t mtt_addr, uint64_t record)
{
	if (!mtt_addr)
		field_differs(c, layout, "mtt_addr", context, 0, ASKED_SOME);
	if (!record)
		field_differs(c, layout, "db_rec_addr", context, 0, ASKED_SOME);
}

/* Completions of a vector go to the vector's event queue, which is not that of asynchronous events. */
static void vector_says(struct compared *c, const struct cqc *q, int vector)
{
	struct checker *checker = c->ask->c;
	const unsigned eqn = cqc_get_comp_eqn(q);
	unsigned *learned;

	if (vector < 0 || vector >= CHECKER_VECTORS)
		return;
	if (checker->async_eqn_known && eqn == checker->async_eqn)
		bytes_differ(c, "cqc.comp_eqn, the EQ of asynchronous events,",
			     q->b + layout_field(&layout_cqc, "comp_eqn")->offset, 1);
	learned = &checker->vector_eqn[vector];
	if (!*learned)
		*learned = eqn;
	SAYS(c, cqc, q, comp_eqn, *learned);
	for (int v = 0; v < CHECKER_VECTORS; v++)
		if (v != vector && eqn && checker->vector_eqn[v] == eqn)
			bytes_differ(c, "cqc.comp_eqn, the EQ of another vector,",
				     q->b + layout_field(&layout_cqc, "comp_eqn")->offset, 1);
}

static void cq_says(struct compared *c, const struct ask *a, uint32_t opcode, uintptr_t at)
{
	const struct cqc *q = (const void *)at;

	if (a->cq.moderates) {
		SAYS(c, cqc, q, max_count, a->cq.max_count);
		SAYS(c, cqc, q, period, a->cq.period_us);
		return;
	}
	buffer_says(c, &layout_cqc, cqc_get_mtt_addr(q), (uint64_t)CQE_SIZE << cqc_get_log_size(q));
	SAYS(c, cqc, q, log_size, log2_up((uint64_t)a->cq.entries + 1));
	if (opcode != HCR_SW2HW_CQ) {
		if (!cqc_get_mtt_addr(q))
			field_differs(c, &layout_cqc, "mtt_addr", q, 0, ASKED_SOME);
		return;
	}
	record_is_clear(c, cqc_get_db_rec_addr(q));
	memory_says(c, &layout_cqc, q, cqc_get_mtt_addr(q), cqc_get_db_rec_addr(q));
	SAYS(c, cqc, q, timestamp, a->cq.stamped);
	page_says(c, &layout_cqc, q, cqc_get_usr_page(q), a->cq.uar);
	SAYS(c, cqc, q, collapsed, 0);
	vector_says(c, q, a->cq.vector);
}

static void srq_says(struct compared *c, const struct ask *a, uintptr_t at, uint32_t number)
{
	const struct srqc *q = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const struct drv_srq_init *init = a->srq;

	buffer_says(c, &layout_srqc, srqc_get_mtt_addr(q),
		    UINT64_C(16) << (srqc_get_log_stride(q) + srqc_get_log_size(q)));
	SAYS(c, srqc, q, srqn, number);
	SAYS(c, srqc, q, log_size, log2_up((uint64_t)init->max_wr + 1));
	if (16u << srqc_get_log_stride(q) <
	    sizeof(struct srq_next) + init->max_sge * sizeof(struct wqe_data))
		bytes_differ(c, "srqc.log_stride, too small for the scatter list,",
			     q->b + layout_field(&layout_srqc, "log_stride")->offset, 1);
	SAYS(c, srqc, q, cqn, init->cq ? drv_cq_num(init->cq) : 0);
	memory_says(c, &layout_srqc, q, srqc_get_mtt_addr(q), srqc_get_db_rec_addr(q));
	xrc_domain_says(c, &layout_srqc, q, srqc_get_xrcd(q), made_find(init->xrcd));
	domain_says(c, &layout_srqc, q, srqc_get_pd(q), pd);
}

/* --- regions and windows --- */

static void rights_say(struct compared *c, const struct mpt_entry *e, unsigned access)
{
	SAYS(c, mpt_entry, e, local_read, 1);
	SAYS(c, mpt_entry, e, local_write, !!(access & IBV_ACCESS_LOCAL_WRITE));
	SAYS(c, mpt_entry, e, remote_read, !!(access & IBV_ACCESS_REMOTE_READ));
	SAYS(c, mpt_entry, e, remote_write, !!(access & IBV_ACCESS_REMOTE_WRITE));
	SAYS(c, mpt_entry, e, remote_atomic, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	SAYS(c, mpt_entry, e, bind_enable, !!(access & IBV_ACCESS_MW_BIND));
}

/* The bus address of a page of the region. */
static uint64_t page_asked(const struct ask *a, uint64_t nth, unsigned log_page)
{
	const uint64_t mask = ~((UINT64_C(1) << log_page) - 1);

	if (a->region.pages)
		return a->region.pages[nth];
	return ((a->c->host.bus + ((uintptr_t)a->region.addr - (uintptr_t)a->c->host.memory)) &
		mask) +
	       (nth << log_page);
}

/* The translations are those of the memory that is registered, page by page. */
static void pages_say(struct compared *c, const struct ask *a, const struct mpt_entry *e)
{
	const unsigned log_page = mpt_entry_get_log_page_size(e);
	const uint64_t mask = (UINT64_C(1) << log_page) - 1;
	const uint64_t pages = ((a->region.iova & mask) + a->region.len + mask) >> log_page;
	struct compared mtt = *c;
	uint64_t bus;

	for (uint64_t i = 0; i < pages && !c->differs; i++) {
		const uint64_t index = mpt_entry_get_mtt_addr(e) / sizeof(struct mtt_entry) + i;
		const struct mtt_entry *t;

		if (hca_icm_bus(a->c->host.hca,
				hca_icm_address(a->c->host.hca, FW_TABLE_MTT, index), &bus) ||
		    !checker_address(a->c, bus))
			return;
		t = (const void *)checker_address(a->c, bus);
		mtt.from = (uintptr_t)t;
		mtt.to = mtt.from + sizeof(*t);
		SAYS(&mtt, mtt_entry, t, present, 1);
		SAYS(&mtt, mtt_entry, t, addr, page_asked(a, i, log_page));
		c->differs = mtt.differs;
	}
}

static void region_says(struct compared *c, const struct ask *a, uintptr_t at)
{
	const struct mpt_entry *e = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const unsigned log_page = mpt_entry_get_log_page_size(e);

	SAYS(c, mpt_entry, e, region, 1);
	SAYS(c, mpt_entry, e, mio, 1); /* Source: Linux MLX4_MPT_FLAG_MIO */
	SAYS(c, mpt_entry, e, en_inv, 3);
	SAYS(c, mpt_entry, e, fre, a->region.fast);
	SAYS(c, mpt_entry, e, physical, a->region.physical);
	domain_says(c, &layout_mpt_entry, e, mpt_entry_get_pd(e), pd);
	if (a->region.fast) {
		SAYS(c, mpt_entry, e, status, MPT_STATUS_FREE);
		SAYS(c, mpt_entry, e, rae, 1);
		if (mpt_entry_get_mtt_size(e) < a->region.max_pages)
			field_differs(c, &layout_mpt_entry, "mtt_size", e,
				      mpt_entry_get_mtt_size(e), a->region.max_pages);
		return;
	}
	rights_say(c, e, a->region.access);
	if (a->region.physical) {
		SAYS(c, mpt_entry, e, length, UINT64_MAX);
		return;
	}
	SAYS(c, mpt_entry, e, start, a->region.iova);
	SAYS(c, mpt_entry, e, length, a->region.len);
	if (log_page < LOG_PAGE_MIN || (log_page > LOG_PAGE_MIN && a->region.pages))
		SAYS(c, mpt_entry, e, log_page_size, LOG_PAGE_MIN);
	else
		pages_say(c, a, e);
}

static void window_says(struct compared *c, const struct ask *a, uintptr_t at)
{
	const struct mpt_entry *e = (const void *)at;
	struct made *pd = made_find(a->region.pd);
	const bool type2 = a->region.type == IBV_MW_TYPE_2;

	SAYS(c, mpt_entry, e, region, 0);
	SAYS(c, mpt_entry, e, bound_to_qp, type2);
	if (type2) {
		SAYS(c, mpt_entry, e, status, MPT_STATUS_FREE);
		SAYS(c, mpt_entry, e, en_inv, 3);
	}
	domain_says(c, &layout_mpt_entry, e, mpt_entry_get_pd(e), pd);
}

/* Rights are changed in the entry itself, in ICM. */
static void rights_changed_say(struct compared *c, const struct ask *a)
{
	struct hca *hca = a->c->host.hca;
	uint64_t bus;

	if (hca_icm_bus(hca, hca_icm_address(hca, FW_TABLE_MPT, a->number), &bus) ||
	    !checker_address(a->c, bus))
		return;
	c->from = checker_address(a->c, bus);
	c->to = c->from + sizeof(struct mpt_entry);
	c->object = (struct guest_object){GUEST_MPT, a->number};
	rights_say(c, (const void *)c->from, a->region.access);
	if (mpt_entry_get_status((const void *)c->from) != MPT_STATUS_HW)
		field_differs(c, &layout_mpt_entry, "status", (const void *)c->from,
			      mpt_entry_get_status((const void *)c->from), MPT_STATUS_HW);
}

/* --- all --- */

/* Whether a command changes the state of a queue pair, with a context in its mailbox. */
static bool is_transition(uint32_t opcode)
{
	const struct hcr_row *row = hcr_row_find(opcode);

	return row && row->in_layout == &layout_qp_mbox;
}

/* Events of a type go to one EQ. Completions are not among them: bit 0. */
static void events_note(struct checker *c, const struct hcr *command)
{
	const uint32_t modifier = hcr_get_in_mod(command);

	if (modifier >> 31)
		return;
	c->async_eqn = modifier & 0xff;
	c->async_eqn_known = true;
	memset(c->vector_eqn, 0, sizeof(c->vector_eqn));
}

/* Each EQ has a vector of its own. */
static void eq_says(struct compared *c, uintptr_t at, uint32_t eqn)
{
	const struct eqc *q = (const void *)at;
	struct checker *checker = c->ask->c;
	const unsigned vector = eqc_get_intr(q);

	buffer_says(c, &layout_eqc, eqc_get_mtt_addr(q), (uint64_t)EQE_SIZE << eqc_get_log_size(q));
	if (vector >= checker->host.platform->msix_vectors)
		bytes_differ(c, "eqc.intr, a vector that the host has not,",
			     q->b + layout_field(&layout_eqc, "intr")->offset, 2);
	else if (vector < CHECKER_VECTORS && checker->eq_of_vector[vector])
		bytes_differ(c, "eqc.intr, the vector of another EQ,",
			     q->b + layout_field(&layout_eqc, "intr")->offset, 2);
	else if (vector < CHECKER_VECTORS)
		checker->eq_of_vector[vector] = eqn + 1;
}

static void eq_goes(struct checker *c, uint32_t eqn)
{
	for (unsigned v = 0; v < CHECKER_VECTORS; v++)
		if (c->eq_of_vector[v] == eqn + 1)
			c->eq_of_vector[v] = 0;
}

static void device_forgets(struct checker *c)
{
	memset(c->eq_of_vector, 0, sizeof(c->eq_of_vector));
	memset(c->vector_eqn, 0, sizeof(c->vector_eqn));
	c->kernel_page = 0;
	c->async_eqn_known = false;
}

void asked_command(struct checker *c, const struct hcr *command)
{
	struct ask *a = ask_now(c);
	const uintptr_t at = checker_address(c, hcr_get_in_param(command));
	const uint32_t opcode = hcr_get_opcode(command),
		       number = hcr_get_in_mod(command) & 0xffffff;
	struct compared d = {.ask = a,
			     .rule = RULE_context_differs,
			     .object = {GUEST_COMMAND, opcode},
			     .from = at,
			     .to = at + HCR_MBOX_BYTES};

	if (opcode == HCR_MAP_EQ)
		events_note(c, command);
	else if (opcode == HCR_HW2SW_EQ)
		eq_goes(c, number);
	else if (opcode == HCR_INIT_HCA || opcode == HCR_CLOSE_HCA)
		device_forgets(c);
	asked_command_given(c, command);
	if (!ask_is_raw())
		given_command(c, command);
	if (!ask_is_raw() && c->watcher)
		c->watcher->command(c, command);
	if (!a)
		return;
	if (a->kind == ASK_QP_MODIFY && a->made && number == a->number &&
	    qp_transition_find(opcode))
		transition_says(a, command);
	if (a->kind == ASK_CQ && opcode == HCR_MODIFY_CQ &&
	    hcr_get_op_mod(command) != (a->cq.moderates ? HCR_OM_CQ_MODERATE : HCR_OM_CQ_RESIZE))
		ask_report(a, RULE_context_differs, (struct guest_object){GUEST_CQ, number},
			   "MODIFY_CQ has opcode modifier %u", (unsigned)hcr_get_op_mod(command));
	if (a->kind == ASK_REGION_RIGHTS && opcode == HCR_SYNC_TPT)
		rights_changed_say(&d, a);
	if (!at)
		return;
	if (a->kind == ASK_QP_MODIFY && is_transition(opcode)) {
		d.object = (struct guest_object){GUEST_QP, a->number};
		modify_says(&d, a, opcode, at);
	} else if (a->kind == ASK_CQ && (opcode == HCR_SW2HW_CQ || opcode == HCR_MODIFY_CQ)) {
		d.object = (struct guest_object){GUEST_CQ, number};
		cq_says(&d, a, opcode, at);
	} else if (a->kind == ASK_SRQ_CREATE && opcode == HCR_SW2HW_SRQ) {
		d.object = (struct guest_object){GUEST_SRQ, number};
		srq_says(&d, a, at, number);
	} else if (a->kind == ASK_REGION && opcode == HCR_SW2HW_MPT) {
		d.object = (struct guest_object){GUEST_MPT, number};
		region_says(&d, a, at);
	} else if (a->kind == ASK_WINDOW && opcode == HCR_SW2HW_MPT) {
		d.object = (struct guest_object){GUEST_MPT, number};
		window_says(&d, a, at);
	} else if (opcode == HCR_SW2HW_EQ) {
		d.object = (struct guest_object){GUEST_EQ, number};
		eq_says(&d, at, number);
	}
}
