# drivers/infiniband/hw/mlx4/qp.c headroom accesses
# slots behind the newest work request are not marked as unused
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ s/stamp_send_wqe(qp, ind + qp->sq_spare_wqes.*);/;/
