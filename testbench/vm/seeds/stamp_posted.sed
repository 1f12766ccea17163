# drivers/infiniband/hw/mlx4/qp.c device_memory_written accesses
# the newest work request is marked as unused, and not the slot behind it
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ s/stamp_send_wqe(qp, ind + qp->sq_spare_wqes - 1)/stamp_send_wqe(qp, ind - 1)/
