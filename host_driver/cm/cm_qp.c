// SPDX-License-Identifier: Apache-2.0
/* The attributes that a connection's QP needs for each state (IBA vol. 1, 12.9; 11.2.5.2). */
#include "host_driver/cm/cm.h"

#include <errno.h>
#include <string.h>

/* Whether the peer's QP is known. */
static bool knows_peer(const struct cm_id *id)
{
	switch (id->ib.state) {
	case IB_CM_REQ_RCVD:
	case IB_CM_MRA_REQ_SENT:
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
	case IB_CM_ESTABLISHED:
		return true;
	default:
		return false;
	}
}

static int init_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	if (!knows_peer(id) && id->ib.state != IB_CM_REQ_SENT && id->ib.state != IB_CM_MRA_REQ_RCVD)
		return -EINVAL;
	*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT;
	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	attr->pkey_index = id->av.pkey_index;
	attr->port_num = (uint8_t)id->av.port;
	return 0;
}

static void alternate_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask |= IB_QP_ALT_PATH;
	attr->alt_port_num = (uint8_t)id->alt_av.port;
	attr->alt_pkey_index = id->alt_av.pkey_index;
	attr->alt_timeout = id->alt_av.ack_timeout;
	attr->alt_ah_attr = id->alt_av.ah;
}

static int rtr_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	if (!knows_peer(id))
		return -EINVAL;
	*mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	attr->ah_attr = id->av.ah;
	attr->path_mtu = (enum ib_mtu)id->path_mtu;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->rq_psn;
	if (id->qp_type == IB_QPT_RC || id->qp_type == IB_QPT_XRC_TGT) {
		*mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		attr->max_dest_rd_atomic = id->responder_resources;
		attr->min_rnr_timer = 0;
	}
	if (id->has_alternate)
		alternate_attr(id, attr, mask);
	return 0;
}

static void rts_first(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	*mask = IB_QP_STATE | IB_QP_SQ_PSN;
	attr->sq_psn = id->sq_psn;
	if (id->qp_type == IB_QPT_RC || id->qp_type == IB_QPT_XRC_INI) {
		*mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
		attr->timeout = id->av.ack_timeout;
		attr->retry_cnt = id->retry_count;
		attr->rnr_retry = id->rnr_retry_count;
		attr->max_rd_atomic = id->initiator_depth;
	}
	if (id->qp_type == IB_QPT_XRC_TGT) {
		*mask |= IB_QP_TIMEOUT;
		attr->timeout = id->av.ack_timeout;
	}
	if (id->has_alternate) {
		*mask |= IB_QP_PATH_MIG_STATE;
		attr->path_mig_state = IB_MIG_REARM;
	}
}

/* Whether a LAP has been received or accepted. Only the alternate path changes then. */
static bool loads_alternate(const struct cm_id *id)
{
	return id->ib.state == IB_CM_ESTABLISHED && id->alt_av.port && !id->has_alternate;
}

static int rts_attr(const struct cm_id *id, struct ib_qp_attr *attr, int *mask)
{
	if (!knows_peer(id))
		return -EINVAL;
	if (!loads_alternate(id)) {
		rts_first(id, attr, mask);
		return 0;
	}
	*mask = IB_QP_STATE | IB_QP_PATH_MIG_STATE;
	attr->path_mig_state = IB_MIG_REARM;
	alternate_attr(id, attr, mask);
	return 0;
}

int ib_cm_init_qp_attr(struct ib_cm_id *cm_id, struct ib_qp_attr *attr, int *mask)
{
	struct ib_qp_attr a = {.qp_state = attr->qp_state};
	int m = 0, rc;

	switch (attr->qp_state) {
	case IB_QPS_INIT:
		rc = init_attr(cm_id_of(cm_id), &a, &m);
		break;
	case IB_QPS_RTR:
		rc = rtr_attr(cm_id_of(cm_id), &a, &m);
		break;
	case IB_QPS_RTS:
		rc = rts_attr(cm_id_of(cm_id), &a, &m);
		break;
	default:
		return -EINVAL;
	}
	if (rc)
		return rc;
	*attr = a;
	*mask = m;
	return 0;
}
