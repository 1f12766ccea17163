// SPDX-License-Identifier: Apache-2.0
/* State changes of queue pairs: which command, which attributes it needs, the context and its
 * option mask; QUERY_QP read back. */
#include "host_driver/mlx4/mlx4_internal.h"
#include "host_driver/mlx4/post.h"
#include "model/interface/macros.h"
#include "model/interface/qp_transitions.h"

#include <errno.h>
#include <string.h>

enum {
	SCHED_QUEUE = 0x83, /* with port and SL; see struct qp_path */
	SCHED_QUEUE_QP0 = 0x3f,
	SCHED_PORT_SHIFT = 6,
	SCHED_SL_SHIFT = 2,
	SCHED_PRIORITY_SHIFT = 3, /* Ethernet */
	LINK_TYPE_ETH = 1,        /* value of qp_path.link_type */
	ACK_REQ_FREQ = 8,
	LOG_MSG_UD = 13,
	LOG_MSG_MAD = 11,
	LOG_MSG_FRAME = 31, /* as Linux writes it, for all frames */
	NO_COUNTER = 0xff,
};

/* Service bits of a row. */
enum {
	RC = SVC_RC,
	UC = SVC_UC,
	UD = SVC_UD,
	XI = 1 << 8,
	XT = 1 << 9,
	RAW = 1 << 10, /* Ethernet frames */
	CONN = RC | UC | XI | XT,
	MLX = SVC_MLX | RAW,
};

/* A legal transition, and the attributes that some services need for it. Several rows may describe
 * the same transition. */
struct transition {
	enum ibv_qp_state from, to;
	uint16_t op;
	unsigned services, required;
};

static const struct transition transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, HCR_RST2INIT_QP, CONN,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_RESET, IBV_QPS_INIT, HCR_RST2INIT_QP, UD,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPS_RESET, IBV_QPS_INIT, HCR_RST2INIT_QP, SVC_MLX, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_RESET, IBV_QPS_INIT, HCR_RST2INIT_QP, RAW, IBV_QP_PORT},
	{IBV_QPS_INIT, IBV_QPS_INIT, HCR_INIT2INIT_QP, CONN | UD, 0},
	{IBV_QPS_INIT, IBV_QPS_RTR, HCR_INIT2RTR_QP, RC | XT,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER},
	{IBV_QPS_INIT, IBV_QPS_RTR, HCR_INIT2RTR_QP, UC | XI,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN},
	{IBV_QPS_INIT, IBV_QPS_RTR, HCR_INIT2RTR_QP, UD | MLX, 0},
	{IBV_QPS_RTR, IBV_QPS_RTS, HCR_RTR2RTS_QP, RC | XI,
	 IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC},
	{IBV_QPS_RTR, IBV_QPS_RTS, HCR_RTR2RTS_QP, XT, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT},
	{IBV_QPS_RTR, IBV_QPS_RTS, HCR_RTR2RTS_QP, UC | UD | MLX, IBV_QP_SQ_PSN},
	{IBV_QPS_RTS, IBV_QPS_RTS, HCR_RTS2RTS_QP, CONN | UD, 0},
	{IBV_QPS_RTS, IBV_QPS_SQD, HCR_RTS2SQD_QP, CONN | UD | MLX, 0},
	{IBV_QPS_SQD, IBV_QPS_SQD, HCR_SQD2SQD_QP, CONN | UD, 0},
	{IBV_QPS_SQD, IBV_QPS_RTS, HCR_SQD2RTS_QP, CONN | UD | MLX, 0},
	{IBV_QPS_SQE, IBV_QPS_RTS, HCR_SQERR2RTS_QP, UC | UD | MLX, 0},
};

static unsigned service_bit(const struct drv_qp *qp)
{
	if (qp->service == QP_ST_XRC)
		return qp->xrc_target ? XT : XI;
	return qp->type == IBV_QPT_RAW_PACKET ? RAW : 1u << qp->service;
}

/* The command of a transition. -EINVAL: the transition is not legal, or an attribute is missing. */
static int transition_find(const struct drv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
			   unsigned mask)
{
	if (to == IBV_QPS_ERR)
		return HCR_2ERR_QP;
	if (to == IBV_QPS_RESET)
		return HCR_2RST_QP;
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
		const struct transition *t = &transitions[i];

		if (t->from == from && t->to == to && t->services & service_bit(qp))
			return (t->required & mask) == t->required ? (int)t->op : -EINVAL;
	}
	return -EINVAL;
}

