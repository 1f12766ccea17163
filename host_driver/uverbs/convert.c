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

void uv_ah_from_ib(const struct rdma_ah_attr *ib, struct ibv_ah_attr *attr)
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
	DRV_QP_ATTR_COPY(ib, attr);
	uv_ah_to_ib(&attr->ah_attr, &ib->ah_attr);
	uv_ah_to_ib(&attr->alt_ah_attr, &ib->alt_ah_attr);
}

void uv_attr_from_ib(const struct ib_qp_attr *ib, struct ibv_qp_attr *attr)
{
	DRV_QP_ATTR_COPY(attr, ib);
	attr->cap = (struct ibv_qp_cap){.max_send_wr = ib->cap.max_send_wr,
					.max_recv_wr = ib->cap.max_recv_wr,
					.max_send_sge = ib->cap.max_send_sge,
					.max_recv_sge = ib->cap.max_recv_sge,
					.max_inline_data = ib->cap.max_inline_data};
	uv_ah_from_ib(&ib->ah_attr, &attr->ah_attr);
	uv_ah_from_ib(&ib->alt_ah_attr, &attr->alt_ah_attr);
}
