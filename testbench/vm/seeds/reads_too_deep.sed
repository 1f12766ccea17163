# drivers/infiniband/hw/mlx4/qp.c command_refused traffic
# a queue pair asks for twice as many READs under way as were asked for, and the largest number is beyond what the device can
# SPDX-License-Identifier: Apache-2.0
/^static int __mlx4_ib_modify_qp/,/^}/ s/fls(attr->max_rd_atomic - 1)/fls(attr->max_rd_atomic)/
