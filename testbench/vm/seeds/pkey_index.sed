# drivers/infiniband/hw/mlx4/qp.c stall:P_Key traffic
# a QP's context has the index after that of its P_Key
# SPDX-License-Identifier: Apache-2.0
/^static int __mlx4_ib_modify_qp/,/^}/ s/pri_path.pkey_index = attr->pkey_index;/pri_path.pkey_index = attr->pkey_index + 1;/
