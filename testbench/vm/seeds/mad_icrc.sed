# drivers/infiniband/hw/mlx4/qp.c wqe_malformed traffic
# the segment for the ICRC of a management packet is not counted in the size of its work request
# SPDX-License-Identifier: Apache-2.0
/set_mlx_icrc_seg(dseg + 1);/{n; /size +=/d}