static unsigned log2_depth(unsigned n)
{
	return n > 1 ? drv_log2_up(n) : 0;
}

/* --- context --- */

/* On an Ethernet port, whose QP contexts name a MAC and a VLAN, too. */
static void path_fill_ethernet(const struct drv_qp *qp, struct qp_path *path,
			       const struct drv_ah_attr *ah, unsigned port)
{
	const struct drv_gid *gid = &qp->dev->eth[port].gids[ah->sgid_index % DRV_ETH_TABLE];
	int vlan = gid->vlan == VLAN_NONE ? -ENOENT : mlx4_eth_vlan_index(qp->dev, port, gid->vlan);

	qp_path_set_link_type(path, LINK_TYPE_ETH);
	qp_path_set_smac_index(path, 0);
	memcpy(qp_path_dmac_ptr(path), ah->dmac, MAC_BYTES);
	if (vlan >= 0) {
		qp_path_set_cv(path, 1);
		qp_path_set_vlan_index(path, (uint32_t)vlan);
	}
	qp_path_set_sched_queue(path, SCHED_QUEUE | (port - 1) << SCHED_PORT_SHIFT |
					      (ah->sl & 7) << SCHED_PRIORITY_SHIFT);
}

static void path_fill(const struct drv_qp *qp, struct qp_path *path, const struct drv_ah_attr *ah,
		      unsigned port)
{
	qp_path_set_path_bits(path, ah->src_path_bits);
	qp_path_set_rlid(path, ah->dlid);
	qp_path_set_static_rate(path, ah->static_rate ? ah->static_rate + STATIC_RATE_OFFSET : 0);
	if (ah->is_global) {
		qp_path_set_grh(path, 1);
		qp_path_set_mgid_index(path, ah->sgid_index);
		qp_path_set_hop_limit(path, ah->hop_limit);
		qp_path_set_tclass(path, ah->traffic_class);
		qp_path_set_flow_label(path, ah->flow_label);
		memcpy(qp_path_rgid_ptr(path), ah->dgid, DRV_GID_BYTES);
	}
	qp_path_set_sched_queue(path, SCHED_QUEUE | (port - 1) << SCHED_PORT_SHIFT |
					      (ah->sl & 0xf) << SCHED_SL_SHIFT);
	if (mlx4_port_is_ethernet(qp->dev, port))
		path_fill_ethernet(qp, path, ah, port);
}

/* Fields that every modify command contains; the device ignores most of them after the first
 * one. */
static void fill_common(const struct drv_qp *qp, struct qpc *c)
{
	qpc_set_service(c, qp->service);
	qpc_set_pm_state(c, QP_PM_MIGRATED);
	qpc_set_pd(c, qp->pd->pdn);
	qpc_set_rq_size_stride(c, qp->has_rq ? drv_log2_up(qp->rq.entries) << 3 |
						       (qp->rq.log_stride - 4)
					     : QPC_NO_RQ_SIZE_STRIDE);
	qpc_set_log_sq_size(c, drv_log2_up(qp->sq.entries));
	qpc_set_log_sq_stride(c, qp->sq.log_stride - 4);
	qpc_set_usr_page(c, qp->uar->page);
	qpc_set_local_qpn(c, qp->qpn);
	qpc_set_cqn_send(c, qp->send_cq ? qp->send_cq->cqn : 0);
	qpc_set_cqn_recv(c, qp->recv_cq ? qp->recv_cq->cqn : 0);
	qpc_set_ack_req_freq(c, ACK_REQ_FREQ);
	qpc_set_fre(c, !qp->user);
	qp_path_set_counter_index(qpc_primary(c), NO_COUNTER);
	if (qp->srq) {
		qpc_set_srq(c, 1);
		qpc_set_srqn(c, qp->srq->srqn);
		qpc_set_ric(c, 1);
	}
}

