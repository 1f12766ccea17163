# drivers/infiniband/hw/mlx4/qp.c mtt_not_present\|page_not_own traffic
# the buffer of a user's queue pair is mapped as far as its send queue goes
# SPDX-License-Identifier: Apache-2.0
/^static int set_user_sq_size(/,/^}/{
/^\tqp->buf_size = /{
N
s/^.*$/\tqp->buf_size = qp->sq.wqe_cnt << qp->sq.wqe_shift;/
}
}
