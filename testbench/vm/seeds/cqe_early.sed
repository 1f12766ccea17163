# drivers/infiniband/hw/mlx4/cq.c order_entry accesses
# a field of a CQE is read before its owner bit
# SPDX-License-Identifier: Apache-2.0
/^static void \*get_sw_cqe/,/^}/ s/^\tstruct mlx4_cqe \*tcqe = .*/&\n\tREAD_ONCE(tcqe->wqe_index);/
