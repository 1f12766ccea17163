# drivers/infiniband/hw/mlx4/qp.c order_wqe_body accesses
# no barrier stands before the byte count of a chunk, so a device that reads ahead may count what was there before
# SPDX-License-Identifier: Apache-2.0
/^static void set_mlx_icrc_seg/,/^}/ s/^\twmb();//
