# drivers/infiniband/hw/mlx4/qp.c doorbell_without_wqe traffic
# a QP's context has the stride of the send queue twice too large
# SPDX-License-Identifier: Apache-2.0
/^static int __mlx4_ib_modify_qp/,/^}/ s/sq_size_stride |= qp->sq.wqe_shift - 4;/sq_size_stride |= qp->sq.wqe_shift - 3;/
