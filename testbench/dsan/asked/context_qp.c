// SPDX-License-Identifier: Apache-2.0
/* The contexts of queue pairs, and the transitions that carry them. See context.h. */
#include "testbench/dsan/asked/buffers.h"
#include "testbench/dsan/asked/context.h"
#include "testbench/dsan/device/given.h"
#include "testbench/dsan/held/heap.h"
#include "testbench/dsan/held/taken.h"

#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/ethernet.h"
#include "model/interface/mailboxes.h"
#include "model/interface/qp_transitions.h"
#include "model/interface/queues.h"
#include "model/interface/static_rates.h"

#include <stdio.h>
#include <string.h>

enum {
	SIZE_WRITERS = 40,
	SIZE_CHARS = 480,
	SIZE_NAMES = 300,
	QUEUE_BYTE = 0x83, /* of a path's schedule queue, without port and SL */
	QUEUE_BYTE_QP0 = 0x3f,
	LOG_WQE_UNIT = 4,
	LOG_DATAGRAM = 12, /* of 4 KiB, the longest that a path takes */
	LOG_MAD = 8,
	LOG_FRAME =
		31, /* Source: Linux __mlx4_ib_modify_qp: ilog2 of the largest, as mlx4_en has it */
	NO_COUNTER = 0xff,
};

/* Packets have the VLAN of their GID. Source: Linux _mlx4_set_path: vlan_index, and bit 6 of fl */
static void path_vlan_says(struct compared *c, const struct qp_path *p,
			   const struct drv_ah_attr *ah, unsigned port)
{
	struct drv_gid own;

	if (!port || !c->ask->dev || drv_eth_gid_get(c->ask->dev, port, ah->sgid_index, &own))
		return;
	SAYS(c, qp_path, p, cv, own.vlan != VLAN_NONE);
	if (own.vlan != VLAN_NONE)
		SAYS(c, qp_path, p, vlan_index,
		     (uint64_t)drv_eth_vlan_index(c->ask->dev, port, own.vlan));
}

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
		path_vlan_says(c, p, ah, port);
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

/* So have they its version of RoCE. Source: Linux __mlx4_ib_modify_qp: rlkey_roce_mode */
static void roce_says(struct compared *c, const struct qpc *q, const struct drv_ah_attr *ah,
		      unsigned port)
{
	const struct drv_device *dev = c->ask->dev;

	if (!port || !dev || !ask_on_ethernet(c->ask, port) || ah->sgid_index >= DRV_ETH_TABLE)
		return;
	SAYS(c, qpc, q, roce_mode,
	     dev->eth[port].gids[ah->sgid_index].version == 2 ? QP_ROCE_V2 : QP_ROCE_V1);
}

/* The device takes an attribute of a later transition only if its bit is set. */
struct attribute {
	unsigned mask;
	uint32_t option;
};

