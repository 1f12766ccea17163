# drivers/infiniband/hw/mlx4/qp.c wqe_malformed traffic
# owner bits of a new send queue are set for the work requests that it holds at once, and not for the headroom behind them
# SPDX-License-Identifier: Apache-2.0
/^static int __mlx4_ib_modify_qp(/,/^}/s/for (i = 0; i < qp->sq\.wqe_cnt; ++i) {/for (i = 0; i < qp->sq.max_post; ++i) {/
