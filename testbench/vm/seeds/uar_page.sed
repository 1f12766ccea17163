# drivers/infiniband/hw/mlx4/qp.c doorbell_wrong_uar traffic
# a QP's context names the next doorbell page
# SPDX-License-Identifier: Apache-2.0
/^static int __mlx4_ib_modify_qp/,/^}/ s/mlx4_to_hw_uar_index(dev->dev, ucontext->uar.index)/mlx4_to_hw_uar_index(dev->dev, ucontext->uar.index + 1)/