/* Fields that only RST2INIT may contain. */
static void fill_reset(const struct drv_qp *qp, struct qpc *c)
{
	qpc_set_mtt_addr(c, drv_mtt_addr(&qp->buf.mtt));
	qpc_set_db_rec_addr(c, qp->has_rq ? qp->db.bus : 0);
	qpc_set_xrcd(c, qp->xrcd ? qp->xrcd->xrcdn : 0);
	qpc_set_rlkey(c, !qp->user);
	qp_path_set_sched_queue(qpc_primary(c), SCHED_QUEUE | (qp->port - 1) << SCHED_PORT_SHIFT);
}

static void fill_mtu(const struct drv_qp *qp, struct qpc *c, const struct drv_qp_attr *attr,
		     unsigned mask)
{
	if (qp->type == IBV_QPT_RAW_PACKET) {
		qpc_set_mtu(c, QPC_MTU_FRAME);
		qpc_set_log_msg_max(c, LOG_MSG_FRAME);
	} else if (qp->service == QP_ST_MLX || qp->service == QP_ST_UD) {
		qpc_set_mtu(c, IB_MTU_4096);
		qpc_set_log_msg_max(c, qp->service == QP_ST_UD ? LOG_MSG_UD : LOG_MSG_MAD);
	} else if (mask & IBV_QP_PATH_MTU) {
		qpc_set_mtu(c, attr->path_mtu);
		qpc_set_log_msg_max(c, dev_cap_get_log_max_msg(&qp->dev->cap));
	}
}

/* Remote access depends on the flags and on the depth: without responder resources only WRITEs are
 * allowed. */
static uint32_t fill_access(const struct drv_qp *qp, struct qpc *c, const struct drv_qp_attr *attr,
			    unsigned mask)
{
	const unsigned access = mask & IBV_QP_ACCESS_FLAGS ? attr->qp_access_flags : qp->access;
	const unsigned depth =
		mask & IBV_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : qp->max_dest_rd;

	if (!(mask & (IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_DEST_RD_ATOMIC)))
		return 0;
	qpc_set_rwe(c, !!(access & IBV_ACCESS_REMOTE_WRITE));
	qpc_set_rre(c, depth && access & IBV_ACCESS_REMOTE_READ);
	qpc_set_rae(c, depth && access & IBV_ACCESS_REMOTE_ATOMIC);
	return QP_OPT_BIT_RRE | QP_OPT_BIT_RWE | QP_OPT_BIT_RAE;
}

static enum qp_roce_mode roce_mode(const struct drv_device *dev, unsigned port,
				   const struct drv_ah_attr *ah)
{
	return dev->eth[port].gids[ah->sgid_index % DRV_ETH_TABLE].version == 2 ? QP_ROCE_V2
										: QP_ROCE_V1;
}

static uint32_t fill_path(const struct drv_qp *qp, struct qpc *c, const struct drv_qp_attr *attr,
			  unsigned mask)
{
	const unsigned port = mask & IBV_QP_PORT ? attr->port_num : qp->port;
	uint32_t opt = 0;

	if (mask & IBV_QP_PKEY_INDEX) {
		qp_path_set_pkey_index(qpc_primary(c), attr->pkey_index);
		opt |= QP_OPT_BIT_PKEY_INDEX;
	}
	if (mask & IBV_QP_AV) {
		path_fill(qp, qpc_primary(c), &attr->ah_attr, port);
		if (mlx4_port_is_ethernet(qp->dev, port))
			qpc_set_roce_mode(c, roce_mode(qp->dev, port, &attr->ah_attr));
		opt |= QP_OPT_BIT_PRIMARY_PATH | QP_OPT_BIT_SCHED_QUEUE;
	} else if (mask & IBV_QP_PORT && qp->state == IBV_QPS_SQD) {
		qp_path_set_sched_queue(qpc_primary(c), SCHED_QUEUE | (port - 1)
									      << SCHED_PORT_SHIFT);
		opt |= QP_OPT_BIT_SCHED_QUEUE;
	}
	if (mask & IBV_QP_TIMEOUT) {
		qp_path_set_ack_timeout(qpc_primary(c), attr->timeout);
		opt |= QP_OPT_BIT_ACK_TIMEOUT;
	}
	if (mask & IBV_QP_ALT_PATH) {
		path_fill(qp, qpc_alternate(c), &attr->alt_ah_attr, attr->alt_port_num);
		qp_path_set_pkey_index(qpc_alternate(c), attr->alt_pkey_index);
		qp_path_set_ack_timeout(qpc_alternate(c), attr->alt_timeout);
		opt |= QP_OPT_BIT_ALT_PATH;
	}
	return opt;
}

