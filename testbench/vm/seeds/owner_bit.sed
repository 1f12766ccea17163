# drivers/infiniband/hw/mlx4/qp.c doorbell_without_wqe traffic
# the owner bit of a work request is not inverted after the queue's wrap
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ s/(ind & qp->sq.wqe_cnt ? cpu_to_be32(1 << 31) : 0)/0/