static const struct attribute attributes[] = {
	{IBV_QP_ACCESS_FLAGS, QP_OPT_BIT_RRE | QP_OPT_BIT_RWE | QP_OPT_BIT_RAE},
	{IBV_QP_PKEY_INDEX, QP_OPT_BIT_PKEY_INDEX},
	/* Source: Linux __mlx4_ib_modify_qp: the service level and the port are in the schedule queue */
	{IBV_QP_AV, QP_OPT_BIT_PRIMARY_PATH | QP_OPT_BIT_SCHED_QUEUE},
	{IBV_QP_TIMEOUT, QP_OPT_BIT_ACK_TIMEOUT},
	{IBV_QP_ALT_PATH, QP_OPT_BIT_ALT_PATH},
	{IBV_QP_RETRY_CNT, QP_OPT_BIT_RETRY_COUNT},
	{IBV_QP_RNR_RETRY, QP_OPT_BIT_RNR_RETRY},
	{IBV_QP_MAX_QP_RD_ATOMIC, QP_OPT_BIT_SRA_MAX},
	/* without READs and atomics their rights are 0. Source: Linux __mlx4_ib_modify_qp */
	{IBV_QP_MAX_DEST_RD_ATOMIC,
	 QP_OPT_BIT_RRA_MAX | QP_OPT_BIT_RRE | QP_OPT_BIT_RWE | QP_OPT_BIT_RAE},
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
	/* Source: Linux __mlx4_ib_modify_qp: MIGRATED unless the caller says another one */
	SAYS(c, qpc, q, pm_state,
	     mask & IBV_QP_PATH_MIG_STATE ? pm[attr->path_mig_state % 3] : QP_PM_MIGRATED);
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
	if (mask & IBV_QP_AV) {
		path_says(c, qpc_primary_const(q), &attr->ah_attr, port);
		roce_says(c, q, &attr->ah_attr, port);
	}
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

/* Source: Linux mlx4 set_kernel_sq_size: as many as the caller was told, and the headroom */
static void send_queue_says(struct compared *c, const struct qpc *q, const struct drv_qp *qp,
			    uint64_t told)
{
	const unsigned spare = (HEADROOM_BYTES >> (LOG_WQE_UNIT + qpc_get_log_sq_stride(q))) + 1;
	const void *pcs[SIZE_WRITERS];
	char text[SIZE_CHARS], writers[SIZE_NAMES];

	if (qpc_get_log_sq_size(q) == log2_up(told + spare))
		return;
	checker_functions(pcs, heap_writers(qp, sizeof(*qp), pcs, SIZE_WRITERS), writers,
			  sizeof(writers));
	snprintf(text, sizeof(text),
		 "qpc.log_sq_size, %u, has no room for %u requests and a headroom of %u (the "
		 "queue pair was made by %s); it",
		 qpc_get_log_sq_size(q), (unsigned)told, spare, writers);
	bytes_differ(c, text, q->b + layout_field(&layout_qpc, "log_sq_size")->offset, 1);
}

/* The sizes are those that the driver has told the caller. */
static void queues_say(struct compared *c, const struct qpc *q, const struct made *qp)
{
	const bool xrc = service_of(qp->init.type) == QP_ST_XRC;
	struct drv_qp_cap cap;

	drv_qp_cap(qp->object, &cap);
	if (qp->init.type != IBV_QPT_XRC_RECV && cap.max_send_wr)
		send_queue_says(c, q, qp->object, cap.max_send_wr);
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

/* The number has an entry of its own in each table of queue pairs. Source: Linux mlx4_qp_alloc:
 * mlx4_table_get of five tables */
static void tables_say(const struct compared *c, const struct drv_qp *qp)
{
	static const struct {
		enum drv_table table;
		const char *name;
	} tables[] = {{DRV_T_AUXC, "AUXC"},
		      {DRV_T_ALTC, "ALTC"},
		      {DRV_T_RDMARC, "RDMARC"},
		      {DRV_T_CMPT_QP, "cMPTs"}};
	const void *pcs[SIZE_WRITERS];
	char writers[SIZE_NAMES];

	if (!taken_is(TAKEN_ICM, &qp->dev->tables[DRV_T_QPC], qp->qpn))
		return;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (taken_is(TAKEN_ICM, &qp->dev->tables[tables[i].table], qp->qpn))
			continue;
		checker_functions(pcs, heap_writers(&qp->qpn, sizeof(qp->qpn), pcs, SIZE_WRITERS),
				  writers, sizeof(writers));
		ask_report(c->ask, RULE_icm_unmapped, c->object,
			   "no memory of the table of %s was taken for the number %06x, which %s "
			   "wrote",
			   tables[i].name, qp->qpn, writers);
	}
}

/* Source: Linux create_qp_common: bit 23 of the number is set of XRC targets, and of none else */
static void target_bit_says(struct compared *c, const struct qpc *q, bool target)
{
	if (!(qpc_get_local_qpn(q) & QPN_XRC_TARGET) == !target)
		return;
	bytes_differ(c,
		     target ? "qpc.local_qpn, without the bit of XRC targets,"
			    : "qpc.local_qpn, with the bit of XRC targets,",
		     q->b + layout_field(&layout_qpc, "local_qpn")->offset, 4);
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
	target_bit_says(c, q, init->type == IBV_QPT_XRC_RECV);
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
	tables_say(c, qp->object);
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
		SAYS(c, qpc, q, log_msg_max, LOG_FRAME);
	else if (qp->special && is < LOG_MAD)
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
	const struct drv_qp *qp = a->made->object;
	const void *pcs[SIZE_WRITERS];
	char writers[SIZE_NAMES];

	if (!base || a->number == should)
		return;
	checker_functions(pcs, heap_writers(&qp->qpn, sizeof(qp->qpn), pcs, SIZE_WRITERS), writers,
			  sizeof(writers));
	ask_report(
		a, RULE_context_differs, c->object,
		"QP%u of port %u has the number %06x, written by %s, and the device has it at %06x",
		a->made->special_qpn, a->made->port, a->number, writers, should);
}

/* A queue pair that drains is asked for as one that has drained. Source: Linux __mlx4_ib_modify_qp,
 * to_mlx4_state */
static void state_says(struct compared *c, const struct qpc *q, uint32_t opcode)
{
	const struct qp_transition *t = qp_transition_find(opcode);

	SAYS(c, qpc, q, state, t->to == QP_STATE_SQD_BUSY ? QP_STATE_SQD : t->to);
}

void qp_context_says(struct compared *c, struct ask *a, uint32_t opcode, uintptr_t at)
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
	state_says(c, q, opcode);
	SAYS(c, qpc, q, local_qpn, a->number);
	if (opcode == HCR_RST2INIT_QP && a->made->special)
		special_number_says(c, a);
}

/* What later calls take from the driver's own object is what this call has said. Source: Linux
 * __mlx4_ib_modify_qp: qp->port, atomic_rd_en, resp_depth, store_sqp_attrs */
static void remembered_check(const struct ask *a, const struct drv_qp *qp)
{
	const struct drv_qp_attr *attr = a->modify.attr;
	const struct {
		unsigned mask;
		const char *name;
		uint64_t is, asked;
	} all[] = {
		{IBV_QP_PORT, "port", qp->port, attr->port_num},
		{IBV_QP_PKEY_INDEX, "pkey_index", qp->pkey_index, attr->pkey_index},
		{IBV_QP_ACCESS_FLAGS, "access", qp->access, attr->qp_access_flags},
		{IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd", qp->max_dest_rd,
		 attr->max_dest_rd_atomic},
		{IBV_QP_QKEY, "qkey", qp->qkey, attr->qkey},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (a->modify.mask & all[i].mask && all[i].is != all[i].asked)
			ask_report(a, RULE_qp_state_differs,
				   (struct guest_object){GUEST_QP, a->number},
				   "the driver remembers 0x%llx for its %s, and was told 0x%llx",
				   (unsigned long long)all[i].is, all[i].name,
				   (unsigned long long)all[i].asked);
}

void asked_modified(struct ask *a)
{
	if (!a->made)
		return;
	attributes_keep(a->made, a->modify.attr, a->modify.mask);
	if (a->c && a->c->given.runs) /* another device has another object */
		remembered_check(a, a->made->object);
}

void qp_transition_says(const struct ask *a, const struct hcr *command)
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