static uint32_t fill_transport(struct qpc *c, const struct drv_qp_attr *attr, unsigned mask)
{
	uint32_t opt = 0;

	if (mask & IBV_QP_RETRY_CNT) {
		qpc_set_retry_cnt(c, attr->retry_cnt);
		opt |= QP_OPT_BIT_RETRY_COUNT;
	}
	if (mask & IBV_QP_RNR_RETRY) {
		qpc_set_rnr_retry(c, attr->rnr_retry);
		opt |= QP_OPT_BIT_RNR_RETRY;
	}
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC) {
		qpc_set_sra_max(c, log2_depth(attr->max_rd_atomic));
		opt |= QP_OPT_BIT_SRA_MAX;
	}
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
		qpc_set_rra_max(c, log2_depth(attr->max_dest_rd_atomic));
		opt |= QP_OPT_BIT_RRA_MAX;
	}
	if (mask & IBV_QP_MIN_RNR_TIMER) {
		qpc_set_min_rnr_timer(c, attr->min_rnr_timer);
		opt |= QP_OPT_BIT_MIN_RNR;
	}
	if (mask & IBV_QP_QKEY) {
		qpc_set_qkey(c, attr->qkey);
		opt |= QP_OPT_BIT_QKEY;
	}
	if (mask & IBV_QP_PATH_MIG_STATE) {
		static const enum qp_pm_state pm[] = {QP_PM_MIGRATED, QP_PM_REARM, QP_PM_ARMED};

		qpc_set_pm_state(c, pm[attr->path_mig_state % 3]);
		opt |= QP_OPT_BIT_PM_STATE;
	}
	if (mask & IBV_QP_RQ_PSN)
		qpc_set_next_rcv_psn(c, attr->rq_psn);
	if (mask & IBV_QP_SQ_PSN)
		qpc_set_next_send_psn(c, attr->sq_psn);
	if (mask & IBV_QP_DEST_QPN)
		qpc_set_remote_qpn(c, attr->dest_qp_num);
	return opt;
}

static void fill_mailbox(const struct drv_qp *qp, uint16_t op, const struct drv_qp_attr *attr,
			 unsigned mask, struct qp_mbox *mbox)
{
	static const uint8_t device_state[] = {QP_STATE_RST, QP_STATE_INIT, QP_STATE_RTR,
					       QP_STATE_RTS, QP_STATE_SQD,  QP_STATE_SQER,
					       QP_STATE_ERR};
	struct qpc *c = qp_mbox_context(mbox);
	uint32_t opt;

	memset(mbox, 0, sizeof(*mbox));
	qpc_set_state(c, device_state[attr->qp_state]);
	fill_common(qp, c);
	if (op == HCR_RST2INIT_QP)
		fill_reset(qp, c);
	fill_mtu(qp, c, attr, mask);
	opt = fill_access(qp, c, attr, mask);
	opt |= fill_path(qp, c, attr, mask);
	opt |= fill_transport(c, attr, mask);
	/* A datagram QP has no address vector. Its port is in the path nevertheless, without an
	 * option bit. */
	if (op == HCR_INIT2RTR_QP && (qp->service == QP_ST_UD || qp->service == QP_ST_MLX))
		qp_path_set_sched_queue(
			qpc_primary(c),
			(qp->special && !qp->special_qpn ? SCHED_QUEUE_QP0 : SCHED_QUEUE) |
				(qp->port - 1) << SCHED_PORT_SHIFT);
	qp_mbox_set_opt_mask(mbox, opt);
}

/* --- modify --- */

