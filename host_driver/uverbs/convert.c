// SPDX-License-Identifier: Apache-2.0
/* Attributes between the library's and the kernel's structures. */
#include "host_driver/uverbs/uverbs.h"

void uv_ah_to_ib(const struct ibv_ah_attr *attr, struct rdma_ah_attr *ib)
{
	*ib = (struct rdma_ah_attr){.dlid = attr->dlid,
				    .sl = attr->sl,
				    .src_path_bits = attr->src_path_bits,
				    .static_rate = attr->static_rate,
				    .port_num = attr->port_num,
				    .ah_flags = attr->is_global ? IB_AH_GRH : 0};
	memcpy(ib->grh.dgid.raw, attr->grh.dgid.raw, sizeof(ib->grh.dgid.raw));
	ib->grh.flow_label = attr->grh.flow_label;
	ib->grh.sgid_index = attr->grh.sgid_index;
	ib->grh.hop_limit = attr->grh.hop_limit;
	ib->grh.traffic_class = attr->grh.traffic_class;
}

static void ah_from_ib(const struct rdma_ah_attr *ib, struct ibv_ah_attr *attr)
{
	*attr = (struct ibv_ah_attr){.dlid = (uint16_t)ib->dlid,
				     .sl = ib->sl,
				     .src_path_bits = ib->src_path_bits,
				     .static_rate = ib->static_rate,
				     .port_num = ib->port_num,
				     .is_global = !!(ib->ah_flags & IB_AH_GRH)};
	memcpy(attr->grh.dgid.raw, ib->grh.dgid.raw, sizeof(attr->grh.dgid.raw));
	attr->grh.flow_label = ib->grh.flow_label;
	attr->grh.sgid_index = ib->grh.sgid_index;
	attr->grh.hop_limit = ib->grh.hop_limit;
	attr->grh.traffic_class = ib->grh.traffic_class;
}

void uv_attr_to_ib(const struct ibv_qp_attr *attr, struct ib_qp_attr *ib)
{
	*ib = (struct ib_qp_attr){
		.qp_state = (enum ib_qp_state)attr->qp_state,
		.cur_qp_state = (enum ib_qp_state)attr->cur_qp_state,
		.path_mtu = (enum ib_mtu)attr->path_mtu,
		.path_mig_state = (enum ib_mig_state)attr->path_mig_state,
		.qkey = attr->qkey,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qp_num = attr->dest_qp_num,
		.qp_access_flags = attr->qp_access_flags,
		.pkey_index = attr->pkey_index,
		.alt_pkey_index = attr->alt_pkey_index,
		.en_sqd_async_notify = attr->en_sqd_async_notify,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.port_num = attr->port_num,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.alt_port_num = attr->alt_port_num,
		.alt_timeout = attr->alt_timeout,
	};
	uv_ah_to_ib(&attr->ah_attr, &ib->ah_attr);
	uv_ah_to_ib(&attr->alt_ah_attr, &ib->alt_ah_attr);
}

void uv_attr_from_ib(const struct ib_qp_attr *ib, struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = (enum ibv_qp_state)ib->qp_state,
		.cur_qp_state = (enum ibv_qp_state)ib->cur_qp_state,
		.path_mtu = (enum ibv_mtu)ib->path_mtu,
		.path_mig_state = (enum ibv_mig_state)ib->path_mig_state,
		.qkey = ib->qkey,
		.rq_psn = ib->rq_psn,
		.sq_psn = ib->sq_psn,
		.dest_qp_num = ib->dest_qp_num,
		.qp_access_flags = ib->qp_access_flags,
		.pkey_index = ib->pkey_index,
		.alt_pkey_index = ib->alt_pkey_index,
		.sq_draining = ib->sq_draining,
		.max_rd_atomic = ib->max_rd_atomic,
		.max_dest_rd_atomic = ib->max_dest_rd_atomic,
		.min_rnr_timer = ib->min_rnr_timer,
		.port_num = ib->port_num,
		.timeout = ib->timeout,
		.retry_cnt = ib->retry_cnt,
		.rnr_retry = ib->rnr_retry,
		.alt_port_num = ib->alt_port_num,
		.alt_timeout = ib->alt_timeout,
	};
	attr->cap = (struct ibv_qp_cap){.max_send_wr = ib->cap.max_send_wr,
					.max_recv_wr = ib->cap.max_recv_wr,
					.max_send_sge = ib->cap.max_send_sge,
					.max_recv_sge = ib->cap.max_recv_sge,
					.max_inline_data = ib->cap.max_inline_data};
	ah_from_ib(&ib->ah_attr, &attr->ah_attr);
	ah_from_ib(&ib->alt_ah_attr, &attr->alt_ah_attr);
}
