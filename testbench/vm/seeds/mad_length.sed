# drivers/infiniband/hw/mlx4/qp.c header_differs traffic
# the length in the header of a MAD counts its last segment only
# SPDX-License-Identifier: Apache-2.0
/^static int build_mlx_header(/,/^}/s/send_size += wr->wr.sg_list\[i\].length;/send_size = wr->wr.sg_list[i].length;/