static int attr_check(const struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	const struct drv_device *dev = qp->dev;

	if ((unsigned)attr->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	if (mask & IBV_QP_PORT && (!attr->port_num || attr->port_num > dev->ports))
		return -EINVAL;
	if (mask & IBV_QP_PATH_MTU &&
	    (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
		return -EINVAL;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > 1u << dev_cap_get_log_max_sra(&dev->cap))
		return -EINVAL;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > 1u << DRV_LOG_RD_PER_QP)
		return -EINVAL;
	/* RoCE has no LIDs to route by, and no automatic path migration (Linux refuses it, too) */
	if (mlx4_port_is_ethernet(dev, mask & IBV_QP_PORT ? attr->port_num : qp->port) &&
	    ((mask & IBV_QP_AV &&
	      (!attr->ah_attr.is_global || attr->ah_attr.sgid_index >= DRV_ETH_TABLE)) ||
	     mask & IBV_QP_ALT_PATH))
		return -EINVAL;
	if (mask & IBV_QP_ALT_PATH && (!attr->alt_port_num || attr->alt_port_num > dev->ports))
		return -EINVAL;
	return 0;
}

static void qp_was_reset(struct drv_qp *qp)
{
	if (qp->recv_cq)
		drv_cq_clean(qp->recv_cq, qp);
	if (qp->send_cq && qp->send_cq != qp->recv_cq)
		drv_cq_clean(qp->send_cq, qp);
	qp->sq.head = qp->sq.tail = 0;
	qp->rq.head = qp->rq.tail = 0;
	qp->special_psn = 0;
	if (qp->has_rq)
		rq_dbrec_set_counter(qp->db.record, 0);
}

static void qp_remember(struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	if (mask & IBV_QP_PORT)
		qp->port = attr->port_num;
	if (mask & IBV_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		qp->max_dest_rd = attr->max_dest_rd_atomic;
	if (mask & IBV_QP_QKEY)
		qp->qkey = attr->qkey;
}

/* QP0 opens and closes its port. */
static int special_port(struct drv_qp *qp, uint16_t op)
{
	if (!qp->special || qp->special_qpn)
		return 0;
	if (op == HCR_INIT2RTR_QP)
		return drv_cmd_plain(qp->dev, HCR_INIT_PORT, qp->port, 0);
	if (op == HCR_2RST_QP || op == HCR_2ERR_QP)
		drv_cmd_plain(qp->dev, HCR_CLOSE_PORT, qp->port, 0);
	return 0;
}

static int qp_modify(struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	const enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	struct drv_qp_attr a = *attr;
	struct qp_mbox mbox;
	uint32_t in_mod = qp->qpn;
	int op, rc;

	if (!(mask & IBV_QP_STATE))
		a.qp_state = from;
	rc = attr_check(qp, &a, mask);
	if (rc)
		return rc;
	op = transition_find(qp, from, a.qp_state, mask);
	if (op < 0)
		return op;
	if (op == HCR_2RST_QP && qp->state == IBV_QPS_RESET)
		return 0;
	if (op == HCR_RST2INIT_QP) {
		qp->port = mask & IBV_QP_PORT ? a.port_num : qp->port;
		drv_sq_init(qp);
	}
	if (op == HCR_RTS2SQD_QP && mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && a.en_sqd_async_notify)
		in_mod |= UINT32_C(1) << RTS2SQD_EVENT_SHIFT;
	if (op == HCR_2RST_QP) {
		special_port(qp, HCR_2RST_QP);
		rc = drv_cmd_plain(qp->dev, HCR_2RST_QP, in_mod, HCR_OM_2RST_NO_MBOX);
	} else {
		fill_mailbox(qp, (uint16_t)op, &a, mask, &mbox);
		rc = drv_cmd_in(qp->dev, (uint16_t)op, in_mod, 0, &mbox, sizeof(mbox));
		if (!rc)
			rc = special_port(qp, (uint16_t)op);
	}
	if (rc)
		return rc;
	qp_remember(qp, &a, mask);
	qp->state = a.qp_state;
	if (op == HCR_2RST_QP)
		qp_was_reset(qp);
	return 0;
}

int mlx4_qp_modify(struct drv_qp *qp, const struct drv_qp_attr *attr, unsigned mask)
{
	DRV_ENTER(qp->dev, "qpn %06x, state %d, mask %x", qp->qpn, attr->qp_state, mask);
	return DRV_LEAVE(qp->dev, qp_modify(qp, attr, mask));
}

/* --- query --- */

static void path_read(const struct qp_path *path, struct drv_ah_attr *ah)
{
	ah->dlid = qp_path_get_rlid(path);
	ah->sl = qp_path_get_sl(path);
	ah->src_path_bits = qp_path_get_path_bits(path);
	ah->static_rate = qp_path_get_static_rate(path)
				  ? qp_path_get_static_rate(path) - STATIC_RATE_OFFSET
				  : 0;
	ah->port_num = qp_path_get_port(path) + 1;
	ah->is_global = qp_path_get_grh(path);
	memcpy(ah->dgid, qp_path_rgid_cptr(path), DRV_GID_BYTES);
	ah->sgid_index = qp_path_get_mgid_index(path);
	ah->hop_limit = qp_path_get_hop_limit(path);
	ah->traffic_class = qp_path_get_tclass(path);
	ah->flow_label = qp_path_get_flow_label(path);
	if (qp_path_get_link_type(path) == LINK_TYPE_ETH) {
		ah->sl = qp_path_get_priority(path);
		memcpy(ah->dmac, qp_path_dmac_cptr(path), MAC_BYTES);
	}
}

static void attr_read(const struct drv_qp *qp, const struct qpc *c, struct drv_qp_attr *attr)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						   IBV_QPS_RTS,   IBV_QPS_SQE,  IBV_QPS_SQD,
						   IBV_QPS_ERR,   IBV_QPS_SQD};
	static const enum ibv_mig_state pm[] = {IBV_MIG_ARMED, IBV_MIG_REARM, IBV_MIG_MIGRATED,
						IBV_MIG_MIGRATED};

	attr->qp_state = attr->cur_qp_state = states[qpc_get_state(c) & 7];
	attr->sq_draining = qpc_get_state(c) == QP_STATE_SQD_BUSY;
	attr->path_mtu = (enum ibv_mtu)qpc_get_mtu(c);
	attr->path_mig_state = pm[qpc_get_pm_state(c)];
	attr->qkey = qpc_get_qkey(c);
	attr->rq_psn = qpc_get_next_rcv_psn(c);
	attr->sq_psn = qpc_get_next_send_psn(c);
	attr->dest_qp_num = qpc_get_remote_qpn(c);
	attr->qp_access_flags = (qpc_get_rre(c) ? IBV_ACCESS_REMOTE_READ : 0u) |
				(qpc_get_rwe(c) ? IBV_ACCESS_REMOTE_WRITE : 0u) |
				(qpc_get_rae(c) ? IBV_ACCESS_REMOTE_ATOMIC : 0u);
	path_read(qpc_primary_const(c), &attr->ah_attr);
	path_read(qpc_alternate_const(c), &attr->alt_ah_attr);
	attr->pkey_index = qp_path_get_pkey_index(qpc_primary_const(c));
	attr->alt_pkey_index = qp_path_get_pkey_index(qpc_alternate_const(c));
	attr->port_num = attr->ah_attr.port_num;
	attr->alt_port_num = attr->alt_ah_attr.port_num;
	attr->timeout = qp_path_get_ack_timeout(qpc_primary_const(c));
	attr->alt_timeout = qp_path_get_ack_timeout(qpc_alternate_const(c));
	attr->max_rd_atomic = 1u << qpc_get_sra_max(c);
	attr->max_dest_rd_atomic = 1u << qpc_get_rra_max(c);
	attr->min_rnr_timer = qpc_get_min_rnr_timer(c);
	attr->retry_cnt = qpc_get_retry_cnt(c);
	attr->rnr_retry = qpc_get_rnr_retry(c);
}

void mlx4_qp_cap(const struct drv_qp *qp, struct drv_qp_cap *cap)
{
	*cap = (struct drv_qp_cap){.max_send_wr = qp->sq.max_post,
				   .max_recv_wr = qp->rq.max_post,
				   .max_send_sge = qp->sq.max_sge,
				   .max_recv_sge = qp->rq.max_sge,
				   .max_inline_data = qp->max_inline};
}

static int qp_query(struct drv_qp *qp, struct drv_qp_attr *attr)
{
	struct qp_mbox mbox;
	int rc = drv_cmd_out(qp->dev, HCR_QUERY_QP, qp->qpn, 0, &mbox, sizeof(mbox));

	if (rc)
		return rc;
	memset(attr, 0, sizeof(*attr));
	attr_read(qp, qp_mbox_context_const(&mbox), attr);
	mlx4_qp_cap(qp, &attr->cap);
	qp->state = attr->qp_state;
	return 0;
}

int mlx4_qp_query(struct drv_qp *qp, struct drv_qp_attr *attr)
{
	DRV_ENTER(qp->dev, "qpn %06x", qp->qpn);
	return DRV_LEAVE(qp->dev, qp_query(qp, attr));
}
