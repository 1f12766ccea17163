# drivers/infiniband/hw/mlx4/srq.c memory_taken objects
# an SRQ's buffer is released before HW2SW_SRQ
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_destroy_srq/,/^}/ {
	/ib_umem_release(/d
	s/^\tmlx4_srq_free(.*/\tib_umem_release(msrq->umem);\n&/
}
