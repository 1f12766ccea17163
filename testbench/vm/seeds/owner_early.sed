# drivers/infiniband/hw/mlx4/qp.c order_wqe_body accesses
# a field of a work request is stored behind its owner bit
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ s/.*(ind & qp->sq.wqe_cnt ? cpu_to_be32(1 << 31) : 0) | blh;/&\n\t\tctrl->imm = send_ieth(wr);/
