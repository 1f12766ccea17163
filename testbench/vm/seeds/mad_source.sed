# drivers/infiniband/hw/mlx4/qp.c mad_differs traffic
# the DETH of a MAD names the special QP's real number, not QP0 or QP1
# SPDX-License-Identifier: Apache-2.0
/^static int build_mlx_header/,/^}/ s/deth.source_qpn = cpu_to_be32(qp->ibqp.qp_num);/deth.source_qpn = cpu_to_be32(qp->mqp.qpn);/
