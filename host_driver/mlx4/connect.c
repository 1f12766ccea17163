// SPDX-License-Identifier: Apache-2.0
/* See connect.h. */
#include "host_driver/mlx4/connect.h"

#include <string.h>

struct drv_rc_path drv_rc_path_default(unsigned lid, uint32_t dest_qpn)
{
	return (struct drv_rc_path){
		.port = 1,
		.access =
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		.lid = lid,
		.path_mtu = IBV_MTU_4096,
		.dest_qpn = dest_qpn,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
	};
}

int drv_qp_to_init(struct drv_qp *qp, const struct drv_rc_path *path)
{
	const struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = path->pkey_index,
		.port_num = path->port ? path->port : 1,
		.qp_access_flags = path->access,
	};

	return drv_qp_modify(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int drv_qp_to_rtr(struct drv_qp *qp, const struct drv_rc_path *path)
{
	struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = path->path_mtu ? path->path_mtu : IBV_MTU_4096,
		.dest_qp_num = path->dest_qpn,
		.rq_psn = path->rq_psn,
		.max_dest_rd_atomic = path->max_dest_rd_atomic,
		.min_rnr_timer = path->min_rnr_timer,
		.ah_attr = {.dlid = path->lid,
			    .sl = path->sl,
			    .src_path_bits = path->src_path_bits,
			    .static_rate = path->static_rate,
			    .is_global = path->is_global,
			    .sgid_index = path->sgid_index,
			    .hop_limit = path->hop_limit,
			    .traffic_class = path->traffic_class,
			    .flow_label = path->flow_label},
	};
	unsigned mask =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	memcpy(attr.ah_attr.dgid, path->dgid, DRV_GID_BYTES);
	memcpy(attr.ah_attr.dmac, path->dmac, MAC_BYTES);
	if (drv_qp_type(qp) == IBV_QPT_RC || drv_qp_type(qp) == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return drv_qp_modify(qp, &attr, mask);
}

int drv_qp_to_rts(struct drv_qp *qp, const struct drv_rc_path *path)
{
	const struct drv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = path->sq_psn,
		.timeout = path->timeout,
		.retry_cnt = path->retry_cnt,
		.rnr_retry = path->rnr_retry,
		.max_rd_atomic = path->max_rd_atomic,
	};
	unsigned mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (drv_qp_type(qp) == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_TIMEOUT;
	else if (drv_qp_type(qp) != IBV_QPT_UC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return drv_qp_modify(qp, &attr, mask);
}

int drv_qp_connect(struct drv_qp *qp, const struct drv_rc_path *path)
{
	int rc = drv_qp_to_init(qp, path);

	if (!rc)
		rc = drv_qp_to_rtr(qp, path);
	if (!rc)
		rc = drv_qp_to_rts(qp, path);
	return rc;
}

int drv_ud_qp_start(struct drv_qp *qp, unsigned port, unsigned pkey_index, uint32_t qkey,
		    uint32_t sq_psn)
{
	struct drv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = pkey_index,
				   .port_num = port,
				   .qkey = qkey,
				   .sq_psn = sq_psn};
	int rc = drv_qp_modify(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	attr.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = drv_qp_modify(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = drv_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return rc;
}
